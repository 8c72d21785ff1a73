//! Draws once on a stack of its own, saves its registers and waits to be looked at.
//!
//! It knows nothing of keys. The program `residue` starts it, reads its memory while it waits, and
//! then has it draw on, to learn what the page still held.

mod cpu;
mod draw;
mod room;
mod served;
mod stack;
#[cfg(feature = "witness")]
mod witness;

/// Draws as the two arguments say: what is drawn, and in which mode; facts to force follow.
///
/// For "served" the program looks for the served bytes itself, and fails if it finds any. For
/// "served-long" it leaves out draws of fewer than 16 bytes, and for "served-c" it looks at the C
/// library that the third argument names.
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, mode, facts @ ..] = &arguments[..] else {
        panic!("usage: subject WHAT MODE [FACT...]");
    };
    let mode = mode.parse().expect("a mode of the library");
    if what == "served-c" {
        return served::run(mode, &[], facts.first().map(String::as_str), 0);
    }
    force(facts);
    if what == "served" || what == "served-long" {
        return served::run(mode, facts, None, if what == "served" { 0 } else { 16 });
    }
    draw::run(what, mode);
    std::process::ExitCode::SUCCESS
}

/// Forces facts of the machine, which has to come before the first draw.
#[cfg(feature = "forced")]
fn force(facts: &[String]) {
    use headwater::testing::{Force, set};
    for fact in facts {
        let fact = match fact.as_str() {
            "no-sections" => Force::NoSections,
            "no-avx512" => Force::NoAvx512,
            "no-vaes" => Force::NoVaes,
            "no-aes" => Force::NoAes,
            _ => panic!("no fact is called {fact}"),
        };
        set(fact, true);
    }
}

#[cfg(not(feature = "forced"))]
fn force(facts: &[String]) {
    assert!(facts.is_empty(), "this build cannot force anything: it lacks the feature `forced`");
}
