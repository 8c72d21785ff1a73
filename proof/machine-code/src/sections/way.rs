//! One path through a section: the content of each register, and the comparisons made so far.

use anyhow::{Context, Result, anyhow, bail, ensure};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::collections::{BTreeMap, BTreeSet};

/// From `cpu_id` in the rseq area to `rseq_cs`.
const RSEQ_CS: u64 = 4;
/// Offsets in the line of a CPU (`section/mod.rs`).
const CURSOR: u64 = 0;
const NUMBER: u64 = 8;
const PAGE: u64 = 16;
const PUTS: u64 = 24;
/// Offsets in a page (`layout.rs`).
const TAG: u64 = 0;
const GENERATION: u64 = 8;
const MARKER: u64 = 16;
/// From a cursor to the bytes that it names, and the bytes that a new page has.
const SERVED: u64 = 560;
const CAPACITY: u64 = 3536;

/// The content of a register, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    /// Its content when the section began: an argument.
    Entry(Register),
    /// The word at this offset from an argument.
    From(Register, u64),
    /// The word that such a word points to: one of the guards.
    Behind(Register, u64),
    Cpu,
    /// The CPU's number, moved to the left by so many bits.
    Scaled(u64),
    Line,
    /// The cursor of the line.
    Cursor,
    /// The cursor less the bytes of the request.
    Lowered,
    /// The page that the cursor names.
    Page,
    /// An address in the page.
    InPage,
    Number,
    /// The cursor of a page that an argument points to, with all its bytes.
    Full(Register),
    /// The result of RDPID.
    Pid,
    Other,
}
use Value::*;

/// The memory that an operand belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Rseq(u64),
    Line(u64),
    /// A word of the page before its bytes: the tag, or a guard.
    Header(u64),
    Page,
    Argument(Register, u64),
    Behind(Register, u64),
    Elsewhere,
}

/// The fact that a comparison proves if the branch after it stays in the section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Fact {
    CpuInRange,
    /// The lowered cursor lies in the page.
    BytesLeft,
    /// RDPID returned this CPU after the cursor was loaded.
    OnThisCpu,
    /// RDPID returned this CPU at some time.
    WasOnThisCpu,
    /// This CPU is the one that a put is for.
    OnItsCpu,
    TagStands,
    /// The reseed generation equals the one in the page.
    WordStands(Register, u64),
    /// The clone marker equals the one in the page.
    ClockStands(Register, u64),
    StampStands,
}
use Fact::*;

/// An operand in memory: base, index, scale, displacement, size.
pub(super) type Name = (Register, Register, u32, u64, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum SectionKind {
    Draw,
    Put,
}

/// A path through a section, up to its next instruction.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) at: u64,
    registers: BTreeMap<u8, Value>,
    /// Vector registers that are zero.
    zeros: u32,
    facts: BTreeSet<Fact>,
    /// The fact that the flags prove.
    pub(super) flags: Option<Fact>,
    pub(super) kind: Option<SectionKind>,
    /// True if RDPID was read after the cursor.
    is_asked: bool,
    /// Bytes that were read and that the next access has to erase.
    pub(super) read: Option<Name>,
    pub(super) is_erased: bool,
    /// The tag was compared at some time.
    was_tagged: bool,
    /// The argument that was exchanged for the line's page.
    exchanged: Option<Register>,
    is_put: bool,
}

pub(super) fn name(insn: &Instruction) -> Name {
    let size = insn.memory_size().size();
    let scale = insn.memory_index_scale();
    (insn.memory_base(), insn.memory_index(), scale, insn.memory_displacement64(), size)
}

