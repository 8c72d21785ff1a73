//! The Java front: its native library, its jar, and the tests of the jar on every JDK of the host,
//! on Debian 13's Java 21, and on arm64.

use crate::install::reproducible;
use crate::lab;
use crate::notices;
use crate::other_java;
use crate::process::{output, program, root, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate outside the workspace, because it is linked without a C library.
pub(crate) const MANIFEST: &str = "fronts/java/native/Cargo.toml";
/// The licences of the linked crates, as `cargo xtask generate` writes them and the pom packs them.
pub(crate) const NOTICES: &str = "fronts/java/NOTICES";
/// The jar, and two that have all of it in them: Spark's functions, and the agent for copies.
const JAR: (&str, &str) = ("fronts/java", "jar");
const SPARK: (&str, &str) = ("fronts/java/spark", "spark");
const CLONES: (&str, &str) = ("fronts/java/clones", "clones");
/// The places of JDKs, besides JAVA_HOME.
const JDKS: &str = "/usr/lib/jvm";
/// The oldest JDK that compiles the jar and runs its tests.
const OLDEST: u32 = 17;
/// The architecture whose library rust-lld links on any host.
const ARM: &str = "aarch64-unknown-linux-gnu";

pub(crate) fn steps(report: &mut Report) {
    report.step("format and clippy, Java's native library", || {
        need(tools::component("rustfmt"), "the layout of the native library's source")?;
        run(&mut program(&format!("cargo fmt --check --manifest-path {MANIFEST}")))?;
        need(tools::component("clippy"), "what clippy warns of in the native library")?;
        let mut clippy = program(&format!("cargo clippy --release --manifest-path {MANIFEST}"));
        clippy.env("CARGO_TARGET_DIR", target_directory()?.join("java"));
        Ok(run(clippy.args(["--", "-D", "warnings"]))?)
    });
    report.step("Java provider and streams", || {
        const LOSS: &str = "the Java front";
        need(tools::package("mvn", "maven"), LOSS)?;
        // Without its standard library the jar has no library for arm64, and says so.
        let _ = tools::target(ARM);
        let jdks = need(jdks(), LOSS)?;
        Ok(test(&jdks)?)
    });
    report.long_step("Java 21, with the C library of Debian 13", || {
        const LOSS: &str = "the jar on Java 21, the last version that goes through JNI";
        need(tools::debian(&[("mvn", "maven"), ("patchelf", "patchelf")]), LOSS)?;
        let java = need(other_java::native(), LOSS)?;
        // The package of the run-time environment lacks jarsigner; the rest of the JDK is 83 MB.
        Ok(test_on(&java, "*Test,!OutsideTest#programsOfTheJdk")?)
    });
    report.long_step("Java in images of CRIU", || {
        const LOSS: &str = "whether a JVM that is restored twice repeats a draw";
        need(tools::root_user(), LOSS)?;
        need(tools::package("mvn", "maven"), LOSS)?;
        let criu = need(lab::criu(), LOSS)?;
        let newest = need(lab::newest_criu(), LOSS)?;
        let jdks = need(jdks(), LOSS)?;
        Ok(in_images(&criu, &newest, &jdks)?)
    });
    report.long_step("Java on arm64, emulated", || {
        const LOSS: &str = "whether the jar's library for arm64 loads and computes the same values";
        need(tools::debian(&[("mvn", "maven"), (other_java::EMULATOR, "qemu-user-static")]), LOSS)?;
        need(tools::target(ARM), LOSS)?;
        let java = need(other_java::emulated(), LOSS)?;
        // An emulated program cannot start another one, so tests that do are left out.
        let tests = "SecureTest,!SecureTest#eachSeedAsksTheKernel,StreamsTest,GeneratorsTest,\
                     DistributionTest";
        Ok(test_on(&java, tests)?)
    });
}

/// Builds the jar on the newest JDK, and runs the named tests on another one.
fn test_on(java: &Path, tests: &str) -> Result<()> {
    let jdks = jdks()?;
    let (_, newest) = jdks.first().context("no JDK")?;
    run(maven(newest)?.args(["package", "-DskipTests"]))?;
    let mut integration = maven(newest)?;
    integration.args(["failsafe:integration-test", "failsafe:verify"]);
    integration.arg(property("headwater.test.java", java)).arg("-Dheadwater.test.options=");
    run(integration.arg(format!("-Dit.test={tests}")))
}

/// Builds the jar by the newest JDK, which alone may know the FFM API, and tests it on each.
fn test(jdks: &[(u32, PathBuf)]) -> Result<()> {
    let (version, newest) = jdks.first().context("no JDK")?;
    if *version < 22 {
        println!("no JDK 22 or later: the half of the jar that uses the FFM API is not built");
    }
    if !jdks.iter().any(|(version, _)| *version == 21) {
        println!("not tested on Java 21, the last without the FFM API: no such JDK is installed");
    }
    println!("the jar is built by and tested on Java {version}");
    let licences = fs::read_to_string(root()?.join(NOTICES))?;
    run(maven(newest)?.arg("verify"))?;
    notices::expect(&licences, &jar()?, "META-INF")?;
    // Compiled against Spark's oldest version, without a Spark that runs: see `python::engines`.
    run(maven_of(SPARK, newest)?.arg("package"))?;
    run(maven_of(CLONES, newest)?.arg("package"))?;
    for built in [spark_jar()?, clones_jar()?] {
        notices::expect(&licences, &built, "META-INF")?;
    }
    // The agent is built from the jar, and so was not there when this JDK tested the jar.
    let mut agent = maven(newest)?;
    agent.args(["failsafe:integration-test", "failsafe:verify", "-Dit.test=ClonesTest"]);
    run(agent.arg(property("headwater.clones.jar", &clones_jar()?)))?;
    for (version, home) in &jdks[1..] {
        println!("the jar is tested on Java {version}");
        let mut tests = maven(newest)?;
        tests.args(["failsafe:integration-test", "failsafe:verify"]);
        tests.arg(property("headwater.test.java", &home.join("bin/java")));
        tests.arg(property("headwater.clones.jar", &clones_jar()?));
        let native = if *version < 22 { "" } else { "--enable-native-access=ALL-UNNAMED" };
        run(tests.arg(format!("-Dheadwater.test.options={native}")))?;
    }
    Ok(())
}

/// Builds the jar of Spark's functions, and returns its path.
pub(crate) fn spark() -> Result<PathBuf> {
    tools::package("mvn", "maven")?;
    let jdks = jdks()?;
    let (_, newest) = jdks.first().context("no JDK 17 or later")?;
    run(maven(newest)?.args(["package", "-DskipTests"]))?;
    run(maven_of(SPARK, newest)?.arg("package"))?;
    spark_jar()
}

/// Builds the agent that renews the JDK's generators in copies, and returns its path.
pub(crate) fn clones_agent() -> Result<PathBuf> {
    tools::package("mvn", "maven")?;
    let jdks = jdks()?;
    let (_, newest) = jdks.first().context("no JDK 17 or later")?;
    run(maven(newest)?.args(["package", "-DskipTests"]))?;
    run(maven_of(CLONES, newest)?.arg("package"))?;
    clones_jar()
}

/// Saves a JVM of each version and restores it twice: by a CRIU that restores the pages by which a
/// process sees that it is a copy, and by one that leaves them out.
fn in_images(criu: &str, newest_criu: &str, jdks: &[(u32, PathBuf)]) -> Result<()> {
    let (_, newest) = jdks.first().context("no JDK")?;
    let agent = clones_agent()?;
    for (version, home) in jdks {
        println!("a JVM of Java {version} is saved and restored twice");
        let mut test = maven(newest)?;
        test.args([
            "failsafe:integration-test",
            "failsafe:verify",
            "-Dit.test=CriuTest,ClonesTest",
        ]);
        test.arg(property("headwater.clones.jar", &agent));
        test.arg(property("headwater.test.java", &home.join("bin/java")));
        let native = if *version < 22 { "" } else { "--enable-native-access=ALL-UNNAMED" };
        test.arg(format!("-Dheadwater.test.options={native}"));
        test.env("HEADWATER_TEST_CRIU", criu).env("HEADWATER_TEST_NEWEST_CRIU", newest_criu);
        run(&mut test)?;
    }
    Ok(())
}

/// Builds the jar with files of this time, by the newest JDK, and copies it.
pub(crate) fn release(dist: &Path, epoch: u64) -> Result<()> {
    tools::package("mvn", "maven")?;
    tools::target(ARM).context("the jar would lack its library for arm64")?;
    let jdks = jdks()?;
    let (_, newest) = jdks.first().context("no JDK 17 or later")?;
    let licences = fs::read_to_string(root()?.join(NOTICES))?;
    let mut package = maven(newest)?;
    reproducible(&mut package, &root()?);
    package.args(["package", "-Dmaven.test.skip=true"]);
    let time = format!("-Dproject.build.outputTimestamp={epoch}");
    run(package.arg(&time))?;
    // After the first jar, whose classes it has too.
    run(maven_of(SPARK, newest)?.args(["package", &time]))?;
    run(maven_of(CLONES, newest)?.args(["package", &time]))?;
    for built in [jar()?, spark_jar()?, clones_jar()?] {
        notices::expect(&licences, &built, "META-INF")?;
        let name = built.file_name().context("a jar without a name")?;
        fs::copy(&built, dist.join(name)).with_context(|| built.display().to_string())?;
    }
    Ok(())
}

fn jar() -> Result<PathBuf> {
    Ok(folder()?.join(format!("jar/headwater-{VERSION}.jar")))
}

fn spark_jar() -> Result<PathBuf> {
    Ok(folder()?.join(format!("spark/headwater-spark-{VERSION}.jar")))
}

fn clones_jar() -> Result<PathBuf> {
    Ok(folder()?.join(format!("clones/headwater-clones-{VERSION}.jar")))
}

fn folder() -> Result<PathBuf> {
    Ok(target_directory()?.join("java"))
}

/// Returns a call of Maven that builds below the target directory, as every other step does.
fn maven(home: &Path) -> Result<Command> {
    maven_of(JAR, home)
}

/// Does the same for one of the jars: the directory of its pom, and of what is built.
fn maven_of((source, built): (&str, &str), home: &Path) -> Result<Command> {
    let folder = folder()?;
    let mut maven = Command::new("mvn");
    maven.args(["--quiet", "--batch-mode", "--file"]).arg(format!("{source}/pom.xml"));
    maven.arg(property("build.folder", &folder.join(built)));
    maven.arg(property("headwater.jar", &jar()?));
    maven.env("JAVA_HOME", home).env("CARGO_TARGET_DIR", folder);
    Ok(maven)
}

fn property(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(format!("-D{name}="));
    option.push(path);
    option
}

/// Returns the versions and homes of the JDKs here, the newest first. Installs Debian's if there is
/// none that is new enough.
fn jdks() -> Result<Vec<(u32, PathBuf)>> {
    let found = search();
    if !found.is_empty() {
        return Ok(found);
    }
    tools::packages(&["openjdk-17-jdk-headless"])?;
    Ok(search())
}

fn search() -> Vec<(u32, PathBuf)> {
    let named = env::var_os("JAVA_HOME").map(PathBuf::from);
    let folders = fs::read_dir(JDKS).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut jdks: Vec<(u32, PathBuf)> = named
        .into_iter()
        .chain(folders)
        .filter(|home| home.join("bin/javac").is_file())
        .filter_map(|home| Some((version(&home)?, home)))
        .filter(|(version, _)| *version >= OLDEST)
        .collect();
    jdks.sort_by(|a, b| b.cmp(a));
    // Several names may lead to one JDK.
    jdks.dedup_by_key(|(version, _)| *version);
    jdks
}

/// Returns the feature version of a JDK: 17 of "javac 17.0.15".
fn version(home: &Path) -> Option<u32> {
    let text = output(Command::new(home.join("bin/javac")).arg("-version")).ok()?;
    let number = text.split_whitespace().nth(1)?;
    number.split(['.', '-', '+']).next()?.parse().ok()
}
