//! The adapters of scripts: what a program could see of a function before, it sees under them.
#![cfg(target_os = "linux")]

mod running;

use running::{CLONES, modules};
use std::path::Path;
use std::process::Command;

/// Runs a program under an adapter, and returns what it prints; None where it is not installed.
fn under(program: &str, option: &str, adapter: &str, script: &str) -> Option<String> {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters").join(adapter);
    let mut command = Command::new(program);
    command.args([option, adapter.to_str().unwrap(), "-e", script]);
    command.env("HEADWATER_CLONES_LIBRARY", modules().join(CLONES)).env_remove("LD_PRELOAD");
    let Ok(output) = command.output() else {
        println!("skipped: {program} is not installed; its adapter is not shown to change nothing");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// `function pick(from, below) { return crypto.randomInt(from, below) }` may be called with one
/// argument, since Node looks at the second one and not at how many there are.
#[test]
fn a_limit_alone_may_be_followed_by_nothing() {
    let script = "const { randomInt } = require('node:crypto');
        const seen = new Set();
        for (let i = 0; i < 200; i++) {
            seen.add(randomInt(3, undefined)).add(randomInt(3, undefined, () => 0));
            seen.add(randomInt(0, 3)).add(randomInt(3));
        }
        const code = (...limits) => { try { randomInt(...limits) } catch (e) { return e.code } };
        console.log(code(), code(3, 3), code(0, 3, 'x'));
        randomInt(3, (error, number) => console.log([...seen].sort().join(), error, number < 3));";
    if let Some(said) = under("node", "--require", "node.cjs", script) {
        let errors = "ERR_INVALID_ARG_TYPE ERR_OUT_OF_RANGE ERR_INVALID_ARG_TYPE";
        assert_eq!(said, format!("{errors}\n0,1,2 undefined true\n"));
    }
}

#[test]
fn a_php_without_its_extension_says_so() {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/php.php");
    let script = format!("extension_loaded('FFI') || require '{}';", adapter.display());
    // Without the files that load extensions.
    let Ok(output) = Command::new("php").args(["-n", "-r", &script]).output() else {
        println!("skipped: php is not installed; what it says without FFI is not shown");
        return;
    };
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() || said.contains("enable it (extension=ffi)"), "{said}");
}

/// A private method of Kernel is none of an object's own: `method_missing`, by which proxies and
/// delegators answer, is asked first.
#[test]
fn an_object_has_no_public_rand() {
    let script = "
        class Proxy; def method_missing(name, *) = name; def respond_to_missing?(*) = true; end
        p Proxy.new.rand, 7.respond_to?(:rand), rand(1), Kernel.rand(1), send(:rand, 1)
        p Kernel.private_instance_methods.include?(:rand), [3].shuffle, [3].sample, Random.rand(1)";
    if let Some(said) = under("ruby", "-r", "ruby.rb", script) {
        assert_eq!(said, ":rand\nfalse\n0\n0\n0\ntrue\n[3]\n3\n0\n");
    }
}
