//! The manual page is well formed. The names and errors in it and in docs/openssl.md exist in the
//! module.

use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).expect(name)
}

#[test]
fn mandoc_finds_nothing_in_the_manual_page() {
    let page = file("man/headwater-openssl.7");
    let Ok(output) = Command::new("mandoc").args(["-T", "lint", "-W", "style"]).arg(&page).output()
    else {
        println!(
            "skipped: the manual page: there is no mandoc; nothing shows whether it is well formed"
        );
        return;
    };
    // Pages of other packages may not be installed, and Debian's sections are not BSD's.
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let faults: Vec<&str> =
        said.lines().filter(|line| !line.contains("referenced manual not found")).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Searches the module's source for each name and error of the pages.
#[test]
fn the_pages_name_what_is_there() {
    let (manual, page) = (text("man/headwater-openssl.7"), text("../../docs/openssl.md"));
    let (errors, provider) = (text("src/errors.rs"), text("src/provider.rs"));
    for line in manual.lines().filter_map(|line| line.strip_prefix(".It \"")) {
        let reason = line.trim_end_matches('"');
        assert!(errors.contains(&format!("c\"{reason}\"")), "{reason}");
    }
    for name in ["mode", "refills", "discarded_bytes", "retries", "fallbacks"] {
        assert!(manual.contains(&format!(".Cm {name}")), "{name}");
        assert!(provider.contains(&format!("c\"{name}\"")), "{name}");
    }
    let shipped = text("headwater-openssl.cnf");
    // The lines that the page shows of the file are in it.
    let shown = page.split("```ini\n").skip(1).map(|block| block.split("```").next().unwrap());
    let from_file = shown.filter(|block| block.contains("headwater_random_sect")).count();
    assert_eq!(from_file, 1);
    for line in page
        .split("```ini\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .filter(|block| block.contains("headwater_random_sect"))
        .flat_map(str::lines)
    {
        // The path of the module is in a comment until it is known.
        assert!(shipped.lines().any(|ours| ours.trim_start_matches('#') == line), "{line}");
    }
}