impl Way {
    pub(super) fn begin(at: u64) -> Way {
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
            was_tagged: false,
            exchanged: None,
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

    /// Returns the place of the operand in memory.
    fn place(&self, insn: &Instruction, rseq_cs: Name) -> Place {
        let at = insn.memory_displacement64();
        if insn.memory_segment() == Register::FS {
            let is_area = (insn.memory_base(), insn.memory_index()) == (rseq_cs.0, rseq_cs.1);
            return if is_area {
                Place::Rseq(at.wrapping_sub(rseq_cs.3))
            } else {
                Place::Elsewhere
            };
        }
        let (base, index) = (self.value(insn.memory_base()), self.value(insn.memory_index()));
        let alone = insn.memory_index() == Register::None;
        let in_page = |value| matches!(value, Page | InPage);
        match base {
            Line if alone => Place::Line(at),
            Page if alone && [TAG, GENERATION, MARKER].contains(&at) => Place::Header(at),
            Lowered if alone && at == SERVED => Place::Page,
            _ if in_page(base) || (!alone && in_page(index)) => Place::Page,
            Entry(register) if alone => Place::Argument(register, at),
            From(register, offset) if alone => Place::Behind(register, offset),
            _ => Place::Elsewhere,
        }
    }

    /// Returns whether the instruction stores zero.
    fn stores_zero(&self, insn: &Instruction) -> bool {
        match insn.op1_kind() {
            OpKind::Register => {
                let register = insn.op1_register();
                register.is_vector_register() && self.zeros >> register.number() & 1 == 1
            }
            _ => insn.try_immediate(1).is_ok_and(|value| value == 0),
        }
    }

    /// Follows an instruction that is not a branch.
    pub(super) fn pass(
        &mut self,
        insn: &Instruction,
        info: &mut InstructionInfoFactory,
        end: u64,
        is_long: bool,
        rseq_cs: Name,
    ) -> Result<()> {
        self.at = insn.next_ip();
        self.flags = None;
        let memory = insn.op_count() > 0
            && insn.mnemonic() != Mnemonic::Lea
            && (0..insn.op_count()).any(|i| insn.op_kind(i) == OpKind::Memory);
        let place = memory.then(|| self.place(insn, rseq_cs));
        let info = info.info(insn);
        for used in info.used_memory() {
            let place = place.context("an operand in memory that is not named")?;
            if self.read.is_some_and(|read| read != name(insn)) {
                bail!("bytes are not erased right after they were read");
            }
            match used.access() {
                OpAccess::Read | OpAccess::CondRead => self.read(insn, place)?,
                OpAccess::Write => self.write(insn, place, end, is_long)?,
                _ => self.exchange(insn, place)?,
            }
        }
        if insn.mnemonic() == Mnemonic::Cmp {
            self.flags = self.shown_by(insn, place);
        }
        self.is_asked |= insn.mnemonic() == Mnemonic::Rdpid;
        // The content of the registers that the instruction writes.
        let value = self.result(insn, place);
        let written = info.used_registers().iter().filter(|used| {
            !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None)
        });
        for used in written {
            let register = used.register();
            let erased = self.read.is_some_and(|read| [read.0, read.1].contains(&register));
            ensure!(!erased, "bytes are not erased right after they were read");
            if register.is_vector_register() {
                let same = insn.op_count() > 1
                    && insn.op_kind(insn.op_count() - 1) == OpKind::Register
                    && insn.op_register(insn.op_count() - 1)
                        == insn.op_register(insn.op_count() - 2);
                let is_zero = matches!(insn.mnemonic(), Mnemonic::Vpxor | Mnemonic::Pxor) && same;
                let bit = 1 << register.number();
                self.zeros = if is_zero { self.zeros | bit } else { self.zeros & !bit };
            } else {
                self.set(register, value);
            }
        }
        Ok(())
    }

