//! The result of a run as data: `--json`, the table, the map and the page print this document.

use crate::classify::Suspects;
use crate::extent::{Extent, ExtentKind};
use crate::pattern::Pattern;
use crate::target::Target;
use crate::verify::Found;
use crate::write::End;
use serde::Serialize;

/// The name and version of the layout.
pub(crate) const SCHEMA: &str = "headwater.stream-verify/1";

/// The result of `headwater stream verify`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document {
    /// The name and version of this layout.
    pub schema: &'static str,
    /// Name of the engine.
    pub engine: String,
    /// Number of the stream.
    pub substream: u64,
    /// The worst verdict of all targets.
    pub verdict: Verdict,
    /// One report a target, in the order of the command line.
    pub targets: Vec<TargetReport>,
}

/// The verdict on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every byte is the pattern's.
    Intact,
    /// No wrong byte was found before the run was stopped.
    Stopped,
    /// Parts could not be read; the others are the pattern's.
    Unread,
    /// At least one extent is wrong.
    Wrong,
}

impl Verdict {
    /// Returns the verdict as a word for a table.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Intact => "intact",
            Verdict::Stopped => "stopped",
            Verdict::Unread => "unread",
            Verdict::Wrong => "wrong",
        }
    }
}

/// The result for one target.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TargetReport {
    /// Path as typed.
    pub path: String,
    /// Model of a device.
    pub model: Option<String>,
    /// Serial number of a device.
    pub serial: Option<String>,
    /// Size at the beginning, unless the target could not be opened.
    pub size: Option<u64>,
    /// Offset of the first byte verified.
    pub from: u64,
    /// Offset after the last byte to verify.
    pub to: u64,
    /// Offset up to which every byte was read; below `to` if the run was stopped.
    pub verified_to: u64,
    /// Duration of the run.
    pub seconds: f64,
    /// Bytes read in a second.
    pub bytes_per_second: Option<f64>,
    /// The data passed the page cache by.
    pub direct: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Bytes of all wrong, unreadable and missing extents.
    pub wrong_bytes: u64,
    /// Extents and bytes by kind.
    pub counts: Counts,
    /// The extents by offset.
    pub extents: Vec<ExtentReport>,
    /// Number of further extents, which are only counted.
    pub extents_left_out: u64,
    /// Size of a file that became shorter during the run.
    pub shrank_to: Option<u64>,
    /// Reason why the target could not be read.
    pub error: Option<String>,
    /// The extents as they were found, for the map.
    #[serde(skip)]
    pub(crate) found: Vec<Extent>,
}

/// Extents and bytes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(missing_docs)] // the kinds, as `ExtentKind` documents them
pub struct Counts {
    pub zeros: Tally,
    pub elsewhere: Tally,
    pub older: Tally,
    pub flipped_bit: Tally,
    pub other: Tally,
    pub unreadable: Tally,
    pub missing: Tally,
}

/// Extents of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tally {
    /// Number of extents.
    pub extents: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// One wrong extent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExtentReport {
    /// Offset of the first wrong byte.
    pub from: u64,
    /// Offset after the last wrong byte.
    pub to: u64,
    /// `zeros`, `elsewhere`, `older`, `flipped_bit`, `other`, `unreadable` or `missing`.
    pub kind: &'static str,
    /// The offset that the extent's first byte belongs to.
    pub place: Option<u64>,
    /// Number of the stream that the bytes belong to.
    pub substream: Option<u64>,
    /// Which of the older seeds, from 0 on.
    pub was: Option<usize>,
    /// The older seed, older pass or other target that the bytes belong to.
    pub of: Option<String>,
    /// The flipped bit of the byte, 0 the lowest.
    pub bit: Option<u8>,
}

