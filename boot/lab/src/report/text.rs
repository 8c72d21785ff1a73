//! Reports for a terminal: a boot as a timeline, a pair of clones as a table.

use crate::judge::boot::BootReport;
use crate::judge::doctor::DoctorResults;
use crate::judge::finding::{Finding, FindingKind};
use crate::judge::image::RestoredImages;
use crate::judge::nodes::NodesReport;
use crate::judge::pair::{ClonePair, ModeStatus};
use crate::judge::sections::SectionsReport;
use crate::plan::{Rng, Vmgenid, name};
use crate::scenario::matrix::BootCase;
use crate::scenario::situations::{Situation, name as witness_name};
use comfy_table::{ContentArrangement, Table, presets};
use headwater_text::number::grouped;
use std::fmt::Write;

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    table
}

fn seconds(time: f64) -> String {
    format!("{time:.3} s")
}

/// Returns the timeline of a boot.
pub fn boot(report: &BootReport) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Linux {}, rng {}, clock {}",
        report.kernel,
        name(report.rng),
        name(report.clock)
    );
    if !report.append.is_empty() {
        let _ = writeln!(text, "with {}", report.append);
    }
    let mut events: Vec<(f64, String)> = Vec::new();
    events.push((report.init_s, "the first program runs".to_owned()));
    for message in &report.kmsg {
        const EVENTS: [&str; 4] =
            ["random: crng init done", "random: crng done", "random: fast init", "reseeded due to"];
        if EVENTS.iter().any(|mark| message.text.contains(mark)) {
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
                format!("still waiting after {}", seconds(caller.until_s - caller.from_s))
            }
        };
        events.push((caller.from_s, format!("{} asked, {end}", caller.name)));
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
            "before that, without waiting: {} answered {} in {took}",
            asked.name, asked.answer
        );
    }
    if let Some(speed) = report.bits_per_s {
        let left = match (report.blocked_s, report.remaining_s) {
            (Some(_), _) => String::new(),
            (None, Some(left)) => format!("; the rest would have taken {left:.0} s more"),
            (None, None) => "; the wait would not have ended".to_owned(),
        };
        let count = report.interrupts;
        let _ = writeln!(
            text,
            "credited: {speed:.2} bits a second, from {} interrupts of devices among {}{left}",
            count.devices, count.all
        );
    }
    let _ = writeln!(text, "reason: {}", report.cause.text);
    if !report.cause.fix.is_empty() {
        let _ = writeln!(text, "fix:    {}", report.cause.fix);
    }
    if let Some(doctor) = &report.doctor {
        let _ = write!(text, "\n{}", doctor.text());
    }
    text
}

/// Returns the table of a pair of clones.
pub fn pair(pair: &ClonePair) -> String {
    let mut text = String::new();
    let event = match (pair.rollback, pair.hibernated) {
        (true, _) => "rolled back",
        (_, true) => "hibernated",
        _ => "cloned",
    };
    let clock = if pair.vmclock { ", VMClock" } else { "" };
    let genid = match pair.vmgenid {
        Vmgenid::None => "no vmgenid".to_owned(),
        other => format!("vmgenid {}", name(other)),
    };
    let _ = writeln!(text, "Linux {}, {event}, {genid}{clock}, {} CPU", pair.kernel, pair.smp);
    let _ = writeln!(
        text,
        "{}\n",
        if pair.rdrand {
            "with a random instruction (emulated: the host's generator answers it)"
        } else {
            "without a random instruction"
        }
    );
    let mut rows = table(&["drawn from", "draws", "repeated", "last", "after the stamp"]);
    for row in &pair.rows {
        let absent = row.draws == 0;
        rows.add_row([
            witness_name(row),
            if absent { "absent".to_owned() } else { row.draws.to_string() },
            if absent { String::new() } else { row.repeated.to_string() },
            row.last_s.map_or_else(String::new, |last| format!("{:.1} ms", last * 1e3)),
            if row.after_stamp > 0 { row.after_stamp.to_string() } else { String::new() },
        ]);
    }
    let _ = writeln!(text, "{rows}\n");
    for ModeStatus { asked, before, after, reason, .. } in &pair.modes {
        let after = after.join(" and ");
        let _ = writeln!(text, "{asked}: mode {before}, in the clones {after}: {reason}");
    }
    let reseeds: Vec<String> = pair
        .fork_reseeds
        .iter()
        .map(|at| at.map_or_else(|| "never".to_owned(), |at| format!("after {:.1} ms", at * 1e3)))
        .collect();
    let _ = writeln!(
        text,
        "reseed of each clone's kernel because of the clone: {}",
        reseeds.join(" and ")
    );
    if let Some(watched) = pair.watched_s {
        let ends: Vec<String> = ["syscall", "vdso", "openssl", "rand"]
            .iter()
            .map(|witness| format!("{witness} {}", until(pair, witness)))
            .collect();
        let _ = writeln!(text, "watched for {watched:.2} s; last repeat: {}", ends.join(", "));
    }
    let _ = writeln!(
        text,
        "{} of {} threads ran in both clones; each may have had one draw in flight at the snapshot, \
         which does not count",
        pair.threads_compared, pair.threads
    );
    text
}

/// Returns the start of a witness's last repeat after the resume, or `>` and the time of the watch
/// if the repeats lasted to its end.
fn until(pair: &ClonePair, witness: &str) -> String {
    let last = pair.rows.iter().find(|row| row.witness == witness).and_then(|row| row.last_s);
    let Some((last, watched)) = last.zip(pair.watched_s) else { return "-".to_owned() };
    // The last tenth counts as the end: a slow thread does not draw at the very end.
    if last > 0.9 * watched { format!("> {watched:.2} s") } else { format!("{last:.2} s") }
}

