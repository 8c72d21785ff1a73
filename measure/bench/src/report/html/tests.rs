use super::*;
use crate::measure::row::Row;
use crate::report::document::Report;
use serde_json::{Value, json};

fn data_of(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"charts\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn row(name: &str, len: usize, threads: usize, ns: f64) -> Value {
    json!({"case": "fill", "impl": name, "len": len, "threads": threads, "ns_per_call": ns, "gb_per_s": 2.0})
}

fn page_of(rows: &[Value]) -> String {
    page(&json!({"schema": "headwater.bench/1", "rows": rows}).to_string()).unwrap()
}

#[test]
fn a_line_has_a_gap_where_nothing_was_measured() {
    let rows = [
        row("urandom-read", 1024, 1, 30.0),
        row("urandom-read", 16, 1, 20.0),
        row("headwater", 16, 1, 4.0),
    ];
    let charts = data_of(&page_of(&rows));
    assert_eq!(charts.as_array().unwrap().len(), 2); // no throughput: one number of threads
    let chart = &charts[0];
    assert_eq!(chart["places"], json!([16.0, 1024.0]));
    assert_eq!(
        chart["lines"],
        json!([
            {"name": "urandom-read", "look": 1, "values": [20.0, 30.0], "shown": true},
            {"name": "headwater", "look": 0, "values": [4.0, null], "shown": true},
        ])
    );
}

#[test]
fn throughput_counts_the_calls_of_all_threads() {
    let rows = [row("headwater", 16, 1, 4.0), row("headwater", 16, 2, 5.0)];
    let charts = data_of(&page_of(&rows));
    assert_eq!(charts.as_array().unwrap().len(), 1);
    assert_eq!(charts[0]["title"], "Throughput of all threads together: fill 16 B");
    assert_eq!(charts[0]["lines"][0]["values"], json!([250.0, 400.0]));
}

#[test]
fn a_run_and_its_record_give_the_same_page() {
    let rows = ["headwater", "urandom-read"].map(|name| {
        let ns = if name == "headwater" { 4.0 } else { 12.0 };
        Row::new("fill", name, 16, 1, vec![ns; 6])
    });
    let report = Report::of(rows.to_vec());
    let json = serde_json::to_string_pretty(&report).unwrap();
    let without_nonce = |page: String| {
        let (_, rest) = page.split_once("script-src 'nonce-").unwrap();
        page.replace(rest.split_once('\'').unwrap().0, "")
    };
    let page = without_nonce(page_of_report(&report).unwrap());
    assert_eq!(page, without_nonce(super::page(&json).unwrap()));
    assert!(page.contains("<td>3.00\u{a0}(3.00\u{a0}to\u{a0}3.00)</td>"), "{page}");
}

#[test]
fn ratios_are_those_of_headwater_under_their_load() {
    let ratio = |subject: &str, against: &str, threads: usize, ratio: f64, high: Value| {
        json!({"case": "fill", "len": 16, "threads": threads, "procs": 1, "pin": "none",
               "impl": subject, "against": against, "ratio": ratio, "low": ratio, "high": high})
    };
    let ratios = [
        ratio("headwater", "urandom-read", 1, 2.0, json!(3.0)),
        ratio("headwater", "urandom-read", 2, 5.0, Value::Null),
        ratio("headwater-rng", "urandom-read", 1, 7.0, json!(8.0)),
    ];
    let rows = [row("urandom-read", 16, 1, 4.0)];
    let record = json!({"schema": "headwater.bench/1", "rows": rows, "ratios": ratios});
    let page = page(&record.to_string()).unwrap();
    let (_, of_one) = page.split_once("<h3>headwater against others, one thread</h3>").unwrap();
    let (of_one, of_two) =
        of_one.split_once("<h3>headwater against others, 2 threads</h3>").unwrap();
    assert!(of_one.contains("<td>2.00\u{a0}(2.00\u{a0}to\u{a0}3.00)</td>"), "{of_one}");
    // Without an interval a ratio would look surer than it is.
    assert!(of_two.contains("<td>-</td>"), "{of_two}");
    assert!(!page.contains("5.00") && !page.contains("7.00"));
}

#[test]
fn a_record_without_ratios_makes_a_page_without_their_table() {
    let page = page_of(&[row("headwater", 16, 1, 4.0), row("urandom-read", 16, 1, 8.0)]);
    assert!(page.contains("<h2>Figures</h2>") && !page.contains("<h2>Ratios</h2>"));
}

/// Reads the names and the figures of a chart of bars, in their order.
fn bars_of(page: &str, title: &str) -> Vec<(String, String)> {
    let (_, rest) = page.split_once(&format!("<h2>{title}</h2>")).expect(title);
    let rows = rest.split_once("</table>").unwrap().0.split("<tr").skip(1);
    let text = |row: &str, from: &str, to: &str| {
        let (_, rest) = row.rsplit_once(from).unwrap();
        rest.split_once(to).unwrap().0.trim().to_owned()
    };
    rows.map(|row| {
        let ours = if row.starts_with(" class=\"ours\"") { "*" } else { "" };
        let name = text(row, "<th scope=\"row\">", "<");
        (format!("{ours}{name}"), text(row, "<td>", "</td>").replace('\u{a0}', " "))
    })
    .collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, figure)| (name.to_owned(), figure.to_owned())).collect()
}

