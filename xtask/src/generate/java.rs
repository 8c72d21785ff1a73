//! Java: the enums whose numbers the native library reads, and the factories of distributions.

use super::words::{FIXED, about, has, has_numbers_alone, needs, wrapped};
use super::{File, NOTE, with_part};
use anyhow::Result;
use headwater_streams::kinds::{Dtype, Form, Kind, Parameter};
use std::path::Path;

const FILES: [&str; 4] = [
    "fronts/java/src/main/java/headwater/Kind.java",
    "fronts/java/src/main/java/headwater/RowKind.java",
    "fronts/java/src/main/java/headwater/DistributionKind.java",
    "fronts/java/src/main/java/headwater/Distribution.java",
];
/// The types of Java's arrays.
const ARRAYS: [Dtype; 5] = [Dtype::U8, Dtype::U32, Dtype::U64, Dtype::F32, Dtype::F64];

pub(super) fn files(root: &Path) -> Result<Vec<File>> {
    let [kinds, rows, distributions, factories] = FILES;
    let marks = ("// Generated factories", "// The end of the generated factories");
    Ok(vec![
        File { path: kinds, text: plain_kinds() },
        File { path: rows, text: row_kinds() },
        File { path: distributions, text: distribution_kinds() },
        with_part(root, factories, marks, &factories_of_numbers())?,
    ])
}

/// Returns the enum of the kinds that `Stream` has methods for, with the types of their elements.
fn plain_kinds() -> String {
    let mut constants = Vec::new();
    for kind in Kind::ALL {
        let is_plain = kind
            .parameters()
            .iter()
            .all(|one| matches!(one.form, Form::Integer) || kind == Kind::Permutation);
        if !is_plain || kind.facts().fronts.java.is_some() {
            continue;
        }
        for one in kind.types().iter().filter(|one| ARRAYS.contains(&one.dtype)) {
            let name = format!("{}_{:?}", kind.name(), one.dtype).to_uppercase();
            let code = u32::from(kind as u8) << 8 | u32::from(one.dtype as u8);
            let last = one.last() as i64;
            constants.push(format!("    {name}({code:#06x}, {}, {last}L)", one.dtype.size()));
        }
    }
    format!(
        "package headwater;

// {NOTE}

/** A kind of number with the type of its elements. */
enum Kind {{
{};

    /** The number of the kind times 256, plus that of the type, as the native library reads it. */
    final int code;
    /** Bytes of an element. */
    final int width;
    /** The last element, as an unsigned number: that whose group of words is the last one. */
    final long last;

    Kind(int code, int width, long last) {{
        this.code = code;
        this.width = width;
        this.last = last;
    }}
}}
",
        constants.join(",\n")
    )
}

/// Returns the enum of the kinds that have a function of rows: those whose parameters are numbers
/// and whose elements are one number of 64 bits. DuckDB's extension has the same ones.
fn row_kinds() -> String {
    let mut constants = Vec::new();
    for kind in Kind::ALL {
        let Some(one) = kind.types().first() else { continue };
        let is_wide = matches!(one.dtype, Dtype::F64 | Dtype::I64 | Dtype::U64);
        if kind.facts().vectors || !is_wide || !row_numbers_alone(kind) {
            continue;
        }
        let name = name_of_rows(kind);
        let parameter = |parameter: &Parameter| {
            let default = match parameter.default {
                Some(default) => format!(", {default:?}"),
                None => String::new(),
            };
            let form = format!("{:?}", parameter.form).to_uppercase();
            format!(
                ",\n            new Parameter(\"{}\", \"{}\", Form.{form}{default})",
                parameter.numpy, parameter.name
            )
        };
        let parameters: String = kind.parameters().iter().map(parameter).collect();
        let is_real = one.dtype == Dtype::F64;
        constants.push(format!(
            "    {}(\"{name}\", {}, {}, {is_real}, {}L{parameters})",
            name.to_uppercase(),
            kind as u8,
            one.dtype as u8,
            one.last() as i64
        ));
    }
    format!(
        "package headwater;

// {NOTE}

/** A kind of number that a row of a table may have. */
enum RowKind {{
{};

    /** The form of a parameter. */
    enum Form {{
        REAL,
        COUNT,
        INTEGER,
        FLAG
    }}

    /** A parameter, with the value that it has where a call leaves it out. */
    static final class Parameter {{
        /** NumPy's name. */
        final String name;
        /** The name in errors of the native library. */
        final String nativeName;
        final Form form;
        final boolean hasDefault;
        final double value;

        private Parameter(String name, String nativeName, Form form) {{
            this.name = name;
            this.nativeName = nativeName;
            this.form = form;
            this.hasDefault = false;
            this.value = 0;
        }}

        private Parameter(String name, String nativeName, Form form, double value) {{
            this.name = name;
            this.nativeName = nativeName;
            this.form = form;
            this.hasDefault = true;
            this.value = value;
        }}
    }}

    /** NumPy's name of the kind, which is that of the function. */
    final String title;
    /** The number of the kind, as the native library reads it. */
    final int number;
    /** The number of the type of elements. */
    final int dtype;
    /** True if elements are doubles, and otherwise longs. */
    final boolean isReal;
    /** The last element, as an unsigned number. */
    final long last;
    /** The parameters, in the order in which the native library reads them. */
    final Parameter[] parameters;

    RowKind(String title, int number, int dtype, boolean isReal, long last,
            Parameter... parameters) {{
        this.title = title;
        this.number = number;
        this.dtype = dtype;
        this.isReal = isReal;
        this.last = last;
        this.parameters = parameters;
    }}
}}
",
        constants.join(",\n")
    )
}

