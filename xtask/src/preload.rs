//! Unmodified programs under the preload library.

use crate::process::{program, run};
use crate::report::{Report, Stop, need};
use crate::tools;

/// Programs that the tests of fronts/preload run.
const PROGRAMS: [&str; 9] = [
    "libcap2-bin",
    "musl-tools",
    "openssh-client",
    "openssh-server",
    "perl",
    "php-cli",
    "python3",
    "ruby",
    "strace",
];
/// Further programs, whose speed is compared.
const MEASURED: [&str; 9] = [
    "drill",
    "gnupg",
    "memcached",
    "nginx-light",
    "nodejs",
    "postgresql",
    "redis-server",
    "unbound",
    "uuid-runtime",
];

/// Installs the programs, which the step "tests" runs with the rest.
pub(crate) fn programs(report: &mut Report) {
    report.step("programs for the preload library", || {
        const LOSS: &str = "whether Python, PHP, Ruby, Perl, sshd and programs of musl draw from \
                            headwater, where they are not installed";
        // CPython's own tests have a package for each version. Without it a test says so.
        let _ = tools::packages(&["libpython3.11-testsuite"]);
        need(tools::packages(&PROGRAMS), LOSS)
    });
}

/// Measures programs without and with headwater, once each.
pub(crate) fn steps(report: &mut Report) {
    report.long_step("programs with the preload library, measured", || {
        const LOSS: &str = "PostgreSQL, Node, nginx, redis, memcached, unbound and GnuPG";
        need(tools::root_user(), LOSS)?;
        need(tools::packages(&MEASURED), LOSS)?;
        run(&mut program("cargo build --release"))?;
        compare()
    });
}

fn compare() -> Result<(), Stop> {
    Ok(run(&mut program("python3 fronts/outside/programs.py target/release --rounds 1"))?)
}
