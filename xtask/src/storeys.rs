//! The storeys of the house: groups of packages that are changed and tested together.
//!
//! A change of one storey does not need the tests of all others while it is being made, so `cargo
//! xtask test STOREY` and `cargo xtask quick STOREY` run what the storey's own packages need. They
//! are no substitute for `cargo xtask test`: a storey can break one that stands on it, and only the
//! whole run sees that.

use anyhow::{Result, bail};

/// A storey: its packages, and the steps of `cargo xtask test` that belong to it.
pub(crate) struct Storey {
    pub(crate) name: &'static str,
    /// Says in one line what the storey is for.
    pub(crate) purpose: &'static str,
    /// The storeys that its packages may depend on, tests included.
    pub(crate) may_use: &'static [&'static str],
    /// Packages of the workspace at the root.
    pub(crate) packages: &'static [&'static str],
    /// Features that the tests of these packages need.
    pub(crate) features: &'static str,
    /// Steps by their names, beside those that every storey has.
    pub(crate) steps: &'static [&'static str],
}

/// The steps that every storey has, because they read all of the source in a few seconds.
pub(crate) const SHARED_STEPS: &[&str] = &["format", "unsafe list", "prose"];

/// The steps that check the packages of all storeys at once. A storey has one of its own for each.
#[cfg(test)]
const OF_ALL: &[&str] = &["clippy", "tests", "tests, fallbacks forced"];

pub(crate) const STOREYS: [Storey; 8] = [
    Storey {
        name: "core",
        purpose: "the random bytes, and what a process can say of them",
        may_use: &["proof"],
        packages: &["headwater", "headwater-status"],
        features: "headwater/testing,headwater/uuid,headwater/std",
        steps: &["clippy, no features", "clippy, all features"],
    },
    Storey {
        name: "proof",
        purpose: "what proves the core: models, machine code, residue, single steps, references",
        may_use: &["core"],
        packages: &[
            "headwater-model",
            "headwater-soak",
            "headwater-stepper",
            "headwater-testing",
            "machine-code",
            "probe",
            "reference",
        ],
        features: "",
        steps: &[
            "tests that change the machine",
            "races, model-checked",
            "no panic in a draw",
            "order in the arm64 code",
            "order in the x86-64 code",
            "format and clippy, residue",
            "no key stays in memory",
            "miri",
            "address sanitizer",
        ],
    },
    Storey {
        name: "streams",
        purpose: "reproducible arrays, and the files that hold them",
        may_use: &["core", "text", "proof"],
        packages: &["headwater-arrow", "headwater-storage", "headwater-streams"],
        features: "",
        steps: &[
            "clippy, streams alone",
            "tests, streams of NumPy",
            "nothing fused in the streams",
            "miri, streams",
        ],
    },
    Storey {
        name: "fronts",
        purpose: "the same for other languages and programs",
        may_use: &["core", "streams", "text", "boot", "measure", "proof"],
        packages: &[
            "headwater-adapters",
            "headwater-arrow-nostd",
            "headwater-c",
            "headwater-cli",
            "headwater-openssl",
            "headwater-openssl-module",
            "headwater-preload",
            "headwater-streams-nostd",
        ],
        features: "",
        steps: &[
            "programs for the preload library",
            "programs with OpenSSL, for tests that cut its module off",
            "OpenSSL 3.5 and glibc 2.41, unpacked",
            "OpenSSL 4, unpacked",
            "OpenSSL provider",
            "release",
            "no test hooks in the command",
            "C library",
            "format and clippy, Python crate",
            "Python package",
            "format and clippy, Java's native library",
            "Java provider and streams",
            "format and clippy, npm's library",
            "npm package",
            "no panic in the C library",
            "no panic in OpenSSL's module",
            "no panic in Java's library",
        ],
    },
    Storey {
        name: "measure",
        purpose: "speed and statistical quality, beside the peers",
        may_use: &["core", "streams", "text", "proof"],
        packages: &[
            "headwater-bench",
            "headwater-browser",
            "headwater-health",
            "headwater-quality",
        ],
        features: "",
        steps: &[],
    },
    Storey {
        name: "boot",
        purpose: "doctor, lab and clones: boots that wait, copies that repeat",
        may_use: &["core", "text", "fronts", "measure"],
        packages: &[
            "headwater-clones",
            "headwater-doctor",
            "headwater-guest",
            "headwater-hostfile",
            "headwater-lab",
            "headwater-lab-protocol",
        ],
        features: "",
        steps: &[
            "fleet: metrics and alerts by promtool",
            "copies of warm processes",
            "copies of warm processes, with adapters",
            "sections under the kernel's own checks",
            "real kernels: boots and clones",
        ],
    },
    Storey {
        name: "text",
        purpose: "sizes, times, numbers and page frames, for all commands",
        may_use: &[],
        packages: &["headwater-text"],
        features: "",
        steps: &[],
    },
    Storey {
        name: "house",
        purpose: "the tools of this repository, and the examples",
        may_use: &["core", "streams", "proof"],
        packages: &["headwater-examples", "xtask"],
        features: "",
        steps: &[
            "documentation",
            "other systems",
            "musl",
            "arm64",
            "licences, bans, sources",
            "advisories",
            "oldest compiler",
        ],
    },
];

/// Returns the storey of this name.
pub(crate) fn find(name: &str) -> Option<&'static Storey> {
    STOREYS.iter().find(|storey| storey.name == name)
}

