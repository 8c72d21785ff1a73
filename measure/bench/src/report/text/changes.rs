//! A comparison with an earlier run, as text.

use crate::report::change::{Change, ChangeVerdict, Changes};
use crate::report::text::layout::table;
use crate::stats::{Interval, figure};

/// Returns the changes, the differences that may explain them, and the number of figures compared.
/// `date` is now.
pub(crate) fn changes(comparison: &Changes, date: Option<u64>) -> String {
    let of = |verdict| comparison.changes.iter().filter(move |change| change.verdict == verdict);
    let own: Vec<&Change> = of(ChangeVerdict::Slower).chain(of(ChangeVerdict::Faster)).collect();
    let mut text = format!("compared with a run{}", ago(comparison.date, date));
    if own.is_empty() {
        text += ": nothing is faster or slower beyond noise";
    } else {
        let columns = ["takes so many times as long (95 %)", "the others", ""].map(str::to_owned);
        text += &format!("\n{}", table("figure", &columns, own.into_iter().map(cells).collect()));
    }
    text += &format!(
        "\n{} of {} figures have not changed beyond noise",
        of(ChangeVerdict::Same).count(),
        comparison.changes.len()
    );
    for (count, what) in [
        (of(ChangeVerdict::Machine).count(), "changed no more than the others in the same rounds"),
        (comparison.gone, "only the earlier run has"),
        (comparison.new, "only this run has"),
    ] {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    }
    for difference in &comparison.differences {
        text += &format!("\n{difference}");
    }
    text
}

fn cells(change: &Change) -> Vec<String> {
    let Change { ratio: median, low, high, .. } = *change;
    vec![
        change.title.clone(),
        Interval { median, low: Some(low), high: Some(high) }.show(),
        change.others.map_or_else(|| "-".to_owned(), figure),
        if change.verdict == ChangeVerdict::Slower { "slower" } else { "faster" }.to_owned(),
    ]
}

fn ago(then: Option<u64>, now: Option<u64>) -> String {
    let Some(seconds) = then.zip(now).and_then(|(then, now)| now.checked_sub(then)) else {
        return String::new();
    };
    let (count, unit) = match seconds {
        seconds if seconds < 2 * 3600 => (seconds / 60, "minutes"),
        seconds if seconds < 48 * 3600 => (seconds / 3600, "hours"),
        seconds => (seconds / 86400, "days"),
    };
    format!(" {count} {unit} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(verdicts: &[ChangeVerdict]) -> Changes {
        let change = |&verdict: &ChangeVerdict| Change {
            case: "fill".to_owned(),
            implementation: "headwater".to_owned(),
            len: 16,
            threads: 1,
            title: "fill 16 B, headwater".to_owned(),
            ratio: 1.25,
            low: 1.2,
            high: 1.3,
            others: Some(1.01),
            verdict,
        };
        Changes {
            date: Some(1000),
            differences: vec!["kernel: 6.18 then, 6.19 now".to_owned()],
            changes: verdicts.iter().map(change).collect(),
            gone: 2,
            new: 0,
        }
    }

    #[test]
    fn changes_come_with_their_interval_and_what_the_others_did() {
        let text = changes(
            &comparison(&[ChangeVerdict::Slower, ChangeVerdict::Same]),
            Some(1000 + 3 * 86400),
        );
        assert!(text.starts_with("compared with a run 3 days ago\n"), "{text}");
        let row = text.lines().find(|line| line.contains("fill 16 B, headwater")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[2..5], ["1.25 (1.20 to 1.30)", "1.01", "slower"]);
        assert!(
            text.contains("\n1 of 2 figures have not changed beyond noise; 2 only the earlier")
        );
        assert!(text.ends_with("\nkernel: 6.18 then, 6.19 now"));
    }

    #[test]
    fn no_change_is_said_in_words() {
        let text = changes(&comparison(&[ChangeVerdict::Same, ChangeVerdict::Machine]), None);
        assert!(
            text.starts_with("compared with a run: nothing is faster or slower beyond noise\n"),
            "{text}"
        );
        assert!(text.contains("; 1 changed no more than the others in the same rounds"), "{text}");
    }
}
