//! The files whose code a traced process runs, and the breakpoints in its memory.

use super::symbols::{self, Function, Image};
use super::tracee::Registers;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

const INT3: u8 = 0xcc;
/// Words of the stack that are searched for a return address.
const STACK_WORDS: usize = 256;

/// Files by their device and inode, and those of each process.
#[derive(Default)]
pub(super) struct Images {
    files: HashMap<(u64, u64), Image>,
    names: HashMap<(u64, u64), String>,
    mapped: HashMap<i32, Vec<(u64, u64)>>,
    programs: HashMap<i32, String>,
}

impl Images {
    /// Returns the functions of a program that was just loaded and of the vDSO, each with the
    /// address at which its file would begin.
    pub(super) fn of_program(&mut self, process: i32) -> io::Result<Vec<(u64, Function)>> {
        let exe = format!("/proc/{process}/exe");
        self.mapped.insert(process, Vec::new());
        if let Ok(path) = fs::read_link(&exe) {
            self.programs.insert(process, path.display().to_string());
        }
        let image = self.file(process, Path::new(&exe));
        let metadata = fs::metadata(&exe)?;
        let mut found = Vec::new();
        for line in maps(process)?.lines() {
            let Some(mapping) = Mapping::parse(line).filter(|mapping| mapping.is_code) else {
                continue;
            };
            if mapping.path == "[vdso]" {
                let mut bytes = vec![0; (mapping.end - mapping.start) as usize];
                let memory = File::open(format!("/proc/{process}/mem"))?;
                memory.read_exact_at(&mut bytes, mapping.start)?;
                let vdso = symbols::of_memory(&bytes).unwrap_or_default();
                found.extend(vdso.functions.into_iter().map(|f| (mapping.start, f)));
            } else if mapping.inode == metadata.ino() {
                let inside = image.iter().filter(|function| mapping.holds(function.offset));
                let base = mapping.start.wrapping_sub(mapping.offset);
                found.extend(inside.map(|function| (base, function.clone())));
            }
        }
        Ok(found)
    }

    /// Returns the functions of a file that a process has just mapped as code.
    pub(super) fn of_mapping(&mut self, process: i32, descriptor: i32) -> Vec<Function> {
        self.file(process, Path::new(&format!("/proc/{process}/fd/{descriptor}")))
    }

    fn file(&mut self, process: i32, path: &Path) -> Vec<Function> {
        let Ok(metadata) = fs::metadata(path) else { return Vec::new() };
        let key = (metadata.dev(), metadata.ino());
        if !self.files.contains_key(&key) {
            let Ok(file) = File::open(path) else { return Vec::new() };
            let name = fs::read_link(path).map(|path| path.display().to_string());
            self.names.insert(key, name.unwrap_or_default());
            self.files.insert(key, symbols::of_file(file));
        }
        self.mapped.entry(process).or_default().push(key);
        self.files.get(&key).map(|image| image.functions.clone()).unwrap_or_default()
    }

    /// Returns the path of a process's program.
    pub(super) fn program(&self, process: i32) -> Option<String> {
        self.programs.get(&process).cloned()
    }

    /// Returns the file whose code calls: that of the instruction, or, if it is the C library's or
    /// the vDSO's, the first other one among the return addresses of the stack.
    pub(super) fn caller(&self, process: i32, registers: &Registers) -> Option<String> {
        let maps = maps(process).ok()?;
        let code: Vec<Mapping> =
            maps.lines().filter_map(Mapping::parse).filter(|mapping| mapping.is_code).collect();
        let file = |address: u64| {
            code.iter().find(|mapping| (mapping.start..mapping.end).contains(&address))
        };
        let own = file(registers.rip)?;
        if !own.is_the_c_librarys() {
            return Some(own.path.to_owned());
        }
        let mut stack = [0; STACK_WORDS * 8];
        let memory = File::open(format!("/proc/{process}/mem")).ok()?;
        let length = memory.read_at(&mut stack, registers.rsp).unwrap_or(0);
        let words = stack[..length].as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut files = words.filter_map(file);
        let other = files.find(|mapping| !mapping.is_the_c_librarys());
        Some(other.unwrap_or(own).path.to_owned())
    }

    /// Enters a child, which runs its parent's program.
    pub(super) fn child(&mut self, parent: i32, child: i32) {
        let mapped = self.mapped.get(&parent).cloned().unwrap_or_default();
        self.mapped.insert(child, mapped);
        if let Some(program) = self.programs.get(&parent).cloned() {
            self.programs.insert(child, program);
        }
    }

    /// Returns whether a process has AWS-LC whose functions have no names.
    pub(super) fn has_nameless_aws_lc(&self, process: i32) -> bool {
        let keys = self.mapped.get(&process).into_iter().flatten();
        keys.filter_map(|key| self.files.get(key)).any(is_nameless)
    }

    /// Returns the files with AWS-LC whose functions have no names.
    pub(super) fn nameless_aws_lc(&self) -> Vec<String> {
        self.named(|image| is_nameless(image).then_some(()))
            .into_iter()
            .map(|(name, ())| name)
            .collect()
    }