/// Returns the storey of this name, or an error that lists all.
pub(crate) fn named(name: &str) -> Result<&'static Storey> {
    let Some(storey) = find(name) else {
        let line = |storey: &Storey| {
            let uses = match storey.may_use {
                [] => String::new(),
                some => format!("; uses {}", some.join(", ")),
            };
            format!("  {:<8} {}{uses}", storey.name, storey.purpose)
        };
        let all: Vec<String> = STOREYS.iter().map(line).collect();
        bail!("no storey is called '{name}'; there are\n{}", all.join("\n"));
    };
    Ok(storey)
}

impl Storey {
    /// Returns cargo's arguments for these packages.
    pub(crate) fn selection(&self) -> String {
        self.packages.iter().map(|package| format!("-p {package} ")).collect()
    }

    /// Returns whether a step belongs to the storey.
    pub(crate) fn has(&self, step: &str) -> bool {
        let own = [self.clippy(), self.tests()];
        SHARED_STEPS.contains(&step) || self.steps.contains(&step) || own.iter().any(|s| s == step)
    }

    /// Returns the name of the step that checks the storey's packages with clippy.
    pub(crate) fn clippy(&self) -> String {
        format!("clippy, {}", self.name)
    }

    /// Returns the name of the step that tests the storey's packages.
    pub(crate) fn tests(&self) -> String {
        format!("tests, {}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{output, program, root};
    use crate::report::{Choice, Report};
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// Returns the packages of the workspace: the name, the directory's first part below the root,
    /// and the names of what the package depends on.
    fn packages() -> Vec<(String, String, Vec<String>)> {
        let root = root().unwrap();
        let mut list = program("cargo metadata --no-deps --format-version 1 --offline");
        let text = output(list.current_dir(&root)).unwrap();
        let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
        let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_owned();
        let packages = metadata["packages"].as_array().unwrap().iter().map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            let top = manifest.strip_prefix(&root).unwrap().iter().next().unwrap();
            let dependencies = package["dependencies"].as_array().unwrap();
            let dependencies = dependencies.iter().map(name).collect();
            (name(package), top.to_str().unwrap().to_owned(), dependencies)
        });
        packages.collect()
    }

    /// Returns the storey of a package.
    fn of(package: &str) -> Option<&'static Storey> {
        STOREYS.iter().find(|storey| storey.packages.contains(&package))
    }

    #[test]
    fn every_package_belongs_to_the_storey_in_whose_directory_it_is() {
        let packages = packages();
        for (package, top, _) in &packages {
            let of: Vec<&Storey> =
                STOREYS.iter().filter(|storey| storey.packages.contains(&&**package)).collect();
            assert_eq!(of.len(), 1, "storeys that list {package} in xtask/src/storeys.rs");
            // The examples and the tools of the repository have directories of their own.
            let is_house = of[0].name == "house" && ["examples", "xtask"].contains(&&**top);
            assert!(is_house || of[0].name == top, "{package} of {} lies in {top}/", of[0].name);
        }
        for package in STOREYS.iter().flat_map(|storey| storey.packages) {
            let exists = packages.iter().any(|(name, ..)| name == package);
            assert!(exists, "xtask/src/storeys.rs lists {package}, which is no package");
        }
    }

    /// A storey that quietly takes from one more is how a house grows together.
    #[test]
    fn a_storey_uses_what_its_page_says() {
        let root = root().unwrap();
        for storey in &STOREYS {
            let own =
                packages().into_iter().filter(|(name, ..)| storey.packages.contains(&&**name));
            let used: BTreeSet<&str> = own
                .flat_map(|(.., dependencies)| dependencies)
                .filter_map(|dependency| Some(of(&dependency)?.name))
                .filter(|name| *name != storey.name)
                .collect();
            let allowed: BTreeSet<&str> = storey.may_use.iter().copied().collect();
            assert_eq!(
                used, allowed,
                "{}: what its manifests use, and `may_use` in xtask/src/storeys.rs",
                storey.name
            );
            if storey.name == "house" {
                continue; // ARCHITECTURE.md is its page
            }
            let page = fs::read_to_string(root.join(storey.name).join("README.md")).unwrap();
            let listed = match storey.may_use {
                [] => "nothing of ours".to_owned(),
                some => some.join(", "),
            };
            let sentence = format!("**It may use:** {listed}.\n");
            assert!(page.contains(&sentence), "{}/README.md lacks: {sentence}", storey.name);
            for heading in ["**Alone:** ", "**Not here:** "] {
                assert!(page.contains(heading), "{}: {heading}", storey.name);
            }
        }
    }

    /// So no check of the whole run is missing from all storeys.
    #[test]
    fn every_step_of_an_ordinary_run_belongs_to_one_storey() {
        let mut report = Report::new(Choice::Names);
        crate::test::offer(&mut report);
        let ordinary = report.ordinary();
        for step in &ordinary {
            let of = STOREYS.iter().filter(|storey| storey.steps.contains(step)).count();
            let others = [SHARED_STEPS, OF_ALL].iter().filter(|steps| steps.contains(step)).count();
            assert_eq!(
                of + others,
                1,
                "storeys that list the step '{step}' in xtask/src/storeys.rs"
            );
        }
        let named =
            STOREYS.iter().flat_map(|storey| storey.steps).chain(SHARED_STEPS).chain(OF_ALL);
        for step in named {
            assert!(
                ordinary.contains(step),
                "xtask/src/storeys.rs lists '{step}', which is no step of an ordinary run"
            );
        }
    }

    #[test]
    fn a_wrong_name_gets_the_list() {
        let error = named("cellar").err().unwrap().to_string();
        assert!(STOREYS.iter().all(|storey| error.contains(storey.name)), "{error}");
    }
}
