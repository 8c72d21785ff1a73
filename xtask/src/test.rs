//! `cargo xtask test`: every check of CI, cheap ones first.

use crate::failures::{cargo_test, run_tests};
use crate::process::{TOGETHER, cargo, output, program, root, run};
use crate::report::{Choice, Report, Stop, need};
use crate::storeys::Storey;
use crate::{
    c_library, checked, clones, fleet, java, lab, machine_code, npm, openssl, preload, prose,
    python, residue, tools, unsafe_list,
};
use anyhow::{Result, anyhow};
use std::env;
use std::process::{Command, ExitCode};

/// A system without Linux's interfaces, for which rustup has a standard library.
const NOT_LINUX: &str = "x86_64-unknown-freebsd";
/// The C library of a release's static command, whose bindings lack what glibc's have.
const MUSL: &str = "x86_64-unknown-linux-musl";
/// The second architecture with its own CPU instructions in the core.
const ARM: &str = "aarch64-unknown-linux-gnu";
/// The oldest compiler that Cargo.toml promises.
const MSRV: &str = env!("CARGO_PKG_RUST_VERSION");

/// Packages that no user builds: they promise nothing about the oldest compiler, and their
/// documentation is read in the source.
const UNPUBLISHED: &str = "--exclude headwater-browser --exclude headwater-guest \
                           --exclude headwater-model --exclude headwater-soak \
                           --exclude headwater-testing --exclude machine-code --exclude probe \
                           --exclude reference --exclude xtask";

/// The packages with a lock file of their own.
const MANIFESTS: [&str; 4] = ["Cargo.toml", python::MANIFEST, java::MANIFEST, npm::MANIFEST];

/// Prints the names of all steps.
pub(crate) fn list() -> Result<ExitCode> {
    let mut report = Report::new(Choice::Names);
    offer(&mut report);
    Ok(report.list())
}

/// Runs the chosen steps, also after a failure.
pub(crate) fn test(choice: Choice) -> Result<ExitCode> {
    if let Choice::Only(chosen) = &choice {
        let mut names = Report::new(Choice::Names);
        offer(&mut names);
        names.find(chosen)?;
    }
    env::set_current_dir(root()?)?;
    let mut report = Report::new(choice);
    offer(&mut report);
    Ok(report.finish())
}

/// Offers every step, in an order that has the cheap ones first.
pub(crate) fn offer(report: &mut Report) {
    source(report);
    if let Some(storey) = report.storey() {
        packages(report, storey);
    }
    preload::programs(report);
    openssl::other_release(report);
    tests(report);
    openssl::steps(report);
    preload::steps(report);
    for (name, package) in [
        ("page of a benchmark, in a browser", "headwater-bench"),
        ("page of quality, in a browser", "headwater-quality"),
    ] {
        report.long_step(name, || page_in_a_browser(package));
    }
    other_targets(report);
    release(report);
    fleet::steps(report);
    c_library::steps(report);
    python::steps(report);
    java::steps(report);
    npm::steps(report);
    real_kernels(report);
    machine_code::steps(report);
    residue::steps(report);
    crate::release::debian::steps(report);
    crate::pages::steps(report);
    dependencies(report);
    other_compilers(report);
    crate::release::crate_steps(report);
    checked::steps(report);
}

/// Checks that only read the source.
fn source(report: &mut Report) {
    report.step("format", || {
        need(tools::component("rustfmt"), "the layout of the source")?;
        cargo("fmt --all --check")
    });
    report.step("unsafe list", || Ok(unsafe_list::check()?));
    report.step("prose", || Ok(prose::check()?));
    for (name, scope) in [
        ("clippy", "--workspace"),
        ("clippy, no features", "-p headwater --no-default-features"),
        ("clippy, all features", "-p headwater --all-features"),
    ] {
        report.step(name, || {
            need(tools::component("clippy"), "the warnings of clippy")?;
            cargo(&format!("clippy --all-targets {scope} -- -D warnings"))
        });
    }
    // Without --all-targets, because the tests need the standard library.
    report.step("clippy, streams alone", || {
        need(tools::component("clippy"), "the warnings of clippy")?;
        cargo("clippy -p headwater-streams --no-default-features -- -D warnings")
    });
    report.step("documentation", || {
        let mut doc = program(&format!("cargo doc --workspace {UNPUBLISHED} --no-deps"));
        Ok(run(doc.env("RUSTDOCFLAGS", "-Dwarnings"))?)
    });
}

