//! C programs against libcrypto, as a user's would be, with each OpenSSL at hand and in each mode.
#![cfg(target_os = "linux")]

mod support;

use headwater::{Mode, ReseedGeneration};
use std::process::Command;
use support::{OpenSsl, configuration, modules, said};

const MODES: [&str; 4] = ["buffered", "hedged", "strict", "kernel"];

#[test]
fn a_context_lives_as_openssl_documents_it() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("life.c", directory.path()) else { continue };
        for mode in MODES {
            let run =
                || said(openssl.program(&program).env("HEADWATER_MODE", mode).output().unwrap());
            // Other tests make the kernel reseed in a loop, and one process in ten that starts
            // meanwhile does not find the reseed generation. So a blind process runs again.
            let mut runs = std::iter::repeat_with(run).take(8);
            let mut said = runs.next().unwrap();
            let sees = mode != "kernel"
                && matches!(headwater::status().reseed_generation, ReseedGeneration::Live { .. });
            while sees && said != "lived\n" {
                let Some(next) = runs.next() else { break };
                said = next;
            }
            if said.contains("skipped:") {
                print!("{said}");
            } else if sees || said == "lived\n" {
                assert_eq!(said, "lived\n");
            } else {
                assert_eq!(said, "lived, and does not see reseeds\n");
            }
        }
    }
}

#[test]
fn parent_and_children_never_draw_the_same() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("forks.c", directory.path()) else { continue };
        let configuration = configuration(directory.path(), "");
        for mode in MODES {
            let mut run = openssl.program(&program);
            run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
            run.env("HEADWATER_MODE", mode).env("EXPECTED_GENERATOR", "HEADWATER");
            assert!(said(run.output().unwrap()).ends_with("no two alike\n"));
        }
    }
}

#[test]
fn a_kernel_that_refuses_is_told_and_gives_no_byte() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("refused.c", directory.path()) else { continue };
        for mode in ["auto", "kernel"] {
            let run = openssl.program(&program).env("HEADWATER_MODE", mode).output().unwrap();
            let said = said(run);
            assert!(said == "refused\n" || said.starts_with("skipped:"), "{mode}: {said}");
        }
    }
}

/// The same program with OpenSSL's own generator is the measure.
#[test]
fn uninstantiated_generators_recover_as_openssls_own_do() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("recover.c", directory.path()) else { continue };
        let configuration = configuration(directory.path(), "");
        let stock = said(openssl.program(&program).output().unwrap());
        let mut run = openssl.program(&program);
        run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
        assert_eq!(said(run.output().unwrap()), stock, "{}", openssl.name());
    }
}

/// The program compares each answer with OpenSSL's own OSSL_PARAM_set_uint64.
#[test]
fn numbers_are_answered_in_every_type_and_width() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("params.c", directory.path()) else { continue };
        let configuration = configuration(directory.path(), "");
        let mut run = openssl.program(&program);
        run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
        assert_eq!(said(run.output().unwrap()), "540 alike\n", "{}", openssl.name());
    }
}

#[test]
fn it_draws_whenever_libraries_come_and_go() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("unloaded.c", directory.path()) else { continue };
        let configuration = configuration(directory.path(), "");
        let mut run = openssl.program(&program);
        // OpenSSL's own context, too: the one that it cleans up at exit.
        run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
        assert_eq!(said(run.output().unwrap()), "unloaded\nlate\n");
    }
}

/// One symbol goes out, and none of OpenSSL's comes in: so one file serves every OpenSSL.
#[test]
fn the_module_has_one_function_and_needs_no_openssl() {
    let module = modules().join("headwater.so");
    let Ok(output) = Command::new("nm").args(["--dynamic"]).arg(&module).output() else {
        println!(
            "skipped: the symbols of the module: there is no nm; nothing shows what else it exports"
        );
        return;
    };
    let symbols = said(output);
    let defined: Vec<&str> = symbols.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(matches!(defined[..], [one] if one.ends_with(" T OSSL_provider_init")), "{defined:?}");
    for foreign in ["CRYPTO_", "EVP_", "RAND_", "OSSL_PARAM", "ERR_"] {
        assert!(!symbols.contains(&format!(" U {foreign}")), "{symbols}");
    }
    let dynamic = said(Command::new("readelf").args(["--dynamic"]).arg(&module).output().unwrap());
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    assert!(!dynamic.contains("libcrypto"), "{dynamic}");
}

/// The bytes are headwater's: the generators have its name, and its pages were filled meanwhile.
#[test]
fn an_unchanged_program_draws_from_headwater() {
    for openssl in OpenSsl::all() {
        let directory = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("generator.c", directory.path()) else { continue };
        let configuration = configuration(directory.path(), "");
        let run = |module: bool| {
            let mut run = openssl.program(&program);
            if module {
                run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
            }
            run
        };
        assert_eq!(
            said(run(false).output().unwrap()),
            "public CTR-DRBG, private CTR-DRBG, primary CTR-DRBG\n"
        );
        // The mode that headwater chooses on this machine is served in the program as well.
        let chosen = headwater::status().mode;
        for mode in [chosen, Mode::Strict] {
            let said = said(run(true).env("HEADWATER_MODE", mode.name()).output().unwrap());
            let pages = match mode {
                Mode::Buffered | Mode::Hedged => "filled",
                _ => "untouched",
            };
            assert_eq!(
                said,
                format!("public HEADWATER, private HEADWATER, primary HEADWATER, pages {pages}\n"),
                "{mode}"
            );
        }
    }
}
