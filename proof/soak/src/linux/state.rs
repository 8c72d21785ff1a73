//! A soak in pieces: its state in a file, and beside it the words that are compared across rounds.
//!
//! Words of all rounds do not fit: a day draws 10^11. So those are kept whose lowest bits are zero.
//! The choice depends on the word alone, so of two equal words both are kept or neither is; and as
//! soon as too many are kept, one more bit has to be zero. A fault that repeats n words in two
//! rounds is then missed with probability (1 - 2^-bits)^n: with 10 bits, 1 % of faults that repeat
//! ten pages' words. Within its own round each word is compared with all.

use super::record::Event;
use super::supervisor::repeats;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The most words that are kept: 1 GiB of them.
const MOST: usize = 1 << 27;
/// The bits that are zero in kept words at first.
const BITS: u32 = 6;

/// All pieces so far. The numbers are sums over them.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) seed: u64,
    /// The next round.
    pub(crate) round: u64,
    pub(crate) rounds: u64,
    pub(crate) words: u64,
    pub(crate) minutes: f64,
    bits: u32,
    /// The words that the other file holds: all that were kept when they were drawn.
    stored: usize,
    pub(crate) events: BTreeMap<String, u64>,
    pub(crate) pieces: Vec<Piece>,
}

/// A run of the program.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct Piece {
    pub(crate) version: String,
    /// Kernel, mode, cipher and pages.
    pub(crate) machine: String,
    pub(crate) first_round: u64,
    pub(crate) rounds: u64,
    pub(crate) words: u64,
    pub(crate) minutes: f64,
}

/// The state, its words, and the file that holds it.
pub(crate) struct Soak {
    pub(crate) state: State,
    file: Option<PathBuf>,
    kept: Vec<u64>,
}

impl Soak {
    /// Begins a soak, or continues the one of the file.
    pub(crate) fn open(file: Option<&Path>, seed: Option<u64>, round: u64) -> Result<Soak> {
        let text = match file.map(fs::read_to_string) {
            Some(Ok(text)) => text,
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| name(file));
            }
            _ => {
                let state = State {
                    seed: seed.unwrap_or_else(|| fastrand::u64(..)),
                    round,
                    rounds: 0,
                    words: 0,
                    minutes: 0.0,
                    bits: BITS,
                    stored: 0,
                    events: BTreeMap::new(),
                    pieces: Vec::new(),
                };
                let mut soak = Soak { state, file: file.map(Path::to_path_buf), kept: Vec::new() };
                // At once, so that a place that cannot be written ends nothing later.
                soak.write(&[])?;
                return Ok(soak);
            }
        };
        let state: State = serde_json::from_str(&text)
            .with_context(|| format!("{} is not the state of a soak", name(file)))?;
        ensure!(
            seed.is_none_or(|seed| seed == state.seed) && round == 0,
            "{} continues seed {} at round {}: leave out --seed and --round, or name another file",
            name(file),
            state.seed,
            state.round,
        );
        let mut soak = Soak { state, file: file.map(Path::to_path_buf), kept: Vec::new() };
        soak.kept = soak.read_words()?;
        Ok(soak)
    }

    /// Adds a round, and writes the state.
    pub(crate) fn add(
        &mut self,
        words: &[u64],
        events: &[u64; Event::NAMES.len()],
        minutes: f64,
    ) -> Result<()> {
        let state = &mut self.state;
        let mask = (1 << state.bits) - 1;
        let new: Vec<u64> = words.iter().copied().filter(|word| word & mask == 0).collect();
        for (name, n) in Event::NAMES.iter().zip(events) {
            *state.events.entry((*name).to_owned()).or_default() += n;
        }
        state.round += 1;
        state.rounds += 1;
        state.words += words.len() as u64;
        state.minutes += minutes;
        if let Some(piece) = state.pieces.last_mut() {
            piece.rounds += 1;
            piece.words += words.len() as u64;
            piece.minutes += minutes;
        }
        self.kept.extend(&new);
        if self.kept.len() > MOST {
            state.bits += 1;
            let mask = (1 << state.bits) - 1;
            self.kept.retain(|word| word & mask == 0);
        }
        self.write(&new)
    }

    /// Returns how many of the kept words repeat, how many there are, and how many of their bits
    /// are zero.
    pub(crate) fn repeats(&mut self) -> (usize, usize, u32) {
        self.kept.sort_unstable();
        (repeats(&self.kept), self.kept.len(), self.state.bits)
    }

    /// Writes words, and then the state with their number: if the program ends in between, the
    /// state is that before the round, and so is what it names of the words.
    fn write(&mut self, new: &[u64]) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let path = words_of(file);
        let mut words = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        words.seek(SeekFrom::Start(8 * self.state.stored as u64))?;
        let bytes: Vec<u8> = new.iter().flat_map(|word| word.to_le_bytes()).collect();
        words.write_all(&bytes).with_context(|| path.display().to_string())?;
        words.sync_data()?;
        self.state.stored += new.len();
        let next = file.with_extension("new");
        let text = serde_json::to_string_pretty(&self.state)? + "\n";
        fs::write(&next, text).with_context(|| next.display().to_string())?;
        fs::rename(&next, file).with_context(|| file.display().to_string())
    }

    fn read_words(&self) -> Result<Vec<u64>> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let path = words_of(file);
        let mut bytes = vec![0; 8 * self.state.stored];
        File::open(&path).and_then(|mut words| words.read_exact(&mut bytes)).with_context(
            || {
                format!(
                    "{} holds no {} words, which its state names",
                    path.display(),
                    self.state.stored
                )
            },
        )?;
        let mask = (1 << self.state.bits) - 1;
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        Ok(words.filter(|word| word & mask == 0).collect())
    }
}

