//! HW013: no reseed of the kernel can be seen from user space.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};
use headwater_status::ReseedGeneration;

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let running =
        case.live().filter(|_| case.assumed.is_none()).map(|live| live.status.reseed_generation);
    let proof = match (running, kernel.has_vdso(host.cpu.is_x86())) {
        (Some(ReseedGeneration::Absent(why)), _) => evidence("headwater::status()", why),
        (Some(ReseedGeneration::Retired), _) => evidence(
            "headwater::status()",
            "the reseed generation was found, and then disagreed with the kernel",
        ),
        (Some(_), _) | (None, Some(true)) => return Answer::fine(),
        (None, Some(false)) => evidence("/proc/sys/kernel/osrelease", kernel.release()),
        (None, None) => {
            return Answer::CouldNot(format!(
                "the maker of kernel {kernel} brings newer code to an old version number"
            ));
        }
    };
    Finding {
        id: Id::NoReseedWord,
        severity: Severity::Note,
        title: "programs cannot see when the kernel reseeds, so a buffer of random bytes cannot follow it".to_owned(),
        evidence: vec![proof],
        why: "In Linux 6.11 and later the memory of every process holds a number that changes at each reseed, also after a \
              clone of the VM. Without this number headwater mixes the CPU's random instruction into each small request (mode \
              hedged), or asks the kernel each time (strict). Both are as safe, and slower."
            .to_owned(),
        fixes: case.fixes(Cause::NoReseedWord),
        verify: "headwater status says: reseed generation live".to_owned(),
    }
    .into()
}
