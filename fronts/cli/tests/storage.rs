//! `stream write` and `stream verify` as a user meets them, on files.

#[path = "support/stream.rs"]
mod support;

use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::{Place, command, fails, run};

#[track_caller]
fn ok(args: &[&str]) -> String {
    let done = run(args);
    assert_eq!(done.status.code(), Some(0), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Returns the document of a verification and its exit status.
fn verified(args: &[&str]) -> (i32, Value) {
    let done = run(&[&["verify", "--json"], args].concat());
    let document = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    (done.status.code().unwrap(), document)
}

fn damage(document: &Value) -> Vec<(String, u64, u64)> {
    let extents = document["targets"][0]["extents"].as_array().unwrap();
    let of = |extent: &Value| {
        let number = |name: &str| extent[name].as_u64().unwrap();
        (extent["kind"].as_str().unwrap().to_owned(), number("from"), number("to"))
    };
    extents.iter().map(of).collect()
}

fn stream(options: &[&str], offset: u64, len: u64) -> Vec<u8> {
    let (offset, len) = (offset.to_string(), len.to_string());
    let done = run(&[options, &["--offset", &offset, "--raw", &len]].concat());
    assert!(done.status.success(), "{done:?}");
    done.stdout
}

/// The promise on which every verification rests: no state, only the options.
#[test]
fn written_bytes_are_those_of_the_stream() {
    let place = Place::new("bytes");
    let file = place.file("data");
    for options in [
        &["--seed", "42"][..],
        &["--seed", "text:x", "--engine", "ars5", "--substream", "7"],
        &["--seed", "-1", "--engine", "philox4x32", "--child", "a", "--child", "b"],
    ] {
        let write = [&["write", "--yes", "--size", "3000001"], options, &[&file]].concat();
        assert!(ok(&write).contains("complete"));
        assert_eq!(fs::read(&file).unwrap(), stream(options, 0, 3_000_001), "{options:?}");
        let (status, document) = verified(&[options, &[&file]].concat());
        assert_eq!((status, &document["verdict"]), (0, &Value::from("intact")));
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn any_range_is_written_and_nothing_beside_it() {
    let place = Place::new("ranges");
    let file = place.file("data");
    let size = 2_200_000;
    for (from, to) in [
        (0, 1),
        (1, 2),
        (511, 513),
        (512, 1024),
        (1000, 1_048_577),
        (4096, 2_097_152),
        (1_048_575, 2_097_153),
        (2_199_999, 2_200_000),
    ] {
        fs::write(&file, vec![0xA5; size]).unwrap();
        let (from_text, to_text) = (from.to_string(), to.to_string());
        let range = ["--seed", "1", "--from", &from_text, "--to", &to_text, &file];
        ok(&[&["write", "--yes"], &range[..]].concat());
        let found = fs::read(&file).unwrap();
        assert_eq!(found.len(), size);
        assert!(found[..from as usize].iter().all(|&byte| byte == 0xA5), "{from} {to}");
        assert!(found[to as usize..].iter().all(|&byte| byte == 0xA5), "{from} {to}");
        let expected = stream(&["--seed", "1"], from, to - from);
        assert_eq!(found[from as usize..to as usize], expected, "{from} {to}");
        assert_eq!(verified(&range).0, 0);
    }
}

/// Damage as devices cause it, and the report that a user must get, written before the code.
#[test]
fn damage_is_named_with_its_place() {
    let place = Place::new("damage");
    let (file, page) = (place.file("data"), place.file("page.html"));
    ok(&["write", "--seed", "42", "--size", "8MiB", &file]);
    let disk = OpenOptions::new().write(true).read(true).open(&file).unwrap();
    let stream = |seed, offset, len| stream(&["--seed", seed], offset, len);
    disk.write_all_at(&[0; 4096], 8192).unwrap();
    disk.write_all_at(&stream("42", 1 << 20, 4096), 40_960).unwrap();
    disk.write_all_at(&stream("41", 2 << 20, 8192), 2 << 20).unwrap();
    disk.write_all_at(&stream("40", 0, 512), 3 << 20).unwrap();
    let mut byte = [0];
    disk.read_exact_at(&mut byte, 5_000_000).unwrap();
    disk.write_all_at(&[byte[0] ^ 0x10], 5_000_000).unwrap();
    disk.write_all_at(&[0x33; 1024], 6 << 20).unwrap();
    let args =
        ["--seed", "42", "--was", "41", "--was", "40", "--size", "9MiB", "--html", &page, &file];
    let (status, document) = verified(&args);
    assert_eq!(status, 1);
    let name = |kind: &str, from, len| (kind.to_owned(), from, from + len);
    assert_eq!(
        damage(&document),
        [
            name("zeros", 8192, 4096),
            name("elsewhere", 40_960, 4096),
            name("older", 2 << 20, 8192),
            name("older", 3 << 20, 512),
            name("flipped_bit", 5_000_000, 1),
            name("other", 6 << 20, 1024),
            name("missing", 8 << 20, 1 << 20),
        ]
    );
    let extents = &document["targets"][0]["extents"];
    assert_eq!(extents[1]["place"], 1 << 20);
    assert_eq!((&extents[2]["place"], &extents[2]["was"]), (&(2 << 20).into(), &0.into()));
    assert_eq!((&extents[3]["place"], &extents[3]["was"]), (&0.into(), &1.into()));
    assert_eq!(extents[4]["bit"], 4);
    let counts = &document["targets"][0]["counts"];
    assert_eq!(counts["older"]["extents"], 2);
    assert_eq!(counts["missing"]["bytes"], 1 << 20);
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("data of byte 1,048,576") && page.contains("<rect"), "{page}");
    let text = run(&[&["verify"], &args[..8], &[&file]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    for words in ["a lost write", "data of byte 1,048,576", "bit 4 flipped", "nothing: the file"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Each case: the arguments, the exit status, a part of the message. Written before the code.
#[test]
fn impossible_requests_are_refused() {
    let place = Place::new("refused");
    let (file, none) = (place.file("data"), place.file("none"));
    let directory = place.0.to_str().unwrap();
    fs::write(&file, [1; 10_000]).unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["write", "--seed", "1", &none], 2, "does not exist: create it with --size"),
        (&["write", "--seed", "1", &file], 2, "confirm with --yes"),
        (&["write", "--yes", &file], 2, "--seed"),
        (&["write", "--yes", "--seed", "1"], 2, "TARGET"),
        (&["write", "--yes", "--seed", "1", directory], 2, "neither a file nor a block device"),
        (&["write", "--yes", "--seed", "1", "/dev/null"], 2, "neither a file nor a block device"),
        (&["write", "--yes", "--seed", "1.5", &file], 2, "is no seed"),
        (&["write", "--yes", "--seed", "1", "--engine", "sfc64", &file], 2, "no engine is called"),
        (&["write", "--yes", "--seed", "1", "--from", "10001", &file], 2, "no bytes lie between"),
        (&["write", "--yes", "--seed", "1", "--from", "5", "--to", "5", &file], 2, "no bytes lie"),
        (
            &["write", "--yes", "--seed", "1", "--to", "8192T", "--from", "0", &file],
            3,
            "cannot make",
        ),
        (&["write", "--yes", "--seed", "1", "--to", "16777215T", &file], 2, "before byte 2^63"),
        (&["write", "--yes", "--seed", "1", "--to", "1kB", &file], 2, "a unit is one of"),
        (&["write", "--yes", "--seed", "1", "--compressible", "0.5", &file], 2, "at least 1"),
        (&["write", "--yes", "--seed", "1", "--compressible", "11", &file], 2, "6 is the most"),
        (&["write", "--yes", "--seed", "1", "--dedup", "x", &file], 2, "a ratio is a number"),
        (
            &["write", "--yes", "--seed", "1", "--dedup", "2", "--chunk", "100", &file],
            2,
            "multiple of 512",
        ),
        (&["write", "--yes", "--seed", "1", "--chunk", "4k", &file], 2, "--dedup"),
        (&["write", "--yes", "--seed", "1", "--child", "{x}", &file], 2, "only {host} and {name}"),
        (&["write", "--yes", "--seed", "1", "--threads", "0", &file], 2, "1..=256"),
        (&["write", "--yes", "--seed", "1", "--limit-rate", "-1", &file], 2, "whole number"),
        (&["write", "--yes", "--seed", "1", "--limit-rate", "0", &file], 2, "would never end"),
        (&["write", "--yes", "--seed", "1", "--substream", "281474976710656", &file], 2, "2^48"),
        (&["write", "--yes", "--seed", "1", &file, &file], 2, "are the same target"),
        (&["write", "--yes", "--seed", "1", "--state", "s", &file, &none], 2, "one target only"),
        (&["write", "--yes", "--seed", "1", "--state", &file, &file], 2, "is not a state file"),
        (&["verify", "--seed", "1", &file, "--html", "/nonexistent/x"], 3, "cannot write the page"),
        (&["verify", "--seed", "1", &none], 3, ""),
        (&["verify", "--seed", "1", directory], 2, "neither a file nor a block device"),
        (&["verify", "--seed", "1", "--was", "", &file], 2, "is no seed"),
        (&["verify", "--seed", "1", "--from", "10000", &file], 2, "no bytes lie between"),
        (&["verify", "--seed", "1", "--to", "0", &file], 2, "ends at 0 has no bytes"),
        (&["write", "--yes", "--seed", "1", "--size", "0", &none], 2, "ends at 0 has no bytes"),
        (&["verify", "--yes", "--seed", "1", &file], 2, "--yes"),
        (&["wipe", "--seed", "1", &file], 2, ""),
        (&["1", "--seed", "1", "--child", "x", "--engine", "sfc64"], 2, "no children by name"),
    ];
    for (args, status, part) in cases {
        let words = fails(*status, args);
        assert!(words.contains(part), "{args:?}: {words}");
        assert_eq!(fs::read(&file).unwrap(), [1; 10_000], "{args:?} wrote");
        assert!(!Path::new(&none).exists(), "{args:?} left a file");
    }
}

#[test]
fn a_file_that_another_process_writes_is_refused_without_force() {
    let place = Place::new("writer");
    let file = place.file("data");
    fs::write(&file, [1; 10_000]).unwrap();
    let log = OpenOptions::new().append(true).open(&file).unwrap();
    let mut writer = Command::new("sleep").arg("100").stdout(log).spawn().unwrap();
    let words = fails(2, &["write", "--yes", "--seed", "1", &file]);
    assert!(words.contains(&format!("process {} (sleep)", writer.id())), "{words}");
    assert_eq!(fs::read(&file).unwrap(), [1; 10_000]);
    ok(&["write", "--yes", "--force", "--seed", "1", &file]);
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(verified(&["--seed", "1", &file]).0, 0);
}

fn begin(args: &[&str]) -> Child {
    command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for(path: &str) {
    let begun = Instant::now();
    while !Path::new(path).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{path} does not appear");
        sleep(Duration::from_millis(20));
    }
}

/// Waits until a process has opened a file, and has asked for its size.
fn wait_for_open(child: &Child, file: &str) {
    let opened = || {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
        let mut files = descriptors.flatten().filter_map(|one| fs::read_link(one.path()).ok());
        files.any(|path| path == Path::new(file))
    };
    for _ in 0..6000 {
        if opened() {
            break;
        }
        sleep(Duration::from_millis(5));
    }
    assert!(opened(), "the process has ended, or never opened {file}");
    sleep(Duration::from_millis(50));
}

#[test]
fn a_killed_write_continues_from_its_state() {
    let place = Place::new("killed");
    let (file, state) = (place.file("data"), place.file("data.headwater-state"));
    let args = ["write", "--seed", "5", "--size", "12MiB", "--limit-rate", "4MiB", &file];
    let mut child = begin(&args);
    wait_for(&state);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
    let done = kept["done"].as_u64().unwrap();
    assert!((1..12 << 20).contains(&done), "{kept}");
    // The state's claim holds.
    assert_eq!(fs::read(&file).unwrap()[..done as usize], stream(&["--seed", "5"], 0, done));
    let resume = |seed: &'static str| {
        ["write", "--yes", "--resume", "--size", "12MiB", "--seed", seed, &file]
    };
    assert!(fails(2, &resume("6")).contains("belongs to another seed"));
    let shorter = ["write", "--yes", "--resume", "--to", "4MiB", "--seed", "5", &file];
    assert!(fails(2, &shorter).contains("belongs to another range"));
    let other = place.file("other");
    let other = ["write", "--resume", "--state", &state, "--size", "12MiB", "--seed", "5", &other];
    assert!(fails(2, &other).contains("belongs to another device or file"));
    assert!(!Path::new(other[8]).exists(), "a file that was made for nothing stays");
    // Bytes below the state's place are not written again.
    let disk = OpenOptions::new().write(true).open(&file).unwrap();
    disk.write_all_at(&[0; 512], 0).unwrap();
    drop(disk);
    ok(&resume("5"));
    assert!(!Path::new(&state).exists());
    // The state is gone, so the same command writes everything again, and says so first.
    let again = run(&resume("5"));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("to continue from; the write begins at 0 B"), "{said}");
    OpenOptions::new().write(true).open(&file).unwrap().write_all_at(&[0; 512], 0).unwrap();
    let (status, document) = verified(&["--seed", "5", "--size", "12MiB", &file]);
    assert_eq!((status, damage(&document)), (1, vec![("zeros".to_owned(), 0, 512)]));
}

#[test]
fn ctrl_c_leaves_a_state_and_a_line_that_resumes() {
    let place = Place::new("interrupted");
    let file = place.file("it's data");
    let args = ["write", "--seed", "5", "--size", "40MiB", "--limit-rate", "8MiB", &file];
    let child = begin(&args);
    // From the first checkpoint on, the signal's handler is certainly there.
    wait_for(&format!("{file}.headwater-state"));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    let words = String::from_utf8(done.stderr).unwrap();
    let (_, line) = words.trim_end().split_once("to continue: ").expect(&words);
    assert!(Path::new(&format!("{file}.headwater-state")).exists());
    let line = line.replace("--limit-rate 8MiB", "--yes");
    let resumed = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(resumed.status.success(), "{resumed:?}");
    assert_eq!(verified(&["--seed", "5", "--size", "40MiB", &file]).0, 0);
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_named() {
    let place = Place::new("shrinks");
    let file = place.file("data");
    ok(&["write", "--seed", "1", "--size", "4MiB", &file]);
    let child = command(&["verify", "--json", "--seed", "1", "--limit-rate", "4MiB", &file])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_open(&child, &file);
    OpenOptions::new().write(true).open(&file).unwrap().set_len(3 << 20).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(document["targets"][0]["shrank_to"], 3 << 20);
    assert_eq!(damage(&document), [("missing".to_owned(), 3 << 20, 4 << 20)]);
}

#[test]
fn a_hole_in_a_sparse_file_is_zeros() {
    let place = Place::new("sparse");
    let file = place.file("data");
    File::create(&file).unwrap().set_len(1 << 20).unwrap();
    let (status, document) = verified(&["--seed", "1", &file]);
    assert_eq!((status, damage(&document)), (1, vec![("zeros".to_owned(), 0, 1 << 20)]));
    ok(&["write", "--yes", "--seed", "1", "--from", "256k", "--to", "512k", &file]);
    let (_, document) = verified(&["--seed", "1", &file]);
    let zeros = |from: u64, to: u64| ("zeros".to_owned(), from << 10, to << 10);
    assert_eq!(damage(&document), [zeros(0, 256), zeros(512, 1024)]);
}

/// Two machines that share a seed and know each other's name need nothing else.
#[test]
fn two_processes_verify_each_others_files() {
    let place = Place::new("others");
    let (a, b) = (place.file("a"), place.file("b"));
    let mut machines = [("alpha", &a, &b, "beta"), ("beta", &b, &a, "alpha")].map(
        |(name, own, other, others_name)| {
            let binary = env!("CARGO_BIN_EXE_headwater");
            let script = format!(
                "{binary} stream write --seed 7 --child {name} --size 3MiB '{own}' && \
                 touch '{own}.done' && while ! test -e '{other}.done'; do sleep 0.05; done && \
                 {binary} stream verify --seed 7 --child {others_name} '{other}'"
            );
            Command::new("sh").args(["-c", &script]).stdout(Stdio::null()).spawn().unwrap()
        },
    );
    assert!(machines.iter_mut().all(|machine| machine.wait().unwrap().success()));
    assert_ne!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    assert_eq!(verified(&["--seed", "7", "--child", "beta", &a]).0, 1, "exchanged disks");
    // The names of the files, filled in.
    let targets = ["--seed", "8", "--child", "{host}", "--child", "{name}", &a, &b];
    let table = ok(&[&["write", "--yes"], &targets[..]].concat());
    assert_eq!(table.lines().count(), 3, "{table}");
    assert_ne!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let (status, document) = verified(&targets);
    assert_eq!((status, document["targets"].as_array().unwrap().len()), (0, 2));
    fs::remove_file(&b).unwrap();
    let (status, document) = verified(&targets);
    assert_eq!(status, 3, "one of two cannot be read");
    assert_eq!(document["targets"][0]["verdict"], "intact");
    assert_eq!(document["targets"][1]["verdict"], "unread");
}

#[test]
fn shaped_data_is_verified_and_its_damage_found() {
    let place = Place::new("shaped");
    let file = place.file("data");
    let shape =
        ["--seed", "3", "--compressible", "2.5", "--dedup", "1.3", "--chunk", "8KiB", &file];
    ok(&[&["write", "--size", "4MiB"], &shape[..]].concat());
    assert_eq!(verified(&shape).0, 0);
    assert_eq!(verified(&["--seed", "3", &file]).0, 1, "the shape is part of the pattern");
    let data = fs::read(&file).unwrap();
    let disk = OpenOptions::new().write(true).open(&file).unwrap();
    disk.write_all_at(&data[1 << 20..][..4096], 2 << 20).unwrap();
    let (_, document) = verified(&shape);
    assert_eq!(damage(&document), [("elsewhere".to_owned(), 2 << 20, (2 << 20) + 4096)]);
}

/// Hours of work whose result cannot be printed would be lost.
#[test]
fn without_a_place_for_its_report_a_verb_has_status_3() {
    let place = Place::new("stdout");
    let file = place.file("data");
    ok(&["write", "--seed", "1", "--size", "1MiB", &file]);
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [&["verify", "--seed", "1", &file][..], &["write", "--yes", "--seed", "1", &file]] {
        let done = command(args).stdout(full()).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{done:?}");
        let closed = format!("exec \"$0\" stream {} >&-", args.join(" "));
        let shell = ["-c", &closed, env!("CARGO_BIN_EXE_headwater")];
        let done = Command::new("sh").args(shell).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{done:?}");
    }
    // A reader that closes the pipe early still leaves the verdict.
    fs::write(&file, [0; 4096]).unwrap();
    let early = format!("\"$0\" stream verify --seed 1 {file} | true; exit ${{PIPESTATUS[0]}}");
    let done = Command::new("bash").args(["-c", &early, env!("CARGO_BIN_EXE_headwater")]).output();
    assert_eq!(done.unwrap().status.code(), Some(1));
}

/// Runs a shell command on a terminal of script(1), whose keyboard types `typed`.
fn on_terminal(shell: &str, typed: &str) -> Option<Output> {
    use std::io::Write;
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", shell, "/dev/null"])
        .env("HEADWATER", env!("CARGO_BIN_EXE_headwater"))
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|_| eprintln!("skipped: no script(1), so that the question is not tried"))
        .ok()?;
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[test]
fn an_overwrite_is_asked_about_on_a_terminal() {
    let place = Place::new("asked");
    let file = place.file("data");
    fs::write(&file, [1; 10_000]).unwrap();
    let shell = format!("$HEADWATER stream write --seed 1 {file}");
    for (typed, status, words) in [
        ("no\n", 2, "not confirmed; nothing was written"),
        ("y\n", 2, "not confirmed; nothing was written"),
        ("yes\n", 0, "complete"),
    ] {
        let Some(done) = on_terminal(&shell, typed) else { return };
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(status), "{shown}");
        assert!(shown.contains("9.8 KiB; all of it") && shown.contains(words), "{shown}");
        assert_eq!(fs::read(&file).unwrap() == [1; 10_000], status == 2);
    }
}

#[test]
fn long_work_on_a_terminal_shows_rate_and_time_left() {
    let place = Place::new("progress");
    let file = place.file("data");
    let shell = format!("$HEADWATER stream write --seed 1 --size 6MiB --limit-rate 4MiB {file}");
    let Some(done) = on_terminal(&shell, "") else { return };
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(shown.contains("of 6.00 MiB") && shown.contains("/s, "), "{shown}");
    assert!(shown.contains("left") && shown.contains("complete"), "{shown}");
}

/// Each pass has bytes of its own, so a write that a second pass has lost shows the first.
#[test]
fn a_lost_write_of_a_later_pass_shows_the_earlier_one() {
    let place = Place::new("passes");
    let file = place.file("data");
    ok(&["write", "--seed", "7", "--size", "1MiB", &file]);
    let first = fs::read(&file).unwrap();
    ok(&["write", "--seed", "7", "--pass", "1", "--yes", &file]);
    assert_eq!(fs::read(&file).unwrap(), first, "pass 1 is the one without the option");
    ok(&["write", "--seed", "7", "--pass", "2", "--yes", &file]);
    let second = fs::read(&file).unwrap();
    assert_eq!(second, stream(&["--seed", "7", "--child", "pass 2"], 0, 1 << 20));
    ok(&["write", "--seed", "7", "--pass", "3", "--yes", &file]);
    ok(&["verify", "--seed", "7", "--pass", "3", &file]);
    // Writes that the last pass has lost, one of them to the first pass's data.
    let disk = OpenOptions::new().write(true).open(&file).unwrap();
    disk.write_all_at(&second[8192..12_288], 8192).unwrap();
    disk.write_all_at(&first[65_536..66_048], 65_536).unwrap();
    let (status, document) = verified(&["--seed", "7", "--pass", "3", &file]);
    assert_eq!(status, 1);
    let extents = &document["targets"][0]["extents"];
    assert_eq!(damage(&document).len(), 2);
    for (extent, of) in [(&extents[0], "pass 2"), (&extents[1], "pass 1")] {
        assert_eq!((&extent["kind"], &extent["of"]), (&"older".into(), &of.into()));
        assert_eq!(extent["was"], Value::Null);
    }
    let text = run(&["verify", "--seed", "7", "--pass", "3", &file]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("data of pass 2: the new write was lost"), "{text}");
    fails(2, &["verify", "--seed", "7", "--pass", "0", &file]);
}

#[test]
fn exchanged_targets_are_named() {
    let place = Place::new("exchanged");
    let [a, b] = ["a", "b"].map(|name| place.file(name));
    let source = ["--seed", "7", "--child", "{name}"];
    ok(&[&["write", "--size", "1MiB"], &source[..], &[&a, &b]].concat());
    let kept = place.file("kept");
    for (from, to) in [(&a, &kept), (&b, &a), (&kept, &b)] {
        fs::rename(from, to).unwrap();
    }
    let (status, document) = verified(&[&source[..], &[&a, &b]].concat());
    assert_eq!(status, 1);
    for (target, other) in [(0, &b), (1, &a)] {
        let extents = document["targets"][target]["extents"].as_array().unwrap();
        assert_eq!(extents.len(), 1, "{document}");
        assert_eq!(extents[0]["kind"], "elsewhere");
        assert_eq!(extents[0]["of"], format!("target {other}"));
        assert_eq!((&extents[0]["from"], &extents[0]["to"]), (&0.into(), &(1 << 20).into()));
    }
}

#[test]
fn a_wrong_seed_or_a_forgotten_shape_is_guessed() {
    let place = Place::new("foreign");
    let file = place.file("data");
    ok(&["write", "--seed", "7", "--size", "1MiB", "--compressible", "2", &file]);
    for wrong in [&["--seed", "8", "--compressible", "2"][..], &["--seed", "7"]] {
        let done = run(&[&["verify"], wrong, &[&file]].concat());
        let text = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(1));
        assert!(text.contains("damage everywhere, as other options make it"), "{text}");
    }
    let disk = OpenOptions::new().write(true).open(&file).unwrap();
    disk.write_all_at(&[0x33; 4096], 0).unwrap();
    let done = run(&["verify", "--seed", "7", "--compressible", "2", &file]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.contains("other data") && !text.contains("damage everywhere"), "{text}");
}

#[test]
fn a_write_reports_as_data() {
    let place = Place::new("report");
    let [a, b] = ["a", "b"].map(|name| place.file(name));
    let text = ok(&["write", "--json", "--seed", "7", "--size", "1MiB", &a, &b]);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "headwater.stream-write/1");
    assert_eq!((&document["engine"], &document["substream"]), (&"ars7".into(), &0.into()));
    for (target, path) in [(0, &a), (1, &b)] {
        let target = &document["targets"][target];
        assert_eq!(target["path"], **path);
        assert_eq!((&target["from"], &target["durable_to"]), (&0.into(), &(1 << 20).into()));
        assert_eq!((&target["result"], &target["error"]), (&"complete".into(), &Value::Null));
    }
    // A failed write claims nothing.
    let full = "/dev/full";
    if std::path::Path::new(full).exists() {
        let words = fails(2, &["write", "--json", "--seed", "7", "--yes", full]);
        assert!(words.contains("neither"), "{words}");
    }
}
