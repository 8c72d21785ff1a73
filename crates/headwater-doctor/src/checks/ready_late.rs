//! HW002: the kernel's generator was ready late.

use super::Answer;
use super::logged::{between, newest};
use crate::boot::Boot;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

/// A shorter wait is not noticeable.
const UNNOTICED_S: f64 = 0.3;
/// The jitter loop takes 256 ticks of the kernel's timer, 2.6 s at the slowest (100 a second); in
/// 5.10 it begins a second late.
const JITTER_S: f64 = 5.0;
/// Start timeouts and people lose patience.
const LONG_S: f64 = 30.0;

pub(super) fn check(case: &Case) -> Answer {
    newest(case, |boot| by_log(case, boot))
}

fn by_log(case: &Case, boot: &Boot) -> Answer {
    let Some(ready) = &boot.ready else {
        return Answer::CouldNot(
            "the log has no line that says when the generator was ready: the line is lost, or came after the log's end".to_owned(),
        );
    };
    let Some(init) = &boot.init else {
        return Answer::CouldNot("the log does not tell when the first program started".to_owned());
    };
    let Some(late) = between(init, ready) else {
        return Answer::CouldNot(
            "the log has no times: write it with `journalctl -b -o short-monotonic` or plain `dmesg`".to_owned(),
        );
    };
    let severity = match late {
        late if late <= UNNOTICED_S => return Answer::fine(),
        late if late <= JITTER_S => Severity::Note,
        late if late <= LONG_S => Severity::Warning,
        _ => Severity::Critical,
    };
    let (why, fixes) = if severity == Severity::Note {
        let why = "That is the time the kernel takes to gather entropy from the jitter of its own clock: 256 ticks of its timer, 0.26 s \
                   at 1000 a second, 1 s at 250, 2.6 s at 100. Whoever asks for random bytes meanwhile waits so long once, and no longer.";
        (why, Vec::new())
    } else {
        let why = "The kernel had no random instruction that it trusts, no random device, no seed and no jitter to go by, so it waited for \
                   interrupts, which give about one bit a second of the 256 (128 on older kernels). Until then each program that asks for \
                   random bytes hangs.";
        (why, case.fixes(Cause::NoSeed))
    };
    Finding {
        id: Id::ReadyLate,
        severity,
        title: format!("the kernel's random generator was ready {late:.1} s after the first program started"),
        evidence: vec![init.evidence.clone(), ready.evidence.clone()],
        why: why.to_owned(),
        fixes,
        verify: "after a reboot, `dmesg | grep -e 'as init process' -e 'crng init done'` shows the second line first, or less than a second later"
            .to_owned(),
    }
    .into()
}
