//! schema/status.json is the JSON schema of `headwater.status/1`, made from the types below.
//!
//! The writer of the document has no standard library, so it cannot derive a schema. These types
//! mirror the document instead, and a mirror may be wrong. So a real document must survive the way
//! into them and back unchanged, which shows that the schema lists every member, and each with its
//! type.
//!
//! `SNAPSHOTS=overwrite cargo test -p headwater-status` writes the schema anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use snapbox::{assert_data_eq, file};
use std::collections::BTreeSet;

/// Declares an object of the document. `serde` refuses members that the type lacks, and the round
/// trip in [`assert_described`] refuses members that the document lacks.
macro_rules! objects {
    ($($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $about:literal])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[doc = $doc])+
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(deny_unknown_fields)]
        struct $name { $($(#[doc = $about])* #[schemars(required)] $field: $kind,)* }
    )*};
}

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $name:ident { $($value:ident = $text:literal,)* })*) => {$(
        $(#[doc = $doc])+
        #[derive(Serialize, Deserialize, JsonSchema)]
        enum $name { $(#[serde(rename = $text)] $value,)* }
    )*};
}

objects! {
    /// The status of a process and its machine. Unknown values are null.
    Document {
        schema: Schema,
        /// Version of headwater.
        version: String,
        source: Source,
        guard: Guard,
        mode: Mode,
        /// Null if HEADWATER_MODE has an unknown value.
        mode_requested: Option<RequestedMode>,
        unknown_mode_requested: bool,
        /// Reason of the mode, for human readers.
        reason: String,
        cpu_rng: CpuRng,
        path: Path,
        /// Name of the cipher and its backend.
        cipher: String,
        pools: Pools,
        page: Page,
        /// Change counter: differs after each detected reseed, clone, restore or fork.
        generation: Option<u64>,
        /// Release of the kernel.
        kernel: Option<String>,
        /// C library with its version.
        libc: Option<String>,
        /// Hypervisor, or "none".
        hypervisor: Option<String>,
        machine_vendor: Option<String>,
        /// True if the kernel's generator is seeded.
        seeded: bool,
        /// Time after boot at which it was seeded.
        seeded_at_s: Option<f64>,
        /// Reseeds for clones or restores of the VM.
        vm_fork_reseeds: Option<u64>,
        counters: Counters,
        verdict: Verdict,
        /// Null unless measured by `headwater status --json --speed`.
        speed: Option<Vec<Speed>>,
    }
    /// Detectors of reseeds, clones and forks.
    Guard {
        reseed_generation: ReseedGeneration,
        vmgenid: Option<Vmgenid>,
        vmclock: Vmclock,
        watch_page: WatchPage,
        hardware: Option<Hardware>,
        fork_detection: bool,
    }
    /// The kernel's reseed generation, in the vDSO's data.
    ReseedGeneration {
        state: GenerationState,
        value: Option<u64>,
        /// Page of [vvar].
        page: Option<u64>,
        /// Offset in the page.
        offset: Option<u64>,
        /// Number of places that look alike until the next reseed.
        candidates: Option<u64>,
        /// Reason of its absence, for human readers.
        why: Option<String>,
    }
    /// The page of `headwater clones watch`.
    WatchPage {
        state: WatchPageState,
        /// Copies that were counted, and starts of the watcher.
        copies: Option<u64>,
        /// The watcher runs.
        is_alive: Option<bool>,
        /// The watcher hears of each copy from the kernel or the hypervisor.
        is_exact: Option<bool>,
    }
    /// The VMClock page of the hypervisor.
    Vmclock {
        state: VmclockState,
        disruption_marker: Option<u64>,
        vm_generation_counter: Option<u64>,
    }
    /// The way by which small requests reach buffered bytes.
    Path {
        name: PathName,
        /// Reason against restartable sequences, for human readers.
        why: Option<String>,
    }
    /// Size and use of the pools.
    Pools {
        slots: u64,
        used: u64,
        taken: u64,
        handles: u64,
        page_bytes: u64,
    }
    /// Events of this process.
    Counters {
        refills: u64,
        discarded_bytes: u64,
        retries: u64,
        busy: u64,
        fallbacks: u64,
        tripwires: u64,
    }
    /// Rating of the status.
    Verdict {
        level: Level,
        /// One sentence for human readers.
        text: String,
    }
    /// Time of one implementation at one length.
    Speed {
        r#impl: String,
        version: Option<String>,
        len: u64,
        ns_per_call: Option<f64>,
    }
}

names! {
    /// Name and version of the schema.
    Schema { One = "headwater.status/1", }
    /// Source of key material.
    Source {
        Vdso = "vdso", Getrandom = "getrandom", Urandom = "urandom", Other = "other", None = "none",
    }
    /// Mode in use.
    Mode { Buffered = "buffered", Hedged = "hedged", Strict = "strict", Kernel = "kernel", }
    /// Mode requested by HEADWATER_MODE.
    RequestedMode {
        Auto = "auto", Buffered = "buffered", Hedged = "hedged", Strict = "strict",
        Kernel = "kernel",
    }
    /// State of the CPU's random instruction.
    CpuRng {
        Good = "good", Absent = "absent", Broken = "broken", Slow = "slow",
        NotAsked = "not_asked",
    }
    /// Names of paths.
    PathName {
        Sections = "restartable_sequences", Slots = "locked_slots", Unbuffered = "unbuffered",
    }
    /// Memory of the pages.
    Page {
        Droppable = "droppable", Locked = "wipe_on_fork_locked", Unlocked = "wipe_on_fork",
        None = "none",
    }
    /// State of the kernel's vmgenid driver.
    Vmgenid { Bound = "bound", NotBound = "not_bound", NotAsked = "not_asked", }
    /// Kind of machine.
    Hardware { BareMetal = "bare_metal", Virtual = "virtual", NotAsked = "not_asked", }
    /// State of the kernel's reseed generation.
    GenerationState {
        Live = "live", Undecided = "undecided", Retired = "retired", Quiesced = "quiesced",
        Absent = "absent",
    }
    /// State of the VMClock mapping.
    VmclockState {
        Mapped = "mapped", Absent = "absent", Unreadable = "unreadable", Invalid = "invalid",
        Slow = "slow", Off = "off", Quiesced = "quiesced",
    }
    /// State of the watcher's page.
    WatchPageState {
        Mapped = "mapped", Absent = "absent", Refused = "refused", Off = "off",
        Quiesced = "quiesced",
    }
    /// Levels of the verdict.
    Level { Good = "good", Weaker = "weaker", Wrong = "wrong", }
}

#[test]
fn the_schema_is_made_from_these_types() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Document)).unwrap();
    assert_data_eq!(schema + "\n", file!["../schema/status.json"].raw());
}

