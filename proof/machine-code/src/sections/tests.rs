//! The code of a correct draw, and each change that must make the check fail.

use super::*;

/// A draw of one word, from the number of tries to the return, and its abort handler, with the
/// registers that rustc 1.95 chooses.
const DRAW: [&str; 41] = [
    "be08000000",             // mov esi,0x8
    "488d1502a60300",         // lea rdx,[rip+0x3a602]
    "6448895104",             // mov fs:[rcx+0x4],rdx
    "648b11",                 // mov edx,fs:[rcx]
    "4c8b87d8000000",         // mov r8,[rdi+0xd8]
    "413b5010",               // cmp edx,[r8+0x10]
    "0f83aaf6ffff",           // jae 33ae1
    "4189d1",                 // mov r9d,edx
    "49c1e107",               // shl r9,0x7
    "4c038fe0000000",         // add r9,[rdi+0xe0]
    "4d8b19",                 // mov r11,[r9]
    "4d8b5108",               // mov r10,[r9+0x8]
    "4d89d8",                 // mov r8,r11
    "4981e000f0ffff",         // and r8,-0x1000
    "4983eb08",               // sub r11,0x8
    "4d39c3",                 // cmp r11,r8
    "0f8c7ef6ffff",           // jl 33ae1
    "f30fc7fd",               // rdpid rbp
    "81e5ff0f0000",           // and ebp,0xfff
    "39d5",                   // cmp ebp,edx
    "0f856cf6ffff",           // jne 33ae1
    "4d8919",                 // mov [r9],r11
    "4d3910",                 // cmp [r8],r10
    "0f8560f6ffff",           // jne 33ae1
    "498b8330020000",         // mov rax,[r11+0x230]
    "49c7833002000000000000", // mov [r11+0x230],0x0
    "488b5758",               // mov rdx,[rdi+0x58]
    "488b12",                 // mov rdx,[rdx]
    "493b5008",               // cmp rdx,[r8+0x8]
    "0f8547f6ffff",           // jne 33aeb
    "488b5748",               // mov rdx,[rdi+0x48]
    "488b12",                 // mov rdx,[rdx]
    "493b5010",               // cmp rdx,[r8+0x10]
    "0f8536f6ffff",           // jne 33aeb
    "4d3910",                 // cmp [r8],r10
    "0f852df6ffff",           // jne 33aeb
    "4885c0",                 // test rax,rax
    "0f842ef6ffff",           // je 33af5
    "31f6",                   // xor esi,esi
    "6448c7410400000000",     // mov fs:[rcx+0x4],0x0
    "c3",                     // ret
];
const HANDLER: [&str; 9] = [
    "0fb93d53300553", // ud1 edi,[rip+0x53053053]
    "83ee01",         // sub esi,0x1
    "0f8536090000",   // jne 34417
    "be01000000",     // mov esi,0x1
    "e9de090000",     // jmp 344c9
    "be02000000",     // mov esi,0x2
    "e9d4090000",     // jmp 344c9
    "be03000000",     // mov esi,0x3
    "e9ca090000",     // jmp 344c9
];
const DRAW_AT: u64 = 0x34412;
const HANDLER_AT: u64 = 0x33AD1;
const DESCRIPTOR: Descriptor =
    Descriptor { at: 0x6EA20, start: 0x34423, end: 0x344BE, abort: 0x33AD8 };

fn code(instructions: &[&str]) -> Vec<u8> {
    let digits = instructions.concat();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

fn check(draw: &[&str], handler: &[&str]) -> Result<SectionKind> {
    let parts = vec![(DRAW_AT, code(draw)), (HANDLER_AT, code(handler))];
    Image { parts }.check(DESCRIPTOR)
}

#[track_caller]
fn fault(draw: &[&str]) -> String {
    format!("{:#}", check(draw, &HANDLER).unwrap_err())
}

/// Returns the draw without one instruction.
fn without(missing: usize) -> Vec<String> {
    let mut draw = DRAW.map(String::from).to_vec();
    draw[missing] = "90".repeat(DRAW[missing].len() / 2);
    draw
}

#[test]
fn a_sound_draw_passes() {
    assert_eq!(check(&DRAW, &HANDLER).unwrap(), SectionKind::Draw);
}

#[test]
fn nothing_of_it_may_be_missing() {
    for (missing, what) in [
        (2, "rseq_cs is not set"),
        (6, "an unexpected place"),
        (10, "the claimed cursor"),
        (11, "the tag is not compared before"),
        (12, "the claim may leave the page"),
        (13, "the claim may leave the page"),
        (14, "the claimed cursor"),
        (15, "the claim may leave the page"),
        (16, "the claim may leave the page"),
        (17, "RDPID"),
        (19, "RDPID"),
        (20, "RDPID"),
        (21, "before they were claimed"),
        (22, "the tag is not compared before"),
        (23, "the tag is not compared before"),
        (24, "overwritten"),
        (25, "not erased right after"),
        (26, "the word"),
        (27, "the word"),
        (28, "the word"),
        (29, "the word"),
        (30, "the marker"),
        (31, "the marker"),
        (32, "the marker"),
        (33, "the marker"),
        (34, "the tag is not compared after"),
        (35, "the tag is not compared after"),
        (39, "does not clear"),
    ] {
        let without = without(missing);
        let fault = fault(&without.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(fault.contains(what), "without instruction {missing}: {fault}");
    }
}

#[test]
fn the_claim_the_bytes_and_the_guards_come_in_this_order() {
    // The word's two loads before the bytes are read and erased.
    let mut early = DRAW;
    early[24..28].rotate_left(2);
    assert!(fault(&early).contains("the word is not compared after"));
    // The claim after them.
    let mut late = DRAW;
    late[21..26].rotate_left(1);
    assert!(fault(&late).contains("before they were claimed"));
    // The erasure after the word's first load.
    let mut between = DRAW;
    between[25..27].rotate_left(1);
    assert!(fault(&between).contains("not erased right after"));
}

#[test]
fn the_handler_has_its_signature() {
    let mut handler = HANDLER;
    handler[0] = "0fb93d53300554";
    let fault = format!("{:#}", check(&DRAW, &handler).unwrap_err());
    assert!(fault.contains("signature"), "{fault}");
}
