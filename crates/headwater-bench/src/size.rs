//! Lengths as people write them. All units are binary: a page is 4k.

use crate::Error;

/// Larger buffers measure the memory, and 1 GiB for each of many threads does not fit.
const MAX: usize = 1 << 30;

const UNITS: [(&str, usize); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// Reads `16`, `16B`, `1k`, `64KiB`, `1MiB`, in any case. `kB` and `MB`, which some read as 1,000 and
/// others as 1,024, are refused.
pub(crate) fn parse(text: &str) -> Result<usize, Error> {
    let bad = || Error::BadSize(text.to_owned());
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err(bad()),
    };
    let count: usize = digits.parse().map_err(|_| bad())?;
    match count.checked_mul(unit) {
        Some(len @ 1..=MAX) => Ok(len),
        _ => Err(bad()),
    }
}

/// `1024` as `1 KiB`, `100` as `100 B`: the largest unit that divides it.
pub fn show(len: usize) -> String {
    let (name, unit) =
        UNITS.into_iter().find(|(_, unit)| len.is_multiple_of(*unit)).unwrap_or(("B", 1));
    format!("{} {name}", len / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, len) in [
            ("16", 16),
            ("16B", 16),
            ("1k", 1024),
            ("1K", 1024),
            ("64KiB", 65536),
            ("64kib", 65536),
            ("1MiB", 1 << 20),
            ("2m", 2 << 20),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(parse(text), Ok(len), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest_by_name() {
        for text in
            ["", "0", "k", "-1", "1.5k", "1kB", "2MB", "2g", "16 B", "99999999999999999999", "1é"]
        {
            let error = parse(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("bad size '{text}': use 1 to 1GiB, such as 16, 1k, 64KiB or 1MiB")
            );
        }
    }

    #[test]
    fn shows_the_largest_unit_that_divides() {
        assert_eq!(show(100), "100 B");
        assert_eq!(show(1024), "1 KiB");
        assert_eq!(show(1536), "1536 B");
        assert_eq!(show(64 << 20), "64 MiB");
    }
}
