//! Our reader of configurations beside OpenSSL's own, `NCONF_load` of this machine's libcrypto.
//!
//! A file that OpenSSL drops must be refused, or programs would draw from its own generator without
//! a word. A file that both accept must have the same values in the same order.

#[path = "../src/openssl/parse.rs"]
#[expect(dead_code, reason = "a text that is no file is read by the command's own tests")]
mod parse;

use parse::{Sections, read};
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::fs;
use std::path::Path;

/// Sound lines, and pieces of which some make a mistake.
const LINES: [&str; 20] = [
    "a = 1\n",
    "b = $a${b}\n",
    "b = 2\n",
    "[s]\n",
    "[ s t ]\n",
    "s::b = $(a)\n",
    "a = $ENV::HOME\n",
    "[default]\n",
    "a = \\\n",
    "# 'a comment \\\n",
    "a = 'b\\'c' d\r\n",
    "b = \"#\"\" # c\n",
    "\n",
    ".include DIR\n",
    ".include = DIR/one.cnf\n",
    ".include DIR/none.cnf\n",
    ".pragma = dollarid:on\n",
    ".pragma dollarid : OFF\n",
    "a = LONG\n",
    "x$y = $x$y\n",
];
const PIECES: [&str; 40] = [
    "[",
    "]",
    "a",
    "b",
    " ",
    "\t",
    "=",
    "=",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\\",
    "\\\n",
    "\\\\\n",
    "\\n",
    "$",
    "$a",
    "${a}",
    "$(s::a)",
    "${",
    "${ENV::NOT_SET}",
    "::",
    "'",
    "\"",
    "`",
    "#",
    ";",
    "é",
    ".",
    ".include ",
    ".pragma ",
    ".pragma=",
    "abspath:true",
    "abspath:maybe",
    "includedir:",
    "DIR",
    "LONG",
    "*+,!%&|~^@?<",
];

/// Mistakes and oddities as people make them, after a sound beginning.
const WRITTEN: [&str; 64] = [
    "my key = 1",
    "export FOO=1",
    "a += 1",
    "; disabled = 1",
    "// a = b",
    "/* a = b */",
    "a:b = 1",
    "(a) = 1",
    "<a> = 1",
    "\"a\" = 1",
    "na\u{ef}ve = 1",
    "a;b = 1",
    "a,b = 1",
    "~a = 1",
    "@a = 1",
    "* = a",
    "= 1",
    "foo",
    "{\"a\": 1}",
    "a: 1",
    "<html></html>",
    "-----BEGIN X-----",
    "AAA+/AA==",
    "<<<<<<< HEAD",
    "=======",
    "[a:b]",
    "[$a]",
    "[\"a\"]",
    "[a[b]",
    "[a#b]",
    "[\ta\t]",
    "[]",
    "[x] junk",
    "[x",
    "[\u{e9}]",
    "[a\\]b]",
    "x = $nope",
    "x = ${nope",
    "x = ${ENV::NOT_SET}",
    "x = $ENV::HOME",
    "x = '$nope'",
    "x = \\$nope",
    "x = 'open",
    "x = \"a\"\"b\"",
    "x = a\\ ",
    "x = a\\",
    "x = a\\\\",
    "x = a \\# b # c",
    "x = \"a # b\" # c",
    "x = 'it\\'s'",
    ".include",
    ".include ",
    ".include=",
    ".includeX = /none",
    ".include /none",
    ".include $nope",
    ".pragma",
    ".pragma = foo",
    ".pragma = foo:bar",
    ".pragma=dollarid:on\n$x = 1\ny = $x${x}",
    ".pragma dollarid:maybe",
    ".pragma = includedir:",
    ".pragma = abspath:true",
    "zz::x = 1\n[zz]\ny = $x",
];

#[test]
fn whatever_openssl_drops_is_refused_and_values_are_its_own() {
    let Some(openssl) = OpenSsl::load() else {
        println!("skipped: no libcrypto of OpenSSL 3 or 4; our reader was not compared with it");
        return;
    };
    let directory = std::env::temp_dir().join(format!("headwater-nconf-{}", std::process::id()));
    let included = directory.join("included");
    fs::create_dir_all(&included).unwrap();
    for (name, text) in [
        ("one.cnf", "a = 5\n.include DIR/two.CONF\nb = $a\n"),
        ("two.CONF", "[two]\na = 6\n"),
        ("three.conf", "a = 7"),
        ("four.txt", "a mistake"),
        (".cnf", "another"),
    ] {
        fs::write(included.join(name), text.replace("DIR", included.to_str().unwrap())).unwrap();
    }
    let file = directory.join("test.cnf");
    let mut counts = [0; 3];
    let mut compare = |text: &str| {
        let text = text.replace("DIR", included.to_str().unwrap());
        fs::write(&file, text.replace("LONG", &"long ".repeat(110))).unwrap();
        counts[compared(&openssl, &file)] += 1;
    };
    for oddity in WRITTEN {
        for (before, after) in [("", "\n"), ("a = 1\n[o]\n", "\nproviders = p\n"), ("[o]\n", "")] {
            compare(&format!("{before}{oddity}{after}"));
        }
    }
    let mut state = 20_261_128_u64;
    for _ in 0..3000 {
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        let mut text = String::new();
        for _ in 0..below(8) {
            match below(8) {
                0 => (0..below(6)).for_each(|_| text.push_str(PIECES[below(PIECES.len())])),
                _ => text.push_str(LINES[below(LINES.len())]),
            }
        }
        compare(&text);
    }
    fs::remove_dir_all(&directory).unwrap();
    let [both, neither, ours_alone] = counts;
    println!("{both} read by both, {neither} dropped and refused, {ours_alone} refused on purpose");
    assert!(both > 1000 && neither > 1000 && ours_alone > 0);
}

