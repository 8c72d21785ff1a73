//! C: two functions for each kind with numbers as parameters, and the lists of all functions. The
//! header follows from the source, by cbindgen.

use super::words::{about, grouped, has, list, wrapped};
use super::{File, NOTE, part};
use crate::version::VERSION;
use anyhow::{Context, Result};
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};
use std::fs;
use std::path::Path;

const SOURCE: &str = "fronts/c/src/streams/distributions.rs";
const MANUAL: &str = "fronts/c/man/headwater.3";
const EXPORTS: &str = "fronts/c/abi.txt";
const SYMBOLS: &str = "tools/release/debian/libheadwater0.symbols";

pub(super) fn files(root: &Path) -> Result<Vec<File>> {
    let names = (".\\\" Generated names", ".\\\" The end of the generated names");
    let synopsis = (".\\\" Generated functions", ".\\\" The end of the generated functions");
    let calls = functions();
    let name = |(name, _): &(String, String)| format!(".Nm {name} ,\n");
    let call = |(name, arguments): &(String, String)| format!(".Ft int\n.Fn {name} {arguments}\n");
    let page = fs::read_to_string(root.join(MANUAL)).context(MANUAL)?;
    let page = part(MANUAL, &page, names, &calls.iter().map(name).collect::<String>())?;
    let page = part(MANUAL, &page, synopsis, &calls.iter().map(call).collect::<String>())?;
    let read = |path: &str| fs::read_to_string(root.join(path)).with_context(|| path.to_owned());
    let names = calls.iter().map(|(name, _)| format!("{name}@HEADWATER_0"));
    let exports = with_lines(&read(EXPORTS)?, names);
    // Every exported function, and not only the generated ones: Debian's build refuses a library
    // that has a function more.
    let symbols = exports.lines().map(|export| format!(" {export} {VERSION}~"));
    let symbols = with_lines(&read(SYMBOLS)?, symbols);
    Ok(vec![
        File { path: SOURCE, text: source() },
        File { path: MANUAL, text: page },
        File { path: EXPORTS, text: exports },
        File { path: SYMBOLS, text: symbols },
    ])
}

/// Returns a sorted list with these lines as well. Lines that begin otherwise stay in front.
fn with_lines(text: &str, lines: impl Iterator<Item = String>) -> String {
    let is_function = |line: &&str| line.trim_start().starts_with("headwater_");
    let (functions, head): (Vec<&str>, Vec<&str>) = text.lines().partition(is_function);
    let mut functions: Vec<String> = functions.into_iter().map(str::to_owned).collect();
    for line in lines {
        let name = |line: &str| line.split('@').next().map(str::to_owned);
        if !functions.iter().any(|there| name(there) == name(&line)) {
            functions.push(line);
        }
    }
    functions.sort_by(|a, b| a.split('@').next().cmp(&b.split('@').next()));
    let head = head.into_iter().map(str::to_owned);
    head.chain(functions).map(|line| line + "\n").collect()
}

fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.facts().fronts.c)
}

/// Returns the type of a kind's numbers: real numbers are doubles here, and counts have no sign.
fn number(kind: Kind) -> &'static str {
    if has(kind, Dtype::F64) { "f64" } else { "u64" }
}

/// Returns the names and arguments of all functions, as the manual has them.
fn functions() -> Vec<(String, String)> {
    let mut functions = Vec::new();
    for kind in kinds() {
        let (name, number) = (kind.name(), number(kind));
        let own: String =
            kind.parameters().iter().map(|one| format!(" \"{}\"", in_c(one))).collect();
        let key = "\"const struct headwater_key *key\" \"uint64_t stream\"";
        let pointer = if number == "f64" { "double *out" } else { "uint64_t *out" };
        let rest = format!("\"{pointer}\" \"size_t n\"");
        functions.push((
            format!("headwater_stream_fill_{name}_{number}"),
            format!("{key}{own} \"uint64_t start\" {rest}"),
        ));
        functions.push((
            format!("headwater_stream_{name}_{number}_at"),
            format!("{key}{own} \"const uint64_t *indices\" {rest}"),
        ));
    }
    functions
}

fn in_c(parameter: &Parameter) -> String {
    match parameter.form {
        Form::Count => format!("uint64_t {}", parameter.name),
        _ => format!("double {}", parameter.name),
    }
}

fn source() -> String {
    let types: Vec<_> = kinds().map(|kind| format!("{kind:?}")).collect();
    let mut sorted = types.clone();
    sorted.sort_unstable();
    let mut text = format!(
        "// {NOTE}
//! Distributions with parameters, as elements of a key's streams.

use super::at::at;
use super::key::headwater_key;
use super::numbers::fill;
use core::ffi::{{c_double, c_int}};
use headwater_streams::distributions::{{
{}}};
use libc::size_t;
",
        wrapped(&format!("{},", sorted.join(", ")), "    ", "    ")
    );
    for kind in kinds() {
        text += &functions_of(kind);
    }
    text
}

fn functions_of(kind: Kind) -> String {
    let (name, number) = (kind.name(), number(kind));
    let quoted = |one: &Parameter| format!("`{}`", one.name);
    let faults = grouped(kind, quoted, |one| one.range.fault);
    let fault = |(names, fault): &(Vec<String>, &str)| format!("{} {fault}", names.join(" or "));
    let faults = list(&faults.iter().map(fault).collect::<Vec<_>>(), "or");
    let about = about(kind, quoted, "headwater_stream_fill_normal_f64()");
    let fills = format!(
        "Writes {about}. Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also \
         means that {faults}. Not for secrets."
    );
    let lists = format!(
        "Writes the elements of headwater_stream_fill_{name}_{number}() with the numbers in \
         `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means \
         that {faults}. Not for secrets."
    );
    let argument = |one: &Parameter| match one.form {
        Form::Count => format!("    {}: u64,\n", one.name),
        _ => format!("    {}: c_double,\n", one.name),
    };
    let own: String = kind.parameters().iter().map(argument).collect();
    let values: Vec<_> = kind.parameters().iter().map(|one| one.name).collect();
    let made = format!("&{kind:?}::new({})?", values.join(", "));
    let fills = wrapped(&fills, "/// ", "/// ");
    let lists = wrapped(&lists, "/// ", "/// ");
    format!(
        "
{fills}///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern \"C\" fn headwater_stream_fill_{name}_{number}(
    key: *const headwater_key,
    stream: u64,
{own}    start: u64,
    out: *mut {number},
    n: size_t,
) -> c_int {{
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable {number} at `out`.
    unsafe {{
        fill(key, stream, out, n, |stream, out| {{
            stream.fill_distribution({made}, start, out)
        }})
    }}
}}

{lists}///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern \"C\" fn headwater_stream_{name}_{number}_at(
    key: *const headwater_key,
    stream: u64,
{own}    indices: *const u64,
    out: *mut {number},
    n: size_t,
) -> c_int {{
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // `n` writable {number} at `out`.
    unsafe {{
        at(key, stream, indices, out, n, |stream, i, out| {{
            stream.distribution_at({made}, i, out)
        }})
    }}
}}
"
    )
}