    /// Returns the content of the register that an instruction writes.
    fn result(&self, insn: &Instruction, place: Option<Place>) -> Value {
        let now = match insn.op0_kind() {
            OpKind::Register => self.value(insn.op0_register()),
            _ => Other,
        };
        match (insn.mnemonic(), place) {
            (Mnemonic::Rdpid, _) => Pid,
            (Mnemonic::Mov, None) if insn.op1_kind() == OpKind::Register => {
                self.value(insn.op1_register())
            }
            (Mnemonic::Mov, Some(Place::Rseq(at))) if at == 0u64.wrapping_sub(RSEQ_CS) => Cpu,
            (Mnemonic::Mov, Some(Place::Line(CURSOR))) => Cursor,
            (Mnemonic::Mov, Some(Place::Line(NUMBER))) => Number,
            (Mnemonic::Mov, Some(Place::Argument(register, at))) => From(register, at),
            (Mnemonic::Mov, Some(Place::Behind(register, at))) => Behind(register, at),
            (Mnemonic::Shl, None) if now == Cpu => Scaled(insn.immediate(1)),
            (Mnemonic::Add, Some(Place::Argument(..))) if self.facts.contains(&CpuInRange) => {
                if now == Scaled(7) { Line } else { Other }
            }
            (Mnemonic::Add, None) if now == Lowered && insn.immediate(1) == SERVED => InPage,
            (Mnemonic::Add | Mnemonic::Sub, None) if now == InPage => InPage,
            (Mnemonic::Sub, None) if now == Cursor => Lowered,
            (Mnemonic::And, None) if now == Cursor && insn.immediate(1).cast_signed() == -4096 => {
                Page
            }
            (Mnemonic::And, None) if now == Pid => Pid,
            (Mnemonic::Lea, _) => {
                if let Entry(register) = self.value(insn.memory_base())
                    && insn.memory_index() == Register::None
                    && insn.memory_displacement64() == CAPACITY
                {
                    return Full(register);
                }
                let parts = [insn.memory_base(), insn.memory_index()].map(|part| self.value(part));
                if parts.iter().any(|part| matches!(part, Page | InPage)) { InPage } else { Other }
            }
            _ => Other,
        }
    }

    /// Returns the fact that equal operands would prove.
    fn shown_by(&self, insn: &Instruction, place: Option<Place>) -> Option<Fact> {
        let operand =
            |i| (insn.op_kind(i) == OpKind::Register).then(|| self.value(insn.op_register(i)));
        let register = operand(0).or(operand(1))?;
        match (place, register) {
            (Some(Place::Behind(..)), Cpu) => Some(CpuInRange),
            (None, Pid) if operand(1) == Some(Cpu) => Some(OnThisCpu),
            (None, Lowered) if operand(1) == Some(Page) => Some(BytesLeft),
            (Some(Place::Argument(..)), Cpu) => Some(OnItsCpu),
            (Some(Place::Header(TAG)), Number) => Some(TagStands),
            (Some(Place::Header(GENERATION)), Behind(from, at)) => Some(WordStands(from, at)),
            (Some(Place::Header(MARKER)), Behind(from, at)) => Some(ClockStands(from, at)),
            (Some(Place::Behind(..)), From(..)) => Some(StampStands),
            _ => None,
        }
    }

    /// Records the fact that is proved if a branch is not taken.
    pub(super) fn believe(&mut self, branch: Mnemonic, stays: bool) {
        if let Some(fact) = self.flags
            && !stays
            && branch
                == match fact {
                    CpuInRange => Mnemonic::Jae,
                    BytesLeft => Mnemonic::Jl,
                    _ => Mnemonic::Jne,
                }
        {
            self.facts.insert(fact);
            self.was_tagged |= fact == TagStands;
            if fact == OnThisCpu {
                self.facts.insert(WasOnThisCpu);
            }
        }
        self.flags = None;
    }

