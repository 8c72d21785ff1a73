//! The kernel that an experiment asks for, and values of options that a type alone does not check.

use crate::machine::header;
use crate::machine::part::ARM_PART;
use crate::machine::series::{self, SERIES};
use crate::scenario::situations::SITUATIONS;
use std::path::Path;

/// The newest series, which is the default.
pub(crate) const NEWEST: &str = "7";

/// Returns the part of the cache, or the file, with the requested kernel. arm64 has its own part.
pub(super) fn part(kernel: Option<&str>, arch: Option<&str>) -> Option<String> {
    let series = kernel.and_then(series::find).map(|series| series.name);
    match (kernel, arch) {
        (None, Some("aarch64")) => Some(ARM_PART.to_owned()),
        (Some(_), Some("aarch64")) if series.is_some() => Some(ARM_PART.to_owned()),
        (kernel, _) => series.or(kernel).map(str::to_owned),
    }
}

/// Checks that a kernel is for the requested architecture. A series has a kernel for each, but the
/// part of arm64 has none for another, although its name is no file whose header could say so. A
/// file that is no image is refused when the kernel is looked for.
pub(super) fn check_architecture(kernel: Option<&str>, arch: Option<&str>) -> Result<(), String> {
    let (Some(kernel), Some(arch)) = (kernel, arch) else { return Ok(()) };
    if series::find(kernel).is_some() {
        return Ok(());
    }
    let found = match kernel {
        ARM_PART => Ok("aarch64"),
        file => header::architecture(Path::new(file)),
    };
    match found {
        Ok(found) if found != arch => {
            Err(format!("{kernel} is a kernel for {found}, and --arch asks for {arch}"))
        }
        _ => Ok(()),
    }
}

/// Returns the kernels whose rows of a table are requested; empty: all.
pub(super) fn parts(kernel: Option<&str>, arch: Option<&str>) -> Result<Vec<String>, String> {
    check_architecture(kernel, arch)?;
    let parts = match (part(kernel, arch), arch) {
        (Some(part), _) => vec![part],
        (None, Some(_)) => SERIES.iter().map(|series| series.name.to_owned()).collect(),
        (None, None) => Vec::new(),
    };
    let known = |part: &String| part == ARM_PART || series::find(part).is_some();
    match parts.iter().find(|part| !known(part)) {
        Some(part) => Err(format!("the table has no rows for a kernel '{part}', only for series")),
        None => Ok(parts),
    }
}

/// Parses seconds that a guest can wait. Not every float is a duration, and the guest would boot
/// before that is seen.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("seconds are a number from 0 to 3600".to_owned()),
    }
}

pub(super) fn situation(name: &str) -> Result<String, String> {
    let names: Vec<&str> = SITUATIONS.iter().map(|situation| situation.id).collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("situations are {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;

    /// A float that is no duration was a panic once, after the boot.
    #[test]
    fn seconds_are_those_that_a_guest_can_wait() {
        for (text, value) in [("0", 0.0), ("1.5", 1.5), ("3600", 3600.0)] {
            assert_eq!(seconds(text), Ok(value));
        }
        for text in ["-1", "-0.1", "NaN", "inf", "1e300", "3601", "", "one"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_image_is_for_the_architecture_that_is_asked_for() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("bzImage");
        std::fs::write(&file, header::tests::bzimage_of(1)).unwrap();
        let of = |arch| check_architecture(file.to_str(), Some(arch));
        assert_eq!(of("x86_64"), Ok(()));
        assert!(of("aarch64").unwrap_err().contains("is a kernel for x86_64, and --arch asks"));
        assert_eq!(check_architecture(Some("7"), Some("aarch64")), Ok(()));
    }

    /// The name of arm64's part was taken for a file that is looked for later, and was booted.
    #[test]
    fn the_kernel_of_arm64_is_for_no_other_architecture() {
        let why = "arm64 is a kernel for aarch64, and --arch asks for x86_64";
        assert_eq!(check_architecture(Some("arm64"), Some("x86_64")), Err(why.to_owned()));
        assert_eq!(parts(Some("arm64"), Some("x86_64")), Err(why.to_owned()));
        for arch in [None, Some("aarch64")] {
            assert_eq!(check_architecture(Some("arm64"), arch), Ok(()));
            assert_eq!(parts(Some("arm64"), arch), Ok(vec!["arm64".to_owned()]));
        }
    }

    #[test]
    fn a_kernel_is_a_series_a_file_or_that_of_arm64() {
        let of = |kernel, arch| part(kernel, arch);
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some("7.x"), Some("x86_64")).as_deref(), Some("7"));
        assert_eq!(of(Some("7"), Some("aarch64")).as_deref(), Some("arm64"));
        assert_eq!(of(None, Some("aarch64")).as_deref(), Some("arm64"));
        assert_eq!(of(Some("./vmlinuz"), None).as_deref(), Some("./vmlinuz"));
        assert_eq!(parts(None, None), Ok(Vec::new()));
        assert_eq!(parts(Some("6.1"), None), Ok(vec!["6.1".to_owned()]));
        assert_eq!(parts(None, Some("x86_64")).map(|all| all.len()), Ok(SERIES.len()));
        assert!(parts(Some("./vmlinuz"), None).is_err());
        assert_eq!(SERIES[SERIES.len() - 1].name, NEWEST);
    }
}
