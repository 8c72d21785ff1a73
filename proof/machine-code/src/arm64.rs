//! The order of memory accesses in the quick paths compiled for arm64, whose CPUs reorder loads
//! too.
//!
//! No arm64 machine is needed. The check follows the instructions of a function, both ways at each
//! branch, until it finds a path with all required steps in order: a comparison (of the tag), a
//! barrier, a load from the page, a store of zero to the same place, a barrier, one comparison for
//! each guard, and the release of the slot or, for a handle, the return.
//!
//! The existence of such a path proves less than the trace on x86-64. The barriers, however, have
//! no counterpart there: x86-64 needs none, so only this check sees a missing one.
//!
//! Encodings: Arm Architecture Reference Manual for A-profile, C4.1 and C6.2.

use crate::object::{Library, Reference, Section, Target};
use anyhow::{Result, ensure};
use std::collections::HashSet;

/// Parts of the names of functions that hold quick paths, the number of guards that each compares,
/// and whether it draws from a slot.
const PATHS: [(&str, u8, bool); 8] = [
    ("probe_u64", 4, true),
    ("probe_fill", 4, true),
    ("10fill_short", 4, true),
    ("11fill_longer", 4, true),
    ("12quick_hedged", 4, true),
    ("probe_rng_u64", 3, false),
    ("probe_rng_fill", 3, false),
    ("12quick_blocks", 3, false),
];

/// Checks every quick path, and returns an error that names the first missing step.
pub fn check(library: &Library) -> Result<()> {
    for (part, guards, slot) in PATHS {
        let all = library.sections.iter();
        let named: Vec<_> = all.filter(|s| !s.code.is_empty() && s.name.contains(part)).collect();
        ensure!(!named.is_empty(), "there is no function whose name contains {part}");
        for section in named {
            let reached = furthest(body(library, section), guards, slot);
            ensure!(
                reached.is_none(),
                "{}: {} does not follow in order",
                section.name,
                reached.unwrap_or_default()
            );
            println!("{}: in order", section.name);
        }
    }
    Ok(())
}

/// Returns the function that a wrapper jumps to: the compiler makes a function such as `probe_fill`
/// set the length and jump, if it decides against inlining.
fn body<'a>(library: &'a Library, section: &'a Section) -> &'a Section {
    match &section.references[..] {
        [Reference { offset, target: Target::Section(next) }]
            if *offset as usize + 4 == section.code.len() && *offset <= 8 =>
        {
            &library.sections[*next]
        }
        _ => section,
    }
}

/// An instruction, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// A comparison of two registers.
    Compare,
    /// A barrier for loads at least, to all CPUs of the process at least.
    Barrier,
    /// A load of 64-bit words: base register, offset, number of words.
    Load(u32, i64, i64),
    /// A store of zeros, with the operands of [`Load`].
    StoreZero(u32, i64, i64),
    StoreRelease,
    /// A conditional branch by so many bytes.
    Branch(i64),
    Jump(i64),
    Return,
    /// An indirect branch.
    Away,
    Other,
}
use Instruction::*;

/// The number of the stack pointer, as the base register of a load.
const STACK: u32 = 31;

fn decode(word: u32) -> Instruction {
    let field = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
    let signed = |from: u32, bits: u32| {
        i64::from((field(from, bits) << (32 - bits)).cast_signed() >> (32 - bits))
    };
    let base = field(5, 5);
    let is = |mask: u32, value: u32| word & mask == value;
    // Shareability inner or full, for loads or for all.
    let is_barrier = is(0xFFFF_F0FF, 0xD503_30BF) && matches!(field(8, 4), 9 | 11 | 13 | 15);
    // Loads and stores of X registers: scaled, unscaled and indexed, pairs. A post-index access
    // uses the base register before the offset is added.
    let access = if is(0xFF80_0000, 0xF900_0000) {
        Some((i64::from(field(10, 12)) * 8, 1))
    } else if is(0xFFA0_0000, 0xF800_0000) {
        Some((if field(10, 2) == 1 { 0 } else { signed(12, 9) }, 1))
    } else if is(0xFE00_0000, 0xA800_0000) {
        Some((if field(23, 2) == 1 { 0 } else { signed(15, 7) * 8 }, 2))
    } else {
        None
    };
    if let Some((offset, words)) = access {
        let zero = field(0, 5) == 31 && (words == 1 || field(10, 5) == 31);
        return match field(22, 1) {
            1 => Load(base, offset, words),
            _ if zero => StoreZero(base, offset, words),
            _ => Other,
        };
    }
    if is_barrier {
        Barrier
    } else if is(0xFFE0_FC1F, 0xEB00_001F) || is(0xFFE0_0C10, 0xFA40_0000) {
        Compare // cmp, ccmp
    } else if is(0xBFFF_FC00, 0x889F_FC00) {
        StoreRelease
    } else if is(0xFF00_0010, 0x5400_0000) || is(0x7E00_0000, 0x3400_0000) {
        Branch(signed(5, 19) * 4) // b.cond, cbz, cbnz
    } else if is(0x7E00_0000, 0x3600_0000) {
        Branch(signed(5, 14) * 4) // tbz, tbnz
    } else if is(0xFC00_0000, 0x1400_0000) {
        Jump(signed(0, 26) * 4)
    } else if is(0xFFFF_FC1F, 0xD65F_0000) {
        Return
    } else if is(0xFFFF_FC1F, 0xD61F_0000) {
        Away
    } else {
        Other
    }
}