fn row_numbers_alone(kind: Kind) -> bool {
    let is_number = |form| matches!(form, Form::Real | Form::Count | Form::Integer | Form::Flag);
    kind.parameters().iter().all(|parameter| is_number(parameter.form))
}

/// Returns the name by which every front calls a kind, as `headwater_arrow::label::name_of` does.
/// A test compares all values with those of Python's front, so another name would be found.
fn name_of_rows(kind: Kind) -> &'static str {
    match kind {
        Kind::Uniform => "random",
        Kind::Normal => "standard_normal",
        Kind::Exponential => "standard_exponential",
        kind => kind.facts().fronts.numpy.unwrap_or(kind.name()),
    }
}

/// Returns the enum of the kinds that are distributions.
fn distribution_kinds() -> String {
    let number = |kind: Kind, types: &[Dtype]| {
        let found = types.iter().find(|&&dtype| has(kind, dtype));
        found.map_or(-1, |&dtype| i32::from(dtype as u8))
    };
    let constant = |kind: Kind| {
        let name = constant(kind)?;
        let wide = number(kind, &[Dtype::F64, Dtype::U64, Dtype::C128]);
        let narrow = number(kind, &[Dtype::F32, Dtype::C64]);
        Some(format!("    {name}({}, {wide}, {narrow})", kind as u8))
    };
    let constants: Vec<_> = Kind::ALL.into_iter().filter_map(constant).collect();
    format!(
        "package headwater;

// {NOTE}

/** A kind of distribution. */
enum DistributionKind {{
{};

    /** The number of the kind, as the native library reads it. */
    final int number;
    /** The number of the type of elements in arrays of doubles or of longs. */
    final int wide;
    /** The number of the type of elements in arrays of floats, or -1 if the kind has none. */
    final int narrow;

    DistributionKind(int number, int wide, int narrow) {{
        this.number = number;
        this.wide = wide;
        this.narrow = narrow;
    }}
}}
",
        constants.join(",\n")
    )
}

/// Returns the name of a kind's constant: `CHI_SQUARE` for the factory `chiSquare`.
fn constant(kind: Kind) -> Option<String> {
    let mut name = String::new();
    for letter in kind.facts().fronts.java?.chars() {
        if letter.is_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    Some(name)
}

/// Returns the factories of the kinds whose parameters are numbers.
fn factories_of_numbers() -> String {
    let mut text = "\n".to_owned();
    for kind in Kind::ALL {
        let Some(factory) = kind.facts().fronts.java else { continue };
        if kind.facts().vectors || kind.parameters().is_empty() || !has_numbers_alone(kind) {
            continue;
        }
        text += &factory_of(kind, factory);
    }
    text
}

fn factory_of(kind: Kind, factory: &str) -> String {
    let code = |parameter: &Parameter| format!("{{@code{FIXED}{}}}", parameter.java);
    let about =
        about(kind, code, &format!("{{@link{FIXED}Stream#fillNormal(long,{FIXED}double[])}}"));
    let comment = comment(&format!("Returns {about}. {}.", needs(kind, code)));
    let argument = |one: &Parameter| match one.form {
        Form::Count => format!("long {}", one.java),
        _ => format!("double {}", one.java),
    };
    let arguments: Vec<_> = kind.parameters().iter().map(argument).collect();
    let arguments = arguments.join(", ");
    let (class, call) = match has(kind, Dtype::F64) {
        true => ("Reals", "reals"),
        false => ("Counts", "counts"),
    };
    let name = constant(kind).unwrap_or_default();
    let need = text_of(&needs(kind, |parameter| parameter.java.to_owned()));
    let reals = |one: &&Parameter| one.form == Form::Real;
    let mut shown: Vec<_> = kind.parameters().iter().filter(reals).map(|one| one.java).collect();
    let has_reals_alone = shown.len() == kind.parameters().len();
    if shown.is_empty() {
        // An error shows doubles, which are exact for each count that is not too large.
        shown = kind.parameters().iter().map(|one| one.java).collect();
    }
    let values = match has_reals_alone {
        true => String::new(),
        // The native library takes whole numbers as they are, and doubles by their bits.
        false => {
            let value = |one: &Parameter| match one.form {
                Form::Count => format!("whole(\"{0}\", {0})", one.java),
                _ => format!("Double.doubleToRawLongBits({})", one.java),
            };
            let values: Vec<_> = kind.parameters().iter().map(value).collect();
            format!("\n                new long[] {{{}}},", values.join(", "))
        }
    };
    format!(
        "{comment}    public static {class} {factory}({arguments}) {{
        return {call}(DistributionKind.{name},
                {need},{values}
                {});
    }}

",
        shown.join(", ")
    )
}

fn comment(text: &str) -> String {
    let one_line = format!("    /** {} */\n", text.replace(FIXED, " "));
    match one_line.chars().count() <= 101 {
        true => one_line,
        false => format!("    /**\n{}     */\n", wrapped(text, "     * ", "     * ")),
    }
}

/// Returns a constant text, in several pieces if it is long.
fn text_of(text: &str) -> String {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive(' ') {
        if piece.len() + word.len() > 70 {
            pieces.push(std::mem::take(&mut piece));
        }
        piece += word;
    }
    pieces.push(piece);
    format!("\"{}\"", pieces.join("\"\n                        + \""))
}
