//! Every archive survives the way to text and back, whatever its files contain.

use headwater_hostfile::{Archive, Entry, MAGIC};
use proptest::prelude::*;

fn archive(entries: &[(&str, Entry)]) -> Archive {
    let mut archive = Archive::default();
    for (path, entry) in entries {
        archive.insert(path, entry.clone()).unwrap();
    }
    archive
}

fn file(content: impl AsRef<[u8]>) -> Entry {
    Entry::File(content.as_ref().to_vec())
}

fn parsed(body: &str) -> Result<Archive, String> {
    Archive::parse(format!("{MAGIC}\n{body}").as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn every_content_round_trips() {
    let long = "x".repeat(1 << 20);
    for content in [
        b"".as_slice(),
        b"\n",
        b"\n\n",
        b"no newline",
        b"two\nlines",
        b"a\r\nb\r\n",
        b"\r",
        b"\0",
        b"\x1b[31mred\x1b[0m\n",
        b"\xff\xfe",
        b"-- proc/version --\n",
        b"\\-- proc/version --\n",
        b"\\\\-- x\n-- \n--\n\\\n",
        b"-- no newline --",
        b"headwater.host/1\n",
        "\u{202e}bidi \u{85} and \u{2028}\n".as_bytes(),
        long.as_bytes(),
    ] {
        let archive = archive(&[("a", file(content)), ("b", file("after\n"))]);
        let text = archive.to_text();
        let again = Archive::parse(text.as_bytes()).unwrap();
        assert_eq!(again, archive, "{:?}", String::from_utf8_lossy(content));
    }
}

#[test]
fn the_text_is_the_documented_one() {
    let archive = archive(&[
        ("etc/os-release", file("ID=debian\n-- \n")),
        ("etc/hostname", file("h")),
        ("sys/a b%", Entry::Link("../x y".to_owned())),
        ("sys/firmware/efi", Entry::Directory),
        ("dev/hwrng", file([0xde, 0xad, 0xbe, 0xef])),
    ]);
    let text = "headwater.host/1\n\
                -- dev/hwrng base64 --\n3q2+7w==\n\
                -- etc/hostname no-newline --\nh\n\
                -- etc/os-release --\nID=debian\n\\-- \n\
                -- sys/a%20b%25 -> ../x%20y --\n\
                -- sys/firmware/efi/ --\n";
    assert_eq!(archive.to_text(), text);
    // A checkout on Windows, or a mail program, may have written CRLF.
    assert_eq!(Archive::parse(text.replace('\n', "\r\n").as_bytes()).unwrap(), archive);
}

#[test]
fn a_hostile_file_is_refused_with_line_and_cause() {
    for (body, wanted) in [
        ("-- ../etc/passwd --\n", "line 2: the path contains `..`"),
        ("-- a/%2E%2E/b --\n", "line 2: the path contains `..`"),
        ("-- ./a --\n", "line 2: the path contains `.`"),
        ("-- /etc/passwd --\n", "line 2: the path is absolute"),
        ("-- a//b --\n", "line 2: the path contains an empty name"),
        ("--  --\n", "line 2: the path is empty"),
        ("-- a%00b --\n", "line 2: the path contains a NUL"),
        ("-- a%ff --\n", "line 2: the path is not UTF-8"),
        ("-- a%2 --\n", "line 2: `%` without two hexadecimal digits"),
        ("-- a --\n1\n-- b --\n-- a --\n", "line 5: \"a\" is already in line 2"),
        ("-- a --\n-- a/b --\n", "line 3: \"a/b\": \"a\" is not a directory"),
        ("-- a/b --\n-- a --\n", "line 3: \"a\" is a directory"),
        ("-- a -> b --\n-- a/c --\n", "line 3: \"a/c\": \"a\" is not a directory"),
        ("-- a -> b --\ntext\n", "line 3: a link has no content"),
        ("-- a/ --\ntext\n", "line 3: a directory has no content"),
        ("-- a base64 --\n????\n", "line 3: not base64"),
        ("-- a no-newline --\n", "line 2: `no-newline` needs at least one line"),
        ("stray\n", "line 2: content before the first header"),
        ("-- a b c --\n", "line 2: not a header"),
        ("-- a --\n-- oops\n", "line 3: not a header"),
    ] {
        let error = parsed(body).unwrap_err();
        assert!(error.starts_with(wanted), "{body:?}: {error}");
    }
    let error = |bytes: &[u8]| Archive::parse(bytes).unwrap_err().to_string();
    assert!(error(b"").starts_with("line 1: not a host file"));
    assert!(error(b"headwater.host/2\n").contains("\"headwater.host/2\" is not supported"));
    assert!(error(b"headwater.host/1\n-- a --\nx\n\xff\n").starts_with("line 4: not UTF-8"));
    let deep = format!("-- {} --\n", "a/".repeat(10_000) + "a");
    assert_eq!(parsed(&deep).unwrap_err(), "line 2: the path is longer than 4096 bytes");
}

#[test]
fn links_are_followed_inside_and_a_circle_ends() {
    let archive = archive(&[
        ("proc/self", Entry::Link("1".to_owned())),
        ("proc/1/comm", file("init\n")),
        ("etc/os-release", Entry::Link("../usr/lib/os-release".to_owned())),
        ("usr/lib/os-release", file("ID=x\n")),
        ("out", Entry::Link("../../../../proc/1/comm".to_owned())),
        ("absolute", Entry::Link("/proc/self/comm".to_owned())),
        ("a", Entry::Link("b".to_owned())),
        ("b", Entry::Link("a".to_owned())),
        ("self", Entry::Link("self/self/self".to_owned())),
        ("dangling", Entry::Link("/nowhere".to_owned())),
        ("empty", Entry::Directory),
    ]);
    for path in ["/proc/self/comm", "out", "/absolute", "proc/../proc/1//comm"] {
        assert_eq!(archive.file(path).unwrap(), b"init\n", "{path}");
    }
    assert_eq!(archive.file("/etc/os-release").unwrap(), b"ID=x\n");
    for path in ["a", "b/x", "self"] {
        assert_eq!(archive.file(path).unwrap_err().raw_os_error(), Some(40), "{path}");
    }
    assert_eq!(archive.file("dangling").unwrap_err().kind(), std::io::ErrorKind::NotFound);
    assert!(archive.exists("/dangling") && archive.exists("/proc") && archive.exists("/empty"));
    assert!(archive.exists("/proc/self/comm") && !archive.exists("/proc/2"));
    assert_eq!(archive.names("/proc"), ["1", "self"]);
    assert_eq!(archive.names("/proc/self"), ["comm"]);
    assert_eq!(archive.names("/empty"), [] as [&str; 0]);
    assert!(archive.names("/").contains(&"etc".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_under_any_name_round_trip(
        files in proptest::collection::btree_map("[^/\0]{1,8}", proptest::collection::vec(any::<u8>(), 0..200), 0..8),
        lines in proptest::collection::vec("[\\\\-]{0,4} ?[a -]{0,6}", 0..8),
    ) {
        let mut archive = Archive::default();
        for (name, content) in &files {
            let _ = archive.insert(name, Entry::File(content.clone()));
        }
        archive.insert("lines/a", Entry::File(lines.join("\n").into_bytes())).unwrap();
        let again = Archive::parse(archive.to_text().as_bytes());
        prop_assert_eq!(again, Ok(archive));
    }

    #[test]
    fn no_text_makes_the_reader_panic(body in "(-- |[a-b/%.\\\\ \n]|->|base64|no-newline| --\n){0,60}") {
        if let Ok(archive) = parsed(&body) {
            prop_assert_eq!(Archive::parse(archive.to_text().as_bytes()), Ok(archive));
        }
    }
}
