//! The part of a record that a page shows, read from its JSON. Every field may be missing, because
//! older records have fewer.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) machine: RecordMachine,
    #[serde(default)]
    pub(super) rows: Vec<RecordRow>,
    #[serde(default)]
    pub(super) ratios: Vec<RecordRatio>,
    #[serde(default)]
    pub(super) skipped: Vec<RecordSkipped>,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordMachine {
    pub(super) cpu: Option<String>,
    pub(super) cores: Option<usize>,
    pub(super) microcode: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) libc: Option<String>,
    pub(super) governor: Option<String>,
    pub(super) hypervisor: Option<bool>,
    pub(super) mitigations: Option<String>,
    pub(super) date: Option<u64>,
    pub(super) rustc: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordRow {
    pub(super) case: String,
    #[serde(rename = "impl")]
    pub(super) implementation: String,
    pub(super) mode: Option<String>,
    pub(super) len: usize,
    pub(super) threads: Option<usize>,
    pub(super) procs: Option<usize>,
    pub(super) pin: Option<String>,
    pub(super) ns_per_call: Option<f64>,
    pub(super) mad: Option<f64>,
    pub(super) gb_per_s: Option<f64>,
    pub(super) version: Option<String>,
    pub(super) note: Option<String>,
    pub(super) percentiles: Option<Percentiles>,
}

/// The speed of one implementation divided by that of another.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RecordRatio {
    pub(super) case: String,
    pub(super) len: usize,
    pub(super) threads: Option<usize>,
    pub(super) procs: Option<usize>,
    pub(super) pin: Option<String>,
    #[serde(rename = "impl")]
    pub(super) implementation: String,
    pub(super) against: String,
    pub(super) ratio: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// Percentiles of single calls, in nanoseconds.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Percentiles {
    pub(super) p50: Option<f64>,
    pub(super) p90: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p99_9: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) clock: Option<String>,
    pub(super) clock_ns: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct RecordSkipped {
    #[serde(rename = "impl")]
    pub(super) implementation: String,
    pub(super) reason: String,
}

/// The threads and processes of a figure, and their pinning. Figures of different loads are not
/// compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    pub(super) threads: usize,
    procs: usize,
    pin: Option<String>,
}

impl Record {
    /// Returns the names of the implementations, each once.
    pub(super) fn names(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.implementation.as_str()))
    }

    pub(super) fn loads(&self) -> Vec<Load> {
        distinct(self.rows.iter().map(RecordRow::load))
    }
}

impl RecordRow {
    pub(super) fn load(&self) -> Load {
        Load::new(self.threads, self.procs, self.pin.as_ref())
    }

    /// Returns the calls of all threads and processes together, in millions per second.
    pub(super) fn million_calls_per_s(&self) -> Option<f64> {
        let load = self.load();
        Some((load.threads * load.procs) as f64 * 1e3 / self.ns_per_call?)
    }
}

impl RecordRatio {
    pub(super) fn load(&self) -> Load {
        Load::new(self.threads, self.procs, self.pin.as_ref())
    }
}

impl Load {
    fn new(threads: Option<usize>, procs: Option<usize>, pin: Option<&String>) -> Load {
        Load {
            threads: threads.unwrap_or(1),
            procs: procs.unwrap_or(1),
            pin: pin.filter(|pin| *pin != "none").cloned(),
        }
    }

    /// Counts the threads of all processes together.
    pub(super) fn all(&self) -> usize {
        self.procs * self.threads
    }

    /// Reports whether the loads differ in the number of threads only.
    pub(super) fn same_but_threads(&self, other: &Load) -> bool {
        (self.procs, &self.pin) == (other.procs, &other.pin)
    }

    /// Returns a text such as `2 processes, pinned by core`. The text is empty for one process
    /// without pinning, the usual load.
    pub(super) fn apart_from_threads(&self) -> String {
        let procs = (self.procs > 1).then(|| format!("{} processes", self.procs));
        let pin = self.pin.as_ref().map(|pin| format!("pinned by {pin}"));
        procs.into_iter().chain(pin).collect::<Vec<_>>().join(", ")
    }

    /// Returns a text such as `one thread` or `4 threads, 2 processes`.
    pub(super) fn show(&self) -> String {
        let threads = match self.threads {
            1 => "one thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        join(&[threads, self.apart_from_threads()])
    }
}

/// Joins the texts that are not empty, with commas.
pub(super) fn join(parts: &[String]) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

/// Returns each value once, in the order of first appearance.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for value in values {
        if !list.contains(&value) {
            list.push(value);
        }
    }
    list
}