impl ExtentReport {
    fn new(extent: &Extent, suspects: &Suspects) -> ExtentReport {
        let place = |shift| Some(extent.from.wrapping_add_signed(shift));
        let (place, substream, suspect, bit) = match extent.kind {
            ExtentKind::Elsewhere { shift, substream } => {
                (place(shift), Some(substream), None, None)
            }
            ExtentKind::Older { which, shift, substream }
            | ExtentKind::OtherTarget { which, shift, substream } => {
                (place(shift), Some(substream), suspects.others.get(which), None)
            }
            ExtentKind::FlippedBit { bit } => (None, None, None, Some(bit)),
            _ => (None, None, None, None),
        };
        let kind = name(extent.kind);
        let was = suspect.and_then(|suspect| suspect.was);
        let of = suspect.map(|suspect| suspect.name.clone());
        ExtentReport { from: extent.from, to: extent.to, kind, place, substream, was, of, bit }
    }
}

/// Returns the name of a kind in the document.
pub(crate) fn name(kind: ExtentKind) -> &'static str {
    NAMES[kind.index()]
}

/// The names of the kinds, in the order of [`ExtentKind::index`].
pub(crate) const NAMES: [&str; ExtentKind::COUNT] =
    ["zeros", "elsewhere", "older", "flipped_bit", "other", "unreadable", "missing"];

impl Counts {
    fn new(extents: &[Extent], uncounted: &[(u64, u64); ExtentKind::COUNT]) -> Counts {
        let mut tallies = [Tally::default(); ExtentKind::COUNT];
        for (tally, (extents, bytes)) in tallies.iter_mut().zip(uncounted) {
            *tally = Tally { extents: *extents, bytes: *bytes };
        }
        for extent in extents {
            let tally = &mut tallies[extent.kind.index()];
            tally.extents += 1;
            tally.bytes += extent.bytes();
        }
        let [zeros, elsewhere, older, flipped_bit, other, unreadable, missing] = tallies;
        Counts { zeros, elsewhere, older, flipped_bit, other, unreadable, missing }
    }

    /// Returns the tallies in the order of [`NAMES`].
    pub(crate) fn all(&self) -> [Tally; ExtentKind::COUNT] {
        [
            self.zeros,
            self.elsewhere,
            self.older,
            self.flipped_bit,
            self.other,
            self.unreadable,
            self.missing,
        ]
    }
}

impl TargetReport {
    /// Describes a verification.
    pub fn new(
        target: &Target,
        suspects: &Suspects,
        (from, to): (u64, u64),
        found: Found,
        seconds: f64,
    ) -> TargetReport {
        let counts = Counts::new(&found.extents, &found.uncounted);
        let all = counts.all();
        let verified_to = match found.end {
            End::Complete => to,
            End::Stopped(done) => done,
        };
        let wrong: u64 = all.iter().map(|tally| tally.extents).sum();
        let verdict = match found.end {
            _ if wrong > counts.unreadable.extents => Verdict::Wrong,
            _ if wrong > 0 => Verdict::Unread,
            End::Stopped(_) => Verdict::Stopped,
            End::Complete => Verdict::Intact,
        };
        TargetReport {
            path: target.path.display().to_string(),
            model: target.identity.model.clone(),
            serial: target.identity.serial.clone(),
            size: Some(target.size),
            from,
            to,
            verified_to,
            seconds,
            bytes_per_second: rate(verified_to - from, seconds),
            direct: target.is_direct(),
            verdict,
            wrong_bytes: all.iter().map(|tally| tally.bytes).sum(),
            counts,
            extents: found.extents.iter().map(|one| ExtentReport::new(one, suspects)).collect(),
            extents_left_out: found.uncounted.iter().map(|(extents, _)| extents).sum(),
            shrank_to: found.shrank_to,
            error: None,
            found: found.extents,
        }
    }

