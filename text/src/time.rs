//! Durations for a reader. JSON documents carry plain numbers; only texts go through here.

/// Writes nanoseconds with three or four digits and the unit that fits: `364 ns`, `168.7 µs`.
///
/// The choice of unit follows the value that is printed, so 99.96 ns is `100 ns` and not `100.0
/// ns`.
pub fn from_ns(ns: f64) -> String {
    match ns {
        ns if ns < 99.95 => format!("{ns:.1} ns"),
        ns if ns < 9_999.5 => format!("{ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 999_950_000.0 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// Writes seconds with three significant digits: `0.112 s`, `1.02 s`, `102 s`.
pub fn from_s(seconds: f64) -> String {
    let digits = match seconds.abs() {
        s if s < 0.9995 => 3,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    format!("{seconds:.digits$} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_take_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0.0 ns"),
            (4.04, "4.0 ns"),
            (99.96, "100 ns"),
            (364.0, "364 ns"),
            (9_999.6, "10.0 µs"),
            (168_700.0, "168.7 µs"),
            (999_960.0, "1.0 ms"),
            (1.5e8, "150.0 ms"),
            (2e9, "2.0 s"),
        ] {
            assert_eq!(from_ns(ns), text);
        }
    }

    #[test]
    fn seconds_keep_three_digits() {
        for (seconds, text) in [
            (0.0, "0.000 s"),
            (0.1124, "0.112 s"),
            (0.9996, "1.00 s"),
            (1.02, "1.02 s"),
            (9.996, "10.0 s"),
            (12.34, "12.3 s"),
            (99.96, "100 s"),
            (101.67, "102 s"),
            (-0.5, "-0.500 s"),
        ] {
            assert_eq!(from_s(seconds), text);
        }
    }
}
