//! The files for fleets, checked by the programs that read them: Prometheus, Ansible, Grafana.

use crate::process::{output, program, root, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use crate::unpack;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ANSIBLE: &str = "ansible-core==2.19.14";
/// Grafana's own types of a dashboard, and the compiler that checks a value against them.
const GRAFANA: [&str; 2] = ["@grafana/schema@13.2.3", "typescript@7.0.2"];
const DASHBOARD: &str = "boot/packaging/grafana/headwater-fleet.json";

pub(crate) fn steps(report: &mut Report) {
    report.step("fleet: metrics and alerts by promtool", || {
        const LOSS: &str = "whether Prometheus reads the doctor's metrics and the alert rules";
        let promtool = need(unpack::file_of("prometheus", "usr/bin/promtool"), LOSS)?;
        Ok(prometheus(&promtool)?)
    });
    report.long_step("fleet: Ansible role", || {
        let loss = "whether Ansible runs the role, and changes nothing";
        let python = need(tools::python(&[ANSIBLE]), loss)?;
        Ok(ansible(&python.with_file_name("ansible-playbook"))?)
    });
    report.long_step("fleet: dashboard by Grafana's types", || {
        let modules = need(grafana(), "whether the dashboard is one that Grafana knows")?;
        Ok(dashboard(&modules)?)
    });
}

/// Builds the command, and returns its path.
fn headwater() -> Result<PathBuf> {
    // All default packages, as the step "release" builds them: cargo unites their features.
    run(&mut program("cargo build --quiet --release"))?;
    Ok(root()?.join(target_directory()?).join("release/headwater"))
}

/// Checks the rules, their tests, and the metrics of this machine and of every recorded host.
fn prometheus(promtool: &Path) -> Result<()> {
    let rules = "boot/packaging/prometheus/headwater.rules.yml";
    run(Command::new(promtool).args(["check", "rules", rules]))?;
    let tests = ["test", "rules", "headwater.test.yml"];
    run(Command::new(promtool).args(tests).current_dir("boot/packaging/prometheus"))?;

    let headwater = headwater()?;
    let file = target_directory()?.join("tmp/metrics.prom");
    fs::create_dir_all(file.parent().context("a file has a directory")?)?;
    let hosts = recorded_hosts()?;
    ensure!(hosts.len() > 40, "only {} hosts are recorded", hosts.len());
    for host in hosts.iter().map(Some).chain([None]) {
        let mut doctor = Command::new(&headwater);
        doctor.args(["doctor", "--prometheus"]).arg(&file).stdout(Stdio::null());
        if let Some(host) = host {
            doctor.arg("--root").arg(host);
        }
        let status = doctor.status()?;
        // 1: findings; 4: incomplete. Both come with metrics.
        ensure!(matches!(status.code(), Some(0 | 1 | 4)), "{doctor:?} ended with {status}");
        let mut check = Command::new(promtool);
        let said = check.args(["check", "metrics"]).stdin(fs::File::open(&file)?).output()?;
        // Status 3 and a line for each metric whose name or type breaks a rule.
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        ensure!(said.status.success() && text.is_empty(), "metrics of {host:?}: {text}");
    }
    println!("the metrics of {} recorded hosts and of this machine are well-formed", hosts.len());
    Ok(())
}

fn recorded_hosts() -> Result<Vec<PathBuf>> {
    let mut hosts = Vec::new();
    for kind in ["by-hand", "guest", "recorded"] {
        for host in fs::read_dir(Path::new("boot/doctor/tests/hosts").join(kind))? {
            let host = host?.path();
            if host.extension().is_some_and(|end| end == "host") {
                hosts.push(host);
            }
        }
    }
    Ok(hosts)
}

/// Runs the playbook on this machine in check mode: it must collect, merge, and change nothing.
fn ansible(playbook: &Path) -> Result<()> {
    let headwater = headwater()?;
    let home = root()?.join(target_directory()?).join("tmp/ansible");
    let reports = home.join("reports");
    if reports.exists() {
        fs::remove_dir_all(&reports)?;
    }
    fs::create_dir_all(&home)?;
    let play = |arguments: &[&str]| {
        let mut play = Command::new(playbook);
        play.args(["-i", "localhost,", "-c", "local", "fleet.yml"]).args(arguments);
        for (variable, value) in [
            ("become", Path::new("false")),
            ("command", &headwater),
            ("merge_command", &headwater),
            ("reports", &reports),
        ] {
            play.arg("-e").arg(format!("headwater_doctor_{variable}={}", value.display()));
        }
        play.args(["-e", "ansible_python_interpreter=/usr/bin/python3"]);
        play.current_dir("boot/packaging/ansible");
        play.env("ANSIBLE_HOME", &home).env("ANSIBLE_LOCALHOST_WARNING", "False");
        play
    };
    run(&mut play(&["--syntax-check"]))?;
    // Variables of the command line are texts: "false" must not count as true.
    let off = "headwater_doctor_identity=false";
    unchanged(&output(&mut play(&["--check", "-e", off]))?)?;
    for name in ["localhost.json", "fleet.html", "fleet.csv"] {
        let file = reports.join(name);
        let len = fs::metadata(&file).with_context(|| file.display().to_string())?.len();
        ensure!(len > 100, "{} has {len} bytes", file.display());
    }
    let report = fs::read_to_string(reports.join("localhost.json"))?;
    ensure!(!report.contains("ssh_host_key"), "evidence was hashed without being asked for");
    let fixes = ["virtio_rng", "observer", "metrics"];
    let fixes = fixes.map(|fix| format!("headwater_doctor_apply_{fix}=false"));
    let mut apply = play(&["--check", "--tags", "headwater_apply"]);
    apply.args(fixes.iter().flat_map(|fix| ["-e", fix]));
    unchanged(&output(&mut apply)?)
}

fn unchanged(recap: &str) -> Result<()> {
    ensure!(recap.contains(" changed=0 ") && recap.contains(" failed=0 "), "{recap}");
    Ok(())
}

/// Returns the directory with Grafana's types and the compiler, which the first call installs.
fn grafana() -> Result<PathBuf> {
    let directory = target_directory()?.join("tools/grafana");
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("package.json"), "{ \"private\": true }\n")?;
    let mut npm = program("npm install --silent --no-audit --no-fund --ignore-scripts");
    run(npm.args(GRAFANA).current_dir(&directory))?;
    Ok(directory)
}

