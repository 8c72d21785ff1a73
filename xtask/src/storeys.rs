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

pub(crate) const STOREYS: [Storey; 7] = [
    Storey {
        name: "core",
        purpose: "the random bytes, and what a process can say of them",
        packages: &["headwater", "headwater-status"],
        features: "headwater/testing,headwater/uuid,headwater/std",
        steps: &["clippy, no features", "clippy, all features"],
    },
    Storey {
        name: "proof",
        purpose: "what proves the core: models, machine code, residue, single steps, references",
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
        packages: &["headwater-storage", "headwater-streams", "headwater-streams-nostd"],
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
        packages: &[
            "headwater-c",
            "headwater-cli",
            "headwater-openssl",
            "headwater-openssl-module",
            "headwater-preload",
        ],
        features: "",
        steps: &[
            "programs for the preload library",
            "OpenSSL 3.5 and glibc 2.41, unpacked",
            "OpenSSL provider",
            "release",
            "no test hooks in the command",
            "C library",
            "format and clippy, Python crate",
            "Python package",
            "format and clippy, Java's native library",
            "Java provider and streams",
            "no panic in the C library",
            "no panic in OpenSSL's module",
            "no panic in Java's library",
        ],
    },
    Storey {
        name: "measure",
        purpose: "speed and statistical quality, beside the peers",
        packages: &["headwater-bench", "headwater-browser", "headwater-quality"],
        features: "",
        steps: &[],
    },
    Storey {
        name: "boot",
        purpose: "the doctor and the lab: boots that wait, clones that repeat",
        packages: &[
            "headwater-doctor",
            "headwater-guest",
            "headwater-hostfile",
            "headwater-lab",
            "headwater-lab-protocol",
        ],
        features: "",
        steps: &["fleet: metrics and alerts by promtool", "real kernels: boots and clones"],
    },
    Storey {
        name: "house",
        purpose: "the tools of this repository, and what several storeys share",
        packages: &["headwater-examples", "headwater-text", "xtask"],
        features: "",
        steps: &[
            "documentation",
            "other systems",
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
        let all = STOREYS.map(|storey| format!("  {:<8} {}", storey.name, storey.purpose));
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

    /// Returns the names of the packages of the workspace.
    fn members() -> Vec<String> {
        let mut list = program("cargo metadata --no-deps --format-version 1 --offline");
        let text = output(list.current_dir(root().unwrap())).unwrap();
        let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        packages.iter().map(|package| package["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_package_belongs_to_one_storey() {
        let members = members();
        for member in &members {
            let of = STOREYS.iter().filter(|storey| storey.packages.contains(&member.as_str()));
            let of: Vec<&str> = of.map(|storey| storey.name).collect();
            assert_eq!(of.len(), 1, "{member} is in {of:?}");
        }
        for package in STOREYS.iter().flat_map(|storey| storey.packages) {
            assert!(members.iter().any(|member| member == package), "no package {package}");
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
            assert_eq!(of + others, 1, "{step}");
        }
        let named =
            STOREYS.iter().flat_map(|storey| storey.steps).chain(SHARED_STEPS).chain(OF_ALL);
        for step in named {
            assert!(ordinary.contains(step), "no step is called {step}");
        }
    }

    #[test]
    fn a_wrong_name_gets_the_list() {
        let error = named("cellar").err().unwrap().to_string();
        assert!(STOREYS.iter().all(|storey| error.contains(storey.name)), "{error}");
    }
}
