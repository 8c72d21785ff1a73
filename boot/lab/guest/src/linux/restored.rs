//! The process that CRIU dumps once and restores twice. It has drawn before the dump, and draws
//! again after the restore.
//!
//! Unlike a guest's program, it is linked dynamically, so that the lab can choose its C library:
//! from glibc 2.41 on, getrandom() and arc4random() answer from the vDSO.

use crate::linux::witness::{NAMES, Witnesses};
use headwater_lab_protocol::{
    Draw, Dumpable, Failed, Message, PageContent, Restored, Round, StampCheck, line,
};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Rounds before the dump, so that buffers are neither empty nor full.
const BEFORE: usize = 20;
/// Rounds after the restore.
const AFTER: usize = 300;

unsafe extern "C" {
    fn arc4random_buf(buf: *mut core::ffi::c_void, len: usize);
}

fn send(message: impl Into<Message>) {
    print!("{}", line(&message.into()));
}

fn fail(text: String) -> ExitCode {
    send(Failed { text });
    ExitCode::FAILURE
}

/// Runs `restored MODE quiesce|go-on FILE`. The process continues when the file exists.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [mode, quiesce, file] = arguments else { return ExitCode::from(2) };
    let Ok(wanted) = mode.parse() else { return ExitCode::from(2) };
    if let Err(error) = headwater::init_with(headwater::Config::new().mode(wanted)) {
        return fail(format!("headwater: {error}"));
    }
    const MAP_DROPPABLE: libc::c_int = 0x08; // Linux 6.11
    let droppable = TestPage::new(MAP_DROPPABLE, None);
    let wiped = TestPage::new(libc::MAP_PRIVATE, Some(libc::MADV_WIPEONFORK));
    let pool = vdso_rng::Pool::new().ok().map(|pool| &*Box::leak(Box::new(pool)));
    let mut witnesses = Witnesses::new(pool);
    for _ in 0..BEFORE {
        round(&mut witnesses);
    }
    if quiesce == "quiesce"
        && let Err(error) = headwater::quiesce()
    {
        return fail(format!("quiesce: {error}"));
    }
    let status = headwater::status();
    let names = ["libc", "arc4random"].into_iter().chain(NAMES.into_iter().take(NAMES.len() - 1));
    send(Dumpable {
        pid: std::process::id(),
        mode: status.mode.name().to_owned(),
        page: status.page.name().to_owned(),
        libc: libc_version(),
        witnesses: names.map(str::to_owned).collect(),
    });
    let mut stamp = headwater::Stamp::new();
    while stamp.check() == headwater::Freshness::Stale {}
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let stamp = match stamp.check() {
        headwater::Freshness::Stale => StampCheck::Stale,
        headwater::Freshness::Fresh => StampCheck::Fresh,
        headwater::Freshness::Unknown => StampCheck::Unknown,
    };
    // Drawn first and sent later, because writing in between would only be slow.
    let rounds: Vec<Vec<[u8; 16]>> = (0..AFTER).map(|_| round(&mut witnesses)).collect();
    for (number, round) in (0..).zip(&rounds) {
        let draw =
            |bytes: &[u8; 16]| Draw { mark: 1, bytes: (*bytes != [0; 16]).then_some(*bytes) };
        send(Round { number, draws: round.iter().map(draw).collect() });
    }
    let content = |page: Option<TestPage>| page.map_or(PageContent::Absent, TestPage::content);
    send(Restored { droppable: content(droppable), wiped: content(wiped), stamp });
    ExitCode::SUCCESS
}

/// A page with a mark, which shows how a restore treats pages of its kind.
#[derive(Clone, Copy)]
struct TestPage(*mut u8);

impl TestPage {
    const MARK: u8 = 0x5a;

    fn new(kind: libc::c_int, advice: Option<libc::c_int>) -> Option<TestPage> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice, never unmapped. The advice
        // and the mark stay within it.
        unsafe {
            let at =
                libc::mmap(std::ptr::null_mut(), 4096, rights, kind | libc::MAP_ANONYMOUS, -1, 0);
            let refused = at == libc::MAP_FAILED
                || advice.is_some_and(|advice| libc::madvise(at, 4096, advice) != 0);
            if refused {
                return None;
            }
            at.cast::<u8>().write_volatile(TestPage::MARK);
            Some(TestPage(at.cast()))
        }
    }

    fn content(self) -> PageContent {
        // SAFETY: mapped by `new`. The kernel may have changed the content, so the read is
        // volatile.
        match unsafe { self.0.read_volatile() } {
            TestPage::MARK => PageContent::Kept,
            _ => PageContent::Zero,
        }
    }
}

/// Returns the C library's own version. A static program reports the one that it was linked with.
fn libc_version() -> String {
    // SAFETY: the answer is a constant string.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_string_lossy().into_owned()
}

/// Draws 16 bytes from the C library's two functions and from each witness.
fn round(witnesses: &mut Witnesses) -> Vec<[u8; 16]> {
    let mut drawn = vec![[0; 16]; 2];
    // SAFETY: pointer and length are those of the array. A failure leaves zeros, which mean absent.
    unsafe { libc::getrandom(drawn[0].as_mut_ptr().cast(), 16, 0) };
    // SAFETY: pointer and length are those of the array.
    unsafe { arc4random_buf(drawn[1].as_mut_ptr().cast(), 16) };
    drawn.extend((0..NAMES.len() - 1).map(|witness| witnesses.draw(witness)));
    drawn
}