/// A path through a function, up to its next instruction.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Way {
    at: usize,
    stage: Stage,
    /// Words loaded since the barrier: base register and offset.
    loaded: Vec<(u32, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    Start,
    TagCompared,
    Loading,
    Erased,
    /// The stage after the second barrier, with the number of comparisons.
    Comparing(u8),
}

impl Way {
    /// Names the next required step.
    fn missing(&self) -> String {
        match self.stage {
            Stage::Start => "a comparison of the tag".into(),
            Stage::TagCompared => "a barrier before the bytes".into(),
            Stage::Loading => "the bytes' load and erasure".into(),
            Stage::Erased => "a barrier after the erasure".into(),
            Stage::Comparing(count) => format!("the step after {count} comparisons of guards"),
        }
    }

    /// Takes the instruction into account.
    fn pass(&mut self, instruction: Instruction) {
        match (self.stage, instruction) {
            (Stage::Start, Compare) => self.stage = Stage::TagCompared,
            (Stage::TagCompared, Barrier) => self.stage = Stage::Loading,
            // The compiler may fill the place before the branch with the reload of a register that
            // it had spilled. A load of that kind is of the stack, so it reads neither tag nor
            // bytes.
            (Stage::TagCompared, Load(STACK, ..)) => {}
            // The comparison was not the tag's.
            (Stage::TagCompared, Load(..) | StoreRelease) => self.stage = Stage::Start,
            (Stage::Loading, Load(base, offset, words)) => {
                self.loaded.extend((0..words).map(|i| (base, offset + 8 * i)));
                // No path loads more than 8 words before it erases the first. Without a limit,
                // each round of a loop would be a new state.
                let surplus = self.loaded.len().saturating_sub(8);
                self.loaded.drain(..surplus);
            }
            (Stage::Loading, StoreZero(base, offset, _))
                if self.loaded.contains(&(base, offset)) =>
            {
                self.stage = Stage::Erased;
                self.loaded.clear();
            }
            (Stage::Erased, Barrier) => self.stage = Stage::Comparing(0),
            (Stage::Comparing(count), Compare) => self.stage = Stage::Comparing(count + 1),
            _ => {}
        }
    }
}

