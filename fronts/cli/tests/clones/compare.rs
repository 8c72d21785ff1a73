//! `compare`: draws of copies, from files.

use crate::repair::repair;
use crate::{Folder, clones, command, draws, is_root, random, said, status};
use std::fs;
use std::process::Command;

#[test]
fn files_of_copies_are_compared() {
    let folder = Folder::new("compare");
    let one = folder.write("1.json", &draws("p", "a", "b"));
    let two = folder.write("2.json", &draws("p", "a", "c"));
    let other = folder.write("3.json", &draws("q", "a", "d"));
    let unlike = folder.write("4.json", &draws("p", "x", "e"));
    let noise = folder.write("5.json", "no document");

    let output = clones(&["compare", &one, &two, "--processes", "--all"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{text}");
    assert!(text.starts_with("1 of 2 sources repeat in 2 copied processes"), "{text}");
    assert!(text.contains("libc/rand  1/1 in 2    Call srand()"), "{text}");
    assert!(text.contains("differs\n  kernel/dev-urandom\n"), "{text}");

    let output = clones(&["compare", &one, &unlike, "--processes"]);
    assert_eq!(status(&output), 0);
    // Different values of a kernel prove nothing if it was copied too.
    let output = clones(&["compare", &one, &unlike, "--all"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("not shown\n  kernel/dev-urandom"), "{text}");

    let (html, junit) = (folder.path("r.html"), folder.path("r.xml"));
    let output = clones(&[
        "compare",
        &one,
        &two,
        "--processes",
        "--json",
        "--html",
        &html,
        "--junit",
        &junit,
    ]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "headwater.clones/1");
    assert_eq!((&document["repeats"], &document["differs"]), (&1.into(), &1.into()));
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains(r#"tests="2" failures="1""#), "{junit}");
    assert!(junit.contains(r#"<testcase classname="libc" name="rand">"#), "{junit}");
    assert!(fs::read_to_string(html).unwrap().contains("libc/rand"));

    for (wrong, expected) in [(&other, "plant once"), (&noise, "is not what `clones draw` prints")]
    {
        let output = clones(&["compare", &one, wrong]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
    assert_eq!(status(&clones(&["compare", &one])), 2, "one file");
    let output = clones(&["compare", &one, &folder.path("../").replace("../", "./1.json")]);
    assert_eq!(status(&output), 2, "one file by two names: {}", said(&output));
    assert!(said(&output).contains("named twice"), "{}", said(&output));
    assert_eq!(status(&clones(&["compare", &one, &folder.path("absent")])), 3);
}

/// A reader must not take "no repeat" from copies of which nothing is known.
#[test]
fn a_comparison_without_a_verdict_is_no_success() {
    let folder = Folder::new("nothing");
    let draws = |name: &str, error: &str, rows: &str| {
        let text = format!(
            r#"{{"schema": "headwater.clones-draw/1", "planting": "p", "kernel_ms": 1,
            "total_ms": 2, "witnesses": [{{"name": "libc", "title": "glibc", "error": {error},
            "reseeds": [], "skipped": [], "rows": [{rows}]}}]}}"#
        );
        folder.write(name, &text)
    };
    let failed = r#""CRIU cannot dump it""#;
    let empty = r#"{"id": "libc/rand", "values": [], "ms": []}"#;
    for (number, (error, rows)) in [(failed, ""), ("null", ""), ("null", empty)].iter().enumerate()
    {
        let one = draws(&format!("{number}-1"), error, rows);
        let two = draws(&format!("{number}-2"), error, rows);
        let junit = folder.path("r.xml");
        let output = clones(&["compare", &one, &two, "--junit", &junit]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(status(&output), 3, "{text}");
        assert!(text.starts_with("Nothing is shown of 2 copied machines"), "{text}");
        assert!(said(&output).contains("no source was shown"), "{}", said(&output));
        let junit = fs::read_to_string(junit).unwrap();
        let is_skipped = junit.contains("<skipped message=");
        assert!(is_skipped || (*error, *rows) == ("null", ""), "{junit}");
    }
}

#[test]
fn files_of_a_hostile_copy_are_refused_or_shown_as_text() {
    let folder = Folder::new("hostile");
    let good = folder.write("good", &draws("p", "a", "b"));
    let escape = r"\u001b[2J\u001b[HNo source repeats\u202e";
    let bad = folder.write("escape", &draws("p", "a", "b").replace("glibc", escape));
    let output = clones(&["compare", &good, &bad, "--all"]);
    assert_eq!(status(&output), 1);
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    let output = clones(&["compare", &good, &folder.write("name", &draws(escape, "a", "b"))]);
    assert_eq!(status(&output), 3);
    assert!(!output.stderr.contains(&0x1b), "{}", said(&output));

    for (name, text) in [
        ("deep", "[".repeat(1 << 20)),
        ("deeper", r#"{"schema":"#.repeat(100_000)),
        ("cut", draws("p", "a", "b")[..200].to_owned()),
        ("numbers", draws("p", "a", "b").replace("\"total_ms\": 2", "\"total_ms\": -2e400")),
        ("none", String::new()),
    ] {
        let output = clones(&["compare", &good, &folder.write(name, &text)]);
        assert_eq!(status(&output), 3, "{name}: {}", said(&output));
        assert!(said(&output).contains("is not what `clones draw` prints"), "{}", said(&output));
    }
    let endless = folder.path("endless");
    fs::File::create(&endless).unwrap().set_len(1 << 36).unwrap();
    let output = clones(&["compare", &good, &endless]);
    assert_eq!(status(&output), 3);
    assert!(said(&output).contains("larger than 64 MiB"), "{}", said(&output));
}

#[test]
fn times_that_no_clock_can_hold_are_a_wrong_command_line() {
    for arguments in [
        ["draw", "--seconds", "18446744073709551615"].as_slice(),
        &["check", "--spawn", "true", "--exec", "{command}", "--timeout", "18446744073709551615"],
        &["check", "--spawn", "true", "--exec", "{command}", "--timeout", "0"],
        // Two shells stand between this name and the copy.
        &["check", "--spawn", "true", "--exec", "{command}", "--dir", "/run/a;reboot"],
        &["check", "--spawn", "true", "--exec", "{command}", "--dir", "/run/my files"],
    ] {
        let output = clones(arguments);
        assert_eq!(status(&output), 2, "{arguments:?}: {}", said(&output));
    }
}

/// A reseeder may let programs run before it reseeds, or lie. The values that are drawn after a
/// late reseed differ, so only its moment shows the first, and only its absence the second.
#[test]
fn a_reseed_that_comes_late_or_never_fails_where_a_limit_was_asked_for() {
    let folder = Folder::new("late");
    let noted = |name: &str, value: &str, reseeds: &str| {
        let text = draws("p", value, value).replace(r#""name": "libc""#, r#""name": "kernel""#);
        let text = text.replace(r#""reseeds": []"#, &format!(r#""reseeds": [{reseeds}]"#));
        folder.write(name, &text)
    };
    // Looks of 100 and 120 ms are shared, so the copy was made between 120 ms and the next look.
    let copy = |name: &str, value: &str, reseed: Option<u64>| {
        let reseeds = reseed.map_or(String::new(), |ms| {
            format!(r#"{{"generation": 9, "ns": {ms}000000, "looks": [100000000, 120000000]}}"#)
        });
        noted(name, value, &reseeds)
    };
    // A witness that keeps too few looks has none of before the copy. A reseed of nine seconds must
    // not seem to be one of the second that is left.
    let forgotten = r#"{"generation": 9, "ns": 9000000000, "looks": [8000000000]}"#;
    let lost = [copy("7", "g", Some(140)), noted("8", "h", forgotten)];
    let soon = [copy("1", "a", Some(140)), copy("2", "b", Some(180))];
    let late = [copy("3", "c", Some(150)), copy("4", "d", Some(3_121))];
    let never = [copy("5", "e", Some(160)), copy("6", "f", None)];
    let at_limit = ["--reseed-within", "60"];
    let beyond = ["--reseed-within", "3000"];
    let far = ["--reseed-within", "3001"];
    for (files, limit, expected, words) in [
        (&soon, &[][..], 0, ""),
        (&soon, &at_limit[..], 0, ""),
        (&soon, &["--reseed-within", "40"], 1, "That is later than 40 ms"),
        (&soon, &["--reseed-within", "86400000"], 0, ""),
        (&lost, &beyond[..], 1, "That is later than 3000 ms"),
        (&late, &[][..], 0, ""),
        (&late, &at_limit[..], 1, "That is later than 60 ms"),
        (&late, &beyond[..], 1, "That is later than 3000 ms"),
        (&late, &far[..], 0, ""),
        (&never, &[][..], 0, ""),
        (&never, &far[..], 1, "No reseed within 3001 ms is shown"),
    ] {
        let (junit, html) = (folder.path("r.xml"), folder.path("r.html"));
        let mut arguments = vec!["compare", &files[0], &files[1], "--junit", &junit];
        arguments.extend(["--html", &html]);
        arguments.extend(limit);
        let output = clones(&arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(status(&output), expected, "{limit:?}: {text}{}", said(&output));
        let cases = 2 + usize::from(!limit.is_empty());
        let counted = format!(r#"tests="{cases}" failures="{expected}""#);
        let junit = fs::read_to_string(junit).unwrap();
        assert!(junit.contains(&counted), "{junit}");
        assert_eq!(junit.matches("<testcase").count(), cases, "{junit}");
        assert_eq!(junit.contains("reseed in time"), !limit.is_empty(), "{junit}");
        for report in [text, junit, fs::read_to_string(html).unwrap()] {
            assert!(report.contains(words), "{report}");
            assert_eq!(report.contains("--gate"), expected == 1, "{report}");
        }
    }
    // A check of copies that another tool makes, and whose draws lie in files.
    let line = format!("cat {} # {{command}}", folder.path("{copy}"));
    let check = ["check", "--planted", "--copies", "2", "--spawn", "true", "--exec", &line];
    for (limit, expected) in [("40", 1), ("60", 0)] {
        let output = clones(&[&check[..], &["--json", "--reseed-within", limit]].concat());
        assert_eq!(status(&output), expected, "{limit}: {}", said(&output));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["reseed_limit_ms"].to_string(), limit);
        assert_eq!(document["reseeded_after_ms"], 60);
    }
    let (one, two) = (&*soon[0], &*soon[1]);
    let check = ["check", "--spawn", "true", "--exec", "{command}", "--reseed-within"];
    for wrong in [
        // Processes share one kernel, which has no copy to reseed after.
        ["compare", one, two, "--processes", "--reseed-within", "60"].as_slice(),
        &["check", "--reseed-within", "60"],
        &[&check[..], &["60", "--processes"]].concat(),
        &[&check[..], &["39"]].concat(),
        &[&check[..], &["-1"]].concat(),
        &[&check[..], &["86400001"]].concat(),
        &[&check[..], &["1s"]].concat(),
    ] {
        assert_eq!(status(&clones(wrong)), 2, "{wrong:?}");
    }
}

/// A host name or a port has few bits, and a machine-id is the same in all reports of a machine: a
/// plain hash of one could be inverted, and of the other would link them.
#[test]
fn hashes_of_two_plantings_say_nothing_of_each_other() {
    let folder = Folder::new("key");
    let drawn = |name: &str| {
        let directory = folder.path(name);
        assert_eq!(status(&clones(&["plant", "--only", "machine", "--dir", &directory])), 0);
        let output = clones(&["draw", "--dir", &directory]);
        assert_eq!(status(&clones(&["uproot", "--dir", &directory])), 0);
        let draws: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = draws["witnesses"][0]["rows"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["id"] == "machine/boot_id").unwrap()["values"].clone()
    };
    assert_ne!(drawn("a"), drawn("b"));
}

/// Two copies that are given the same bytes both reseed, and with a random instruction their
/// kernels differ all the same; so the bytes themselves are compared.
#[test]
fn copies_that_were_given_the_same_entropy_are_found() {
    if !is_root() {
        println!(
            "skipped: only root may reseed the kernel; equal entropy is not shown to be found"
        );
        return;
    }
    let folder = Folder::new("equal");
    let original = folder.path("original");
    // No witness runs, so that copies of the directory are copies of all there is.
    let mut plant = command(&["plant", "--only", "ruby", "--dir", &original]);
    assert!(plant.env("PATH", "/nowhere").output().unwrap().status.success());
    let compare = |entropy: [&[u8]; 2]| {
        let files = [0, 1].map(|copy| {
            let directory = folder.path(&format!("copy{copy}"));
            let _ = fs::remove_dir_all(&directory);
            let copied = Command::new("cp").args(["-a", &original, &directory]).status().unwrap();
            assert!(copied.success());
            let output = repair(entropy[copy], &["--dir", &directory], None);
            let text = said(&output) + &String::from_utf8_lossy(&output.stdout);
            if text.contains("RND") || text.contains("shows no generation") {
                return Err(text);
            }
            assert_eq!(status(&output), 0, "{text}");
            let output = clones(&["draw", "--dir", &directory]);
            assert_eq!(status(&output), 0, "{}", said(&output));
            Ok(folder.write(&format!("{copy}.json"), &String::from_utf8_lossy(&output.stdout)))
        });
        let [one, two] = files;
        Ok::<_, String>(clones(&["compare", &one?, &two?, "--all"]))
    };
    let (same, other) = (random(), random());
    let output = match compare([&same, &same]) {
        Ok(output) => output,
        Err(why) => {
            println!("skipped: {why}; equal entropy is not shown to be found");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 1, "{text}");
    assert!(text.contains("repair/entropy  1/1 in 2"), "{text}");
    let output = compare([&same, &other]).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(status(&output), 0, "{text}");
    assert!(text.contains("differs\n  repair/entropy"), "{text}");
}

/// A report replaces a file, and the draws of a copy exist once.
#[test]
fn a_report_replaces_neither_the_draws_nor_the_other_report() {
    let folder = Folder::new("replaced");
    let (one, two) =
        (folder.write("1", &draws("p", "a", "b")), folder.write("2", &draws("p", "a", "c")));
    let link = folder.path("link");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let (page, same) = (folder.path("page"), folder.path("./page"));
    for reports in [
        ["--html", &one, "--junit", &page],
        ["--html", &page, "--junit", &two],
        ["--html", &page, "--junit", &link],
        ["--html", &page, "--junit", &same],
    ] {
        let output = clones(&[&["compare", &one, &two], &reports[..]].concat());
        assert_eq!(status(&output), 2, "{reports:?}: {}", said(&output));
    }
    assert_eq!(fs::read_to_string(&one).unwrap(), draws("p", "a", "b"));
    assert_eq!(fs::read_to_string(&two).unwrap(), draws("p", "a", "c"));
    assert!(!std::path::Path::new(&page).exists());
    // A device is written to and not replaced, so it may have both.
    let reports = ["--html", "/dev/null", "--junit", "/dev/null"];
    let output = clones(&[&["compare", &one, &two], &reports[..]].concat());
    assert_eq!(status(&output), 1, "{}", said(&output));
}

#[test]
fn a_file_that_does_not_belong_to_the_others_is_named() {
    let folder = Folder::new("named");
    let one = folder.write("1", &draws("p", "a", "b"));
    let planted = folder.write("planted", &draws("other", "a", "b"));
    let newer = folder.write("newer", &draws("p", "a", "b").replace("draw/1", "draw/9"));
    for other in [&planted, &newer] {
        let output = clones(&["compare", &one, other]);
        assert_eq!(status(&output), 3);
        assert!(said(&output).contains(other.as_str()), "{}", said(&output));
    }
}
