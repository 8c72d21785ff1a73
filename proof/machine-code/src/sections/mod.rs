//! The order of memory accesses in restartable sequences, read from their machine code.
//!
//! Single steps are useless there: the kernel restarts a section whose thread was stopped, so that
//! each step leads to the abort handler. But a section is assembly, without a call and with few
//! branches. The check therefore follows every path through the instructions between a descriptor's
//! start and end, and tracks each register: the line, the page, a guard. The rules are those of
//! `section/mod.rs` in the core.

mod way;

use anyhow::{Context, Result, bail, ensure};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::collections::{BTreeSet, HashSet};
use way::{Name, SectionKind, Way, name};

/// The signature that the kernel requires before an abort handler; glibc registers it.
const SIGNATURE: u32 = 0x5305_3053;
/// A path out of a section clears `rseq_cs` after so many instructions at most.
const WAY_OUT: usize = 40;

/// Code by its addresses.
pub struct Image {
    parts: Vec<(u64, Vec<u8>)>,
}

/// A descriptor, which the kernel reads.
#[derive(Clone, Copy)]
struct Descriptor {
    at: u64,
    start: u64,
    end: u64,
    abort: u64,
}

/// Checks each section of a program. Returns the addresses at which an aborted step ends, which lie
/// after the first instruction of each abort handler, and a summary.
pub fn check(program: &[u8]) -> Result<(Vec<u64>, String)> {
    let file = object::File::parse(program)?;
    let image = Image::of(&file)?;
    let descriptors = descriptors(&file)?;
    let (mut draws, mut puts) = (0, 0);
    for &descriptor in &descriptors {
        let function = function(&file, descriptor.start);
        // An unwinder knows its way out of a function, and of nothing between functions.
        ensure!(
            self::function(&file, descriptor.abort) == function,
            "the abort handler of the section in {function} lies outside that function"
        );
        match image.check(descriptor).with_context(|| format!("the section in {function}"))? {
            SectionKind::Draw => draws += 1,
            SectionKind::Put => puts += 1,
        }
    }
    // One word, 16 bytes, and more of them; and the put.
    ensure!(draws >= 3 && puts == 1, "{draws} sections draw and {puts} put");
    let after = |descriptor: &Descriptor| Ok(image.decode(descriptor.abort)?.next_ip());
    let aborts = descriptors.iter().map(after).collect::<Result<_>>()?;
    Ok((aborts, format!("{draws} sections that draw and {puts} that put: in order")))
}

/// Returns the name of the function that holds the address.
fn function(file: &object::File, at: u64) -> String {
    let symbols = file.symbols().filter(|symbol| symbol.address() <= at);
    let last = symbols.max_by_key(object::ObjectSymbol::address);
    last.and_then(|symbol| symbol.name().ok().map(String::from)).unwrap_or_default()
}

/// Returns the descriptors, with the addresses that the loader writes into them.
fn descriptors(file: &object::File) -> Result<Vec<Descriptor>> {
    let section = file.section_by_name("__rseq_cs").context("there is no section __rseq_cs")?;
    let mut words: Vec<u64> =
        section.data()?.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let index = at.wrapping_sub(section.address()) / 8;
        if let Some(word) = words.get_mut(index as usize) {
            *word = relocation.addend().cast_unsigned();
        }
    }
    let (descriptors, rest) = words.as_chunks::<4>();
    ensure!(rest.is_empty() && !descriptors.is_empty(), "{} words of descriptors", words.len());
    let of = |(i, &[version, start, len, abort]): (usize, &[u64; 4])| {
        ensure!(version == 0, "a version of {version}");
        let at = section.address() + 32 * i as u64;
        Ok(Descriptor { at, start, end: start + len, abort })
    };
    descriptors.iter().enumerate().map(of).collect()
}

impl Image {
    fn of(file: &object::File) -> Result<Image> {
        let code = file.sections().filter(|s| s.kind() == object::SectionKind::Text);
        let parts = code.map(|s| Ok((s.address(), s.data()?.to_vec())));
        Ok(Image { parts: parts.collect::<Result<_>>()? })
    }

    fn bytes(&self, at: u64) -> Result<&[u8]> {
        let find = |(start, bytes): &(u64, Vec<u8>)| {
            let offset = at.checked_sub(*start)?;
            (offset < bytes.len() as u64).then_some(offset as usize)
        };
        let found = self.parts.iter().find_map(|part| find(part).map(|offset| &part.1[offset..]));
        found.with_context(|| format!("no code at {at:#x}"))
    }

    fn decode(&self, at: u64) -> Result<Instruction> {
        let bytes = self.bytes(at)?;
        let insn = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        ensure!(!insn.is_invalid(), "no instruction at {at:#x}");
        Ok(insn)
    }

