//! Pictures drawn from records: for README draws that repeat in clones, and the time of a draw; for
//! docs/one-array.md the rows on which a seed's columns agree.
//!
//! SVG by hand, because a picture is ten bars, and a library for charts would be the largest
//! dependency of this package. The colours are readable on a light and on a dark page.

use super::File;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const CLONES: &str = "records/lab/2026-11-22/clones.json";
const BENCH: &str = "records/bench/2026-11-26-amd-zen5/bench.json";
const ARRAYS: &str = "records/one-array/2026-11-25/disagreement.txt";

/// Width of a picture, of its labels, and the height of a bar with its gap, in pixels.
const WIDTH: u32 = 760;
const LABELS: u32 = 250;
const ROW: u32 = 26;

/// A bar: its label, its share of the full length, and the words at its end.
struct Bar {
    label: &'static str,
    share: f64,
    words: String,
    is_ours: bool,
}

pub(super) fn files(root: &Path) -> Result<Vec<File>> {
    Ok(vec![
        File { path: "docs/pictures/copies.svg", text: copies(&read(root, CLONES)?)? },
        File { path: "docs/pictures/speed.svg", text: speed(&read(root, BENCH)?)? },
        File {
            path: "docs/pictures/one-array.svg",
            text: agreement(&fs::read_to_string(root.join(ARRAYS)).context(ARRAYS)?)?,
        },
    ])
}

fn read(root: &Path, path: &str) -> Result<Value> {
    let text = fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
    serde_json::from_str(&text).with_context(|| path.to_owned())
}

/// Draws the share of draws that repeat in clones which no device reports.
fn copies(record: &Value) -> Result<String> {
    let rows = record["rows"][0]["rows"].as_array().context("the first clone has no rows")?;
    let mut bars = Vec::new();
    for (witnesses, label) in [
        (&["openssl"][..], "OpenSSL 3.0, RAND_bytes"),
        (&["rand"], "rand::rng() of Rust"),
        (&["vdso"], "getrandom of the vDSO"),
        (&["syscall"], "getrandom(2)"),
        (&["headwater", "headwater-rng", "headwater-large"], "headwater, mode auto"),
    ] {
        let (mut draws, mut repeated) = (0, 0);
        for witness in witnesses {
            let is_it = |row: &&Value| {
                row["witness"] == *witness && (row["mode"].is_null() || row["mode"] == "auto")
            };
            let row = rows.iter().find(is_it).with_context(|| (*witness).to_owned())?;
            draws += row["draws"].as_u64().context("a row has draws")?;
            repeated += row["repeated"].as_u64().context("a row has repeats")?;
        }
        bars.push(Bar {
            label,
            share: repeated as f64 / draws as f64,
            words: format!("{repeated} of {draws}"),
            is_ours: witnesses[0] == "headwater",
        });
    }
    Ok(svg("Draws that repeat in two clones of a machine, reported by no device", &bars, CLONES))
}

/// Draws the time of 16 bytes on a logarithmic scale from 1 ns to 1 µs.
fn speed(record: &Value) -> Result<String> {
    let rows = record["rows"].as_array().context("the record has no rows")?;
    let mut bars = Vec::new();
    for (source, label) in [
        ("openssl-RAND_bytes", "OpenSSL 3.0, RAND_bytes"),
        ("aws-lc", "AWS-LC"),
        ("libsodium-randombytes_buf", "libsodium"),
        ("libc-arc4random", "arc4random of glibc"),
        ("getrandom-syscall", "getrandom(2)"),
        ("getrandom-vdso", "getrandom of the vDSO"),
        ("rand-thread_rng", "rand::rng(), blind to clones"),
        ("headwater", "headwater"),
    ] {
        let is_it = |row: &&Value| {
            row["case"] == "fill"
                && row["impl"] == source
                && row["len"] == 16
                && row["threads"] == 1
        };
        let row = rows.iter().find(is_it).context(source)?;
        let time = row["ns_per_call"].as_f64().context(source)?;
        bars.push(Bar {
            label,
            share: (time.log10() / 3.0).clamp(0.0, 1.0),
            words: format!("{time:.1} ns"),
            is_ours: source == "headwater",
        });
    }
    Ok(svg("Time of 16 random bytes, one thread, AMD Zen 5, logarithmic scale", &bars, BENCH))
}

/// Draws the share of rows on which two runs of one seed agree, from the table of the record.
fn agreement(record: &str) -> Result<String> {
    let mut bars = Vec::new();
    for (row, label) in [
        ("DuckDB | setseed, random() | 1 and 2 threads", "DuckDB, 1 and 2 threads"),
        ("DuckDB | using sample (bernoulli, 42) | ascending", "DuckDB, rows in another order"),
        ("Polars | sample(fraction, seed) | rows reversed", "Polars, rows in another order"),
        ("Polars | sample(fraction, seed) | one row", "Polars, one row more"),
        ("pandas | sample(frac, random_state)", "pandas, rows in another order"),
        ("Dask | DataFrame.sample", "Dask, 2 and 7 partitions"),
        ("pyarrow | compute.random", "pyarrow, a whole and two halves"),
        ("DuckDB | hw_sample(id, 42, 0.01) | pandas; 4", "headwater, engines and orders"),
    ] {
        let line = record.lines().find(|line| line.starts_with(&format!("| {row}")));
        let agree = line.and_then(|line| line.trim_end_matches(" % |").rsplit(' ').next());
        let agree: f64 = agree.context(row)?.parse().context(row)?;
        bars.push(Bar {
            label,
            share: agree / 100.0,
            words: format!("{agree} %"),
            is_ours: row.contains("hw_"),
        });
    }
    Ok(svg("Rows on which two runs with one seed agree, of 1,000,000", &bars, ARRAYS))
}

fn svg(title: &str, bars: &[Bar], record: &str) -> String {
    let height = ROW * bars.len() as u32 + 50;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"14\">\n<title>{title}</title>\n\
         <!-- Drawn by `cargo xtask generate` from {record}. -->\n\
         <text x=\"8\" y=\"22\" font-weight=\"bold\" fill=\"#768390\">{title}</text>"
    );
    for (index, bar) in bars.iter().enumerate() {
        let top = 40 + ROW * index as u32;
        let length = (bar.share * f64::from(WIDTH - LABELS - 130)).round() as u32;
        let colour = if bar.is_ours { "#2da44e" } else { "#8c959f" };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#768390\">{}</text>\n\
             <rect x=\"{LABELS}\" y=\"{top}\" width=\"{}\" height=\"18\" fill=\"{colour}\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"#768390\">{}</text>",
            LABELS - 8,
            top + 14,
            bar.label,
            length.max(1),
            LABELS + length + 8,
            top + 14,
            bar.words,
        );
    }
    out.push_str("</svg>\n");
    out
}