/// Returns `None` if a path has every step, else the step that no path reaches.
fn furthest(section: &Section, guards: u8, slot: bool) -> Option<String> {
    let leaves: HashSet<usize> =
        section.references.iter().map(|r| r.offset as usize & !3).collect();
    let mut furthest = Way { at: 0, stage: Stage::Start, loaded: Vec::new() };
    let mut ways = vec![furthest.clone()];
    let mut seen = HashSet::new();
    while let Some(mut way) = ways.pop() {
        let Some(word) = section.code.get(way.at..way.at + 4) else { continue };
        if !seen.insert(way.clone()) {
            continue;
        }
        let instruction = decode(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        way.pass(instruction);
        if way.stage > furthest.stage {
            furthest = way.clone();
        }
        let end = if slot { StoreRelease } else { Return };
        if instruction == end && way.stage >= Stage::Comparing(guards) {
            return None;
        }
        let to = |distance: i64| way.at.wrapping_add_signed(distance as isize);
        let next = match instruction {
            _ if instruction == StoreRelease && slot => continue,
            Return | Away => continue,
            // A tail call of another function.
            Jump(_) if leaves.contains(&way.at) => continue,
            Jump(distance) => vec![to(distance)],
            Branch(distance) => vec![to(distance), to(4)],
            _ => vec![to(4)],
        };
        ways.extend(next.into_iter().map(|at| Way { at, ..way.clone() }));
    }
    Some(furthest.missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of rustc 1.95 for one word of a handle, without prologue and epilogue.
    const SOUND: [u32; 21] = [
        0xF940_0268, // ldr x8, [x19]
        0xF940_080A, // ldr x10, [x0, #16]
        0xEB0A_011F, // cmp x8, x10
        0x5400_0221, // b.ne to the end
        0xD503_39BF, // dmb ishld
        0xF947_F948, // ldr x8, [x10, #4080]
        0xF907_F95F, // str xzr, [x10, #4080]
        0xB500_0068, // cbnz x8, 3 instructions on
        0xF947_FD4A, // ldr x10, [x10, #4088]
        0xB400_016A, // cbz x10, to the end
        0xD503_39BF, // dmb ishld
        0xEB0B_015F, // cmp x10, x11
        0x5400_0101, // b.ne to the end
        0xEB0A_013F, // cmp x9, x10
        0x5400_00C1, // b.ne to the end
        0xEB0A_013F, // cmp x9, x10
        0x5400_0081, // b.ne to the end
        0xAA08_03E0, // mov x0, x8
        0xD65F_03C0, // ret
        0xD503_201F, // nop
        0xD61F_0100, // br x8
    ];

    fn check(words: &[u32]) -> Option<String> {
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        furthest(&Section { name: String::new(), code, references: Vec::new() }, 3, false)
    }

    #[test]
    fn a_sound_path_passes() {
        assert_eq!(check(&SOUND), None);
    }

    #[test]
    fn only_a_reload_from_the_stack_may_follow_the_comparison_of_the_tag() {
        let with = |load: u32| {
            let mut words = SOUND.to_vec();
            words.insert(3, load);
            check(&words)
        };
        assert_eq!(with(0xF940_07E9), None); // ldr x9, [sp, #8]
        let fault = with(0xF940_0509).unwrap(); // ldr x9, [x8, #8]
        assert!(fault.contains("barrier before"), "{fault}");
    }

    #[test]
    fn a_wrapper_stands_for_the_function_that_it_jumps_to() {
        let code: Vec<u8> = SOUND.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sound = Section { name: "fill".into(), code, references: Vec::new() };
        let jump = Reference { offset: 4, target: Target::Section(0) };
        let code = [0x5280_0201_u32, 0x1400_0000]; // mov w1, #16; b
        let code = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        let wrapper = Section { name: "probe_fill".into(), code, references: vec![jump] };
        let library = Library::of(vec![sound, wrapper]);
        assert_eq!(body(&library, &library.sections[1]).name, "fill");
        assert_eq!(body(&library, &library.sections[0]).name, "fill");
    }

    #[test]
    fn nothing_of_it_may_be_missing() {
        const NOP: u32 = 0xD503_201F;
        let faults = [
            (2, "barrier before"),
            (4, "barrier"),
            (5, "load and erasure"),
            (6, "load and erasure"),
            (10, "barrier after"),
            (11, "2 comparisons"),
            (13, "2 comparisons"),
            (15, "2 comparisons"),
        ];
        for (missing, what) in faults {
            let mut words = SOUND;
            words[missing] = NOP;
            let fault = check(&words).unwrap();
            assert!(fault.contains(what), "without instruction {missing}: {fault}");
        }
    }

    #[test]
    fn instructions_are_decoded() {
        for (word, instruction) in [
            (0xA940_2D0A, Load(8, 0, 2)),        // ldp x10, x11, [x8]
            (0xF85F_8188, Load(12, -8, 1)),      // ldur x8, [x12, #-8]
            (0xF81F_819F, StoreZero(12, -8, 1)), // stur xzr, [x12, #-8]
            (0xF801_059F, StoreZero(12, 0, 1)),  // str xzr, [x12], #16
            (0xA900_7D1F, StoreZero(8, 0, 2)),   // stp xzr, xzr, [x8]
            (0x889F_FD09, StoreRelease),         // stlr w9, [x8]
            (0xD503_3BBF, Barrier),              // dmb ish
            (0xD503_3ABF, Other),                // dmb ishst
            (0xF100_215F, Other),                // cmp x10, #8
            (0x3600_0068, Branch(12)),           // tbz w8, #0
            (0x17FF_FFFF, Jump(-4)),             // b, one back
        ] {
            assert_eq!(decode(word), instruction, "{word:#x}");
        }
    }
}
