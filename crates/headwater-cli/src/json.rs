//! `headwater status --json`: snake_case, times in seconds unless the name says ns, unknown = null.

use crate::facts::{Facts, SIZES, Speed};
use crate::verdict::Verdict;
use headwater::{Hardware, Vmclock, Vmgenid, Word};
use serde_json::{Value, json};

pub(crate) fn document(facts: &Facts) -> Value {
    let Facts { status, host, .. } = facts;
    let verdict = Verdict::of(facts);
    json!({
        "schema": "headwater.status/1",
        "version": env!("CARGO_PKG_VERSION"),
        "source": status.source.name(),
        "guard": {
            "word": word(status.word),
            "vmgenid": known(status.vmgenid.name(), status.vmgenid == Vmgenid::Unknown),
            "vmclock": vmclock(status.vmclock),
            "hardware": known(status.hardware.name(), status.hardware == Hardware::Unknown),
            "fork_detection": status.fork_detection,
        },
        "mode": status.mode.name(),
        "mode_requested": known(status.requested.name(), status.unknown_mode_requested),
        "unknown_mode_requested": status.unknown_mode_requested,
        "reason": status.reason,
        "cpu_rng": status.cpu_rng.name(),
        "cipher": status.cipher,
        "pools": {
            "slots": status.pools.slots,
            "used": status.pools.used,
            "taken": status.pools.taken,
            "handles": status.pools.handles,
            "page_bytes": status.pools.page_bytes,
        },
        "page": status.page.name(),
        "generation": status.generation,
        "kernel": host.kernel,
        "libc": host.libc,
        "hypervisor": host.hypervisor,
        "machine_vendor": host.vendor,
        "seeded": facts.seeded(),
        "seeded_at_s": host.kmsg.seeded_at_s,
        "vm_fork_reseeds": host.kmsg.vm_fork_reseeds,
        "counters": {
            "refills": status.counters.refills,
            "discarded_bytes": status.counters.discarded_bytes,
            "retries": status.counters.retries,
            "busy": status.counters.busy,
            "fallbacks": status.counters.fallbacks,
            "tripwires": status.counters.tripwires,
        },
        "verdict": { "level": verdict.level.name(), "text": verdict.text },
        "speed": facts.speed.as_deref().map(speed),
    })
}

fn known(name: &'static str, is_unknown: bool) -> Option<&'static str> {
    (!is_unknown).then_some(name)
}

fn word(word: Word) -> Value {
    let mut value = json!({
        "state": word.name(),
        "value": null,
        "page": null,
        "offset": null,
        "candidates": null,
        "why": null,
    });
    match word {
        Word::Live { value: now, page, offset } => {
            value["value"] = json!(now);
            value["page"] = json!(page);
            value["offset"] = json!(offset);
        }
        Word::Undecided { candidates } => value["candidates"] = json!(candidates),
        Word::Absent(why) => value["why"] = json!(why),
        _ => {}
    }
    value
}

fn vmclock(vmclock: Vmclock) -> Value {
    let (marker, vm_generation) = match vmclock {
        Vmclock::Mapped { marker, vm_generation } => (Some(marker), vm_generation),
        _ => (None, None),
    };
    json!({
        "state": vmclock.name(),
        "disruption_marker": marker,
        "vm_generation_counter": vm_generation,
    })
}

/// One row for each implementation and length, as in `headwater bench --json`.
fn speed(table: &[Speed]) -> Vec<Value> {
    let rows = table.iter().flat_map(|speed| {
        SIZES.iter().zip(&speed.ns).map(|(len, ns)| {
            json!({
                "impl": speed.implementation,
                "version": speed.version,
                "len": len,
                "ns_per_call": ns,
            })
        })
    });
    rows.collect()
}
