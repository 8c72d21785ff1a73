//! Compares the declarations with OpenSSL's headers: a C compiler checks generated assertions.

use super::*;
use std::env;
use std::ffi::c_uchar;
use std::fmt::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The C spelling of a Rust type.
pub(super) trait C {
    fn c() -> String;
}

macro_rules! named {
    ($($rust:ty => $c:literal;)*) => {
        $(impl C for $rust {
            fn c() -> String {
                $c.to_owned()
            }
        })*
    };
}

named! {
    () => "void";
    c_void => "void";
    c_int => "int";
    c_uint => "unsigned int";
    Char => "char";
    c_uchar => "unsigned char";
    usize => "size_t";
    VaList => "va_list";
    CoreHandle => "OSSL_CORE_HANDLE";
    Dispatch => "OSSL_DISPATCH";
    Algorithm => "OSSL_ALGORITHM";
    Param => "OSSL_PARAM";
    Item => "OSSL_ITEM";
}

impl<T: C> C for *const T {
    fn c() -> String {
        format!("{} const *", T::c())
    }
}

impl<T: C> C for *mut T {
    fn c() -> String {
        format!("{} *", T::c())
    }
}

macro_rules! functions_of {
    ($($argument:ident)*) => {
        impl<R: C, $($argument: C),*> C for unsafe extern "C" fn($($argument),*) -> R {
            fn c() -> String {
                format!("{}({})", R::c(), [$($argument::c()),*].join(", "))
            }
        }
    };
}

functions_of!(A1);
functions_of!(A1 A2);
functions_of!(A1 A2 A3);
functions_of!(A1 A2 A3 A4);
functions_of!(A1 A2 A3 A4 A5);
functions_of!(A1 A2 A3 A4 A5 A6);
functions_of!(A1 A2 A3 A4 A5 A6 A7);
functions_of!(A1 A2 A3 A4 A5 A6 A7 A8);

/// Returns a program that compiles if the declarations match the headers. Functions that are newer
/// than the headers are left out.
fn program() -> String {
    let mut program = String::from(
        "#include <stdarg.h>\n#include <stddef.h>\n#include <openssl/core.h>\n#include <openssl/core_dispatch.h>\n\
         #include <openssl/core_names.h>\n#include <openssl/evp.h>\n#include <openssl/params.h>\n",
    );
    let mut assert = |condition: String| {
        writeln!(program, "_Static_assert({condition}, \"headwater declares it otherwise\");")
            .unwrap();
    };
    macro_rules! layouts {
        ($($rust:ty as $c:literal: $($field:ident),*;)*) => {$(
            assert(format!("sizeof({}) == {}", $c, size_of::<$rust>()));
            assert(format!("_Alignof({}) == {}", $c, align_of::<$rust>()));
            $(assert(format!("offsetof({}, {}) == {}", $c, stringify!($field), offset_of!($rust, $field)));)*
        )*};
    }
    layouts! {
        Dispatch as "OSSL_DISPATCH": function_id, function;
        Algorithm as "OSSL_ALGORITHM":
            algorithm_names, property_definition, implementation, algorithm_description;
        Param as "OSSL_PARAM": key, data_type, data, data_size, return_size;
        Item as "OSSL_ITEM": id, ptr;
    }
    for (name, value) in [
        ("OSSL_OP_RAND", OP_RAND as usize),
        ("OSSL_PARAM_INTEGER", PARAM_INTEGER as usize),
        ("OSSL_PARAM_UNSIGNED_INTEGER", PARAM_UNSIGNED_INTEGER as usize),
        ("OSSL_PARAM_REAL", PARAM_REAL as usize),
        ("OSSL_PARAM_UTF8_PTR", PARAM_UTF8_PTR as usize),
        ("OSSL_PARAM_UNMODIFIED", PARAM_UNMODIFIED),
        ("EVP_RAND_STATE_UNINITIALISED", STATE_UNINITIALISED as usize),
        ("EVP_RAND_STATE_READY", STATE_READY as usize),
        ("EVP_RAND_STATE_ERROR", STATE_ERROR as usize),
    ] {
        assert(format!("{name} == {value}u"));
    }
    for (name, text) in [
        ("OSSL_RAND_PARAM_STATE", STATE),
        ("OSSL_RAND_PARAM_STRENGTH", STRENGTH),
        ("OSSL_RAND_PARAM_MAX_REQUEST", MAX_REQUEST),
        ("OSSL_DRBG_PARAM_RESEED_COUNTER", RESEED_COUNTER),
        ("OSSL_PROV_PARAM_NAME", NAME),
        ("OSSL_PROV_PARAM_VERSION", VERSION),
        ("OSSL_PROV_PARAM_BUILDINFO", BUILD_INFO),
        ("OSSL_PROV_PARAM_STATUS", STATUS),
    ] {
        assert(format!("__builtin_strcmp({name}, {text:?}) == 0"));
    }
    for (constant, name, number, c) in functions::all() {
        writeln!(program, "#ifdef OSSL_FUNC_{constant}").unwrap();
        writeln!(program, "_Static_assert(OSSL_FUNC_{constant} == {number}, \"{constant}\");")
            .unwrap();
        // The typedef is needed, because `__typeof__` of a function type is not allowed in the
        // comparison.
        writeln!(program, "typedef __typeof__({c}) our_{name};").unwrap();
        writeln!(
            program,
            "_Static_assert(__builtin_types_compatible_p(OSSL_FUNC_{name}_fn, our_{name}), \"{name}: {c}\");\n#endif"
        )
        .unwrap();
    }
    program
}