/// Returns 0 if both read the file, 1 if OpenSSL drops it and it is refused, and 2 if it is refused
/// because other programs might read another text.
fn compared(openssl: &OpenSsl, file: &Path) -> usize {
    let (theirs, ours) = (openssl.read(file), read(file));
    let text = || String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    match (theirs, ours) {
        (None, Err(_)) => 1,
        (None, Ok(_)) => panic!("OpenSSL drops this, and it was not refused: {:?}", text()),
        (Some(theirs), Ok(ours)) => {
            assert!(theirs.is(&ours), "other values: {:?}", text());
            0
        }
        (Some(_), Err(why)) => {
            assert!(!why.contains("ignore all of it"), "{why}: {:?}", text());
            2
        }
    }
}

/// The functions of a libcrypto.
struct OpenSsl {
    new: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    load: unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_long) -> c_int,
    section: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
    number: unsafe extern "C" fn(*const c_void) -> c_int,
    element: unsafe extern "C" fn(*const c_void, c_int) -> *const Entry,
    free: unsafe extern "C" fn(*mut c_void),
    memory: unsafe extern "C" fn() -> *const c_void,
    bio_new: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    dump: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    bio_control: unsafe extern "C" fn(*mut c_void, c_int, c_long, *mut c_void) -> c_long,
    bio_free: unsafe extern "C" fn(*mut c_void) -> c_int,
    clear_errors: unsafe extern "C" fn(),
}

/// `CONF_VALUE` of openssl/conf.h.
#[repr(C)]
struct Entry {
    section: *mut c_char,
    name: *mut c_char,
    value: *mut c_char,
}

impl OpenSsl {
    #[expect(clippy::missing_transmute_annotations, reason = "the field has the type")]
    fn load() -> Option<OpenSsl> {
        // SAFETY: the names end with NUL. Its initializers run as in every program that uses it.
        let library = [c"libcrypto.so.3", c"libcrypto.so.4"]
            .map(|name| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) });
        let library = library.into_iter().find(|library| !library.is_null())?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the library is loaded, and stays so.
                let function = unsafe { libc::dlsym(library, $name.as_ptr()) };
                assert!(!function.is_null(), "{:?}", $name);
                // SAFETY: the headers of OpenSSL 3 and 4 declare it with these types.
                unsafe { std::mem::transmute(function) }
            }};
        }
        Some(OpenSsl {
            new: function!(c"NCONF_new"),
            load: function!(c"NCONF_load"),
            section: function!(c"NCONF_get_section"),
            number: function!(c"OPENSSL_sk_num"),
            element: function!(c"OPENSSL_sk_value"),
            free: function!(c"NCONF_free"),
            memory: function!(c"BIO_s_mem"),
            bio_new: function!(c"BIO_new"),
            dump: function!(c"NCONF_dump_bio"),
            bio_control: function!(c"BIO_ctrl"),
            bio_free: function!(c"BIO_free"),
            clear_errors: function!(c"ERR_clear_error"),
        })
    }

    fn read(&self, file: &Path) -> Option<Loaded<'_>> {
        let file = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: a null method is the default one, and a null line is not written.
        let (configuration, is_read) = unsafe {
            let configuration = (self.new)(std::ptr::null());
            let read = (self.load)(configuration, file.as_ptr(), std::ptr::null_mut());
            (self.clear_errors)();
            (configuration, read > 0)
        };
        // Dropped, it is freed, whether it was read or not.
        let loaded = Loaded { openssl: self, configuration };
        is_read.then_some(loaded)
    }
}

struct Loaded<'a> {
    openssl: &'a OpenSsl,
    configuration: *mut c_void,
}

impl Loaded<'_> {
    /// Returns whether these sections, and no others, have these values in this order.
    fn is(&self, sections: &Sections) -> bool {
        let mut length = 0;
        for (section, values) in sections {
            length += section.len() + "[[]]\n".len();
            let theirs = self.values(section);
            let ours = values.iter().map(|value| (value.name.clone(), value.value.clone()));
            if theirs != ours.collect::<Vec<_>>() {
                return false;
            }
            for value in values {
                let words = section.len() + value.name.len() + value.value.len();
                length += words + "[] =\n".len();
            }
        }
        length == self.length_of_dump()
    }

    fn values(&self, section: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let section = CString::new(section).unwrap();
        let OpenSsl { section: find, number, element, .. } = self.openssl;
        // SAFETY: a string of C; OpenSSL has no section of none, and a null stack has -1 elements.
        let entries = unsafe { find(self.configuration, section.as_ptr()) };
        // SAFETY: as above.
        let count = unsafe { number(entries) };
        let value = |at| {
            // SAFETY: an element below the number is an entry, whose strings end with NUL.
            unsafe {
                let entry = &*element(entries, at);
                let bytes = |text| CStr::from_ptr(text).to_bytes().to_owned();
                (bytes(entry.name), bytes(entry.value))
            }
        };
        (0..count).map(value).collect()
    }

    /// Returns the number of bytes in which OpenSSL prints every section and value.
    fn length_of_dump(&self) -> usize {
        const PENDING: c_int = 10;
        // SAFETY: the configuration was read, and the buffer is freed here.
        unsafe {
            let buffer = (self.openssl.bio_new)((self.openssl.memory)());
            (self.openssl.dump)(self.configuration, buffer);
            let length = (self.openssl.bio_control)(buffer, PENDING, 0, std::ptr::null_mut());
            (self.openssl.bio_free)(buffer);
            length as usize
        }
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: it was made by NCONF_new, and no reference to it is left.
        unsafe { (self.openssl.free)(self.configuration) };
    }
}