/// Reads the document into the types and writes it again.
#[track_caller]
fn assert_described(document: &Value) {
    let mirror: Document = serde_json::from_value(document.clone()).expect("a known document");
    assert_eq!(&serde_json::to_value(mirror).unwrap(), document, "a member is missing");
}

/// Returns the document of this process.
fn document() -> Value {
    let mut text = Vec::new();
    headwater_status::write_now(&mut |piece| text.extend_from_slice(piece));
    serde_json::from_slice(&text).expect("the document is JSON")
}

#[test]
fn the_document_of_this_machine_fits_the_schema() {
    assert_described(&document());
}

/// Adds the names of all members, at any depth.
fn names<'a>(value: &'a Value, into: &mut BTreeSet<&'a str>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        into.insert(name);
        names(value, into);
    }
}

/// `Status` may grow without a version, so the writer cannot take it apart by a pattern that the
/// compiler checks, and the types above mirror the document alone. Debug prints every field, a
/// new one included.
#[test]
fn every_field_of_the_status_is_a_member() {
    let status = format!("{:#?}", headwater::status());
    let fields = status.lines().filter_map(|line| line.trim_start().split_once(": "));
    let renamed = |field| match field {
        "requested" => "mode_requested",
        "marker" => "disruption_marker",
        "vm_generation" => "vm_generation_counter",
        field => field,
    };
    let fields: BTreeSet<&str> = fields.map(|(field, _)| renamed(field)).collect();
    assert!(fields.contains("fork_detection") && fields.contains("tripwires"), "{status}");
    let document = document();
    let mut members = BTreeSet::new();
    names(&document, &mut members);
    let missing: Vec<_> = fields.difference(&members).collect();
    assert!(missing.is_empty(), "core/status writes no member of: {missing:?}");
}

/// The command's snapshots hold states that few machines have.
#[test]
fn the_documents_of_the_command_fit_the_schema() {
    for text in [
        include_str!("../../../fronts/cli/tests/snapshots/healthy_vm.json"),
        include_str!("../../../fronts/cli/tests/snapshots/kernel_mode.json"),
    ] {
        assert_described(&serde_json::from_str(text).unwrap());
    }
}

#[test]
#[should_panic(expected = "a known document")]
fn an_unknown_member_is_refused() {
    let mut document = document();
    document["guard"]["new"] = Value::Null;
    assert_described(&document);
}

#[test]
#[should_panic(expected = "a member is missing")]
fn a_missing_member_is_refused() {
    let mut document = document();
    document.as_object_mut().unwrap().remove("speed");
    assert_described(&document);
}