/// Compiles the dashboard as a value of Grafana's type, and broken copies, which must be refused.
fn dashboard(modules: &Path) -> Result<()> {
    let text = fs::read_to_string(DASHBOARD)?;
    compile(modules, &text)?;
    for (right, wrong) in [
        ("\"schemaVersion\": 38", "\"schemaVersion\": \"38\""),
        ("\"mode\": \"absolute\"", "\"mode\": \"absolutely\""),
        ("\"title\": \"Hosts\"", "\"titel\": \"Hosts\""),
        ("\"refresh\": 2", "\"refresh\": 7"),
    ] {
        ensure!(text.contains(right), "{DASHBOARD} has no {right}");
        if compile(modules, &text.replacen(right, wrong, 1)).is_ok() {
            bail!("Grafana's types accept {wrong}, so they prove nothing");
        }
    }
    Ok(())
}

fn compile(modules: &Path, dashboard: &str) -> Result<()> {
    // A literal, because TypeScript forgets the values of a JSON file's texts. `Plain` turns enums
    // into the texts that they stand for.
    let source = format!(
        "import type {{ Dashboard }} from '@grafana/schema';\n\
         type Plain<T> = T extends string ? `${{T}}` \
         : T extends number | boolean | null | undefined ? T \
         : T extends (infer E)[] ? Plain<E>[] : T extends object \
         ? {{ [K in keyof T]: Plain<T[K]> }} : T;\n\
         export const dashboard: Plain<Dashboard> = {dashboard};\n"
    );
    fs::write(modules.join("dashboard.ts"), source)?;
    let mut tsc = Command::new("node");
    tsc.args(["node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck"]);
    tsc.args(["--module", "nodenext", "--moduleResolution", "nodenext", "dashboard.ts"]);
    let said = tsc.current_dir(modules).output().context("cannot run node")?;
    ensure!(said.status.success(), "{DASHBOARD}: {}", String::from_utf8_lossy(&said.stdout));
    Ok(())
}