/// Returns the table of situations: repeated draws, of all draws.
pub fn situations(pairs: &[(Situation, ClonePair)]) -> String {
    let mut rows = table(&[
        "situation",
        "kernel",
        "system call",
        "until",
        "vDSO",
        "OpenSSL",
        "rand",
        "auto",
        "mode of auto",
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
        let auto = pair.modes.iter().find(|mode| mode.asked == "auto");
        rows.add_row([
            situation.title.to_owned(),
            short(&pair.kernel).to_owned(),
            cell(&["syscall"], None),
            until(pair, "syscall"),
            cell(&["vdso"], None),
            cell(&["openssl"], None),
            cell(&["rand"], None),
            ours("auto"),
            auto.map_or_else(String::new, |mode| mode.before.clone()),
            ours("hedged"),
            ours("strict"),
            ours("buffered"),
            provider("auto"),
            provider("hedged"),
        ]);
    }
    format!("{rows}\n")
}

/// Returns the table of boots: durations of the first getrandom(2).
pub fn matrix(cases: &[(BootCase, BootReport)]) -> String {
    let mut rows = table(&["case", "kernel", "blocked", "expected", "reason", "the doctor"]);
    for (case, report) in cases {
        rows.add_row([
            case.title.to_owned(),
            short(&report.kernel).to_owned(),
            report.blocked_s.map_or_else(
                || format!("> {} s", report.limit_s),
                |blocked| format!("{blocked:.2} s"),
            ),
            case.expected.name().to_owned(),
            report.cause.id.to_owned(),
            report.doctor.as_ref().map_or_else(String::new, DoctorResults::brief),
        ]);
    }
    format!("{rows}\n")
}

/// Returns the table of restored processes: repeated draws, of all draws.
pub fn images(images: &[RestoredImages]) -> String {
    let names = images
        .first()
        .map_or(Vec::new(), |first| first.rows.iter().map(|row| row.witness.as_str()).collect());
    let first = ["CRIU", "droppable", "asked", "served", "quiesced", "stamps"];
    let mut rows = table(&[&first, names.as_slice()].concat());
    for image in images {
        let counts = image.rows.iter().map(|row| match row.draws {
            0 => "-".to_owned(),
            draws => format!("{} of {draws}", row.repeated),
        });
        let quiesced = if image.quiesced { "yes" } else { "no" };
        rows.add_row(
            [
                image.criu.clone(),
                image.droppable.clone(),
                image.asked.clone(),
                image.served.clone(),
                quiesced.to_owned(),
                image.stamps.join(", "),
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

/// Returns the table of stressed kernels.
pub fn sections(reports: &[SectionsReport]) -> String {
    let mut rows = table(&[
        "kernel",
        "CPUs",
        "mode",
        "path",
        "words",
        "zeros",
        "repeats",
        "preempted",
        "unplugged",
        "moved",
        "seconds",
    ]);
    for report in reports {
        rows.add_row([
            short(&report.kernel).to_owned(),
            report.smp.to_string(),
            report.mode.clone(),
            report.path.clone(),
            grouped(report.words),
            report.zeros.to_string(),
            report.repeats.to_string(),
            grouped(report.switches),
            report.unplugs.to_string(),
            report.moves.to_string(),
            format!("{:.0}", report.took_s),
        ]);
    }
    format!("{rows}\n")
}

/// Returns the table of machines with memory nodes.
pub fn nodes(reports: &[NodesReport]) -> String {
    let mut rows = table(&[
        "kernel",
        "nodes",
        "CPUs",
        "path",
        "pages",
        "remote",
        "shared",
        "in memory",
        "moved",
        "between nodes",
        "unplugged",
        "words",
        "repeats",
    ]);
    for report in reports {
        let found = &report.found;
        rows.add_row([
            short(&report.kernel).to_owned(),
            found.nodes.to_string(),
            found.cpus.to_string(),
            found.path.clone(),
            found.pages.to_string(),
            found.remote.to_string(),
            found.shared.to_string(),
            found.resident.to_string(),
            grouped(found.thread_moves),
            grouped(found.process_moves),
            found.unplugs.to_string(),
            grouped(found.words),
            found.repeats.to_string(),
        ]);
    }
    format!("{rows}\n")
}

/// Returns the version in a release, without the distribution's suffix.
fn short(release: &str) -> &str {
    release.split(['-', '+']).next().unwrap_or_default()
}

/// Returns one line for each finding.
pub fn findings(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let kind = match finding.kind {
            FindingKind::Broken => "BROKEN",
            FindingKind::NotShown => "NOT SHOWN",
        };
        format!("{kind}: {}: {}\n", finding.situation, finding.text)
    };
    findings.iter().map(line).collect()
}

/// Returns one line about a boot, for the progress of a long run.
pub(crate) fn brief(report: &BootReport) -> String {
    let blocked = report.blocked_s.map_or_else(
        || format!("blocked > {} s", report.limit_s),
        |blocked| format!("blocked {blocked:.3} s"),
    );
    let again = if report.retries > 0 { ", repeated after a panic" } else { "" };
    let seed =
        if report.rng == Rng::None { String::new() } else { format!(", {}", name(report.rng)) };
    format!("{}{seed}: {blocked}{again} ({:.1} s)", report.kernel, report.wall_s)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, file};

    #[test]
    fn lines_of_a_guest_become_a_timeline() {
        let report = crate::judge::boot::tests::late();
        assert_data_eq!(super::boot(&report), file!["../../tests/guests/late.txt"]);
    }
}
