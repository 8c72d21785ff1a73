//! The document: snake_case, times in seconds unless the name says ns, unknown = null.

use crate::json::Object;
use crate::{Facts, Host, Verdict};
use headwater::{Hardware, ReseedGeneration, Status, Vmclock, Vmgenid, WatchPage};

/// Writes the document of this process and machine, as [`write`](fn@write) does. Draws one byte
/// and reads the kernel's log, which takes milliseconds. Allocates nothing.
pub fn write_now(out: &mut dyn FnMut(&[u8])) {
    // First, so that the counters include this draw. It never waits, because the status of a
    // machine that is not seeded matters most.
    let seeded = headwater::try_fill(&mut [0]).is_ok();
    write(&Facts { status: &headwater::status(), host: &Host::read(), seeded }, out);
}

/// Writes the document `headwater.status/1` on one line, in pieces, to `out`.
pub fn write(facts: &Facts<'_>, out: &mut dyn FnMut(&[u8])) {
    let Facts { status, host, seeded } = *facts;
    let mut document = Object::open(out);
    document.text("schema", "headwater.status/1");
    document.text("version", env!("CARGO_PKG_VERSION"));
    document.text("source", status.source.name());
    guard(status, document.object("guard"));
    document.text("mode", status.mode.name());
    let requested = known(status.requested.name(), status.unknown_mode_requested);
    document.text_or_null("mode_requested", requested);
    document.truth("unknown_mode_requested", status.unknown_mode_requested);
    document.text("reason", status.reason);
    document.text("cpu_rng", status.cpu_rng.name());
    {
        let mut object = document.object("path");
        object.text("name", status.path.name());
        object.text_or_null("why", status.path.why());
    }
    document.text("cipher", status.cipher);
    pools(status, document.object("pools"));
    document.text("page", status.page.name());
    document.number_or_null("generation", status.generation.map(core::num::NonZeroU64::get));
    document.short_or_null("kernel", host.kernel);
    document.short_or_null("libc", host.libc);
    document.short_or_null("hypervisor", host.hypervisor);
    document.short_or_null("machine_vendor", host.vendor);
    document.truth("seeded", seeded);
    document.seconds_or_null("seeded_at_s", host.kmsg.seeded_at_us);
    document.number_or_null("vm_fork_reseeds", host.kmsg.vm_fork_reseeds);
    counters(status, document.object("counters"));
    let verdict = Verdict::of(facts);
    {
        let mut object = document.object("verdict");
        object.text("level", verdict.level.name());
        object.texts("text", verdict.parts());
    }
    // The command replaces it if it was asked to measure.
    document.null("speed");
}

fn known(name: &'static str, is_unknown: bool) -> Option<&'static str> {
    (!is_unknown).then_some(name)
}

fn guard(status: &Status, mut object: Object<'_>) {
    reseed_generation(status.reseed_generation, object.object("reseed_generation"));
    object
        .text_or_null("vmgenid", known(status.vmgenid.name(), status.vmgenid == Vmgenid::Unknown));
    vmclock(status.vmclock, object.object("vmclock"));
    watch_page(status.watch_page, object.object("watch_page"));
    object.text_or_null(
        "hardware",
        known(status.hardware.name(), status.hardware == Hardware::Unknown),
    );
    object.truth("fork_detection", status.fork_detection);
}

fn reseed_generation(generation: ReseedGeneration, mut object: Object<'_>) {
    let (live, candidates, why) = match generation {
        ReseedGeneration::Live { value, page, offset } => (Some((value, page, offset)), None, None),
        ReseedGeneration::Undecided { candidates } => (None, Some(candidates.into()), None),
        ReseedGeneration::Absent(why) => (None, None, Some(why)),
        _ => (None, None, None),
    };
    object.text("state", generation.name());
    object.number_or_null("value", live.map(|(value, ..)| value));
    object.number_or_null("page", live.map(|(_, page, _)| page.into()));
    object.number_or_null("offset", live.map(|(.., offset)| offset.into()));
    object.number_or_null("candidates", candidates);
    object.text_or_null("why", why);
}

fn vmclock(vmclock: Vmclock, mut object: Object<'_>) {
    let (marker, vm_generation) = match vmclock {
        Vmclock::Mapped { marker, vm_generation } => (Some(marker), vm_generation),
        _ => (None, None),
    };
    object.text("state", vmclock.name());
    object.number_or_null("disruption_marker", marker);
    object.number_or_null("vm_generation_counter", vm_generation);
}

fn watch_page(page: WatchPage, mut object: Object<'_>) {
    object.text("state", page.name());
    let WatchPage::Mapped { copies, is_alive, is_exact } = page else {
        object.null("copies");
        object.null("is_alive");
        return object.null("is_exact");
    };
    object.number("copies", copies);
    object.truth("is_alive", is_alive);
    object.truth("is_exact", is_exact);
}

fn pools(status: &Status, mut object: Object<'_>) {
    let pools = status.pools;
    object.number("slots", pools.slots);
    object.number("used", pools.used);
    object.number("taken", pools.taken);
    object.number("handles", pools.handles);
    object.number("page_bytes", pools.page_bytes);
}

fn counters(status: &Status, mut object: Object<'_>) {
    let counters = status.counters;
    object.number("refills", counters.refills);
    object.number("discarded_bytes", counters.discarded_bytes);
    object.number("retries", counters.retries);
    object.number("busy", counters.busy);
    object.number("fallbacks", counters.fallbacks);
    object.number("tripwires", counters.tripwires);
}
