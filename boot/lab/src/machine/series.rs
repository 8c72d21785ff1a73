//! The series of kernels that the lab boots. It asks for series, because mirrors keep only the
//! newest version of each.

/// A series of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Name on the command line: `6.12`, or `7` for the newest of that major version.
    pub name: &'static str,
    /// The reason why the lab boots it.
    pub why: &'static str,
}

/// All series, from the oldest to the newest.
pub const SERIES: [Series; 5] = [
    Series {
        name: "5.10",
        why: "Debian 11; the generator's rework of 5.18, backported without its drivers",
    },
    Series {
        name: "6.1",
        why: "Debian 12; no vDSO getrandom, and its cloud kernel has no vmgenid driver",
    },
    Series { name: "6.12", why: "Debian 13; the reseed generation is in the first page of [vvar]" },
    Series {
        name: "6.18",
        why: "the reseed generation is in the third page of [vvar]; the first with VMClock",
    },
    Series { name: "7", why: "the newest; without a cycle counter it can wait for ever" },
];

/// Suites that serve one of the series.
pub(crate) const SUITES: [&str; 7] = [
    "bullseye",
    "bullseye-security",
    "bookworm",
    "bookworm-security",
    "trixie",
    "trixie-security",
    "trixie-backports",
];

/// Returns the series of a name.
pub(crate) fn find(name: &str) -> Option<Series> {
    SERIES
        .into_iter()
        .find(|series| series.name == name || name.strip_suffix(".x") == Some(series.name))
}

/// Returns release and packages of the newest kernel of a series, from all package names.
///
/// From 7.0 on, a kernel consists of two packages, `linux-binary` and `linux-modules`; 6.19 has
/// both forms.
pub(crate) fn newest(
    series: &str,
    names: &[String],
    flavour: &str,
) -> Option<(String, Vec<String>)> {
    let releases = |kind: &str| -> Vec<String> {
        let names = names.iter().filter_map(|name| name.strip_prefix(kind));
        names
            .filter(|release| release.ends_with(flavour) && is_in(series, release))
            .map(str::to_owned)
            .collect()
    };
    let newest =
        |releases: Vec<String>| releases.into_iter().max_by_key(|release| numbers(release));
    if let Some(release) = newest(releases("linux-binary-"))
        && names.contains(&format!("linux-modules-{release}"))
    {
        return Some((
            release.clone(),
            vec![format!("linux-binary-{release}"), format!("linux-modules-{release}")],
        ));
    }
    let release = newest(releases("linux-image-"))?;
    Some((release.clone(), vec![format!("linux-image-{release}")]))
}

fn is_in(series: &str, release: &str) -> bool {
    release.strip_prefix(series).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the numbers in a release, by which releases are ordered: 6.12.117+deb13 is newer than
/// 6.12.117+deb12, and 6.1.0-56 is newer than 6.1.0-0.deb11.52.
fn numbers(release: &str) -> Vec<u64> {
    let digits = release.split(|c: char| !c.is_ascii_digit());
    digits.filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_a_series_is_found() {
        let names: Vec<String> = [
            "linux-image-6.1.0-9-cloud-amd64",
            "linux-image-6.1.0-56-cloud-amd64",
            "linux-image-6.1.0-0.deb11.52-cloud-amd64",
            "linux-image-6.1-cloud-amd64",
            "linux-image-6.12.117+deb13-cloud-amd64",
            "linux-image-6.12.117+deb12-cloud-amd64",
            "linux-image-6.12.90+deb13.1-cloud-amd64",
            "linux-image-7.3.4+deb13-cloud-amd64",
            "linux-binary-7.3.4+deb13-cloud-amd64",
            "linux-modules-7.3.4+deb13-cloud-amd64",
            "linux-image-7.3.4+deb13-rt-amd64",
        ]
        .map(str::to_owned)
        .to_vec();
        let of = |series| {
            newest(series, &names, "-cloud-amd64")
                .map(|(release, packages)| (release, packages.len()))
        };
        assert_eq!(of("6.1"), Some(("6.1.0-56-cloud-amd64".to_owned(), 1)));
        assert_eq!(of("6.12"), Some(("6.12.117+deb13-cloud-amd64".to_owned(), 1)));
        assert_eq!(of("7"), Some(("7.3.4+deb13-cloud-amd64".to_owned(), 2)));
        assert_eq!(of("5.10"), None);
    }

    #[test]
    fn a_series_is_found_by_its_name() {
        assert_eq!(find("7.x"), find("7"));
        assert_eq!(find("6.12").unwrap().name, "6.12");
        assert_eq!(find("4.19"), None);
    }
}
