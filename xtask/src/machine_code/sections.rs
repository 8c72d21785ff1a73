//! The order of memory accesses in restartable sequences, read from their machine code.
//!
//! No draw can be stepped through there: the kernel restarts a section whose thread was stopped, so
//! that each step leads to the abort handler. But a section is assembly, without a call and with
//! few branches. So every way through the instructions between a descriptor's start and its end is
//! followed, with what is known of each register: which one holds the line, the page, a guard. The
//! rules are those of `section/mod.rs`.

use anyhow::{Context, Result, anyhow, bail, ensure};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the kernel looks for before an abort handler; glibc registers it.
const SIGNATURE: u32 = 0x5305_3053;
/// From `cpu_id` in the rseq area to `rseq_cs`.
const RSEQ_CS: u64 = 4;
/// What lies where in the line of a CPU (`section/mod.rs`).
const LEFT: u64 = 0;
const NUMBER: u64 = 8;
const GENERATION: u64 = 16;
const MARKER: u64 = 24;
/// A way out clears `rseq_cs` after so many instructions at most.
const WAY_OUT: usize = 40;

/// Code by its addresses.
pub(crate) struct Image {
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

/// What a register holds, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    /// What it held when the section began: an argument.
    Entry(Register),
    /// A word that an argument leads to, at this offset.
    From(Register, u64),
    /// A word that such a word leads to: one of the guards.
    Behind(Register, u64),
    Cpu,
    /// The CPU's number, moved to the left by so many bits.
    Scaled(u64),
    Line,
    Page,
    /// An address in the page.
    InPage,
    Number,
    Left,
    /// What RDPID gave.
    Pid,
    Other,
}
use Value::*;

/// Where an operand lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Rseq(u64),
    Line(u64),
    Tag,
    Page,
    Argument(Register, u64),
    Behind(Register, u64),
    Elsewhere,
}

/// What a comparison shows if the section is not left by the branch behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Fact {
    CpuInRange,
    OnThisCpu,
    TagStands,
    NumberStands,
    /// The kernel's word is the line's, and so on.
    WordStands(Register, u64),
    ClockStands(Register, u64),
    StampStands,
    WorkStands,
}
use Fact::*;

/// An operand as the instruction names it.
type Name = (Register, Register, u32, u64, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Kind {
    Draw,
    Put,
}

/// How far a way has come.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Way {
    at: u64,
    registers: BTreeMap<u8, Value>,
    /// Vector registers that are zero.
    zeros: u32,
    facts: BTreeSet<Fact>,
    /// What the flags tell.
    flags: Option<Fact>,
    kind: Option<Kind>,
    /// RDPID was read since the count was.
    is_asked: bool,
    /// Bytes that were read and have to be erased next.
    read: Option<Name>,
    is_erased: bool,
    is_tagged: bool,
    is_put: bool,
}

/// Checks each section of a program; returns where a step that is aborted ends, which is behind the
/// first instruction of an abort handler, and says what was found.
pub(crate) fn check(program: &[u8]) -> Result<(Vec<u64>, String)> {
    let file = object::File::parse(program)?;
    let image = Image::of(&file)?;
    let descriptors = descriptors(&file)?;
    let (mut draws, mut puts) = (0, 0);
    for &descriptor in &descriptors {
        let function = function(&file, descriptor.start);
        match image.check(descriptor).with_context(|| format!("the section in {function}"))? {
            Kind::Draw => draws += 1,
            Kind::Put => puts += 1,
        }
    }
    // One word, 16 bytes, and more of them; and a put for each way to encrypt.
    ensure!(draws >= 3 && puts == 3, "{draws} sections draw and {puts} put");
    let after = |descriptor: &Descriptor| Ok(image.decode(descriptor.abort)?.next_ip());
    let aborts = descriptors.iter().map(after).collect::<Result<_>>()?;
    Ok((aborts, format!("{draws} sections that draw and {puts} that put: in order")))
}

/// The function that an address lies in.
fn function(file: &object::File, at: u64) -> String {
    let symbols = file.symbols().filter(|symbol| symbol.address() <= at);
    let last = symbols.max_by_key(object::ObjectSymbol::address);
    last.and_then(|symbol| symbol.name().ok().map(String::from)).unwrap_or_default()
}

