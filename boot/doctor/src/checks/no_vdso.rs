//! HW012: random bytes cost a system call here.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

/// The first glibc whose getrandom() goes through the vDSO.
const GLIBC: (u32, u32) = (2, 41);

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let first = if host.cpu.is_x86() { "6.11" } else { "6.12" };
    let (title, proof) = match kernel.has_vdso(host.cpu.is_x86()) {
        Some(false) => (
            format!(
                "each getrandom() is a system call: kernel {kernel} cannot answer in the program itself (Linux {first} can)"
            ),
            evidence("/proc/sys/kernel/osrelease", kernel.release()),
        ),
        None => {
            return Answer::CouldNot(format!(
                "the maker of kernel {kernel} brings newer code to an old version number"
            ));
        }
        Some(true) => {
            let Some(libc) = case.live().and_then(|live| live.libc.as_deref()) else {
                return Answer::InPart(
                    Vec::new(),
                    "the C library's version is known on a live machine only".to_owned(),
                );
            };
            match libc.strip_prefix("glibc ").and_then(version) {
                Some(version) if version < GLIBC => (
                    format!(
                        "each getrandom() of the C library is a system call: {libc} does not use the kernel's faster way (2.41 does)"
                    ),
                    evidence("gnu_get_libc_version()", libc),
                ),
                _ => return Answer::fine(),
            }
        }
    };
    Finding {
        id: Id::NoVdso,
        severity: Severity::Note,
        title,
        evidence: vec![proof],
        why: "A system call costs some hundred nanoseconds for a few bytes, about ten times what the same bytes cost without \
              one. headwater uses the faster way by itself where the kernel has it, whatever the C library."
            .to_owned(),
        fixes: case.fixes(Cause::NoVdso),
        verify: "strace -c of a program that draws shows no getrandom beyond the first".to_owned(),
    }
    .into()
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
