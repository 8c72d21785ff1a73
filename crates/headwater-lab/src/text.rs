//! What a person at a terminal reads: a boot as a timeline, a pair of clones as a table.

use crate::boot::{Report, Rng};
use crate::clone::{Pair, Vmgenid};
use crate::criu::Images;
use crate::doctor::Examined;
use crate::matrix::Case;
use crate::situations::{Finding, Kind, Situation, name};
use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use std::fmt::Write;

/// How `--rng` and the like name a value.
pub(crate) fn word(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    table
}

fn seconds(time: f64) -> String {
    format!("{time:.3} s")
}

/// The timeline of a boot.
pub fn boot(report: &Report) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Linux {}, rng {}, clock {}",
        report.kernel,
        word(report.rng),
        word(report.clock)
    );
    if !report.append.is_empty() {
        let _ = writeln!(text, "with {}", report.append);
    }
    let mut events: Vec<(f64, String)> = Vec::new();
    events.push((report.init_s, "the first program runs".to_owned()));
    for message in &report.kmsg {
        let told =
            ["random: crng init done", "random: crng done", "random: fast init", "reseeded due to"];
        if told.iter().any(|mark| message.text.contains(mark)) {
            events.push((message.at_s, format!("kernel: {}", message.text)));
        }
    }
    for module in &report.modules {
        events.push((module.at_s, format!("module {}: {}", module.name, module.answer)));
    }
    for caller in &report.callers {
        let end = match caller.to_s {
            Some(to) => format!("waited {}", seconds(to - caller.from_s)),
            None => {
                format!("waited {} and was given up on", seconds(caller.until_s - caller.from_s))
            }
        };
        events.push((caller.from_s, format!("{} asks, {end}", caller.name)));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let _ = writeln!(text);
    for (at, event) in events {
        let _ = writeln!(text, "{at:>9.3} s  {event}");
    }
    let _ = writeln!(text);
    for asked in &report.impatient {
        let took = seconds(asked.took_s);
        let _ = writeln!(
            text,
            "without waiting, before: {} answered {} in {took}",
            asked.name, asked.answer
        );
    }
    if let Some(speed) = report.bits_per_s {
        let left = match (report.blocked_s, report.remaining_s) {
            (Some(_), _) => String::new(),
            (None, Some(left)) => format!("; the rest would have taken {left:.0} s more"),
            (None, None) => "; it would have waited for ever".to_owned(),
        };
        let count = report.interrupts;
        let _ = writeln!(
            text,
            "credited: {speed:.2} bits a second, from {} interrupts of devices among {}{left}",
            count.devices, count.all
        );
    }
    let _ = writeln!(text, "because: {}", report.cause.text);
    if !report.cause.cure.is_empty() {
        let _ = writeln!(text, "cure:    {}", report.cause.cure);
    }
    if let Some(doctor) = &report.doctor {
        let _ = write!(text, "\n{}", doctor.told());
    }
    text
}

/// A pair of clones.
pub fn pair(pair: &Pair) -> String {
    let mut text = String::new();
    let what = if pair.rollback { "rolled back" } else { "cloned" };
    let clock = if pair.vmclock { ", VMClock" } else { "" };
    let genid = match pair.vmgenid {
        Vmgenid::None => "no vmgenid".to_owned(),
        other => format!("vmgenid {}", word(other)),
    };
    let _ = writeln!(text, "Linux {}, {what}, {genid}{clock}, {} CPU", pair.kernel, pair.smp);
    let _ = writeln!(
        text,
        "{} (emulated: the host's generator answers it)\n",
        if pair.rdrand { "with a random instruction" } else { "without a random instruction" }
    );
    let mut rows = table(&["drawn from", "requests", "came twice", "last", "after the stamp"]);
    for row in &pair.rows {
        let absent = row.draws == 0;
        rows.add_row([
            name(row),
            if absent { "absent".to_owned() } else { row.draws.to_string() },
            if absent { String::new() } else { row.repeated.to_string() },
            row.last_s.map_or_else(String::new, |last| format!("{:.1} ms", last * 1e3)),
            if row.after_stamp > 0 { row.after_stamp.to_string() } else { String::new() },
        ]);
    }
    let _ = writeln!(text, "{rows}\n");
    for armed in &pair.armed {
        let after = armed.after.join(" and ");
        let _ = writeln!(
            text,
            "{} served {}, in the clones {after}: {}",
            armed.asked, armed.before, armed.reason
        );
    }
    let reseeds: Vec<String> = pair
        .fork_reseeds
        .iter()
        .map(|at| at.map_or_else(|| "never".to_owned(), |at| format!("after {:.1} ms", at * 1e3)))
        .collect();
    let _ = writeln!(
        text,
        "the kernels said that they reseeded because of it: {}",
        reseeds.join(" and ")
    );
    if let Some(watched) = pair.watched_s {
        let ends: Vec<String> = ["syscall", "vdso", "openssl", "rand"]
            .iter()
            .map(|witness| format!("{witness} {}", until(pair, witness)))
            .collect();
        let _ = writeln!(text, "watched for {watched:.2} s; the last repeat: {}", ends.join(", "));
    }
    let _ = writeln!(
        text,
        "{} of {} threads ran in both; each may have had one request in flight, which belongs to the snapshot",
        pair.threads_compared, pair.threads
    );
    text
}

