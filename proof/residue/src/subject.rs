//! The process that is looked at: started, copied while it waits, and sent on.

use crate::exceptions::{Exception, exception, without};
use crate::memory::{self, Section};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The pattern that the subject paints its stack with.
const PAINT: [u8; 8] = 0xA5A5_5A5A_A5A5_5A5A_u64.to_ne_bytes();
/// The number of reported keys that the subject keeps.
const KEYS: u64 = 256;

/// Anything that keeps a case from being run.
pub type Trouble = Box<dyn Error>;

/// All that is known of one draw, with the process gone.
pub struct Account {
    /// Memory and registers right after the draw; the painted stack and the registers come first.
    pub sections: Vec<Section>,
    /// The library's pages at that moment, which are not searched.
    pub pages: Vec<u8>,
    /// The bytes of the draw.
    pub served: Vec<u8>,
    /// The bytes of later draws.
    pub later: Vec<u8>,
    /// The keys that the library reported, if it was asked to.
    pub told: Vec<[u8; 32]>,
    /// Mode and cipher, as the library names them.
    pub status: String,
    /// The depth to which the painted stack was used.
    pub stack: usize,
}

/// Where things lie in the subject.
struct Places {
    stack: Range<u64>,
    saved: Range<u64>,
    room: Range<u64>,
    told: u64,
}

/// A process that has drawn once and waits.
pub struct Subject {
    child: Child,
    out: BufReader<ChildStdout>,
    places: Places,
    served: Vec<u8>,
}

impl Drop for Subject {
    /// Ends a process that is still there.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Subject {
    /// Runs the command, which starts a subject, and returns when that waits.
    pub fn start(command: &mut Command) -> Result<Subject, Trouble> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut out = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let places = places(&line(&mut out)?)?;
        let served = block(&mut out)?;
        Ok(Subject { child, out, places, served })
    }

    /// Returns its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the place of its buffers, which only the subject writes.
    pub fn room(&self) -> &Range<u64> {
        &self.places.room
    }

    /// Copies all that is known while it waits; nothing ran on the painted stack since the draw.
    pub fn look(&self) -> Result<Account, Trouble> {
        let (sections, pages) = copy(self.id(), &self.places)?;
        Ok(Account {
            stack: depth(&sections[0].bytes),
            sections,
            pages,
            served: self.served.clone(),
            later: Vec::new(),
            told: told(self.id(), self.places.told)?,
            status: String::new(),
        })
    }

    /// Lets it draw on and end.
    pub fn finish(mut self, account: &mut Account) -> Result<(), Trouble> {
        self.say(b"g")?;
        account.later = block(&mut self.out)?;
        account.status = line(&mut self.out)?;
        match self.child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("the subject ended with {status}").into()),
        }
    }

    /// Makes it abort, and returns whether the kernel dumped it.
    pub fn abort(mut self) -> Result<bool, Trouble> {
        self.say(b"a")?;
        Ok(self.child.wait()?.core_dumped())
    }

    fn say(&mut self, letter: &[u8; 1]) -> Result<(), Trouble> {
        Ok(self.child.stdin.take().ok_or("no pipe")?.write_all(letter)?)
    }
}

/// Runs the command, which starts a subject, and learns all that there is to learn of its draw.
pub fn observe(command: &mut Command) -> Result<Account, Trouble> {
    let subject = Subject::start(command)?;
    let mut account = subject.look()?;
    subject.finish(&mut account)?;
    Ok(account)
}

fn line(out: &mut BufReader<ChildStdout>) -> Result<String, Trouble> {
    let mut line = String::new();
    out.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn places(line: &str) -> Result<Places, Trouble> {
    let numbers: Result<Vec<u64>, _> = line.split(' ').map(str::parse).collect();
    let Ok([stack, size, saved, len, room, all, told]) = numbers.as_deref() else {
        return Err(format!("the subject said \"{line}\"").into());
    };
    let (stack, saved) = (*stack..stack + size, *saved..saved + len);
    Ok(Places { stack, saved, room: *room..room + all, told: *told })
}

/// Reads a length and as many bytes.
fn block(out: &mut impl Read) -> Result<Vec<u8>, Trouble> {
    let mut len = [0; 8];
    out.read_exact(&mut len)?;
    let mut bytes = vec![0; u64::from_le_bytes(len) as usize];
    out.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Copies all memory that can be written to: what is searched, and the library's pages.
fn copy(pid: u32, places: &Places) -> Result<(Vec<Section>, Vec<u8>), Trouble> {
    let section = |name: &str, range: Range<u64>| -> Result<Section, Trouble> {
        Ok(Section { name: name.to_owned(), bytes: memory::read(pid, range)? })
    };
    let mut sections =
        vec![section("stack", places.stack.clone())?, section("registers", places.saved.clone())?];
    let mappings = memory::writable(pid)?;
    let droppable = mappings.iter().any(|mapping| mapping.has("dp"));
    let mut pages = Vec::new();
    for mapping in mappings {
        match exception(&mapping, droppable) {
            Some(Exception::Pages) if mapping.is_resident => {
                pages.extend(memory::read(pid, mapping.range)?);
            }
            Some(_) => {}
            None => {
                let around = without(mapping.range, &places.room).into_iter();
                // The stack has a section of its own already.
                let parts = around.flat_map(|part| without(part, &places.stack));
                for part in parts.filter(|part| !part.is_empty()) {
                    sections.push(section(name_of(&mapping.name), part)?);
                }
            }
        }
    }
    Ok((sections, pages))
}

fn name_of(path: &str) -> &str {
    match path.rsplit('/').next() {
        Some("") | None => "memory",
        Some(name) => name,
    }
}

fn told(pid: u32, at: u64) -> Result<Vec<[u8; 32]>, Trouble> {
    let bytes = memory::read(pid, at..at + 8 + 32 * KEYS)?;
    let (count, keys) = bytes.split_at(8);
    let count = u64::from_le_bytes(count.try_into()?).min(KEYS) as usize;
    Ok(keys.as_chunks::<32>().0[..count].to_vec())
}

/// Returns the number of bytes between the lowest that was changed and the end of the stack.
fn depth(stack: &[u8]) -> usize {
    let untouched = stack.chunks_exact(8).take_while(|word| **word == PAINT).count();
    stack.len() - 8 * untouched
}