/// Checks the packages of one storey, as the steps of the whole run check all of them.
fn packages(report: &mut Report, storey: &Storey) {
    let selection = storey.selection();
    report.step(&storey.clippy(), || {
        need(tools::component("clippy"), "the warnings of clippy")?;
        cargo(&format!("clippy --all-targets {selection} -- -D warnings"))
    });
    report.step(&storey.tests(), || {
        let features = match storey.features {
            "" => String::new(),
            features => format!("--features {features}"),
        };
        let mut tests = program(&format!("cargo test {selection} {features} --no-fail-fast"));
        Ok(run_tests(tests.env("PROPTEST_RNG_SEED", "1"))?)
    });
}

fn tests(report: &mut Report) {
    // Without the core, whose tests the next step runs with more features.
    // The same random cases in each run, so that a change fails by its own fault. The next step
    // looks for new ones.
    report.step("tests", || {
        let mut tests =
            program(&format!("cargo test {TOGETHER} --exclude headwater --no-fail-fast"));
        Ok(run_tests(tests.env("PROPTEST_RNG_SEED", "1"))?)
    });
    report.long_step("tests, random cases", || {
        let mut tests = program(
            "cargo test -p headwater-doctor -p headwater-hostfile -p headwater-streams \
             --no-fail-fast",
        );
        Ok(run_tests(tests.env("PROPTEST_CASES", "20000"))?)
    });
    report.step("tests, fallbacks forced", || {
        const LOSS: &str = "draws under gdb and valgrind, and beside the allocator of gperftools";
        let tools = need(tools::packages(&["gdb", "valgrind", "libtcmalloc-minimal4"]), LOSS);
        // The tests run even if a tool is missing; each says what it skips.
        run_tests(&mut program("cargo test -p headwater --features testing,uuid,std"))?;
        tools
    });
    // Without this step no run of these tests lacks the hooks. The other steps test such builds as
    // programs: the command, the C library, the preloaded one and the probe.
    report.long_step("tests, core without hooks", || cargo_test("test -p headwater"));
    report.step("tests that change the machine", || {
        const LOSS: &str =
            "huge pages, swap, memory cgroups at their limit, the kernel's checks of rseq";
        need(tools::root_user(), LOSS)?;
        // Optimised, because an unoptimised build leaves keys on the stack, which can reach swap.
        // The features are those of the step before, whose dependencies serve again.
        cargo_test(
            "test -p headwater --features testing,uuid,std --test settings --test coexist \
             --config profile.dev.package.headwater.opt-level=3 \
             -- --ignored --nocapture --test-threads=1",
        )
    });
    // An ordinary run steps through three implementations only, so it misses a peer of the
    // benchmark that `--count` cannot step through.
    report.long_step("tests, every count", || {
        let mut counts = program(&format!("cargo test {TOGETHER} --test counts"));
        Ok(run_tests(counts.env("HEADWATER_TEST_EVERY_COUNT", "1"))?)
    });
    report.step("tests, streams of NumPy", || {
        let python = need(tools::numpy(), "whether NumPy still returns the same values")?;
        let mut test = program(&format!("cargo test {TOGETHER} --test peers"));
        Ok(run_tests(test.env("HEADWATER_TEST_PYTHON", python))?)
    });
    // It compiles AWS-LC twice.
    report.long_step("first byte of AWS-LC", || {
        cargo_test("test -p headwater-doctor --test start -- --ignored --nocapture")
    });
    report.long_step("sections, larger searches", || {
        cargo_test("test -p headwater-model --release -- --ignored --nocapture --test-threads=1")
    });
    report.step("races, model-checked", || {
        // One build for both crates: the streams draw their secret from the core.
        let mut models = program(
            "cargo test -p headwater -p headwater-streams --test loom --target-dir target/loom",
        );
        Ok(run_tests(models.env("RUSTFLAGS", "--cfg loom"))?)
    });
}

