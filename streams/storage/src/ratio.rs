//! Ratios as typed, such as `2.5`, kept as whole thousandths.

use std::fmt;
use std::str::FromStr;

/// A ratio in thousandths: `2.5` is 2500. Floating point would make offsets depend on rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(u32);

impl Ratio {
    /// The ratio of data that nothing makes smaller.
    pub const ONE: Ratio = Ratio(1000);

    /// Returns the ratio in thousandths.
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        let text = format!("{whole}.{rest:03}");
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A text that is not a ratio from 1 to 1000 with at most three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRatio;

impl fmt::Display for BadRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ratio is a number of at least 1 with up to three decimals, such as 2.5")
    }
}

impl std::error::Error for BadRatio {}

impl FromStr for Ratio {
    type Err = BadRatio;

    fn from_str(text: &str) -> Result<Ratio, BadRatio> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > 3 || whole.len() > 4 {
            return Err(BadRatio);
        }
        // At most four and three digits, so neither number is too large.
        let whole: u32 = whole.parse().map_err(|_| BadRatio)?;
        let decimals: u32 = format!("{decimals:0<3}").parse().map_err(|_| BadRatio)?;
        match whole * 1000 + decimals {
            thousandths @ 1000..=1_000_000 => Ok(Ratio(thousandths)),
            _ => Err(BadRatio),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_read_exactly() {
        for (text, thousandths, shown) in [
            ("1", 1000, "1"),
            ("1.0", 1000, "1"),
            ("1.3", 1300, "1.3"),
            ("2.5", 2500, "2.5"),
            ("1.001", 1001, "1.001"),
            ("10", 10_000, "10"),
            ("1000", 1_000_000, "1000"),
            ("0002.50", 2500, "2.5"),
        ] {
            let ratio: Ratio = text.parse().unwrap();
            assert_eq!((ratio.thousandths(), ratio.to_string().as_str()), (thousandths, shown));
        }
    }

    #[test]
    fn other_texts_are_no_ratios() {
        for text in [
            "", "0", "0.9", ".5", "1.", "-1", "+2", "1,5", "2x", "1e1", "1.0001", "1001", "99999",
            " 2", "2 ", "inf", "nan", "1.2.3", "٢", "1.٢",
        ] {
            assert_eq!(text.parse::<Ratio>(), Err(BadRatio), "{text}");
        }
    }
}
