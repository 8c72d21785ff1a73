//! What can be reached from a function: nothing that panics, unwinds or allocates, and little else.

use super::object::{Library, Target};
use anyhow::{Result, bail};
use std::collections::{HashMap, VecDeque};

/// Functions of the C library that a draw may call: they take no lock and allocate nothing. The last four are
/// asked at set-up.
const OTHERS: [&str; 10] = [
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "strlen",
    "clock_gettime",
    "getauxval",
    "getenv",
    "__errno_location",
];
/// What functions for C may call beside those: they tell errno, read files for the status, map memory for the states of
/// random_pseudo_bytes, and end the process with a line where no error can be told. None allocates.
pub(super) const FOR_C: [&str; 13] = [
    "__errno_location",
    "abort",
    "close",
    "gnu_get_libc_version",
    "madvise",
    "mmap",
    "munmap",
    "open",
    "open64",
    "read",
    "sched_getcpu",
    "write",
    "writev",
];
/// What only those may call that say so in headwater.h.
pub(super) const FOR_C_HANDLES: [&str; 3] = ["__errno_location", "free", "malloc"];
/// Glibc's; weak, so null where another C library has none.
const GLIBC: [&str; 2] = ["__rseq_offset", "__rseq_size"];
/// Goes on with what a panic began: if none can begin, the code that calls it is dead.
const RESUME: &str = "_Unwind_Resume";
/// Where a function that C calls would end if it unwound. What it calls is followed, and begins no panic.
const EDGE: &str = "19panic_cannot_unwind";
/// Parts of names of what must not be reached. Behind each lies something that is in no list above; it has a name
/// here so that a report ends where the fault is, and not deep in the standard library.
const FORBIDDEN: [&str; 7] = [
    "9panicking",
    "rust_panic",
    "_fail",
    "__rust_alloc",
    "__rust_realloc",
    "handle_alloc_error",
    "capacity_overflow",
];
/// Where the infallible draws of a handle end if the kernel refuses, as their documentation says.
const DOCUMENTED: &str = "3rng7refused";
/// The number of functions that can be reached from `root`; an error that tells a shortest way to each thing that
/// must not be. `also` may be called beside what every draw may call.
pub(crate) fn walk(library: &Library, root: &str, also: &[&str]) -> Result<usize> {
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
            if name.contains(DOCUMENTED) || name == RESUME || name.contains(EDGE) {
                continue;
            }
            match &reference.target {
                Target::Section(next) if !forbidden => {
                    from.insert(*next, place);
                    queue.push_back(*next);
                }
                Target::Elsewhere(name)
                    if [&OTHERS, &GLIBC[..], also].iter().any(|list| list.contains(&&**name)) => {}
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

/// How the walk came here.
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
    use crate::machine_code::object::{Reference, Section};

    /// A function for each name, of which each refers to the next; the last to what lies elsewhere.
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