    fn read(&mut self, insn: &Instruction, place: Place) -> Result<()> {
        match place {
            Place::Line(CURSOR) => {
                self.is_asked = false;
                self.facts.remove(&OnThisCpu);
            }
            Place::Page => {
                ensure!(
                    self.kind == Some(SectionKind::Draw),
                    "bytes are read before they were claimed"
                );
                ensure!(self.was_tagged, "the tag is not compared before the bytes");
                ensure!(self.read.is_none(), "bytes are read twice");
                self.forget_guards();
                self.is_erased = false;
                self.read = Some(name(insn));
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, insn: &Instruction, place: Place, end: u64, is_long: bool) -> Result<()> {
        match (place, self.kind) {
            (Place::Line(CURSOR), None) if insn.op1_kind() != OpKind::Register => {
                ensure!(self.stores_zero(insn), "a cursor of a put is not cleared");
                for fact in [WasOnThisCpu, OnItsCpu, StampStands] {
                    ensure!(self.facts.contains(&fact), "{fact:?} is not proved before the number");
                }
                self.kind = Some(SectionKind::Put);
            }
            (Place::Line(NUMBER), None) => bail!("the number is stored before the cursor is 0"),
            (Place::Line(CURSOR), None) => {
                let claims = self.value(insn.op1_register()) == Lowered;
                ensure!(claims, "the claimed cursor is not derived from the loaded one");
                ensure!(self.facts.contains(&BytesLeft), "the claim may leave the page");
                let here = self.is_asked && self.facts.contains(&OnThisCpu);
                ensure!(here, "RDPID does not stand between the cursor's load and its store");
                self.kind = Some(SectionKind::Draw);
            }
            (Place::Page, Some(SectionKind::Draw)) => {
                ensure!(
                    self.stores_zero(insn) && self.read == Some(name(insn)),
                    "bytes are overwritten"
                );
                self.read = None;
                self.is_erased = true;
                self.forget_guards();
            }
            (Place::Elsewhere | Place::Behind(..), Some(SectionKind::Draw)) => {
                ensure!(is_long, "bytes reach the caller before the guards are compared");
            }
            (Place::Line(CURSOR), Some(SectionKind::Put)) => {
                ensure!(
                    !self.is_put && insn.next_ip() == end,
                    "the commit is not the last instruction"
                );
                let given = self.exchanged.context("the cursor is stored before the page")?;
                let cursor = self.value(insn.op1_register());
                ensure!(cursor == Full(given), "the cursor is not that of the page");
                ensure!(self.facts.contains(&OnThisCpu), "the CPU is not proved before the cursor");
                self.is_put = true;
            }
            (Place::Line(at), Some(SectionKind::Put)) => {
                ensure!(at != PAGE, "a page is stored, and not exchanged");
            }
            _ => bail!("a store to an unexpected place"),
        }
        Ok(())
    }

    /// Follows an access that reads and writes: the exchange of a put, and the count of puts.
    fn exchange(&mut self, insn: &Instruction, place: Place) -> Result<()> {
        ensure!(self.kind == Some(SectionKind::Put), "memory is read and written at once");
        match (insn.mnemonic(), place) {
            (Mnemonic::Xchg, Place::Line(PAGE)) => {
                ensure!(self.exchanged.is_none(), "pages are exchanged twice");
                let given = self.value(insn.op1_register());
                ensure!(matches!(given, Entry(_)), "the page is not the refill's");
                self.exchanged = Some(insn.op1_register());
                // A thread that nothing aborts may be elsewhere by now.
                self.facts.remove(&OnThisCpu);
            }
            (Mnemonic::Inc, Place::Line(PUTS)) => {}
            _ => bail!("memory is read and written at an unexpected place"),
        }
        Ok(())
    }

    /// Drops every guard loaded or compared before the bytes were erased, since it proves nothing.
    fn forget_guards(&mut self) {
        self.facts.retain(|fact| !matches!(fact, TagStands | WordStands(..) | ClockStands(..)));
        for value in self.registers.values_mut() {
            if matches!(value, Behind(..)) {
                *value = Other;
            }
        }
    }

    /// Checks that the section has done its work, and returns which work that was.
    pub(super) fn at_end(&self) -> Result<SectionKind> {
        match self.kind {
            Some(SectionKind::Put) => ensure!(self.is_put, "a put ends without its commit"),
            Some(SectionKind::Draw) => {
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