/// When the last of a witness's repeats began, in words: after the resume, or not before the end of the watch.
fn until(pair: &Pair, witness: &str) -> String {
    let last = pair.rows.iter().find(|row| row.witness == witness).and_then(|row| row.last_s);
    let Some((last, watched)) = last.zip(pair.watched_s) else { return "-".to_owned() };
    // A thread that draws now and then, or whose draws others shift, is not seen to repeat up to the very end.
    if last > 0.9 * watched { format!("> {watched:.2} s") } else { format!("{last:.2} s") }
}

/// The table of situations, as SECURITY.md quotes it: what came twice, of how many.
pub fn situations(pairs: &[(Situation, Pair)]) -> String {
    let mut rows = table(&[
        "situation",
        "kernel",
        "system call",
        "until",
        "vDSO",
        "OpenSSL",
        "rand",
        "auto",
        "it chose",
        "hedged",
        "strict",
        "buffered",
        "OpenSSL by auto",
        "by hedged",
    ]);
    for (situation, pair) in pairs {
        let cell = |witnesses: &[&str], mode: Option<&str>| {
            let rows = pair.rows.iter().filter(|row| {
                row.mode.as_deref() == mode && witnesses.contains(&row.witness.as_str())
            });
            let (draws, repeated) = rows.fold((0, 0), |(draws, repeated), row| {
                (draws + row.draws, repeated + row.repeated)
            });
            if draws == 0 { "-".to_owned() } else { format!("{repeated} of {draws}") }
        };
        let ours = |mode| cell(&["headwater", "headwater-rng", "headwater-large"], Some(mode));
        let provider = |mode| cell(&["headwater-openssl"], Some(mode));
        let auto = pair.armed.iter().find(|armed| armed.asked == "auto");
        rows.add_row([
            situation.title.to_owned(),
            pair.kernel.split(['-', '+']).next().unwrap_or_default().to_owned(),
            cell(&["syscall"], None),
            until(pair, "syscall"),
            cell(&["vdso"], None),
            cell(&["openssl"], None),
            cell(&["rand"], None),
            ours("auto"),
            auto.map_or_else(String::new, |armed| armed.before.clone()),
            ours("hedged"),
            ours("strict"),
            ours("buffered"),
            provider("auto"),
            provider("hedged"),
        ]);
    }
    format!("{rows}\n")
}

/// The matrix of boots: seconds that getrandom(2) blocked.
pub fn matrix(cases: &[(Case, Report)]) -> String {
    let mut rows = table(&["case", "kernel", "blocked", "expected", "because", "the doctor"]);
    for (case, report) in cases {
        rows.add_row([
            case.title.to_owned(),
            report.kernel.split(['-', '+']).next().unwrap_or_default().to_owned(),
            report.blocked_s.map_or_else(
                || format!("> {} s", report.limit_s),
                |blocked| format!("{blocked:.2} s"),
            ),
            case.expected.name().to_owned(),
            report.cause.id.to_owned(),
            report.doctor.as_ref().map_or_else(String::new, Examined::brief),
        ]);
    }
    format!("{rows}\n")
}

/// Processes that were restored twice: what came twice, of how many.
pub fn images(images: &[Images]) -> String {
    let names = images
        .first()
        .map_or(Vec::new(), |first| first.rows.iter().map(|row| row.witness.as_str()).collect());
    let mut rows =
        table(&[&["CRIU", "droppable", "asked", "served", "quiesced"], names.as_slice()].concat());
    for made in images {
        let counts = made.rows.iter().map(|row| match row.draws {
            0 => "-".to_owned(),
            draws => format!("{} of {draws}", row.repeated),
        });
        let quiesced = if made.quiesced { "yes" } else { "no" };
        rows.add_row(
            [
                made.criu.clone(),
                made.droppable.clone(),
                made.asked.clone(),
                made.served.clone(),
                quiesced.to_owned(),
            ]
            .into_iter()
            .chain(counts),
        );
    }
    let of = images
        .first()
        .map_or(String::new(), |first| format!("Linux {}; {}\n\n", first.kernel, first.libc));
    format!("{of}{rows}\n")
}

/// Findings, loudly; nothing if there are none.
pub fn findings(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let kind = match finding.kind {
            Kind::Broken => "BROKEN",
            Kind::NotShown => "NOT SHOWN",
        };
        format!("{kind}: {}: {}\n", finding.situation, finding.text)
    };
    findings.iter().map(line).collect()
}

/// One line while the lab works.
pub(crate) fn brief(report: &Report) -> String {
    let blocked = report.blocked_s.map_or_else(
        || format!("blocked > {} s", report.limit_s),
        |it| format!("blocked {it:.3} s"),
    );
    let again = if report.retries > 0 { ", booted again after a panic" } else { "" };
    let seed =
        if report.rng == Rng::None { String::new() } else { format!(", {}", word(report.rng)) };
    format!("{}{seed}: {blocked}{again} ({:.1} s)", report.kernel, report.wall_s)
}
