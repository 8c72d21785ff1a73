//! Every command and message survives its line, and no damaged line is taken for a message.

use headwater_lab_protocol::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Debug;
use std::mem::discriminant;
use std::os::unix::ffi::OsStringExt;

fn messages() -> Vec<Message> {
    let text = || "a=\"b\" {text=} \u{1b}[0m\nnext line\r\0 café".to_owned();
    let name = || "/dev/random".to_owned();
    let draw = Draw { mark: 0x1f, bytes: Some([0xa5; 16]) };
    let absent = Draw { mark: u64::MAX, bytes: None };
    vec![
        Hello {
            version: "0.1.0".into(),
            init_us: 2_600_000,
            ready: true,
            openssl: "OpenSSL 3.0.19 27 Jan 2026".into(),
            kernel: text(),
        }
        .into(),
        Module { name: "virtio-rng.ko".into(), at_us: 1, error: Some(text()) }.into(),
        Seed { bits: 256, at_us: 2, accepted: false }.into(),
        Rtc { accepted: true }.into(),
        Impatient { name: name(), answer: Answer::NotReady, took_us: 0 }.into(),
        Caller { name: name(), from_us: 1, to_us: None, until_us: u64::MAX }.into(),
        Interrupts { all: 7, devices: 3 }.into(),
        Entropy { at_us: 5, bits: 256 }.into(),
        Fact { path: "/proc/cmdline".into(), text: text() }.into(),
        Cpu { rdrand: true, rdseed: false, tsc: true, aes: false, hypervisor: true }.into(),
        Devices { efi: true, vmgenid: false, vmclock: true }.into(),
        Log { at_us: 18_016_000, text: text() }.into(),
        Ready { at_us: 1, cycles: u64::MAX, threads: vec!["auto".into()], witnesses: vec![name()] }
            .into(),
        Status { asked: "auto".into(), reason: text(), ..Status::default() }.into(),
        Marks { thread: 1, first: 64, step: 64, marks: vec![0, u64::MAX] }.into(),
        Round { number: 7, draws: vec![draw, absent] }.into(),
        DoctorEnd { status: -1, took_us: 132_000, patient: 61 }.into(),
        WaitEnd { status: 1, took_us: 3_016_000 }.into(),
        Sections {
            mode: "hedged".into(),
            path: text(),
            threads: 2,
            words: 1 << 40,
            zeros: 0,
            repeats: 0,
            switches: 9,
            unplugs: 3,
            moves: 4,
            unplug_error: Some(text()),
            tripwires: 0,
            fallbacks: 0,
            took_us: 5_000_000,
        }
        .into(),
        Nodes { mode: "hedged".into(), path: text(), pages: 32, ..Nodes::default() }.into(),
        Symbol { address: Some(u64::MAX) }.into(),
        Output { error: true, bytes: (0..=255).collect() }.into(),
        Ended { status: None, signal: Some(9), left: 2, took_us: 1 }.into(),
        Data { bytes: (0..=255).collect() }.into(),
        Entry { kind: EntryKind::Link, name: "a b\n".into(), target: "../x".into() }.into(),
        FileError { errno: 2, text: text() }.into(),
        Dumpable {
            pid: 1,
            mode: "auto".into(),
            page: "droppable".into(),
            libc: "2.41".into(),
            witnesses: vec!["libc".into()],
        }
        .into(),
        Restored {
            droppable: PageContent::Zero,
            wiped: PageContent::Absent,
            stamp: StampCheck::Stale,
        }
        .into(),
        Done { messages: 3 }.into(),
        Failed { text: text() }.into(),
    ]
}

fn commands() -> Vec<Command> {
    vec![
        Command::Stop { more: 400 },
        Command::Reseeded { limit_s: 75 },
        Command::Status,
        Command::Marks { step: 64 },
        Command::Draws { thread: 1, from: 2, count: u64::MAX },
        Command::Log { all: true },
        Command::Doctor,
        Command::Symbol { name: "f".into() },
        Command::Nodes(NodesPlan { seconds: 10 }),
        Command::Sections(SectionsPlan { seconds: 60, unplug: true }),
        Command::Run(Job {
            program: "a b".into(),
            arguments: vec!["\n".into(), OsString::new(), OsString::from_vec(vec![0xff, b'a'])],
            environment: vec![("A".into(), "\"=\"".into())],
        }),
        Command::Read { path: "/a b\n\"c\"".into() },
        Command::List { path: "/".into() },
        Command::Off,
    ]
}

