//! No multiplication is fused with an addition. The language forbids it to the compiler, and this
//! test checks the compiler's output.

use std::process::Command;

/// The fused instructions as disassemblers print them, for x86-64 and arm64, of one number and of
/// vectors.
const FUSED: [&str; 8] =
    ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "\tfmadd", "\tfmsub", "\tfmla", "\tfmls"];
/// Names of plain multiplications, which show that the code was found at all.
const PLAIN: [&str; 3] = ["mulpd", "mulsd", "\tfmul"];

#[test]
fn no_multiplication_is_fused_with_an_addition() {
    let skip = |why: &str| {
        println!(
            "skipped: fused operations: {why}, a compiler that makes them is not noticed here"
        );
    };
    if cfg!(miri) || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return skip("no machine code of a known kind");
    }
    let program = std::env::current_exe().unwrap();
    let Ok(listing) =
        Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program).output()
    else {
        return skip("there is no objdump");
    };
    assert!(listing.status.success(), "{}", String::from_utf8_lossy(&listing.stderr));
    let (mut plain, mut ours) = (0, false);
    for line in String::from_utf8(listing.stdout).unwrap().lines() {
        if line.ends_with(">:") {
            // The reference and these tests may do as they like, and do not.
            ours = line.contains("headwater_streams") && line.contains("numbers");
        } else if ours {
            assert!(!FUSED.iter().any(|name| line.contains(name)), "{line}");
            plain += usize::from(PLAIN.iter().any(|name| line.contains(name)));
        }
    }
    assert!(plain > 50, "{plain} multiplications: the code was not found");
}
