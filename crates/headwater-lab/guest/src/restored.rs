//! What CRIU dumps once and restores twice: a process that has drawn, waits to be dumped, and goes on drawing.
//!
//! Unlike the guests' it is linked dynamically, so that the C library is the one that it is run with: from glibc 2.41 on,
//! getrandom() and arc4random() answer from the vDSO.

use crate::witness::{NAMES, Witnesses};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Rounds drawn before the dump, so that buffers are neither empty nor full, and after the restore.
const BEFORE: usize = 20;
const AFTER: usize = 300;

unsafe extern "C" {
    fn arc4random_buf(buf: *mut core::ffi::c_void, len: usize);
}

/// `restored MODE quiesce|go-on FILE`: goes on when the file is there.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [mode, quiesce, file] = arguments else { return ExitCode::from(2) };
    let Ok(wanted) = mode.parse() else { return ExitCode::from(2) };
    if let Err(error) = headwater::init_with(headwater::Config::new().mode(wanted)) {
        println!("HW failed text=headwater: {error}");
        return ExitCode::FAILURE;
    }
    const MAP_DROPPABLE: libc::c_int = 0x08; // Linux 6.11
    let droppable = Page::new(MAP_DROPPABLE, None);
    let wiped = Page::new(libc::MAP_PRIVATE, Some(libc::MADV_WIPEONFORK));
    let pool = vdso_rng::Pool::new().ok().map(|pool| &*Box::leak(Box::new(pool)));
    let mut witnesses = Witnesses::new(pool);
    for _ in 0..BEFORE {
        round(&mut witnesses);
    }
    if quiesce == "quiesce"
        && let Err(error) = headwater::quiesce()
    {
        println!("HW failed text=quiesce: {error}");
        return ExitCode::FAILURE;
    }
    let status = headwater::status();
    println!(
        "HW ready pid={} mode={} page={} libc={} witnesses=libc,arc4random,{}",
        std::process::id(),
        status.mode.name(),
        status.page.name(),
        libc_version(),
        NAMES[..NAMES.len() - 1].join(",")
    );
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Kept and told at once: writing in between would only be slow.
    let rounds: Vec<Vec<[u8; 16]>> = (0..AFTER).map(|_| round(&mut witnesses)).collect();
    for (number, round) in rounds.iter().enumerate() {
        let mut list = String::new();
        for bytes in round {
            let separator = if list.is_empty() { "" } else { "," };
            let _ = write!(list, "{separator}1:");
            if *bytes != [0; 16] {
                let _ = write!(list, "{:032x}", u128::from_be_bytes(*bytes));
            }
        }
        println!("HW draw i={number} list={list}");
    }
    let kept = [droppable, wiped].map(|page| page.map_or("absent", Page::content));
    println!(
        "HW bye mode={} droppable={} wiped={}",
        headwater::status().mode.name(),
        kept[0],
        kept[1]
    );
    ExitCode::SUCCESS
}

/// A page of our own, to see what a restore makes of its kind.
#[derive(Clone, Copy)]
struct Page(*mut u8);

impl Page {
    const MARK: u8 = 0x5a;

    fn new(kind: libc::c_int, advice: Option<libc::c_int>) -> Option<Page> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice, never unmapped; the advice and the mark stay within it.
        unsafe {
            let at =
                libc::mmap(std::ptr::null_mut(), 4096, rights, kind | libc::MAP_ANONYMOUS, -1, 0);
            let refused = at == libc::MAP_FAILED
                || advice.is_some_and(|advice| libc::madvise(at, 4096, advice) != 0);
            if refused {
                return None;
            }
            at.cast::<u8>().write_volatile(Page::MARK);
            Some(Page(at.cast()))
        }
    }

    fn content(self) -> &'static str {
        // SAFETY: mapped by `new`; the kernel may have changed what it holds, which a volatile read allows for.
        if unsafe { self.0.read_volatile() } == Page::MARK { "kept" } else { "zero" }
    }
}

/// The C library's own word: a static program has brought another than it was to be run with.
fn libc_version() -> String {
    // SAFETY: the answer is a constant string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_string_lossy().into_owned()
}

/// 16 bytes of the C library's two, and of each witness.
fn round(witnesses: &mut Witnesses) -> Vec<[u8; 16]> {
    let mut drawn = vec![[0; 16]; 2];
    // SAFETY: pointer and length are those of the array; a failure leaves zeros, which stand for absent.
    unsafe { libc::getrandom(drawn[0].as_mut_ptr().cast(), 16, 0) };
    // SAFETY: pointer and length are those of the array.
    unsafe { arc4random_buf(drawn[1].as_mut_ptr().cast(), 16) };
    drawn.extend((0..NAMES.len() - 1).map(|witness| witnesses.draw(witness)));
    drawn
}
