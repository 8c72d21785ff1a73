//! A soak in pieces: its state in a file, and beside it the words that are compared across rounds.
//!
//! Words of all rounds do not fit: a day draws 10^11. So those are kept whose lowest bits are zero.
//! The choice depends on the word alone, so of two equal words both are kept or neither is; and as
//! soon as too many are kept, one more bit has to be zero. A fault that repeats n words in two
//! rounds is then missed with probability (1 - 2^-bits)^n: with 10 bits, 1 % of faults that repeat
//! ten pages' words. Within its own round each word is compared with all.

use super::args::{LAST_ROUND, Usage};
use super::record::Event;
use super::supervisor::repeats;
use super::words::{BITS, Checksum, Words};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most words that are kept: 1 GiB of them.
const MOST: usize = 1 << 27;

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
    stored: u64,
    /// Their checksum. A state of an older version has none.
    checksum: Option<Checksum>,
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

impl State {
    fn new(seed: u64, round: u64) -> State {
        State {
            seed,
            round,
            rounds: 0,
            words: 0,
            minutes: 0.0,
            bits: BITS,
            stored: 0,
            checksum: Some(Checksum::EMPTY),
            events: BTreeMap::new(),
            pieces: Vec::new(),
        }
    }

    /// Returns whether a soak can have written these numbers.
    fn is_possible(&self) -> bool {
        (BITS..u64::BITS).contains(&self.bits)
            && self.stored <= self.words
            && self.round <= LAST_ROUND + 1
    }
}

/// The state, its words, and the files that hold them.
pub(crate) struct Soak {
    pub(crate) state: State,
    files: Option<Files>,
    kept: Vec<u64>,
}

struct Files {
    state: PathBuf,
    words: Words,
}

impl Soak {
    /// Begins a soak, or continues the one of the file.
    pub(crate) fn open(file: Option<&Path>, seed: Option<u64>, round: u64) -> Result<Soak> {
        let state = State::new(seed.unwrap_or_else(|| fastrand::u64(..)), round);
        let mut soak = Soak { state, files: None, kept: Vec::new() };
        let Some(file) = file else { return Ok(soak) };
        let name = file.display();
        // A device may have no end.
        ensure!(!file.exists() || file.is_file(), "{name} is not a file");
        // The words first, because their lock is the state's too.
        let mut words = Words::open(file)?;
        match fs::read_to_string(file) {
            Ok(text) => {
                soak.state = serde_json::from_str(&text)
                    .with_context(|| format!("{name} is not the state of a soak"))?;
                let state = &mut soak.state;
                ensure!(state.is_possible(), "{name} is not the state of a soak");
                if seed.is_some_and(|seed| seed != state.seed) || round != 0 {
                    bail!(Usage(format!(
                        "{name} continues seed {} at round {}: leave out --seed and --round, or \
                         name another file",
                        state.seed, state.round,
                    )));
                }
                let (kept, checksum) = words.read(state.stored)?;
                ensure!(
                    *state.checksum.get_or_insert(checksum) == checksum,
                    "{} is damaged, or holds the words of another soak than {name}",
                    file.with_extension("words").display()
                );
                let mask = (1 << state.bits) - 1;
                soak.kept = kept;
                soak.kept.retain(|word| word & mask == 0);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => words.ensure_empty()?,
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        }
        soak.files = Some(Files { state: file.to_path_buf(), words });
        // At once, so that a place that cannot be written costs no round.
        soak.write(&[])?;
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
        let Some(Files { state: file, words }) = &mut self.files else { return Ok(()) };
        words.write(self.state.stored, new)?;
        self.state.stored += new.len() as u64;
        if let Some(checksum) = &mut self.state.checksum {
            checksum.add(new);
        }
        let next = file.with_extension("new");
        let text = serde_json::to_string_pretty(&self.state)? + "\n";
        let written = File::create(&next).and_then(|mut out| {
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            fs::rename(&next, &*file)
        });
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written.with_context(|| format!("cannot write {}", file.display()))
    }
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
        drop(soak);
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
        drop(soak);
        fs::write(&file, before).unwrap();
        round(&mut Soak::open(Some(&file), None, 0).unwrap(), &[256]);
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
        drop(soak);
        assert!(fault(Some(2), 0).contains("continues seed 1 at round 1"));
        assert!(fault(None, 4).contains("leave out --seed and --round"));
        fs::write(file.with_extension("words"), [0; 7]).unwrap();
        assert!(fault(None, 0).contains("holds no 1 words"));
        fs::write(&file, "{}").unwrap();
        assert!(fault(None, 0).contains("is not the state of a soak"));
        let nowhere = folder.path().join("no/such/folder");
        assert!(Soak::open(Some(&nowhere), None, 0).is_err());
    }

