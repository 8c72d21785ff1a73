//! The functions that can be reached from a draw: none may panic, unwind or allocate.

use crate::object::{Library, Target};
use anyhow::{Result, bail};
use std::collections::{HashMap, VecDeque};

/// Functions of the C library that a draw may call: they take no lock and allocate nothing. The
/// last three are called at set-up.
const OTHERS: [&str; 9] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "strlen",
    "clock_gettime",
    "getauxval",
    "__errno_location",
];
/// Further functions that the C interface may call. They set errno, make raw system calls (libc's
/// own functions are cancellation points), map memory for the states of random_pseudo_bytes, and
/// end the process with a message where a function cannot return an error. They do not allocate.
pub const FOR_C: [&str; 8] = [
    "__errno_location",
    "abort",
    "gnu_get_libc_version",
    "madvise",
    "mmap",
    "munmap",
    "sched_getcpu",
    "syscall",
];
/// Functions that only calls documented to allocate in headwater.h may reach.
pub const FOR_C_HANDLES: [&str; 3] = ["__errno_location", "free", "malloc"];
/// Functions that only calls which make columns may reach.
pub const FOR_C_COLUMNS: [&str; 8] =
    ["__errno_location", "free", "madvise", "malloc", "mmap", "munmap", "posix_memalign", "strlen"];
/// Functions that OpenSSL's module may call when it is loaded, to map the counters of
/// `headwater run --stats`. They neither panic nor allocate.
pub const FOR_OPENSSL: [&str; 5] = ["close", "getenv", "lseek", "mmap", "open"];
/// Variables of the C library. Some are glibc's own; their references are weak, and null elsewhere.
const VARIABLES: [&str; 6] =
    ["__libc_argc", "__libc_argv", "__libc_stack_end", "__rseq_offset", "__rseq_size", "environ"];
/// Continues the unwinding that a panic started. If no panic can start, its callers are dead code.
const RESUME: &str = "_Unwind_Resume";
/// The end of a function for C that unwinds. Its callees are followed, and none starts a panic.
const EDGE: &str = "19panic_cannot_unwind";
/// Parts of the names of forbidden functions. Each of these ends in a forbidden call anyway;
/// listing them makes the report stop at the cause instead of deep inside the standard library.
const FORBIDDEN: [&str; 7] = [
    "9panicking",
    "rust_panic",
    "_fail",
    "__rust_alloc",
    "__rust_realloc",
    "handle_alloc_error",
    "capacity_overflow",
];
/// The documented end of a handle's infallible draws: a panic if the kernel refuses.
const DOCUMENTED: &str = "3rng7refused";

/// Returns the number of functions that can be reached from `root`. Returns an error with a
/// shortest path to each forbidden function. `also` extends the list of permitted functions.
pub fn walk(library: &Library, root: &str, also: &[&str]) -> Result<usize> {
    walk_up_to(library, root, also, &[])
}

/// Does the same without following functions whose names contain one of `ends`, which therefore
/// are not checked.
pub fn walk_up_to(library: &Library, root: &str, also: &[&str], ends: &[&str]) -> Result<usize> {
    let root = library.function(root)?;
    let mut from = HashMap::from([(root, root)]);
    let mut queue = VecDeque::from([root]);
    let (mut reached, mut faults) = (0, Vec::new());
    while let Some(place) = queue.pop_front() {
        reached += usize::from(!library.sections[place].code.is_empty());
        for reference in &library.sections[place].references {
            let name = match &reference.target {
                Target::Section(next) if from.contains_key(next) => continue,
                Target::Section(next) => &library.sections[*next].name,
                Target::Elsewhere(name) => name,
            };
            let forbidden = contains_any(name, &FORBIDDEN);
            if name.contains(DOCUMENTED)
                || name == RESUME
                || name.contains(EDGE)
                || contains_any(name, ends)
            {
                continue;
            }
            match &reference.target {
                Target::Section(next) if !forbidden => {
                    from.insert(*next, place);
                    queue.push_back(*next);
                }
                Target::Elsewhere(name)
                    if [&OTHERS, &VARIABLES[..], also]
                        .iter()
                        .any(|list| list.contains(&&**name)) => {}
                _ => faults.push(format!("{} -> {name}", way(library, &from, place))),
            }
        }
    }
    faults.sort();
    faults.dedup();
    if !faults.is_empty() {
        bail!("can be reached:\n{}", faults.join("\n"));
    }
    Ok(reached)
}

fn contains_any(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}

/// Formats the path from the root to this place.
fn way(library: &Library, from: &HashMap<usize, usize>, mut place: usize) -> String {
    let mut way = library.sections[place].name.clone();
    while from[&place] != place {
        place = from[&place];
        way = format!("{} -> {way}", library.sections[place].name);
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Reference, Section};

    /// Returns a chain of functions: each refers to the next, and the last to an undefined symbol.
    fn chain(names: &[&str], elsewhere: &str) -> Library {
        let section = |(i, name): (usize, &&str)| {
            let last = i + 1 == names.len();
            let target =
                if last { Target::Elsewhere(elsewhere.into()) } else { Target::Section(i + 1) };
            let references = vec![Reference { offset: 0, target }];
            Section { name: (*name).into(), code: vec![0], references }
        };
        Library::of(names.iter().enumerate().map(section).collect())
    }

    #[test]
    fn what_the_c_library_may_be_asked_passes() {
        assert_eq!(walk(&chain(&["draw", "copy"], "memcpy"), "draw", &[]).unwrap(), 2);
        assert!(walk(&chain(&["draw"], "memcpy"), "other", &[]).is_err());
        assert!(walk(&chain(&["draw"], "malloc"), "draw", &FOR_C).is_err());
        assert!(walk(&chain(&["draw"], "malloc"), "draw", &FOR_C_HANDLES).is_ok());
    }

    #[test]
    fn the_way_to_a_fault_is_told() {
        let fault = |names: &[&str], elsewhere| {
            walk(&chain(names, elsewhere), names[0], &[]).unwrap_err().to_string()
        };
        assert!(fault(&["draw", "cold"], "malloc").ends_with("draw -> cold -> malloc"));
        let panicking = "_RNvNtCs_4core9panicking18panic_bounds_check";
        let ends = format!("draw -> cold -> {panicking}");
        assert!(fault(&["draw", "cold", panicking, "more"], "abort").ends_with(&ends));
    }

    #[test]
    fn what_is_documented_is_left_out() {
        let refused = "_ZN9headwater3rng7refused17h0E";
        assert_eq!(walk(&chain(&["draw", refused], "abort"), "draw", &[]).unwrap(), 1);
        let edge = "_RNvNtCs_4core9panicking19panic_cannot_unwind";
        assert_eq!(walk(&chain(&["draw", edge], "abort"), "draw", &[]).unwrap(), 1);
    }
}
