//! The rank of this process in a parallel job, from the variables that launchers set.

use core::fmt;
use std::env;
use std::ffi::OsString;

/// Threads that a [rank](Rank) can have streams for.
const WORKERS: u32 = 1 << 24;

/// A program that starts the processes of a job and numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Launcher {
    /// PyTorch's `torchrun`: `RANK`, `WORLD_SIZE`, `LOCAL_RANK`. It is recognised only if the first
    /// two are set, because other programs use these names.
    Torchrun,
    /// Open MPI's `mpirun`: `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE`,
    /// `OMPI_COMM_WORLD_LOCAL_RANK`.
    OpenMpi,
    /// MVAPICH2's: `MV2_COMM_WORLD_RANK`, `MV2_COMM_WORLD_SIZE`, `MV2_COMM_WORLD_LOCAL_RANK`.
    Mvapich2,
    /// Hydra, of MPICH and Intel MPI: `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALRANKID`.
    Hydra,
    /// Flux: `FLUX_TASK_RANK`, `FLUX_JOB_SIZE`, `FLUX_TASK_LOCAL_ID`.
    Flux,
    /// SLURM's `srun`, and its batch script, which is rank 0: `SLURM_PROCID`, `SLURM_NTASKS`,
    /// `SLURM_LOCALID`.
    Slurm,
}

impl Launcher {
    /// The first that left its mark is asked: those that run inside others' tasks come before them.
    const ALL: [Launcher; 6] = [
        Launcher::Torchrun,
        Launcher::OpenMpi,
        Launcher::Mvapich2,
        Launcher::Hydra,
        Launcher::Flux,
        Launcher::Slurm,
    ];

    /// Returns the variables of rank, size and local rank.
    const fn variables(self) -> [&'static str; 3] {
        match self {
            Launcher::Torchrun => ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
            Launcher::OpenMpi => {
                ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]
            }
            Launcher::Mvapich2 => {
                ["MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"]
            }
            Launcher::Hydra => ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"],
            Launcher::Flux => ["FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID"],
            Launcher::Slurm => ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
        }
    }
}

/// The place of this process in a parallel job. **Streams are not for secrets.**
///
/// A rank assigns each thread of each process its own stream, without an exchange of messages:
///
/// ```
/// use headwater_streams::{Key, Rank, generators::Xoshiro256pp};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let key = Key::from_seed("crowd simulation 3");
/// let rank = Rank::from_env()?.unwrap_or(Rank::ALONE);
/// for worker in 0..4 {
///     let stream = key.stream(rank.stream_id(worker)?)?;
///     let sequential = Xoshiro256pp::from_key(&key).node(rank.rank.into()).stream(worker.into());
/// #   let _ = (stream, sequential);
/// }
/// # Ok(()) }
/// ```
///
/// The numbers of a job then depend on the number of ranks and on the work of each. An array that
/// must not depend on them is addressed by the elements' global numbers, and needs no rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The number of this process, from 0 on.
    pub rank: u32,
    /// The number of processes, if the launcher provides it.
    pub size: Option<u32>,
    /// The number of this process among those of its machine, if the launcher says so.
    pub local: Option<u32>,
    /// The launcher that provided the rank; `None` if no launcher did.
    pub launcher: Option<Launcher>,
}

impl Rank {
    /// The only process.
    pub const ALONE: Rank = Rank { rank: 0, size: Some(1), local: Some(0), launcher: None };

    /// Returns the rank that the launcher assigned to this process; `None` if no [`Launcher`]'s
    /// variables are set.
    ///
    /// # Errors
    ///
    /// If a launcher's variable is not a number below 2^32, or the rank is not below the size. A
    /// rank is never guessed, because two processes with one rank would draw the same numbers.
    pub fn from_env() -> Result<Option<Rank>, RankError> {
        Rank::from_variables(|name| env::var_os(name))
    }

    fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Rank>, RankError> {
        let number = |name: &'static str| match variable(name) {
            None => Ok(None),
            Some(value) => match value.to_str().and_then(|value| value.trim().parse().ok()) {
                Some(number) => Ok(Some(number)),
                None => {
                    let value = value.to_string_lossy().into_owned();
                    Err(RankError::NotANumber { variable: name, value })
                }
            },
        };
        for launcher in Launcher::ALL {
            let [rank, size, local] = launcher.variables();
            if launcher == Launcher::Torchrun && variable(size).is_none() {
                continue;
            }
            if let Some(number_of_rank) = number(rank)? {
                let size_of_job = number(size)?;
                if size_of_job.is_some_and(|size| number_of_rank >= size) {
                    let size_of_job = size_of_job.unwrap_or(0);
                    return Err(RankError::BeyondSize {
                        variables: [rank, size],
                        values: [number_of_rank, size_of_job],
                    });
                }
                return Ok(Some(Rank {
                    rank: number_of_rank,
                    size: size_of_job,
                    local: number(local)?,
                    launcher: Some(launcher),
                }));
            }
        }
        Ok(None)
    }

    /// Returns the number of the stream of thread `worker` of this rank: `rank * 2^24 + worker`,
    /// which no other rank and worker have.
    ///
    /// # Errors
    ///
    /// If rank or worker is 2^24 or more: a key has 2^48 streams.
    pub const fn stream_id(self, worker: u32) -> Result<u64, RankError> {
        if self.rank >= WORKERS || worker >= WORKERS {
            return Err(RankError::TooMany { rank: self.rank, worker });
        }
        Ok(self.rank as u64 * WORKERS as u64 + worker as u64)
    }
}