    /// Returns a state file of one round with these words.
    fn soaked(folder: &Path, name: &str, words: &[u64]) -> PathBuf {
        let file = folder.join(name);
        round(&mut Soak::open(Some(&file), Some(1), 0).unwrap(), words);
        file
    }

    fn fault(file: &Path) -> String {
        let error = Soak::open(Some(file), None, 0).err().expect("an error");
        format!("{error:#}")
    }

    #[test]
    fn words_that_changed_are_damage_and_no_repeats() {
        let folder = tempfile::tempdir().unwrap();
        let file = soaked(folder.path(), "state.json", &[64, 128, 192]);
        let other = soaked(folder.path(), "other.json", &[256, 320, 384]);
        let words = file.with_extension("words");
        let good = fs::read(&words).unwrap();
        fs::write(&words, [0; 24]).unwrap();
        assert!(fault(&file).contains("is damaged"));
        fs::write(&words, [7; 24]).unwrap();
        assert!(fault(&file).contains("is damaged"));
        fs::copy(other.with_extension("words"), &words).unwrap();
        assert!(fault(&file).contains("or holds the words of another soak"));
        let mut swapped = good.clone();
        swapped.rotate_left(8);
        fs::write(&words, swapped).unwrap();
        assert!(fault(&file).contains("is damaged"));
        fs::write(&words, good).unwrap();
        assert_eq!(Soak::open(Some(&file), None, 0).unwrap().repeats(), (0, 3, 6));
    }

    #[test]
    fn a_state_without_a_checksum_is_continued_and_has_one_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = soaked(folder.path(), "state.json", &[64, 128]);
        let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        old.as_object_mut().unwrap().remove("checksum").expect("a checksum");
        fs::write(&file, old.to_string()).unwrap();
        let words = file.with_extension("words");
        let good = fs::read(&words).unwrap();
        for impossible in [[0; 16], [7; 16]] {
            fs::write(&words, impossible).unwrap();
            assert!(fault(&file).contains("a soak never keeps such words"));
        }
        fs::write(&words, good).unwrap();
        round(&mut Soak::open(Some(&file), None, 0).unwrap(), &[192]);
        assert_eq!(Soak::open(Some(&file), None, 0).unwrap().kept, [64, 128, 192]);
        fs::write(&words, [64_u64, 256, 192].map(u64::to_le_bytes).concat()).unwrap();
        assert!(fault(&file).contains("is damaged"));
    }

    #[test]
    fn numbers_that_no_soak_writes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = soaked(folder.path(), "state.json", &[64, 128]);
        let good: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for (field, number) in [
            ("stored", (1 << 61) + 1),
            ("stored", 3),
            ("bits", 64),
            ("bits", 5),
            ("round", u64::MAX),
        ] {
            let mut bad = good.clone();
            bad[field] = number.into();
            fs::write(&file, bad.to_string()).unwrap();
            assert!(fault(&file).contains("is not the state of a soak"), "{field} {number}");
        }
    }

    #[test]
    fn one_soak_at_a_time_has_the_state() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let soak = Soak::open(Some(&file), None, 0).unwrap();
        assert!(fault(&file).contains("another soak runs on"));
        drop(soak);
        Soak::open(Some(&file), None, 0).unwrap();
    }

    #[test]
    fn names_that_would_cost_words_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = soaked(folder.path(), "state.json", &[64]);
        for name in ["state.words", "state.new"] {
            let error = Soak::open(Some(&folder.path().join(name)), None, 0).err().unwrap();
            assert!(error.is::<Usage>(), "{error:#}");
        }
        // Another name's words would be those of this state.
        assert!(fault(&file.with_extension("txt")).contains("words of another state"));
        assert_eq!(Soak::open(Some(&file), None, 0).unwrap().kept, [64]);
        assert!(fault(Path::new("/dev/full")).contains("is not a file"));
    }

    #[test]
    fn a_place_that_cannot_be_written_costs_no_round() {
        let folder = tempfile::tempdir().unwrap();
        let file = soaked(folder.path(), "state.json", &[64]);
        // In the way of the file that becomes the state, also for root.
        fs::create_dir(file.with_extension("new")).unwrap();
        let fault = fault(&file);
        assert!(fault.starts_with("cannot write ") && fault.contains("state.json"), "{fault}");
    }
}
