//! Lengths that can be measured, in the form that all commands share.

use crate::error::Error;

/// Larger buffers measure the memory, and 1 GiB for each of many threads does not fit.
const MAX: usize = 1 << 30;

/// Reads a size as the other commands do, if it is one that can be measured.
pub(crate) fn parse(text: &str) -> Result<usize, Error> {
    let len = headwater_text::size::parse(text).ok().and_then(|len| usize::try_from(len).ok());
    len.filter(|len| (1..=MAX).contains(len)).ok_or_else(|| Error::BadSize(text.to_owned()))
}

/// Writes a size with the largest unit that divides it: `1 KiB` for 1024, `100 B` for 100.
pub fn show(len: usize) -> String {
    headwater_text::size::exact(len as u64)
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