    /// Returns the files with random instructions outside of functions with a name, and how many.
    pub(super) fn instructions(&self) -> Vec<(String, usize)> {
        let is_known = |function: &Function| function.kind == symbols::Kind::Instruction;
        self.named(|image| {
            let is_named = image.functions.iter().any(is_known);
            (image.instructions > 0 && !is_named).then_some(image.instructions)
        })
    }

    fn named<T>(&self, of: impl Fn(&Image) -> Option<T>) -> Vec<(String, T)> {
        let name = |key| self.names.get(key).cloned().unwrap_or_default();
        let mut found: Vec<(String, T)> =
            self.files.iter().filter_map(|(key, image)| Some((name(key), of(image)?))).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }
}

/// Returns the memory map of a process. It names files as their owners have named them, in any
/// bytes.
fn maps(process: i32) -> io::Result<String> {
    let bytes = fs::read(format!("/proc/{process}/maps"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the file whose code is at an address.
pub(super) fn file_at(process: i32, address: u64) -> Option<String> {
    let maps = maps(process).ok()?;
    let mut mappings = maps.lines().filter_map(Mapping::parse);
    let found = mappings.find(|mapping| (mapping.start..mapping.end).contains(&address))?;
    Some(found.path.to_owned())
}

fn is_nameless(image: &Image) -> bool {
    let is_jitter = |function: &Function| function.kind == symbols::Kind::Jitter;
    let is_library = |function: &Function| function.kind == symbols::Kind::Library;
    // With names but without jitterentropy, it was built without.
    image.has_aws_lc && !image.functions.iter().any(|f| is_jitter(f) || is_library(f))
}

/// A line of /proc/PID/maps.
struct Mapping<'a> {
    start: u64,
    end: u64,
    offset: u64,
    inode: u64,
    is_code: bool,
    path: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Mapping<'a>> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let offset = words.next()?;
        let inode = words.nth(1)?;
        let hex = |word| u64::from_str_radix(word, 16).ok();
        Some(Mapping {
            start: hex(start)?,
            end: hex(end)?,
            offset: hex(offset)?,
            inode: inode.parse().ok()?,
            is_code: rights.contains('x'),
            path: words.next().unwrap_or_default().trim(),
        })
    }

    fn holds(&self, offset: u64) -> bool {
        (self.offset..self.offset + (self.end - self.start)).contains(&offset)
    }

    /// Returns whether the code only passes calls on: the C library, its loader, the vDSO.
    fn is_the_c_librarys(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        ["libc.", "libc-", "ld-", "ld.", "libpthread", "[vdso]"]
            .iter()
            .any(|start| name.starts_with(start))
    }
}

/// Breakpoints in the memory of a process.
#[derive(Clone)]
pub(super) struct Breakpoints {
    pub(super) memory: std::sync::Arc<File>,
    /// For each address its byte, and the function that begins there; a return has none.
    set: HashMap<u64, (u8, Option<Function>)>,
    returns: HashMap<u64, u32>,
}

impl Breakpoints {
    pub(super) fn of(process: i32) -> io::Result<Breakpoints> {
        Ok(Breakpoints { memory: open(process)?, set: HashMap::new(), returns: HashMap::new() })
    }

    /// Returns the same breakpoints in the memory of a child, which is a copy.
    pub(super) fn in_child(&self, process: i32) -> io::Result<Breakpoints> {
        Ok(Breakpoints { memory: open(process)?, ..self.clone() })
    }

    /// Stops the process where a function begins.
    pub(super) fn set(&mut self, at: u64, function: Function) -> io::Result<()> {
        self.write(at, Some(function))
    }

    /// Stops the process where a function returns to.
    pub(super) fn set_return(&mut self, at: u64) -> io::Result<()> {
        self.write(at, None)
    }

    fn write(&mut self, at: u64, function: Option<Function>) -> io::Result<()> {
        if self.set.contains_key(&at) {
            return Ok(());
        }
        let mut byte = [0];
        // Symbols may lie: of a place that is no memory, nothing is wanted.
        if self.memory.read_exact_at(&mut byte, at).is_err() {
            return Ok(());
        }
        self.memory.write_all_at(&[INT3], at)?;
        self.set.insert(at, (byte[0], function));
        Ok(())
    }

    /// Takes a breakpoint out; the inner `None` is a return. `None` if there is no such breakpoint.
    pub(super) fn take(&mut self, at: u64) -> io::Result<Option<Option<Function>>> {
        let Some((byte, function)) = self.set.remove(&at) else { return Ok(None) };
        self.memory.write_all_at(&[byte], at)?;
        Ok(Some(function))
    }

    /// Returns whether there is a trap in memory: the program's own, if none was set there.
    pub(super) fn is_trap(&self, at: u64) -> io::Result<bool> {
        let mut byte = [0];
        self.memory.read_exact_at(&mut byte, at)?;
        Ok(byte[0] == INT3)
    }

    /// Counts a return of the function at an address, and returns the count.
    pub(super) fn returned(&mut self, at: u64) -> u32 {
        let count = self.returns.entry(at).or_default();
        *count += 1;
        *count
    }
}

fn open(process: i32) -> io::Result<std::sync::Arc<File>> {
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))?;
    Ok(std::sync::Arc::new(memory))
}