/// Checks that the page of a command's `--html` draws, selects and prints, and uses no network.
fn page_in_a_browser(package: &str) -> Result<(), Stop> {
    let chromium = need(tools::chromium(), "whether the page of a report works")?;
    let mut test = program(&format!("cargo test -p {package} --test page -- --ignored"));
    Ok(run(test.env("CHROMIUM", chromium))?)
}

fn other_targets(report: &mut Report) {
    report.step("other systems", || {
        need(tools::target(NOT_LINUX), "whether core and streams compile on other systems")?;
        cargo(&format!("check -p headwater -p headwater-streams --target {NOT_LINUX}"))
    });
    report.step("musl", || {
        const LOSS: &str = "whether a release's static command compiles";
        need(tools::target(MUSL), LOSS)?;
        need(tools::debian(&[("musl-gcc", "musl-tools")]), LOSS)?;
        cargo(&format!("check -p headwater-cli --target {MUSL}"))
    });
    report.step("arm64", || {
        need(tools::target(ARM), "whether core and streams compile for arm64")?;
        // The nostd build is a package of its own, because cargo unites the features of one build.
        cargo(&format!(
            "check -p headwater -p headwater-streams -p headwater-streams-nostd \
             --features headwater/testing --target {ARM}"
        ))
    });
}

/// Builds the command as a user does.
fn release(report: &mut Report) {
    report.step("release", || cargo("run --release"));
    report.step("no test hooks in the command", || {
        // Cargo unites the features that all packages ask for, so any of them could enable the
        // hooks.
        let tree = output(&mut program("cargo tree -p headwater-cli -e normal,build,features"))?;
        if tree.contains("headwater feature \"testing\"") {
            return Err(anyhow!("the feature \"testing\" is on:\n{tree}").into());
        }
        Ok(())
    });
}

/// Boots kernels that stall and clones that repeat, in QEMU, and copies processes.
fn real_kernels(report: &mut Report) {
    report.step("copies of warm processes", clones::short);
    report.step("copies of warm processes, with adapters", clones::adapters);
    report.step("sections under the kernel's own checks", lab::debug_switch);
    report.step("real kernels: boots and clones", || {
        need(lab::set_up(), "whether stalled boots are diagnosed, and whether clones repeat")?;
        Ok(lab::short()?)
    });
}

fn dependencies(report: &mut Report) {
    report.step("licences, bans, sources", || {
        let deny = need(tools::cargo_deny(), "licences and origins of the dependencies")?;
        for manifest in MANIFESTS {
            let mut check = Command::new(&deny);
            check.args(["--config", "deny.toml", "--manifest-path", manifest, "check"]);
            run(check.args(["licenses", "bans", "sources"]))?;
        }
        Ok(())
    });
    report.step("advisories", || {
        const LOSS: &str = "known vulnerabilities of the dependencies, and yanked versions";
        let deny = need(tools::cargo_deny(), LOSS)?;
        need(run(Command::new(&deny).args(["fetch", "db"])), LOSS)?;
        for manifest in MANIFESTS {
            let mut check = Command::new(&deny);
            check.args(["--config", "deny.toml", "--manifest-path", manifest, "check"]);
            run(check.arg("advisories"))?;
        }
        Ok(())
    });
}

/// Checks with the oldest compiler. An ordinary run checks the crates that other projects depend
/// on; in the rest, clippy refuses functions that the oldest compiler lacks (`incompatible_msrv`).
fn other_compilers(report: &mut Report) {
    let whole = report.is_all();
    report.step("oldest compiler", || {
        need(tools::toolchain(MSRV, &[]), "whether the oldest promised compiler still builds it")?;
        if whole {
            return cargo(&format!("+{MSRV} check --workspace {UNPUBLISHED}"));
        }
        cargo(&format!("+{MSRV} check -p headwater -p headwater-streams -p headwater-c"))
    });
}