/// Compiles the program with the headers of these directories, which come first.
fn compile(program: &str, directories: &[PathBuf]) -> std::io::Result<std::process::Output> {
    let directory = tempfile::tempdir()?;
    let source = directory.path().join("declarations.c");
    std::fs::write(&source, program)?;
    let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    for directory in directories {
        compiler.arg("-isystem").arg(directory);
    }
    compiler.args(["-std=gnu11", "-Wall", "-Werror", "-fsyntax-only"]).arg(source).output()
}

/// Checks against these headers if they are installed.
fn check(which: &str, directories: &[PathBuf]) {
    let skip = |why: &str| {
        println!(
            "skipped: the declarations against the headers of OpenSSL {which}: {why}; a wrong declaration would stay unnoticed"
        );
    };
    match compile("#include <openssl/core_dispatch.h>\n", directories) {
        Err(error) => return skip(&format!("no C compiler ({error})")),
        Ok(output) if !output.status.success() => {
            return skip("they are not installed (libssl-dev)");
        }
        Ok(_) => {}
    }
    let compiled = compile(&program(), directories).unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // Proof that the check can fail: a wrong number, a wrong type, a wrong name.
    for (right, wrong) in [
        ("OSSL_FUNC_RAND_GENERATE == 5", "OSSL_FUNC_RAND_GENERATE == 6"),
        ("typedef __typeof__(int(void *, unsigned int,", "typedef __typeof__(int(void *, int,"),
        ("\"max_request\"", "\"max-request\""),
    ] {
        let broken = program().replace(right, wrong);
        assert_ne!(broken, program(), "{right} is not in the program");
        assert!(!compile(&broken, directories).unwrap().status.success(), "{wrong} compiles");
    }
}

#[test]
fn the_declarations_are_those_of_the_systems_headers() {
    check("of this system", &[]);
}

/// `cargo xtask test` unpacks packages of Debian 13 and of its newest releases into the target
/// directory.
#[test]
fn the_declarations_are_those_of_the_headers_of_3_5_and_4() {
    for version in ["3.5", "4"] {
        let variable = format!("HEADWATER_OPENSSL_{}", version.replace('.', "_"));
        let unpacked = env::var_os(variable).map(PathBuf::from).unwrap_or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../target/openssl-{version}"))
        });
        let include = unpacked.join("usr/include");
        let architecture = include.join(format!("{}-linux-gnu", env::consts::ARCH));
        if !include.is_dir() {
            println!(
                "skipped: the declarations against the headers of OpenSSL {version}: not unpacked (cargo xtask openssl); a wrong declaration would stay unnoticed"
            );
            continue;
        }
        let program = program();
        assert!(program.contains("OSSL_FUNC_PROVIDER_RANDOM_BYTES"));
        check(version, &[include, architecture]);
    }
}
