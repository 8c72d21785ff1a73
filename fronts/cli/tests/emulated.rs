//! The command on a CPU that an emulator makes up. QEMU 7.2, which Debian 12 ships, offers AES
//! instructions on 256-bit registers and executes them wrongly.

use std::process::Command;

const HEADWATER: &str = env!("CARGO_BIN_EXE_headwater");

fn output(command: &mut Command) -> Option<Vec<u8>> {
    let output = command.output().ok()?;
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {words}");
    Some(output.stdout)
}

#[test]
fn streams_are_the_same_on_an_emulated_cpu() {
    for engine in ["ars7", "ars5", "philox4x32", "xoshiro256pp-x8", "sfc64", "pcg64dxsm"] {
        let arguments = ["stream", "--seed", "42", "--engine", engine, "10000"];
        let expected = output(Command::new(HEADWATER).args(arguments)).unwrap();
        assert_eq!(expected.len(), 10_000);
        let emulated = ["qemu-x86_64-static", "qemu-x86_64"].into_iter().find_map(|emulator| {
            output(Command::new(emulator).args(["-cpu", "max", HEADWATER]).args(arguments))
        });
        let Some(emulated) = emulated else {
            eprintln!("skipped: no qemu-x86_64, so values are not compared on another CPU");
            return;
        };
        assert!(emulated == expected, "{engine}");
    }
}
