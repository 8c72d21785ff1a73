//! HW010: a kernel that cannot gather entropy by itself.

use super::Answer;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(kernel) = case.kernel() else { return Answer::NotAsked };
    match kernel.has_jitter_loop() {
        Some(true) => Answer::fine(),
        // Whatever it is made of, it was ready in time.
        None if case.waited().is_some() && !case.is_starved() => Answer::fine(),
        None => Answer::CouldNot(format!(
            "the maker of kernel {kernel} brings newer code to an old version number, which therefore does not show it"
        )),
        Some(false) => {
            let has_other_source = case.trusts_cpu() == Some(true) && !case.is_starved();
            Finding {
                id: Id::NoJitter,
                severity: if has_other_source { Severity::Note } else { Severity::Warning },
                title: format!(
                    "kernel {kernel} cannot gather entropy by itself: without a trusted source its generator waits for \
                     interrupts, about one bit a second on an idle machine"
                ),
                evidence: vec![case.kernel_by(&kernel)],
                why: "Linux 5.4 was the first to measure the jitter of its own cycle counter while it waits (50ee7529ec45), \
                      and is ready about a second after the first request. Older kernels wait for interrupts of devices: \
                      with 128 bits to gather, an idle VM takes two minutes."
                    .to_owned(),
                fixes: case.fixes(Cause::NoJitter),
                verify: "after a reboot into the newer kernel, headwater doctor --only HW010 is silent".to_owned(),
            }
            .into()
        }
    }
}