/// The reason why a process has no rank, or a worker no stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankError {
    /// A launcher's variable holds something else than a number below 2^32.
    NotANumber {
        /// The variable's name.
        variable: &'static str,
        /// The variable's value.
        value: String,
    },
    /// The rank is not below the size.
    BeyondSize {
        /// The names of the two variables.
        variables: [&'static str; 2],
        /// The values of the two variables.
        values: [u32; 2],
    },
    /// Rank or worker is 2^24 or more.
    TooMany {
        /// The rank.
        rank: u32,
        /// The worker.
        worker: u32,
    },
}

impl fmt::Display for RankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankError::NotANumber { variable, value } => write!(
                f,
                "{variable} is '{value}' and should be this process's place in its job: start it by its launcher, \
                 or unset {variable}"
            ),
            RankError::BeyondSize { variables: [rank, size], values: [is, of] } => write!(
                f,
                "{rank} is {is} and {size} is {of}, but ranks count from 0: start the process by its launcher, or unset \
                 both"
            ),
            RankError::TooMany { rank, worker } => write!(
                f,
                "rank {rank}, worker {worker}: both have to be below 2^24; give each rank a child key instead"
            ),
        }
    }
}

impl std::error::Error for RankError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Rank>, RankError> {
        Rank::from_variables(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn every_launchers_variables_are_read() {
        for launcher in Launcher::ALL {
            let [rank, size, local] = launcher.variables();
            let expected =
                Rank { rank: 5, size: Some(8), local: Some(1), launcher: Some(launcher) };
            assert_eq!(read(&[(rank, "5"), (size, "8"), (local, "1")]), Ok(Some(expected)));
            let expected = Rank { local: None, ..expected };
            assert_eq!(read(&[(rank, "5"), (size, "8\n")]), Ok(Some(expected)));
            let alone = read(&[(rank, "5")]).unwrap();
            let expected = Rank { size: None, ..expected };
            let named = launcher != Launcher::Torchrun;
            assert_eq!(alone, named.then_some(expected), "{launcher:?}");
        }
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("WORLD_SIZE", "8"), ("SLURM_NTASKS", "8")]), Ok(None));
    }

    #[test]
    fn who_runs_inside_another_is_believed_first() {
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")];
        let mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let torch = [("RANK", "6"), ("WORLD_SIZE", "9")];
        let rank = |variables: &[(&str, &str)]| read(variables).unwrap().unwrap().rank;
        assert_eq!(rank(&slurm), 0);
        assert_eq!(rank(&[slurm, mpi].concat()), 3);
        assert_eq!(rank(&[slurm, mpi, torch].concat()), 6);
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_variable() {
        for value in ["", "-1", "two", "4294967296", "1.0"] {
            let text = read(&[("SLURM_PROCID", value)]).unwrap_err().to_string();
            assert!(
                text.starts_with(&format!("SLURM_PROCID is '{value}' and should be")),
                "{text}"
            );
            assert!(!text.contains('\n'));
        }
        let text = read(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]).unwrap_err().to_string();
        assert!(
            text.starts_with("PMI_RANK is 4 and PMI_SIZE is 4, but ranks count from 0"),
            "{text}"
        );
        assert!(read(&[("PMI_RANK", "4"), ("PMI_SIZE", "many")]).is_err());
    }

    #[test]
    fn no_two_workers_share_a_stream() {
        let ranks = [0, 1, 2, WORKERS - 1];
        let ids: Vec<u64> = ranks
            .iter()
            .flat_map(|rank| {
                let rank = Rank { rank: *rank, ..Rank::ALONE };
                ranks.map(|worker| rank.stream_id(worker).unwrap())
            })
            .collect();
        // The numbers are in order, so each is greater than the one before.
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert_eq!(ids.last(), Some(&((1 << 48) - 1)));
        let rank = Rank { rank: WORKERS, ..Rank::ALONE };
        assert!(rank.stream_id(0).is_err());
        let text = Rank::ALONE.stream_id(WORKERS).unwrap_err().to_string();
        assert_eq!(
            text,
            "rank 0, worker 16777216: both have to be below 2^24; give each rank a child key instead"
        );
    }
}