    /// Describes a target that could not be opened or whose device went away.
    pub fn unread(path: String, error: String) -> TargetReport {
        TargetReport {
            path,
            model: None,
            serial: None,
            size: None,
            from: 0,
            to: 0,
            verified_to: 0,
            seconds: 0.0,
            bytes_per_second: None,
            direct: false,
            verdict: Verdict::Unread,
            wrong_bytes: 0,
            counts: Counts::default(),
            extents: Vec::new(),
            extents_left_out: 0,
            shrank_to: None,
            error: Some(error),
            found: Vec::new(),
        }
    }
}

/// Returns bytes a second; a run without bytes or duration has no rate.
pub(crate) fn rate(bytes: u64, seconds: f64) -> Option<f64> {
    (bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds)
}

impl Document {
    /// Joins the reports of all targets.
    pub fn new(pattern: &Pattern, targets: Vec<TargetReport>) -> Document {
        let verdicts = targets.iter().map(|target| target.verdict);
        Document {
            schema: SCHEMA,
            engine: pattern.stream.key().engine().to_string(),
            substream: pattern.stream.id(),
            verdict: verdicts.max().unwrap_or(Verdict::Intact),
            targets,
        }
    }
}

/// The name and version of the layout of [`Written`].
pub(crate) const WRITE_SCHEMA: &str = "headwater.stream-write/1";

/// The result of `headwater stream write`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Written {
    /// The name and version of this layout.
    pub schema: &'static str,
    /// Name of the engine.
    pub engine: String,
    /// Number of the stream.
    pub substream: u64,
    /// One report a target, in the order of the command line.
    pub targets: Vec<WrittenTarget>,
}

/// The result of writing one target, as data.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenTarget {
    /// Path as typed.
    pub path: String,
    /// Model of a device.
    pub model: Option<String>,
    /// Serial number of a device.
    pub serial: Option<String>,
    /// Offset of the first byte of this run.
    pub from: u64,
    /// Offset after the last byte to write.
    pub to: u64,
    /// Offset up to which every byte is durable; null after an error, which claims nothing.
    pub durable_to: Option<u64>,
    /// Duration of the run.
    pub seconds: f64,
    /// Bytes written in a second.
    pub bytes_per_second: Option<f64>,
    /// The data passed the page cache by.
    pub direct: bool,
    /// `complete`, `stopped` or `failed`.
    pub result: &'static str,
    /// Reason of the failure.
    pub error: Option<String>,
}

impl Written {
    /// Joins the results of all targets.
    pub fn new(pattern: &Pattern, results: &[Writing]) -> Written {
        Written {
            schema: WRITE_SCHEMA,
            engine: pattern.stream.key().engine().to_string(),
            substream: pattern.stream.id(),
            targets: results.iter().map(WrittenTarget::new).collect(),
        }
    }
}

impl WrittenTarget {
    fn new(one: &Writing) -> WrittenTarget {
        let (result, error) = match &one.end {
            Ok(End::Complete) => ("complete", None),
            Ok(End::Stopped(_)) => ("stopped", None),
            Err(error) => ("failed", Some(error.clone())),
        };
        WrittenTarget {
            path: one.path.clone(),
            model: one.model.clone(),
            serial: one.serial.clone(),
            from: one.from,
            to: one.to,
            durable_to: error.is_none().then(|| one.from + one.written),
            seconds: one.seconds,
            bytes_per_second: rate(one.written, one.seconds),
            direct: one.direct,
            result,
            error,
        }
    }
}

/// The result of writing one target, for the table.
#[derive(Clone, Debug)]
pub struct Writing {
    /// Path as typed.
    pub path: String,
    /// Model of a device.
    pub model: Option<String>,
    /// Serial number of a device.
    pub serial: Option<String>,
    /// Offset of the first byte.
    pub from: u64,
    /// Offset after the last byte.
    pub to: u64,
    /// Bytes that this run has written.
    pub written: u64,
    /// Duration of the run.
    pub seconds: f64,
    /// The data passed the page cache by.
    pub direct: bool,
    /// The way in which the run ended, or the reason why it failed.
    pub end: Result<End, String>,
}
