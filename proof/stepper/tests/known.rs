//! Code whose every instruction is known, seen by the stepper.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use headwater_stepper::{Crew, Step, allowed_cpus};
use std::arch::asm;

/// One line that both threads write.
#[repr(align(64))]
struct Line {
    _words: [u64; 8],
}

/// Runs the action that belongs to a number, or nothing.
fn obey(number: u64, shared: *const Line) {
    let mut own = Line { _words: [0; 8] };
    let (own, shared) = ((&raw mut own).cast::<u8>(), shared.cast::<u8>());
    // SAFETY: writes to a line of this function and to a shared one, by locked instructions or by
    // this process's own threads in turns. `getppid` changes nothing.
    unsafe {
        match number {
            1 => asm!("nop", "nop", "nop", options(nostack)),
            2 => asm!(
                "lock add qword ptr [{shared}], 1",
                "xchg {word}, [{own}]",
                "xchg {word}, {other}",
                shared = in(reg) shared, own = in(reg) own, word = inout(reg) 0_u64 => _,
                other = inout(reg) 0_u64 => _,
                options(nostack)
            ),
            3 => asm!("syscall", inout("rax") libc::SYS_getppid => _, out("rcx") _, out("r11") _,
                options(nostack)),
            4 => asm!("rep stosb", inout("rdi") own => _, inout("rcx") 64_u64 => _, in("al") 0_u8,
                options(nostack)),
            5 => asm!("rep stosb", inout("rdi") own => _, inout("rcx") 0_u64 => _, in("al") 0_u8,
                options(nostack)),
            7 => asm!(".rept 13", "nop", ".endr", options(nostack)),
            6 => asm!("mov qword ptr [{}], 1", in(reg) shared, options(nostack)),
            _ => {}
        }
    }
}

/// Returns the steps that a thread takes for one number.
fn steps(crew: &mut Crew, thread: usize, number: u64) -> Vec<Step> {
    let thread = &mut crew.threads[thread];
    thread.answer(number).unwrap();
    let mut steps = Vec::new();
    loop {
        let step = thread.step().unwrap();
        if step.stop {
            return steps;
        }
        steps.push(step);
    }
}

fn instructions(steps: &[Step]) -> usize {
    steps.iter().filter(|step| !step.again).count()
}

fn crew(threads: usize) -> Option<Crew> {
    let cpus = allowed_cpus().into_iter().cycle().take(threads).collect::<Vec<_>>();
    let line = Line { _words: [0; 8] };
    let line = &raw const line as usize;
    match Crew::fork(&cpus, |place| {
        loop {
            obey(std::hint::black_box(place.told()), line as *const Line);
        }
    }) {
        Ok(crew) => Some(crew),
        Err(error) => {
            eprintln!("skipped: the stepper: {error}, WHETHER IT SEES WHAT IS EXECUTED");
            None
        }
    }
}

/// The same steps each time, or counting them would mean nothing.
#[test]
fn every_instruction_is_counted_once() {
    let Some(mut crew) = crew(1) else { return };
    let twice = |crew: &mut Crew, number| {
        let first = instructions(&steps(crew, 0, number));
        assert_eq!(instructions(&steps(crew, 0, number)), first);
        first
    };
    for number in 0..=7 {
        twice(&mut crew, number);
    }
    assert_eq!(twice(&mut crew, 7) - twice(&mut crew, 1), 10);
    // One and the same way around, but for 63 rounds that an empty `rep` does not make.
    assert_eq!(twice(&mut crew, 4), twice(&mut crew, 5));
    let rounds = |steps: Vec<Step>| steps.iter().filter(|step| step.again).count();
    assert_eq!(rounds(steps(&mut crew, 0, 4)), 63);
    assert_eq!(rounds(steps(&mut crew, 0, 5)), 0);
}

#[test]
fn locked_instructions_and_calls_of_the_kernel_are_told() {
    let Some(mut crew) = crew(1) else { return };
    let mut count = |number, what: fn(&Step) -> bool| {
        steps(&mut crew, 0, number).iter().filter(|step| what(step)).count()
    };
    assert_eq!([1, 2, 3].map(|number| count(number, |step| step.locked)), [0, 2, 0]);
    assert_eq!([1, 2, 3].map(|number| count(number, |step| step.syscall)), [0, 0, 1]);
    assert_eq!([1, 2, 3].map(|number| count(number, |step| step.rdrand)), [0, 0, 0]);
}

#[test]
fn a_repeated_store_touches_each_byte_once_and_an_empty_one_none() {
    let Some(mut crew) = crew(1) else { return };
    let mut bytes = |number| {
        let steps = steps(&mut crew, 0, number);
        let touches = steps.iter().flat_map(|step| &step.touches);
        let bytes = touches.filter(|touch| touch.writes && touch.len == 1);
        bytes.map(|touch| touch.at).collect::<Vec<_>>()
    };
    let written = bytes(4);
    assert_eq!(written, (written[0]..written[0] + 64).collect::<Vec<_>>());
    assert_eq!(bytes(5), [0; 0]);
}

#[test]
fn two_threads_meet_in_the_line_that_both_write_and_in_no_other() {
    let Some(mut crew) = crew(2) else { return };
    let mut lines = |thread, number| {
        let steps = steps(&mut crew, thread, number);
        let touches = steps.into_iter().flat_map(|step| step.touches);
        touches.filter(|touch| touch.writes).map(|touch| touch.at / 64).collect::<Vec<_>>()
    };
    let mut both = |number| {
        let (a, b) = (lines(0, number), lines(1, number));
        let mut both: Vec<_> = a.into_iter().filter(|line| b.contains(line)).collect();
        both.dedup();
        both.len()
    };
    assert_eq!([1, 2, 3, 4, 6].map(&mut both), [0, 1, 0, 0, 1]);
}

#[test]
fn what_goes_wrong_in_the_child_is_told() {
    let Some(_) = crew(1) else { return };
    let error = |body: fn() -> Result<(), String>| {
        Crew::fork(&[0, 0], |place| {
            if place.index == 1 {
                body()
            } else {
                loop {
                    place.told();
                }
            }
        })
        .err()
        .map(|error| error.to_string())
    };
    assert_eq!(error(|| Err("no such thing".to_owned())).as_deref(), Some("no such thing"));
    assert_eq!(
        error(|| panic!("this panic is part of the test")).as_deref(),
        Some("the child panicked")
    );
    assert_eq!(error(|| std::process::exit(0)).as_deref(), Some("the child ended early"));
}
