//! Several libraries of one soname in one process, and files that are none: with libraries that are
//! made here, because few hosts have two versions of OpenSSL.

use headwater_bench::{Args, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a fake, by default of libcrypto; `None`, with a word, where that cannot be done.
fn build(file: &str, version: &str, arguments: &[&str]) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes");
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_default();
    let beside = Path::new(&cargo).with_file_name("rustc");
    let rustc = if beside.is_file() { beside } else { PathBuf::from("rustc") };
    let outcome = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "--crate-name=crypto"])
        .args(["-C", "link-arg=-Wl,-soname,libcrypto.so.3", "-o"])
        .arg(&path)
        .args(arguments)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/libcrypto.rs"))
        .env("FAKE_VERSION", version)
        .output();
    match outcome {
        Ok(output) if output.status.success() && !cfg!(target_feature = "crt-static") => Some(path),
        outcome => {
            eprintln!(
                "skipped: a library made for this test: {outcome:?}, so that nothing here shows that \
                 several versions stay apart"
            );
            None
        }
    }
}

fn args(impls: &[&str], libs: &[(&str, &Path)]) -> Args {
    Args {
        cases: vec!["fill".to_owned()],
        sizes: vec!["16".to_owned(), "1k".to_owned()],
        impls: impls.iter().map(|&name| name.to_owned()).collect(),
        libs: libs.iter().map(|(name, path)| format!("{name}={}", path.display())).collect(),
        rounds: Some(6),
        ..Args::default()
    }
}

/// The loader takes any library of a soname for the one that it is asked for, if it was opened
/// before.
#[test]
fn versions_of_one_soname_stay_apart_and_the_host_keeps_its_own() {
    let (Some(old), Some(new)) =
        (build("old/libcrypto.so.3", "9.1.0", &[]), build("new/libcrypto.so.3", "9.2.0", &[]))
    else {
        return;
    };
    let both = args(&["getrandom-syscall"], &[("old", &old), ("new", &new)]);
    let report = run(&both).unwrap();
    let names: Vec<_> = report.rows.iter().take(3).map(|row| row.implementation.as_str()).collect();
    assert_eq!(names, ["getrandom-syscall", "openssl-RAND_bytes@old", "openssl-RAND_bytes@new"]);
    let version = |name: &str| {
        let row = report.rows.iter().find(|row| row.implementation == name).unwrap();
        row.version.clone().unwrap()
    };
    assert!(version("openssl-RAND_bytes@old").contains("9.1.0"));
    assert!(version("openssl-RAND_bytes@new").contains("9.2.0"));

    // Named, they are known from now on, in this process.
    let report = run(&args(&["openssl-RAND_bytes", "openssl-RAND_bytes@old"], &[])).unwrap();
    for row in report.rows.iter().filter(|row| row.implementation == "openssl-RAND_bytes") {
        assert!(!row.version.as_ref().unwrap().contains("OpenSSL 9."), "the host's own: {row:?}");
    }
    assert!(run(&both).is_ok(), "the same file under the same name");
    let error = run(&args(&[], &[("old", &new)])).unwrap_err();
    assert!(error.to_string().contains("'old' is "), "{error}");
}

#[test]
fn a_library_that_gives_zeros_is_not_timed() {
    let Some(zero) = build("zero/libcrypto.so.3", "9.3.0", &["--cfg=zero"]) else {
        return;
    };
    let error = run(&args(&["getrandom-syscall"], &[("zero", &zero)])).unwrap_err();
    assert!(!error.is_usage());
    let expected = "openssl-RAND_bytes@zero was not timed, its output is wrong: every byte is zero";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_library_without_a_known_function_is_refused_by_what_would_be_known() {
    let Some(empty) = build("empty/libcrypto.so.3", "9.4.0", &["--cfg=empty"]) else {
        return;
    };
    let error = run(&args(&[], &[("empty", &empty)])).unwrap_err();
    assert!(error.is_usage());
    let text = error.to_string();
    assert!(
        text.contains("no known function in it: understood are libcrypto of OpenSSL"),
        "{text}"
    );
    assert!(!text.contains('\n'));
}

/// Runs in a process of its own, whose loader knew the directory when it started.
#[test]
fn every_libcrypto_in_the_loaders_folders_is_found() {
    const CHILD: &str = "HEADWATER_BENCH_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let libcryptos = args(&["openssl-RAND_bytes", "openssl-RAND_bytes@9.6.0"], &[]);
        for row in run(&libcryptos).unwrap().rows {
            println!("row {} {}", row.implementation, row.version.unwrap());
        }
        println!("{}", run(&args(&["nonesuch"], &[])).unwrap_err());
        return;
    }
    let folder = ["many/libcrypto.so.3", "many/libcrypto.so.3.6", "many/libcrypto.so.3.6.1"];
    let versions = ["9.5.0", "9.6.0", "9.6.0"];
    let built: Vec<_> = folder
        .iter()
        .zip(versions)
        .map_while(|(file, version)| build(file, version, &[]))
        .collect();
    let [first, _, _] = &built[..] else {
        return;
    };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "every_libcrypto_in_the_loaders_folders_is_found", "--nocapture"])
        .env(CHILD, "1")
        .env("LD_LIBRARY_PATH", first.parent().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    for expected in [
        "row openssl-RAND_bytes OpenSSL 9.5.0",
        "row openssl-RAND_bytes@9.6.0 OpenSSL 9.6.0",
        ", openssl-RAND_bytes@9.6.0-2",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert!(!text.contains("@9.5.0"), "the host's own is listed once:\n{text}");
}

/// libssl has no RAND_bytes, and yet the loader finds one through it: that of the libcrypto that it
/// needs.
#[test]
fn what_a_library_depends_on_is_not_taken_for_it() {
    let Some(libcrypto) = build("needed/libcrypto.so.3", "9.7.0", &[]) else {
        return;
    };
    let link = format!("-Clink-arg={}", libcrypto.display());
    let needs = ["--cfg=empty", "-Clink-arg=-Wl,--no-as-needed,-rpath,$ORIGIN", &link];
    // The last soname wins, and this library must not have that of the one that it needs.
    let needs = [&needs[..], &["-Clink-arg=-Wl,-soname,libssl.so.3"]].concat();
    let Some(libssl) = build("needed/libssl.so.3", "9.7.0", &needs) else {
        return;
    };
    let error = run(&args(&[], &[("needs", &libssl)])).unwrap_err();
    assert!(error.to_string().contains("no known function in it"), "{error}");
}
