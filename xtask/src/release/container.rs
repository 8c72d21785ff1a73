//! An image for containers: the static command with its licences, made without a daemon.

use crate::process::{program, run};
use crate::release::stage::{self, ARCHITECTURES, VERSION};
use crate::release::{command, index};
use crate::tools;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Facts of the host that `status --json` must report inside a container as outside, as JSON
/// pointers.
const FACTS: [&str; 7] = [
    "/kernel",
    "/hypervisor",
    "/cipher",
    "/cpu_rng",
    "/seeded",
    "/guard/vmgenid",
    "/guard/reseed_generation/state",
];

/// Packs the static command of each architecture into `dist`, and runs the image of this one.
pub(crate) fn build(dist: &Path) -> Result<()> {
    tools::packages(&["umoci", "runc"])?;
    let mut layouts = Vec::new();
    for (arch, cpu) in ARCHITECTURES {
        let file = dist.join(command::name(cpu));
        ensure!(file.exists(), "{}: not built yet", file.display());
        let layout = pack(&file, &dist.join(command::notices(cpu)), arch)?;
        archive(&layout, &dist.join(format!("headwater-{VERSION}-oci-{arch}.tar")))?;
        if cpu == std::env::consts::ARCH {
            inside_as_outside(&layout, &file)?;
        }
        layouts.push((arch, layout));
    }
    let joined = stage::directory()?.join("oci");
    index::join(&layouts, &joined)?;
    let all = dist.join(format!("headwater-{VERSION}-oci.tar"));
    archive(&joined, &all)?;
    index::check(&all, &ARCHITECTURES.map(|(arch, _)| arch))
}

/// Packs a layout as one file with the time of the release.
fn archive(layout: &Path, to: &Path) -> Result<()> {
    let mut tar = program("tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX");
    tar.arg(format!("--mtime=@{}", stage::epoch()?)).arg("-C").arg(layout);
    run(tar.arg("-cf").arg(to).arg("."))
}

/// Makes a layout of the Open Container Initiative with one image of one layer.
fn pack(file: &Path, notices: &Path, arch: &str) -> Result<PathBuf> {
    let layout = stage::directory()?.join(format!("oci-{arch}"));
    let _ = fs::remove_dir_all(&layout);
    let tree = stage::directory()?.join("oci-tree");
    let _ = fs::remove_dir_all(&tree);
    for (from, to) in [(file, "bin/headwater"), (notices, "share/doc/headwater/NOTICES")] {
        let to = tree.join(to);
        fs::create_dir_all(to.parent().context("a file has a directory")?)?;
        fs::copy(from, to)?;
    }
    // The layer carries the times of this copy, and of its directories.
    let mut touch = program("find");
    touch.arg(&tree).args(["-exec", "touch", &format!("--date=@{}", stage::epoch()?), "{}", "+"]);
    run(&mut touch)?;

    let created = stage::date("+%Y-%m-%dT%H:%M:%SZ")?;
    let image = format!("{}:{VERSION}", layout.display());
    run(program("umoci init --layout").arg(&layout))?;
    run(program("umoci new --image").arg(&image))?;
    let mut insert = program("umoci insert --history.author headwater --image");
    insert.args([&image, "--history.created", &created]).arg(&tree);
    run(insert.arg("/usr"))?;
    let mut config = program("umoci config --os linux --author headwater --architecture");
    config.args([arch, "--image", &image, "--created", &created, "--history.created", &created]);
    config.args(["--config.entrypoint", "/usr/bin/headwater", "--config.cmd", "status"]);
    // An unprivileged user, because every verb reads no more than /proc and /sys.
    config.args(["--config.user", "65534:65534"]);
    for (name, value) in [
        ("title", "headwater"),
        ("version", VERSION),
        ("licenses", "MIT OR Apache-2.0"),
        ("description", "The randomness layer of a Linux machine, as a command"),
    ] {
        config.arg("--config.label").arg(format!("org.opencontainers.image.{name}={value}"));
    }
    run(&mut config)?;
    // Blobs of the steps before the last.
    run(program("umoci gc --layout").arg(&layout))?;
    Ok(layout)
}

/// Runs `status` and `doctor` in a container, and compares their facts with those of the host.
fn inside_as_outside(layout: &Path, file: &Path) -> Result<()> {
    if let Err(error) = tools::root_user() {
        println!("skipped: the image in a container: {error}");
        return Ok(());
    }
    let bundle = stage::directory()?.join("bundle");
    let _ = fs::remove_dir_all(&bundle);
    let image = format!("{}:{VERSION}", layout.display());
    run(program("umoci unpack --image").arg(image).arg(&bundle))?;
    for (arguments, facts) in
        [(["status", "--json"], &FACTS[..]), (["doctor", "--json"], &["/kernel", "/platform"][..])]
    {
        let outside = facts_of(Command::new(file).args(arguments))?;
        let config = bundle.join("config.json");
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&config)?)?;
        value["process"]["terminal"] = json!(false);
        value["process"]["args"] = json!(["/usr/bin/headwater", arguments[0], arguments[1]]);
        fs::write(&config, value.to_string())?;
        let inside = facts_of(program("runc run headwater-release").current_dir(&bundle))?;
        for fact in facts {
            let (inside, outside) = (inside.pointer(fact), outside.pointer(fact));
            ensure!(
                inside.is_some() && inside == outside,
                "{} {fact}: {inside:?} in a container, {outside:?} on the host",
                arguments[0]
            );
            println!(
                "{} {fact}: {} inside and outside",
                arguments[0],
                inside.unwrap_or(&Value::Null)
            );
        }
    }
    Ok(())
}

fn facts_of(command: &mut Command) -> Result<Value> {
    let answer = command.output().context("cannot run the command")?;
    // The doctor's status is 1 with a finding, and 4 if a check lacks its files.
    serde_json::from_slice(&answer.stdout)
        .with_context(|| format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.stderr)))
}