fn words_of(file: &Path) -> PathBuf {
    file.with_extension("words")
}

fn name(file: Option<&Path>) -> String {
    file.map_or(String::new(), |file| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(n: u64) -> [u64; Event::NAMES.len()] {
        [n; Event::NAMES.len()]
    }

    fn round(soak: &mut Soak, words: &[u64]) {
        soak.add(words, &events(2), 0.5).unwrap();
    }

    #[test]
    fn a_soak_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let mut soak = Soak::open(Some(&file), Some(7), 3).unwrap();
        soak.state.pieces.push(Piece::default());
        round(&mut soak, &[64, 65, 128]);
        round(&mut soak, &[192]);
        assert_eq!(soak.repeats(), (0, 3, 6));
        let mut soak = Soak::open(Some(&file), None, 0).unwrap();
        let State { seed, round: next, rounds, words, minutes, .. } = soak.state;
        assert_eq!((seed, next, rounds, words, minutes), (7, 5, 2, 4, 1.0));
        assert!(soak.state.events.values().all(|&n| n == 4), "{:?}", soak.state.events);
        assert_eq!(soak.state.pieces[0].rounds, 2);
        // A word of the first piece is found in the second, and one that was not kept is not.
        round(&mut soak, &[65, 128]);
        assert_eq!(soak.repeats(), (1, 4, 6));
    }

    #[test]
    fn a_piece_that_ends_between_two_files_leaves_the_state_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let mut soak = Soak::open(Some(&file), None, 0).unwrap();
        round(&mut soak, &[64]);
        let before = fs::read(&file).unwrap();
        round(&mut soak, &[128, 192]);
        fs::write(&file, before).unwrap();
        let mut soak = Soak::open(Some(&file), None, 0).unwrap();
        round(&mut soak, &[256]);
        let mut soak = Soak::open(Some(&file), None, 0).unwrap();
        assert_eq!((soak.repeats(), soak.state.round), ((0, 2, 6), 2));
        assert_eq!(soak.kept, [64, 256], "words of the round that was lost");
    }

    #[test]
    fn another_seed_and_broken_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let fault = |seed, round| {
            let error = Soak::open(Some(&file), seed, round).err().expect("an error");
            format!("{error:#}")
        };
        let mut soak = Soak::open(Some(&file), Some(1), 0).unwrap();
        round(&mut soak, &[64]);
        assert!(fault(Some(2), 0).contains("continues seed 1 at round 1"));
        assert!(fault(None, 4).contains("leave out --seed and --round"));
        fs::write(words_of(&file), [0; 7]).unwrap();
        assert!(fault(None, 0).contains("holds no 1 words"));
        fs::write(&file, "{}").unwrap();
        assert!(fault(None, 0).contains("is not the state of a soak"));
        let nowhere = folder.path().join("no/such/folder");
        assert!(Soak::open(Some(&nowhere), None, 0).is_err());
    }
}