    /// Follows every path through a section, and every path out of it.
    fn check(&self, descriptor: Descriptor) -> Result<SectionKind> {
        let Descriptor { start, end, .. } = descriptor;
        let rseq_cs = self.check_entry(descriptor)?;
        let mut linear = Vec::new();
        let mut at = start;
        while at < end {
            linear.push(self.decode(at)?);
            at = linear[linear.len() - 1].next_ip();
        }
        ensure!(at == end, "an instruction lies across the section's end");
        // Short requests go to the caller by registers, or after the section.
        let is_long = linear.iter().any(|insn| {
            insn.near_branch_target() >= start && insn.ip() > insn.near_branch_target()
        });
        let mut info = InstructionInfoFactory::new();
        let (mut ways, mut seen) = (vec![Way::begin(start)], HashSet::new());
        let (mut kinds, mut exits) = (BTreeSet::new(), BTreeSet::from([end]));
        let mut erases = false;
        while let Some(mut way) = ways.pop() {
            if way.at == end {
                // The lengths that a loop serves are unknown, so a path may pass the loop in zero
                // rounds.
                erases |= way.is_erased;
                ensure!(
                    way.is_erased || is_long || way.kind == Some(SectionKind::Put),
                    "bytes are not erased"
                );
                kinds.insert(way.at_end()?);
                continue;
            }
            if !(start..end).contains(&way.at) {
                exits.insert(way.at);
                continue;
            }
            if !seen.insert(way.clone()) {
                continue;
            }
            let insn = self.decode(way.at)?;
            let branches = insn.flow_control() != FlowControl::Next;
            ensure!(
                !branches || way.read.is_none(),
                "bytes are not erased right after they were read"
            );
            match insn.flow_control() {
                FlowControl::Next => way
                    .pass(&insn, &mut info, end, is_long, rseq_cs)
                    .with_context(|| format!("at {:#x}", insn.ip()))?,
                FlowControl::ConditionalBranch => {
                    let target = insn.near_branch_target();
                    let mut taken = way.clone();
                    taken.at = target;
                    taken.flags = None;
                    ways.push(taken);
                    way.believe(insn.mnemonic(), (start..end).contains(&target));
                    way.at = insn.next_ip();
                }
                FlowControl::UnconditionalBranch => way.at = insn.near_branch_target(),
                _ => bail!("a call or a return at {:#x}", insn.ip()),
            }
            ways.push(way);
        }
        exits.insert(descriptor.abort);
        for &exit in &exits {
            self.check_exit(exit, rseq_cs, descriptor.at)?;
        }
        ensure!(kinds.len() == 1, "ways to the end: {kinds:?}");
        let kind = kinds.pop_first().context("no way leads to the end")?;
        ensure!(erases || kind == SectionKind::Put, "no way reads bytes");
        Ok(kind)
    }

    /// Checks that the abort handler has its signature and leads back to the instructions that
    /// announce the section, and that the section begins right after these. Returns their operand
    /// for `rseq_cs`.
    fn check_entry(&self, descriptor: Descriptor) -> Result<Name> {
        let signature = self.bytes(descriptor.abort - 4)?;
        ensure!(signature[..4] == SIGNATURE.to_le_bytes(), "no signature before the abort handler");
        let mut insn = self.decode(descriptor.abort)?;
        while insn.flow_control() == FlowControl::Next {
            insn = self.decode(insn.next_ip())?;
        }
        let lea = self.decode(insn.near_branch_target())?;
        let announced = lea.mnemonic() == Mnemonic::Lea
            && lea.is_ip_rel_memory_operand()
            && lea.ip_rel_memory_address() == descriptor.at;
        ensure!(announced, "the abort handler does not lead back to the section's descriptor");
        let store = self.decode(lea.next_ip())?;
        let stored = store.mnemonic() == Mnemonic::Mov
            && store.op0_kind() == OpKind::Memory
            && store.memory_segment() == Register::FS
            && store.op1_register() == lea.op0_register();
        ensure!(
            stored && store.next_ip() == descriptor.start,
            "rseq_cs is not set right before the section"
        );
        Ok(name(&store))
    }

    /// Checks that every path from here clears `rseq_cs` or begins the section again.
    fn check_exit(&self, from: u64, rseq_cs: Name, descriptor: u64) -> Result<()> {
        let mut ways = vec![(from, 0)];
        while let Some((at, steps)) = ways.pop() {
            let insn = self.decode(at)?;
            let clears = insn.mnemonic() == Mnemonic::Mov
                && insn.op0_kind() == OpKind::Memory
                && insn.memory_segment() == Register::FS
                && name(&insn) == rseq_cs
                && insn.op1_kind() == OpKind::Immediate32to64
                && insn.immediate(1) == 0;
            let again = insn.mnemonic() == Mnemonic::Lea
                && insn.is_ip_rel_memory_operand()
                && insn.ip_rel_memory_address() == descriptor;
            if clears || again {
                continue;
            }
            ensure!(steps < WAY_OUT, "a way out at {from:#x} does not clear rseq_cs");
            match insn.flow_control() {
                FlowControl::Next => ways.push((insn.next_ip(), steps + 1)),
                FlowControl::UnconditionalBranch => {
                    ways.push((insn.near_branch_target(), steps + 1));
                }
                FlowControl::ConditionalBranch => {
                    ways.push((insn.near_branch_target(), steps + 1));
                    ways.push((insn.next_ip(), steps + 1));
                }
                _ => bail!("a way out at {from:#x} does not clear rseq_cs"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
