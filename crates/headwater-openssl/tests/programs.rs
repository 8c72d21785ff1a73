//! C programs against libcrypto, as a user's would be, with each OpenSSL at hand and in each mode.
#![cfg(target_os = "linux")]

mod support;

use headwater::Mode;
use support::{OpenSsl, configuration, modules, said};

const MODES: [&str; 4] = ["buffered", "hedged", "strict", "kernel"];

#[test]
fn a_context_lives_as_openssl_documents_it() {
    for openssl in OpenSsl::all() {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("life.c", folder.path()) else { continue };
        for mode in MODES {
            let run = openssl.program(&program).env("HEADWATER_MODE", mode).output().unwrap();
            let said = said(run);
            if said.contains("skipped:") {
                print!("{said}");
            } else {
                assert_eq!(said, "lived\n");
            }
        }
    }
}

#[test]
fn parent_and_children_never_draw_the_same() {
    for openssl in OpenSsl::all() {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("forks.c", folder.path()) else { continue };
        let configuration = configuration(folder.path(), "");
        for mode in MODES {
            let mut run = openssl.program(&program);
            run.env("OPENSSL_CONF", &configuration).env("OPENSSL_MODULES", modules());
            run.env("HEADWATER_MODE", mode).env("EXPECTED_GENERATOR", "HEADWATER");
            assert!(said(run.output().unwrap()).ends_with("no two alike\n"));
        }
    }
}

/// The bytes are headwater's: the generators have its name, and its pages were filled meanwhile.
#[test]
fn an_unchanged_program_draws_from_headwater() {
    for openssl in OpenSsl::all() {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = openssl.compile("generator.c", folder.path()) else { continue };
        let configuration = configuration(folder.path(), "");
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
        // What this machine arms by itself, which is what the program will arm.
        let armed = headwater::status().mode;
        for mode in [armed, Mode::Strict] {
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