fn survives<T: Serialize + DeserializeOwned + Debug + PartialEq>(message: &T) {
    let line = line(message);
    assert_eq!(line.matches('\n').count(), 1, "{line:?}");
    assert_eq!(read::<T>(&line).unwrap().as_ref(), Some(message));
    // A terminal layer may end lines in its own way.
    assert_eq!(read::<T>(&line.replace('\n', "\r\n")).unwrap().as_ref(), Some(message));
}

#[test]
fn every_message_survives_its_line() {
    let messages = messages();
    let kinds: HashSet<_> = messages.iter().map(discriminant).collect();
    assert_eq!((kinds.len(), messages.len()), (Message::KINDS.len(), Message::KINDS.len()));
    messages.iter().for_each(survives);
}

#[test]
fn every_command_survives_its_line() {
    commands().iter().for_each(survives);
}

#[test]
fn other_text_is_not_a_message() {
    for text in [
        "",
        "HW",
        "[    0.000000] Linux version 7.3.4",
        "BdsDxe: starting Boot0001",
        "xHW {}",
        " HW 00000000 {}",
        "hw 00000000 {}",
        "{\"bye\":null}",
    ] {
        assert_eq!(read::<Message>(text), Ok(None), "{text:?}");
    }
}

#[test]
fn a_cut_line_is_never_a_message() {
    for message in messages() {
        let whole = line(&message);
        let whole = whole.trim_end();
        for (at, _) in whole.char_indices().skip(1) {
            let (head, tail) = whole.split_at(at);
            assert!(!matches!(read::<Message>(head), Ok(Some(_))), "{head}");
            assert!(!matches!(read::<Message>(tail), Ok(Some(_))), "{tail}");
            // With its marker, the loss is an error and not silence.
            if head.starts_with(MARKER) {
                assert!(read::<Message>(head).is_err(), "{head}");
            }
        }
    }
}

#[test]
fn a_line_with_other_text_in_it_is_never_a_message() {
    for message in messages() {
        let whole = line(&message);
        for noise in ["[    1.000000] random: crng init done", "1", " ", "\"", "}", "HW "] {
            for (at, _) in whole.trim_end().char_indices().skip(1) {
                let mixed = format!("{}{noise}{}", &whole[..at], &whole[at..]);
                assert!(!matches!(read::<Message>(&mixed), Ok(Some(_))), "{mixed}");
            }
        }
    }
}

#[test]
fn two_messages_on_one_line_are_refused() {
    let one = line(&Message::from(Rtc { accepted: true }));
    assert!(read::<Message>(&format!("{}{one}", one.trim_end())).is_err());
}

/// A guest of an older version sends words in place of JSON.
#[test]
fn an_older_guest_is_named_in_the_error() {
    let error = read::<Message>("HW ready at=1.0 cycles=7 workers=auto\n").unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");
    assert!(error.to_string().contains("HW ready at=1.0"), "{error}");
}

#[test]
fn an_error_shows_no_control_characters_and_no_endless_line() {
    let line = format!("HW 00000000 {{\"failed\": \u{1b}[31m{}", "x".repeat(1 << 16));
    let error = read::<Message>(&line).unwrap_err().to_string();
    assert!(!error.contains('\u{1b}') && error.len() < 400, "{error}");
}

#[test]
fn damaged_draws_are_refused() {
    let good = Draw::try_from("1f:000000000000000000000000000000ff".to_owned()).unwrap();
    assert_eq!((good.mark, good.bytes.unwrap()[15]), (31, 255));
    assert_eq!(Draw::try_from("0:".to_owned()), Ok(Draw { mark: 0, bytes: None }));
    for text in [
        "",
        "1f",
        ":",
        "+1:",
        "-1:",
        "g:",
        "10000000000000000:",
        "1:ff",
        "1:000000000000000000000000000000f",
        "1:000000000000000000000000000000ff0",
        "1:000000000000000000000000000000ff00",
        "1:+00000000000000000000000000000ff",
        "1:00000000000000000000000000000éé",
    ] {
        assert!(Draw::try_from(text.to_owned()).is_err(), "{text}");
    }
}

#[test]
fn messages_of_one_kind_are_found_in_order() {
    let log = |at_us| Message::from(Log { at_us, text: String::new() });
    let sent = [log(1), Rtc { accepted: true }.into(), log(2)];
    assert_eq!(all::<Log>(&sent).map(|log| log.at_us).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(first::<Log>(&sent).unwrap().at_us, 1);
    assert_eq!(first::<Hello>(&sent), None);
}