#[test]
fn the_page_opens_with_all_figures_of_16_bytes_the_fastest_first() {
    let rows = [
        row("urandom-read", 16, 1, 400.0),
        row("headwater", 16, 1, 8.0),
        row("headwater-rng", 16, 1, 4.0),
        row("rdrand", 16, 1, 40.0),
        row("headwater", 16, 2, 1.0),
        row("headwater", 64, 1, 2.0),
    ];
    let page = page_of(&rows);
    let expected = [
        ("*headwater-rng", "4.0 ns"),
        ("*headwater", "8.0 ns"),
        ("rdrand", "40.0 ns"),
        ("urandom-read", "400 ns"),
    ];
    assert_eq!(bars_of(&page, "Time of one fill of 16 B, the fastest first"), pairs(&expected));
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("<table class=\"bars\">") < at("<details>") && at("<details>") < at("<figure>"));
    assert!(page.contains("<rect width=\"100.00%\""), "the longest bar takes all of the room");
}

#[test]
fn a_crowd_of_64_threads_has_bars_with_the_most_draws_first() {
    let row = |name: &str, threads: u32, rate: f64| {
        json!({"case": "crowd", "impl": name, "len": 16, "threads": threads,
               "ns_per_call": 1e3 * f64::from(threads) / rate, "mad": 0.0})
    };
    let rows = [
        row("headwater", 64, 100.0),
        row("rand-thread_rng", 64, 200.0),
        row("headwater", 256, 50.0),
    ];
    let record =
        json!({"schema": "headwater.bench/1", "machine": {"cores": 2}, "rows": rows}).to_string();
    let page = page(&record).unwrap();
    let title = "64 threads on 2 CPUs, together: draws of 16 B per second, the most first";
    let expected = [("rand-thread_rng", "200 M/s"), ("*headwater", "100 M/s")];
    assert_eq!(bars_of(&page, title), pairs(&expected));
    assert!(page.contains("<h3>crowd: draws per second of all threads together</h3>"));
    assert!(!page.contains("Time of one fill of 16 B"), "no fill was measured");
}

#[test]
fn of_many_lines_the_known_ones_are_drawn_first() {
    let shown = |count: usize| {
        let names = (0..count).map(|index| format!("other-{index}"));
        let names: Vec<String> = std::iter::once("headwater".to_owned()).chain(names).collect();
        let rows: Vec<Value> =
            names.iter().flat_map(|name| [16, 64].map(|len| row(name, len, 1, 4.0))).collect();
        let charts = data_of(&page_of(&rows));
        let lines = charts[0]["lines"].as_array().unwrap().clone();
        lines.iter().filter(|line| line["shown"] == true).count()
    };
    assert_eq!(shown(7), 8);
    assert_eq!(shown(8), 1);
}

#[test]
fn a_note_has_a_column_where_one_implementation_has_several() {
    let noted = |name: &str, len: usize, note: &str| {
        let mut row = row(name, len, 1, 4.0);
        row["note"] = json!(note);
        row
    };
    let page = page_of(&[row("headwater", 16, 1, 4.0), noted("fastrand", 16, "not secure")]);
    assert_eq!(page.matches("<th scope=\"col\">16 B</th>").count(), 1);
    let mut rows = ["as started", "2000 mappings"].map(|note| noted("headwater", 16, note));
    rows.iter_mut().for_each(|row| row["case"] = json!("first-byte-after-start"));
    let page = page_of(&rows);
    for note in ["as started", "2000 mappings"] {
        let head = format!("<th scope=\"col\">first-byte-after-start, {note}</th>");
        assert!(page.contains(&head), "{page}");
    }
}

#[test]
fn no_name_ends_the_data_or_becomes_markup() {
    let name = "</script><!-- <b>";
    let page = page_of(&[row(name, 16, 1, 4.0), row(name, 32, 1, 4.0)]);
    assert!(!page.contains(name) && !page.contains("<b>"));
    assert!(page.contains("&lt;/script&gt;&lt;!-- &lt;b&gt;"));
    assert_eq!(data_of(&page)[0]["lines"][0]["name"], name);
}

#[test]
fn what_is_no_record_is_refused_in_one_line() {
    for (json, message) in [
        ("{", "cannot use the report: not a report in JSON"),
        ("{}", "cannot use the report: not a report in JSON"),
        (
            r#"{"schema": "headwater.bench/2"}"#,
            "cannot use the report: its schema is 'headwater.bench/2': use a 'headwater.bench/1'",
        ),
    ] {
        let error = page(json).unwrap_err();
        assert!(error.is_usage());
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_page_without_a_place_is_found_out_early() {
    let reason = |path: &str| check_file(Path::new(path)).unwrap_err().to_string();
    assert_eq!(reason("/"), "/: it is a directory; name a file");
    assert_eq!(reason("/nonesuch/a.html"), "/nonesuch/a.html: there is no directory /nonesuch");
    assert!(check_file(Path::new("a.html")).is_ok());
}

/// The hashes are those of the files in the npm package `uplot` 1.6.32.
#[test]
fn vendored_files_are_upstreams() {
    use sha2::{Digest, Sha256};
    for (file, bytes, expected) in [
        (
            "uPlot.iife.min.js",
            include_bytes!("../../../assets/vendor/uplot/uPlot.iife.min.js").as_slice(),
            "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        ),
        (
            "uPlot.min.css",
            include_bytes!("../../../assets/vendor/uplot/uPlot.min.css"),
            "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        ),
        (
            "LICENSE",
            include_bytes!("../../../assets/vendor/uplot/LICENSE"),
            "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
        ),
    ] {
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, expected, "{file}");
    }
    assert!(CHART_SCRIPT.contains("The MIT License"));
}
