//! The status screen as text. A pure function of the facts, so that snapshots can test it.

mod evidence;
mod layout;

use crate::facts::{Facts, SIZES, Speed};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};
use headwater_status::{Level, Text};
use headwater_text::number::grouped;
use layout::{INDENT, Screen, Tone, WIDTH};

/// Returns the screen with colours, at most 100 columns wide.
pub(crate) fn render(facts: &Facts) -> String {
    let mut screen = Screen::new(concat!("headwater ", env!("CARGO_PKG_VERSION")));
    guards(&mut screen, facts);
    machine(&mut screen, facts);
    counters(&mut screen, facts);
    sample(&mut screen, facts);
    speed_table(&mut screen, facts);
    verdict(&mut screen, facts);
    screen.into_text()
}

fn guards(screen: &mut Screen, facts: &Facts) {
    let status = &facts.status;
    screen.heading("Status", "");
    for row in evidence::of(status) {
        screen.row(row.label, row.value, row.tone, &row.note);
    }
    let pools = status.pools;
    screen.row("cipher", status.cipher, Tone::Plain, "");
    screen.row(
        "pools",
        &format!("{} slots", grouped(pools.slots.into())),
        Tone::Plain,
        &format!(
            "used {}, handles {}, {} bytes a page",
            grouped(pools.used.into()),
            grouped(pools.handles.into()),
            grouped(pools.page_bytes.into()),
        ),
    );
}

fn machine(screen: &mut Screen, facts: &Facts) {
    let host = &facts.host;
    let or_unknown =
        |text: Option<Text>| text.map_or_else(|| "unknown".to_string(), |text| text.to_string());
    screen.heading("Machine", "");
    screen.row("kernel", &or_unknown(host.kernel), Tone::Plain, "");
    screen.row("libc", &or_unknown(host.libc), Tone::Plain, "");
    let maker = host.vendor.as_ref();
    let maker = maker.map_or_else(String::new, |maker| format!("machine by {maker}"));
    let hypervisor = or_unknown(host.hypervisor);
    screen.row("hypervisor", &hypervisor, Tone::Plain, &maker);
    if facts.seeded() {
        screen.row("seeded", "yes", Tone::Good, &evidence::seeded(host.kmsg));
    } else {
        screen.row("seeded", "no", Tone::Wrong, "the kernel is still gathering entropy");
    }
}

fn counters(screen: &mut Screen, facts: &Facts) {
    let counters = facts.status.counters;
    screen.heading("Counters", "of this process");
    let tripped = if counters.tripwires > 0 { Tone::Wrong } else { Tone::Plain };
    screen.pairs(&[
        ("refills", counters.refills, Tone::Plain),
        ("discarded bytes", counters.discarded_bytes, Tone::Plain),
        ("retries", counters.retries, Tone::Plain),
        ("busy", counters.busy, Tone::Plain),
        ("fallbacks", counters.fallbacks, Tone::Plain),
        ("tripwires", counters.tripwires, tripped),
    ]);
}

fn sample(screen: &mut Screen, facts: &Facts) {
    if let Some(sample) = &facts.sample {
        screen.heading("Sample", "a demonstration: do not use these bytes");
        let words: Vec<String> = sample.chunks(4).map(hex).collect();
        screen.line(&words.join(" "));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Width of a column of nanoseconds, wide enough to separate short numbers.
const NUMBER: u16 = 11;

fn speed_table(screen: &mut Screen, facts: &Facts) {
    let Some(speed) = &facts.speed else {
        return;
    };
    screen.heading(
        "Speed",
        "ns per call in one thread, roughly; `headwater bench` measures precisely",
    );
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width((WIDTH - INDENT.len()) as u16);
    let sizes = SIZES.map(|size| match size {
        1024.. => format!("{} KiB", size / 1024),
        _ => format!("{size} B"),
    });
    let empty = [String::new(), String::new()];
    table.add_row(empty.into_iter().chain(sizes));
    for row in speed {
        let name = evidence::implementation(row.implementation).to_string();
        let version = foreign_version(row, facts).to_string();
        let ns = row.ns.iter().map(|ns| ns.map_or_else(|| "-".to_string(), nanoseconds));
        table.add_row([name, version].into_iter().chain(ns));
    }
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if number >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(NUMBER)));
        }
    }
    for (number, line) in table.lines().enumerate() {
        match number {
            0 => screen.dim(line.trim_end()),
            1 => screen.bold(line.trim_end()), // headwater comes first
            _ => screen.line(line.trim_end()),
        }
    }
}

/// Returns the version of a library, or "" if the screen shows the version already.
fn foreign_version<'a>(row: &'a Speed, facts: &Facts) -> &'a str {
    let known = [Some(env!("CARGO_PKG_VERSION")), facts.host.kernel.as_deref()];
    match row.version.as_deref() {
        version if known.contains(&version) => "",
        version => version.unwrap_or_default(),
    }
}

/// Formats with about three digits, the precision of a half-second measurement.
fn nanoseconds(ns: f64) -> String {
    if ns < 99.95 { format!("{ns:.1}") } else { grouped(ns.round() as u64) }
}

fn verdict(screen: &mut Screen, facts: &Facts) {
    let verdict = facts.verdict();
    let (word, tone) = match verdict.level {
        Level::Good => ("Good:", Tone::Good),
        Level::Weaker => ("Weaker:", Tone::Weak),
        Level::Wrong => ("Wrong:", Tone::Wrong),
    };
    screen.paragraph(word, tone, &format!("{verdict}."));
}