/// The descriptors, with the addresses that the loader writes into them.
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
        let instruction = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
        ensure!(!instruction.is_invalid(), "no instruction at {at:#x}");
        Ok(instruction)
    }

    /// Follows every way through a section, and every way out of it.
    fn check(&self, descriptor: Descriptor) -> Result<Kind> {
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
        let is_long = linear
            .iter()
            .any(|it| it.near_branch_target() >= start && it.ip() > it.near_branch_target());
        let mut info = InstructionInfoFactory::new();
        let (mut ways, mut seen) = (vec![Way::begin(start)], HashSet::new());
        let (mut kinds, mut exits) = (BTreeSet::new(), BTreeSet::from([end]));
        let mut erases = false;
        while let Some(mut way) = ways.pop() {
            if way.at == end {
                // Which lengths a loop is for cannot be told, so a long request may seem to be for
                // none.
                erases |= way.is_erased;
                ensure!(
                    way.is_erased || is_long || way.kind == Some(Kind::Put),
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
            let it = self.decode(way.at)?;
            let branches = it.flow_control() != FlowControl::Next;
            ensure!(
                !branches || way.read.is_none(),
                "bytes are not erased right after they were read"
            );
            match it.flow_control() {
                FlowControl::Next => way
                    .pass(&it, &mut info, end, is_long, rseq_cs)
                    .with_context(|| format!("at {:#x}", it.ip()))?,
                FlowControl::ConditionalBranch => {
                    let target = it.near_branch_target();
                    let mut taken = way.clone();
                    taken.at = target;
                    taken.flags = None;
                    ways.push(taken);
                    way.believe(it.mnemonic(), (start..end).contains(&target));
                    way.at = it.next_ip();
                }
                FlowControl::UnconditionalBranch => way.at = it.near_branch_target(),
                _ => bail!("a call or a return at {:#x}", it.ip()),
            }
            ways.push(way);
        }
        exits.insert(descriptor.abort);
        for &exit in &exits {
            self.check_exit(exit, rseq_cs, descriptor.at)?;
        }
        ensure!(kinds.len() == 1, "ways to the end: {kinds:?}");
        let kind = kinds.pop_first().context("no way leads to the end")?;
        ensure!(erases || kind == Kind::Put, "no way reads bytes");
        Ok(kind)
    }

    /// The abort handler has the signature before it and leads back to the instructions that
    /// announce the section, which begins right behind them. Returns how they name `rseq_cs`.
    fn check_entry(&self, descriptor: Descriptor) -> Result<Name> {
        let signature = self.bytes(descriptor.abort - 4)?;
        ensure!(signature[..4] == SIGNATURE.to_le_bytes(), "no signature before the abort handler");
        let mut it = self.decode(descriptor.abort)?;
        while it.flow_control() == FlowControl::Next {
            it = self.decode(it.next_ip())?;
        }
        let lea = self.decode(it.near_branch_target())?;
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

    /// Every way from here clears `rseq_cs`, or begins the section anew.
    fn check_exit(&self, from: u64, rseq_cs: Name, descriptor: u64) -> Result<()> {
        let mut ways = vec![(from, 0)];
        while let Some((at, steps)) = ways.pop() {
            let it = self.decode(at)?;
            let clears = it.mnemonic() == Mnemonic::Mov
                && it.op0_kind() == OpKind::Memory
                && it.memory_segment() == Register::FS
                && name(&it) == rseq_cs
                && it.op1_kind() == OpKind::Immediate32to64
                && it.immediate(1) == 0;
            let again = it.mnemonic() == Mnemonic::Lea
                && it.is_ip_rel_memory_operand()
                && it.ip_rel_memory_address() == descriptor;
            if clears || again {
                continue;
            }
            ensure!(steps < WAY_OUT, "a way out at {from:#x} does not clear rseq_cs");
            match it.flow_control() {
                FlowControl::Next => ways.push((it.next_ip(), steps + 1)),
                FlowControl::UnconditionalBranch => ways.push((it.near_branch_target(), steps + 1)),
                FlowControl::ConditionalBranch => {
                    ways.push((it.near_branch_target(), steps + 1));
                    ways.push((it.next_ip(), steps + 1));
                }
                _ => bail!("a way out at {from:#x} does not clear rseq_cs"),
            }
        }
        Ok(())
    }
}

fn name(it: &Instruction) -> Name {
    let size = it.memory_size().size();
    let scale = it.memory_index_scale();
    (it.memory_base(), it.memory_index(), scale, it.memory_displacement64(), size)
}

impl Way {
    fn begin(at: u64) -> Way {
        Way {
            at,
            registers: BTreeMap::new(),
            zeros: 0,
            facts: BTreeSet::new(),
            flags: None,
            kind: None,
            is_asked: false,
            read: None,
            is_erased: false,
            is_tagged: false,
            is_put: false,
        }
    }

    fn value(&self, register: Register) -> Value {
        let full = register.full_register();
        if !full.is_gpr64() {
            return Other;
        }
        self.registers.get(&(full.number() as u8)).copied().unwrap_or(Entry(full))
    }

    fn set(&mut self, register: Register, value: Value) {
        let full = register.full_register();
        if full.is_gpr64() {
            self.registers.insert(full.number() as u8, value);
        }
    }

    /// Where the operand in memory lies.
    fn place(&self, it: &Instruction, rseq_cs: Name) -> Place {
        let at = it.memory_displacement64();
        if it.memory_segment() == Register::FS {
            let is_area = (it.memory_base(), it.memory_index()) == (rseq_cs.0, rseq_cs.1);
            return if is_area {
                Place::Rseq(at.wrapping_sub(rseq_cs.3))
            } else {
                Place::Elsewhere
            };
        }
        let (base, index) = (self.value(it.memory_base()), self.value(it.memory_index()));
        let alone = it.memory_index() == Register::None;
        let in_page = |value| matches!(value, Page | InPage);
        match base {
            Line if alone => Place::Line(at),
            Page if alone && at == 0 => Place::Tag,
            _ if in_page(base) || (!alone && in_page(index)) => Place::Page,
            Entry(register) if alone => Place::Argument(register, at),
            From(register, offset) if alone => Place::Behind(register, offset),
            _ => Place::Elsewhere,
        }
    }

    /// Whether what the instruction stores is zero.
    fn stores_zero(&self, it: &Instruction) -> bool {
        match it.op1_kind() {
            OpKind::Register => {
                let register = it.op1_register();
                register.is_vector_register() && self.zeros >> register.number() & 1 == 1
            }
            _ => it.try_immediate(1).is_ok_and(|value| value == 0),
        }
    }

    /// Takes an instruction into account that is no branch.
    fn pass(
        &mut self,
        it: &Instruction,
        info: &mut InstructionInfoFactory,
        end: u64,
        is_long: bool,
        rseq_cs: Name,
    ) -> Result<()> {
        self.at = it.next_ip();
        self.flags = None;
        let memory = it.op_count() > 0
            && it.mnemonic() != Mnemonic::Lea
            && (0..it.op_count()).any(|i| it.op_kind(i) == OpKind::Memory);
        let place = memory.then(|| self.place(it, rseq_cs));
        let info = info.info(it);
        for used in info.used_memory() {
            let place = place.context("an operand in memory that is not named")?;
            if self.read.is_some_and(|read| read != name(it)) {
                bail!("bytes are not erased right after they were read");
            }
            match used.access() {
                OpAccess::Read | OpAccess::CondRead => self.read(it, place)?,
                OpAccess::Write => self.write(it, place, end, is_long)?,
                _ => bail!("memory is read and written at once"),
            }
        }
        if it.mnemonic() == Mnemonic::Cmp {
            self.flags = self.shown_by(it, place);
        }
        self.is_asked |= it.mnemonic() == Mnemonic::Rdpid;
        // Of the registers that are written.
        let value = self.result(it, place);
        let written = info.used_registers().iter().filter(|used| {
            !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None)
        });
        for used in written {
            let register = used.register();
            let erased = self.read.is_some_and(|read| [read.0, read.1].contains(&register));
            ensure!(!erased, "bytes are not erased right after they were read");
            if register.is_vector_register() {
                let same = it.op_count() > 1
                    && it.op_kind(it.op_count() - 1) == OpKind::Register
                    && it.op_register(it.op_count() - 1) == it.op_register(it.op_count() - 2);
                let is_zero = matches!(it.mnemonic(), Mnemonic::Vpxor | Mnemonic::Pxor) && same;
                let bit = 1 << register.number();
                self.zeros = if is_zero { self.zeros | bit } else { self.zeros & !bit };
            } else {
                self.set(register, value);
            }
        }
        Ok(())
    }

    /// What the register that an instruction writes holds afterwards.
    fn result(&self, it: &Instruction, place: Option<Place>) -> Value {
        let now = match it.op0_kind() {
            OpKind::Register => self.value(it.op0_register()),
            _ => Other,
        };
        match (it.mnemonic(), place) {
            (Mnemonic::Rdpid, _) => Pid,
            (Mnemonic::Mov, None) if it.op1_kind() == OpKind::Register => {
                self.value(it.op1_register())
            }
            (Mnemonic::Mov, Some(Place::Rseq(at))) if at == 0u64.wrapping_sub(RSEQ_CS) => Cpu,
            (Mnemonic::Mov, Some(Place::Line(LEFT))) => Left,
            (Mnemonic::Mov, Some(Place::Line(NUMBER))) => Number,
            (Mnemonic::Mov, Some(Place::Argument(register, at))) => From(register, at),
            (Mnemonic::Mov, Some(Place::Behind(register, at))) => Behind(register, at),
            (Mnemonic::Shl, None) if now == Cpu => Scaled(it.immediate(1)),
            (Mnemonic::Add, Some(Place::Argument(..))) if self.facts.contains(&CpuInRange) => {
                match now {
                    Scaled(7) => Line,
                    Scaled(12) => Page,
                    _ => Other,
                }
            }
            (Mnemonic::Add | Mnemonic::Sub, None) if matches!(now, Page | InPage) => InPage,
            (Mnemonic::Sub, None) if now == Left => Left,
            (Mnemonic::And, None) if now == Pid => Pid,
            (Mnemonic::Inc, None) if now == Number => Number,
            (Mnemonic::Lea, _) => {
                let parts = [it.memory_base(), it.memory_index()].map(|part| self.value(part));
                if parts.iter().any(|part| matches!(part, Page | InPage)) { InPage } else { Other }
            }
            _ => Other,
        }
    }

    /// What equality would show.
    fn shown_by(&self, it: &Instruction, place: Option<Place>) -> Option<Fact> {
        let operand =
            |i| (it.op_kind(i) == OpKind::Register).then(|| self.value(it.op_register(i)));
        let register = operand(0).or(operand(1))?;
        match (place, register) {
            (Some(Place::Behind(..)), Cpu) => Some(CpuInRange),
            (None, Pid) if operand(1) == Some(Cpu) => Some(OnThisCpu),
            (Some(Place::Tag), Number) => Some(TagStands),
            (Some(Place::Line(NUMBER)), Number) => Some(NumberStands),
            (Some(Place::Line(GENERATION)), Behind(from, at)) => Some(WordStands(from, at)),
            (Some(Place::Line(MARKER)), Behind(from, at)) => Some(ClockStands(from, at)),
            (Some(Place::Behind(..)), From(..)) => Some(StampStands),
            (Some(Place::Argument(own, _)), From(order, _)) if own != order => Some(WorkStands),
            _ => None,
        }
    }

    /// What is known if a branch is not taken.
    fn believe(&mut self, branch: Mnemonic, stays: bool) {
        if let Some(fact) = self.flags
            && !stays
            && branch == if fact == CpuInRange { Mnemonic::Jae } else { Mnemonic::Jne }
        {
            self.facts.insert(fact);
        }
        self.flags = None;
    }

    fn read(&mut self, it: &Instruction, place: Place) -> Result<()> {
        match place {
            Place::Line(LEFT) => {
                self.is_asked = false;
                self.facts.remove(&OnThisCpu);
            }
            Place::Page => {
                ensure!(self.kind == Some(Kind::Draw), "bytes are read before they were claimed");
                ensure!(self.read.is_none(), "bytes are read twice");
                self.forget_guards();
                self.is_erased = false;
                self.read = Some(name(it));
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, it: &Instruction, place: Place, end: u64, is_long: bool) -> Result<()> {
        match (place, self.kind) {
            (Place::Line(LEFT), None) if self.stores_zero(it) => self.kind = Some(Kind::Put),
            (Place::Line(LEFT), None) => {
                let claims =
                    it.op1_kind() == OpKind::Register && self.value(it.op1_register()) == Left;
                ensure!(claims, "what is claimed is not what was left");
                ensure!(
                    self.facts.contains(&TagStands),
                    "the tag is not compared before the bytes"
                );
                let here = self.is_asked && self.facts.contains(&OnThisCpu);
                ensure!(here, "RDPID does not stand between the count's load and its store");
                self.kind = Some(Kind::Draw);
            }
            (Place::Page, Some(Kind::Draw)) => {
                ensure!(
                    self.stores_zero(it) && self.read == Some(name(it)),
                    "bytes are overwritten"
                );
                self.read = None;
                self.is_erased = true;
                self.forget_guards();
            }
            (Place::Elsewhere | Place::Behind(..), Some(Kind::Draw)) => {
                ensure!(is_long, "bytes reach the caller before the guards are compared");
            }
            (Place::Line(LEFT), Some(Kind::Put)) => {
                ensure!(
                    !self.is_put && it.next_ip() == end,
                    "the commit is not the last instruction"
                );
                for fact in [OnThisCpu, NumberStands, StampStands, WorkStands] {
                    ensure!(self.facts.contains(&fact), "{fact:?} is not shown before the commit");
                }
                self.is_put = true;
            }
            (Place::Tag, Some(Kind::Put)) => self.is_tagged = true,
            (Place::Page, Some(Kind::Put)) => {
                ensure!(self.is_tagged, "bytes are written before the tag");
                self.facts.clear();
            }
            (Place::Line(_), Some(Kind::Put)) => {}
            _ => bail!("a store to where none belongs"),
        }
        Ok(())
    }

    /// A guard that was loaded, or compared, before the bytes were gone shows nothing.
    fn forget_guards(&mut self) {
        self.facts.retain(|fact| !matches!(fact, TagStands | WordStands(..) | ClockStands(..)));
        for value in self.registers.values_mut() {
            if matches!(value, Behind(..)) {
                *value = Other;
            }
        }
    }

    /// Whether all that a section is for was done.
    fn at_end(&self) -> Result<Kind> {
        match self.kind {
            Some(Kind::Put) => ensure!(self.is_put, "a put ends without its commit"),
            Some(Kind::Draw) => {
                ensure!(self.read.is_none(), "bytes are not erased");
                ensure!(
                    self.facts.contains(&TagStands),
                    "the tag is not compared after the erasure"
                );
                let find = |of: fn(&Fact) -> Option<(Register, u64)>, name| {
                    let found = self.facts.iter().find_map(of);
                    found.ok_or_else(|| anyhow!("{name} is not compared after the erasure"))
                };
                let word = find(
                    |fact| if let WordStands(a, b) = *fact { Some((a, b)) } else { None },
                    "the word",
                )?;
                let clock = find(
                    |fact| if let ClockStands(a, b) = *fact { Some((a, b)) } else { None },
                    "the marker",
                )?;
                ensure!(word != clock, "word and marker are one");
            }
            None => bail!("nothing is drawn or put"),
        }
        self.kind.context("nothing is drawn or put")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What rustc 1.95 made of a word's draw, from the number of tries to the way out, and of its
    /// abort handler.
    const DRAW: [&str; 43] = [
        "be08000000",               // mov esi,0x8
        "488d1502a60300",           // lea rdx,[rip+0x3a602]
        "6448895104",               // mov fs:[rcx+0x4],rdx
        "648b11",                   // mov edx,fs:[rcx]
        "4c8b87d8000000",           // mov r8,[rdi+0xd8]
        "413b5010",                 // cmp edx,[r8+0x10]
        "0f83aaf6ffff",             // jae 33ae1
        "4189d1",                   // mov r9d,edx
        "49c1e107",                 // shl r9,0x7
        "4c038fe0000000",           // add r9,[rdi+0xe0]
        "4189d0",                   // mov r8d,edx
        "49c1e00c",                 // shl r8,0xc
        "4c0387e8000000",           // add r8,[rdi+0xe8]
        "4d8b5108",                 // mov r10,[r9+0x8]
        "4d3910",                   // cmp [r8],r10
        "0f8581f6ffff",             // jne 33ae1
        "458b19",                   // mov r11d,[r9]
        "4183eb08",                 // sub r11d,0x8
        "4181fbc80d0000",           // cmp r11d,0xdc8
        "0f876df6ffff",             // ja 33ae1
        "f30fc7fd",                 // rdpid rbp
        "81e5ff0f0000",             // and ebp,0xfff
        "39d5",                     // cmp ebp,edx
        "0f855bf6ffff",             // jne 33ae1
        "458919",                   // mov [r9],r11d
        "49f7db",                   // neg r11
        "4b8b8418e80f0000",         // mov rax,[r8+r11*1+0xfe8]
        "4bc78418e80f000000000000", // mov [r8+r11*1+0xfe8],0x0
        "488b5758",                 // mov rdx,[rdi+0x58]
        "488b12",                   // mov rdx,[rdx]
        "493b5110",                 // cmp rdx,[r9+0x10]
        "0f853af6ffff",             // jne 33aeb
        "488b5748",                 // mov rdx,[rdi+0x48]
        "488b12",                   // mov rdx,[rdx]
        "493b5118",                 // cmp rdx,[r9+0x18]
        "0f8529f6ffff",             // jne 33aeb
        "4d3910",                   // cmp [r8],r10
        "0f8520f6ffff",             // jne 33aeb
        "4885c0",                   // test rax,rax
        "0f8421f6ffff",             // je 33af5
        "31f6",                     // xor esi,esi
        "6448c7410400000000",       // mov fs:[rcx+0x4],0x0
        "c3",                       // ret
    ];
    const HANDLER: [&str; 9] = [
        "0fb93d53300553", // ud1 edi,[rip+0x53053053]
        "83ee01",         // sub esi,0x1
        "0f8536090000",   // jne 34417
        "be01000000",     // mov esi,0x1
        "e9eb090000",     // jmp 344d6
        "be02000000",     // mov esi,0x2
        "e9e1090000",     // jmp 344d6
        "be03000000",     // mov esi,0x3
        "e9d7090000",     // jmp 344d6
    ];
    const DRAW_AT: u64 = 0x34412;
    const HANDLER_AT: u64 = 0x33AD1;
    const DESCRIPTOR: Descriptor =
        Descriptor { at: 0x6EA20, start: 0x34423, end: 0x344CB, abort: 0x33AD8 };

    fn code(instructions: &[&str]) -> Vec<u8> {
        let digits = instructions.concat();
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        (0..digits.len()).step_by(2).map(byte).collect()
    }

    fn check(draw: &[&str], handler: &[&str]) -> Result<Kind> {
        let parts = vec![(DRAW_AT, code(draw)), (HANDLER_AT, code(handler))];
        Image { parts }.check(DESCRIPTOR)
    }

    #[track_caller]
    fn fault(draw: &[&str]) -> String {
        format!("{:#}", check(draw, &HANDLER).unwrap_err())
    }

    /// The same without one instruction.
    fn without(missing: usize) -> Vec<String> {
        let mut draw = DRAW.map(String::from).to_vec();
        draw[missing] = "90".repeat(DRAW[missing].len() / 2);
        draw
    }

    #[test]
    fn a_sound_draw_passes() {
        assert_eq!(check(&DRAW, &HANDLER).unwrap(), Kind::Draw);
    }

    #[test]
    fn nothing_of_it_may_be_missing() {
        for (missing, what) in [
            (2, "rseq_cs is not set"),
            (6, "none belongs"),
            (14, "the tag is not compared before"),
            (15, "the tag is not compared before"),
            (16, "what is claimed"),
            (20, "RDPID"),
            (22, "RDPID"),
            (23, "RDPID"),
            (24, "before they were claimed"),
            (26, "overwritten"),
            (27, "not erased right after"),
            (28, "the word"),
            (29, "the word"),
            (30, "the word"),
            (31, "the word"),
            (32, "the marker"),
            (33, "the marker"),
            (34, "the marker"),
            (35, "the marker"),
            (36, "the tag is not compared after"),
            (37, "the tag is not compared after"),
            (41, "does not clear"),
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
        early[26..30].rotate_left(2);
        assert!(fault(&early).contains("the word is not compared after"));
        // The claim behind them.
        let mut late = DRAW;
        late[24..28].rotate_left(1);
        assert!(fault(&late).contains("before they were claimed"));
        // The erasure behind the word's first load.
        let mut between = DRAW;
        between[27..29].rotate_left(1);
        assert!(fault(&between).contains("not erased right after"));
    }

    #[test]
    fn the_handler_has_its_signature() {
        let mut handler = HANDLER;
        handler[0] = "0fb93d53300554";
        let fault = format!("{:#}", check(&DRAW, &handler).unwrap_err());
        assert!(fault.contains("signature"), "{fault}");
    }
}
