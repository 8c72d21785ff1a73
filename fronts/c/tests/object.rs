//! Exports, imports and flags of libheadwater.so, read from the file itself.

mod support;

use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};
use object::{Object, ObjectSection, ObjectSymbol, elf};
use std::fs;

/// All symbols that the library imports. The list has no symbol for thread-local storage, unwinding
/// or the standard library of another language. Only headwater_rng_new() and the columns of Arrow
/// call the allocator.
const IMPORTS: [&str; 29] = [
    "__errno_location",
    "abort",
    "bcmp",
    "clock_gettime",
    "free",
    "getauxval",
    "environ",
    "gnu_get_libc_version",
    "madvise",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "mmap",
    "munmap",
    "posix_memalign",
    "sched_getcpu",
    "strlen",
    "syscall",
    // Weak: glibc has these two from 2.35 on.
    "__rseq_offset",
    "__rseq_size",
    // Weak: where glibc keeps the first environment (the latter two in static programs).
    "__libc_stack_end",
    "__libc_argc",
    "__libc_argv",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__cxa_finalize",
    "__gmon_start__",
];

fn shared_object() -> Vec<u8> {
    fs::read(support::library().join("libheadwater.so")).unwrap()
}

type Elf<'a> = ElfFile64<'a>;

/// Programs record the version of each symbol, and the loader compares it.
#[test]
fn it_exports_what_abi_txt_lists_and_nothing_else() {
    let exported = support::exported(&support::library().join("libheadwater.so"));
    let listed = include_str!("../abi.txt").lines();
    if exported.iter().any(|symbol| symbol.contains('@')) || support::linked_by_gcc() {
        assert_eq!(exported, listed.collect::<Vec<_>>());
    } else {
        eprintln!(
            "skipped: symbol versions: cc is not gcc, so that nothing here shows that programs record HEADWATER_0"
        );
        let names = listed.map(|line| line.split('@').next().unwrap());
        assert_eq!(exported, names.collect::<Vec<_>>());
    }
}

#[test]
fn it_asks_little_of_the_c_library() {
    let bytes = shared_object();
    let file = Elf::parse(&*bytes).unwrap();
    let others: Vec<&str> = file
        .dynamic_symbols()
        .filter(ObjectSymbol::is_undefined)
        .map(|symbol| symbol.name().unwrap())
        .filter(|name| !name.is_empty() && !IMPORTS.contains(name))
        .collect();
    assert!(others.is_empty(), "asks for more than it is known to: {others:?}");
}

#[test]
fn it_has_no_thread_locals_and_no_executable_stack() {
    let bytes = shared_object();
    let file = Elf::parse(&*bytes).unwrap();
    let endian = file.endian();
    let segments = file.elf_program_headers();
    assert!(segments.iter().all(|segment| segment.p_type(endian) != elf::PT_TLS));
    let stack = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_GNU_STACK);
    assert_eq!(stack.unwrap().p_flags(endian) & elf::PF_X, 0);
    assert!(segments.iter().any(|segment| segment.p_type(endian) == elf::PT_GNU_RELRO));
    assert!(
        !segments
            .iter()
            .any(|segment| segment.p_flags(endian) & (elf::PF_W | elf::PF_X)
                == elf::PF_W | elf::PF_X),
        "memory that can be written and run"
    );
}

/// The library registers no code to run at load or unload; the toolchain itself adds one entry.
#[test]
fn it_runs_nothing_when_it_is_loaded() {
    let bytes = shared_object();
    let file = Elf::parse(&*bytes).unwrap();
    for section in [".init_array", ".fini_array", ".ctors", ".dtors"] {
        let size = file.section_by_name(section).map_or(0, |section| section.size());
        assert!(size <= 8, "{section} has {} entries", size / 8);
    }
}

#[test]
fn it_is_named_never_unmapped_and_bound_when_loaded() {
    let bytes = shared_object();
    let file = Elf::parse(&*bytes).unwrap();
    let endian = file.endian();
    let (entries, _) = file
        .elf_header()
        .section_headers(endian, &*bytes)
        .unwrap()
        .iter()
        .find_map(|section| {
            use object::read::elf::SectionHeader;
            section.dynamic(endian, &*bytes).unwrap()
        })
        .unwrap();
    let value = |tag: u32| {
        entries
            .iter()
            .find(|entry| entry.tag32(endian) == Some(tag))
            .map(|entry| entry.d_val(endian))
    };
    let strings = file.section_by_name(".dynstr").unwrap().data().unwrap();
    let text = |at: u64| {
        let rest = &strings[at as usize..];
        std::str::from_utf8(rest.split(|&byte| byte == 0).next().unwrap()).unwrap()
    };
    assert_eq!(value(elf::DT_SONAME).map(text), Some("libheadwater.so.0"));
    let flags = value(elf::DT_FLAGS_1).unwrap_or(0) as u32;
    assert_ne!(flags & elf::DF_1_NODELETE, 0, "-z nodelete");
    assert_ne!(flags & elf::DF_1_NOW, 0, "-z now");
    let needed: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.tag32(endian) == Some(elf::DT_NEEDED))
        .map(|entry| text(entry.d_val(endian)))
        .collect();
    assert!(
        needed.iter().all(|name| name.starts_with("libc.") || name.starts_with("ld-")),
        "needs {needed:?}"
    );
}
