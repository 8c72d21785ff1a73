//! The Python package: its crate, its wheel, and the tests of both halves.

use crate::duckdb;
use crate::install::reproducible;
use crate::java;
use crate::notices;
use crate::pages;
use crate::process::{EPOCH, output, program, root, run, target_directory};
use crate::report::{Report, Stop, need};
use crate::tools;
use crate::version::VERSION;
use anyhow::{Context, Result, ensure};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate outside the workspace, because PyO3 finds a Python at build time.
pub(crate) const MANIFEST: &str = "fronts/python/Cargo.toml";
/// The versions that the tests were written against. NumPy's own tests come with NumPy.
const TESTED: [&str; 13] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "hypothesis==6.170.15",
    "mypy==2.4.1",
    "numpy==2.4.6",
    "dask[array]==2026.8.0",
    "distributed==2026.8.0",
    "cffi",
    "xarray==2026.9.0",
    "pyarrow==26.0.1",
    "pandas==3.1.1",
    "polars==2.1.0",
    "duckdb==2.0.1",
];
/// Packages that take our generators, and the plots. They are too large for each run.
const CONSUMERS: [&str; 4] = ["scipy", "scikit-learn", "matplotlib", "jax==0.10.2"];
/// Engines whose columns by row id are compared with the others'. They take 2 GB and ask for other
/// versions of pandas and pyarrow, so they live in an environment of their own.
const ENGINES: [&str; 14] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "numpy==2.4.6",
    "pandas==2.3.3",
    "pyarrow==25.0.1",
    "dask[dataframe]==2026.8.0",
    "distributed==2026.8.0",
    "datafusion==55.0.0",
    "daft==0.7.26",
    "ibis-framework[duckdb]==12.0.0",
    "pyarrow_hotfix",
    "pyspark==4.3.0",
    "ray==2.60.0",
    "rich",
];
/// The oldest versions that the fronts of pandas, Polars, pyarrow and DuckDB take: `need` in each
/// of them, and `pyproject.toml`, have the same. With the NumPy that they were built for.
const OLDEST: [&str; 7] = [
    "maturin==1.16.0",
    "pytest==9.2.0",
    "numpy==1.26.4",
    "pandas==2.2.0",
    "polars==1.4.1",
    "pyarrow==16.0.0",
    "duckdb==1.2.0",
];
/// The oldest versions that the fronts of other engines take.
const OLDEST_ENGINES: [&str; 2] = ["datafusion==53.0.0", "daft==0.7.0"];
/// The oldest DuckDB that loads the extension, and the newest of each later series.
const DUCKDBS: [&str; 4] = ["duckdb==1.3.2", "duckdb==1.4.5", "duckdb==1.5.6", "duckdb==2.0.1"];
/// The oldest Spark whose classes the jar takes.
const OLDEST_SPARK: &str = "pyspark==4.0.0";
/// Names the jar of Spark's functions for the tests.
const SPARK_JAR: &str = "HEADWATER_TEST_SPARK_JAR";
/// Releases of Debian, the Pythons that they have, and whether the packages of [`TESTED`] have
/// wheels for them. 3.11 is Debian 12's, under which all steps run. No release has 3.12.
const PYTHONS: [(&str, &str, bool); 3] =
    [("trixie", "python3.13", true), ("forky", "python3.14", true), ("forky", "python3.15", false)];
/// A CPython without the interpreter's lock, which its source makes with `--disable-gil`, and the
/// packages of [`TESTED`] that have no wheels for it.
const UNLOCKED: &str = "python3.14t";
const LOCKED: [&str; 3] = ["mypy", "polars", "duckdb"];
/// The compiler that links against an old C library, the judge of the result, and a cargo that uses
/// the compiler for DuckDB's extension as maturin does for the wheel.
const WHEELS: [&str; 3] = ["ziglang", "auditwheel", "cargo-zigbuild"];

pub(crate) fn steps(report: &mut Report) {
    report.step("format and clippy, Python crate", || {
        need(tools::component("rustfmt"), "the layout of the Python crate's source")?;
        let both = "--package headwater-python --package headwater-duckdb";
        run(&mut program(&format!("cargo fmt --check --manifest-path {MANIFEST} {both}")))?;
        need(tools::component("clippy"), "what clippy warns of in the Python crate")?;
        let mut clippy = cargo("clippy --release --workspace --all-targets")?;
        Ok(run(clippy.args(["--", "-D", "warnings"]))?)
    });
    report.step("Python package", || test(&TESTED));
    report.long_step("Python package, with its consumers", || {
        test(&[&TESTED[..], &CONSUMERS[..]].concat())
    });
    report.long_step("Python package, under newer Pythons", newer);
    report.long_step("Python package, without the interpreter's lock", unlocked);
    report.long_step("columns by row id in more engines", engines);
    report.long_step("columns by row id in the oldest engines", oldest);
    report.long_step("Python wheels", || {
        let python = need(
            tools::python(&[&TESTED[..1], &WHEELS[..]].concat()),
            "whether the wheels of a release can be built",
        )?;
        wheels(&python, None)?;
        Ok(())
    });
}

/// Installs the wheel as a user does, and tests the installed package.
fn test(packages: &[&str]) -> Result<(), Stop> {
    let python = need(tools::python(packages), "the Python package")?;
    install(&python)?;
    run(Command::new(&python)
        .args(["-m", "mypy", "--config-file", "fronts/python/pyproject.toml"])
        .args(["--cache-dir=target/tools/mypy", "-p", "headwater"]))?;
    Ok(run_tests(&python)?)
}

/// Tests the installed package, which `headwater` is from here. In fronts/python/ it would be the
/// one of the source, which has no native half, so every test would fail.
fn run_tests(python: &Path) -> Result<()> {
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "--quiet", "-rs"]);
    pytest.args(["-p", "no:cacheprovider", "--rootdir=fronts/python", "fronts/python/tests"]);
    run(&mut pytest)
}

/// Tests a wheel of its own under a Python whose threads take no turns.
fn unlocked() -> Result<(), Stop> {
    let has_wheels = |package: &&&str| !LOCKED.iter().any(|name| package.starts_with(name));
    let packages: Vec<&str> = TESTED.iter().filter(has_wheels).copied().collect();
    let python = need(
        tools::python_of(UNLOCKED, "unlocked", &packages),
        "whether threads draw side by side in a Python without the interpreter's lock",
    )?;
    let folder = fresh(&target_directory()?.join("python/unlocked"))?;
    build(&python, &folder, &["--interpreter".as_ref(), python.as_os_str()], None)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let again = ["--force-reinstall", "--no-deps"];
    run(Command::new(&python).args(pip).args(again).arg(only_file(&folder)?))?;
    let is_unlocked = "import sys, headwater; assert not sys._is_gil_enabled()";
    run(Command::new(&python).args(["-c", is_unlocked]))?;
    Ok(run_tests(&python)?)
}

/// Tests the wheel of this Python, which is for all later ones, under each of them.
fn newer() -> Result<(), Stop> {
    const LOSS: &str = "whether the package works under newer Pythons";
    need(tools::root_user(), LOSS)?;
    need(tools::packages(&["debootstrap"]), LOSS)?;
    let python = need(tools::python(&TESTED), LOSS)?;
    install(&python)?;
    let top = target_directory()?.join("pages");
    let checkout = pages::checkout(&top)?;
    let wheel = only_file(&target_directory()?.join("python/wheels"))?;
    let name = wheel.file_name().context("a wheel without a name")?;
    fs::copy(&wheel, checkout.join(name)).context("the wheel")?;
    let scripts = fresh(&top.join("pythons"))?;
    for (release, python, has_packages) in PYTHONS {
        let script = scripts.join(format!("{python}.sh"));
        fs::write(script, tests_under(release, python, has_packages)).context("a script")?;
    }
    Ok(pages::run_scripts("trixie", &top, &checkout, &scripts)?)
}

/// Returns the commands by which a reader of Debian 13 tests the wheel under a Python of a release,
/// which may be a later one: the debootstrap of Debian 12 cannot make its root.
fn tests_under(release: &str, python: &str, has_packages: bool) -> String {
    let wanted = |package: &&&str| {
        let is_of_all = package.starts_with("pytest") || package.starts_with("hypothesis");
        // Types are checked under one Python, and the wheel is built already.
        let is_tool = package.starts_with("mypy") || package.starts_with("maturin");
        is_of_all || (has_packages && !is_tool)
    };
    // Without NumPy there are the secure half and the streams' own objects.
    let tests = match has_packages {
        true => "fronts/python/tests",
        false => {
            "--deselect tests/test_secure_docs.py fronts/python/tests/test_fork.py fronts/python/tests/test_secure*.py \
             fronts/python/tests/test_streams_objects.py"
        }
    };
    let packages: Vec<&str> = TESTED.iter().filter(wanted).copied().collect();
    format!(
        "set -eu
sed -n 's/ trixie / {release} /p' /etc/apt/sources.list > later.list
sudo cp later.list /etc/apt/sources.list.d/
sudo apt-get -qq update -o Acquire::Check-Valid-Until=false
sudo apt-get -qq install -t {release} --no-install-recommends {python}-venv {python}-dev gcc \
    libc6-dev procps python3-pip-whl
{python} -m venv v-{python}
v-{python}/bin/pip install --quiet --disable-pip-version-check headwater/*.whl {packages}
cd headwater
../v-{python}/bin/python -m pytest --quiet -rs -p no:cacheprovider --rootdir=fronts/python {tests}
",
        packages = packages.join(" ")
    )
}

/// Compares the columns of the engines that are too large for each run. Spark needs Java, and Ray a
/// network namespace; the test of each says so where there is none.
fn engines() -> Result<(), Stop> {
    let python = need(
        tools::python_in("engines", &ENGINES),
        "the columns by row id of DataFusion, Daft, Dask, ibis, Ray and Spark",
    )?;
    install(&python)?;
    let tests = |files: &[&str]| pytest(&python, files);
    let jar = need(java::spark(), "Spark's functions in the JVM")?;
    let own = [
        "test_starts.py",
        "test_engines.py",
        "test_engines_spark.py",
        "test_spark_outside.py",
        "test_spark_by_row.py",
    ];
    run(tests(&own).env(SPARK_JAR, &jar))?;
    let oldest = alone(&python, OLDEST_SPARK, "whether Spark's oldest version has the functions")?;
    // The JVM alone, because that version has no Arrow functions.
    run(tests(&own[3..]).args(["-k", "jvm"]).env(SPARK_JAR, jar).env("PYTHONPATH", oldest))?;
    for version in DUCKDBS {
        let loss = "whether DuckDB's older versions load the extension";
        let folder = alone(&python, version, loss)?;
        let files = ["test_duckdb_outside.py", "test_duckdb_by_row.py", "test_duckdb_constants.py"];
        // Before the environment's own DuckDB.
        run(tests(&files).env("PYTHONPATH", folder))?;
    }
    Ok(())
}

/// Tests the same wheel with the oldest versions of the engines. Most tests are written for the
/// newest ones, whose own interfaces have changed since.
fn oldest() -> Result<(), Stop> {
    const LOSS: &str = "whether the oldest versions of the engines have the same columns";
    const FILES: [&str; 3] = ["test_oldest.py", "test_arrow.py", "test_rows.py"];
    let python = need(tools::python_in("oldest", &OLDEST), LOSS)?;
    install(&python)?;
    run(&mut pytest(&python, &FILES))?;
    let python = need(tools::python_in("engines", &ENGINES), LOSS)?;
    install(&python)?;
    for package in OLDEST_ENGINES {
        let folder = alone(&python, package, LOSS)?;
        let (name, _) = package.split_once("==").context("a package without a version")?;
        let files = ["test_engines.py", "test_oldest.py"];
        run(pytest(&python, &files).args(["-k", name]).env("PYTHONPATH", folder))?;
    }
    Ok(())
}

/// Returns the command that runs these files of the Python package's tests.
fn pytest(python: &Path, files: &[&str]) -> Command {
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"]);
    pytest.arg("--rootdir=fronts/python");
    pytest.args(files.iter().map(|file| format!("fronts/python/tests/{file}")));
    pytest
}

/// Returns a directory with this package alone.
fn alone(python: &Path, package: &str, loss: &'static str) -> Result<PathBuf, Stop> {
    let folder = target_directory()?.join("tools/alone").join(package);
    if !folder.exists() {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let mut install = Command::new(python);
        install.args(pip).arg("--target").arg(&folder).args(["--no-deps", package]);
        need(run(&mut install), loss)?;
    }
    Ok(folder)
}

/// Returns a Python with the package installed, and what its tests need.
pub(crate) fn installed() -> Result<PathBuf> {
    let python = tools::python(&TESTED)?;
    install(&python)?;
    Ok(python)
}

fn install(python: &Path) -> Result<()> {
    let folder = fresh(&target_directory()?.join("python/wheels"))?;
    duckdb::for_package()?;
    build(python, &folder, &["--interpreter".as_ref(), python.as_os_str()], None)?;
    let wheel = only_file(&folder)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(python).args(pip).args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// Builds the wheels of a release: glibc 2.17 and later, musl 1.2, and arm64.
fn wheels(python: &Path, epoch: Option<u64>) -> Result<Vec<PathBuf>> {
    let mut built = Vec::new();
    for (target, tag) in [
        ("x86_64-unknown-linux-gnu", "manylinux2014"),
        ("x86_64-unknown-linux-musl", "musllinux_1_2"),
        ("aarch64-unknown-linux-gnu", "manylinux2014"),
    ] {
        tools::target(target)?;
        let folder = fresh(&target_directory()?.join(format!("python/release/{target}")))?;
        let programs = python.parent().context("a Python without a directory")?;
        duckdb::for_wheel(target, programs, epoch)?;
        let options = ["--zig", "--target", target, "--compatibility", tag];
        build(python, &folder, &options.map(AsRef::as_ref), epoch)?;
        let wheel = only_file(&folder)?;
        let name = wheel.file_name().unwrap_or_default().to_string_lossy();
        ensure!(name.contains(tag) && name.contains("-abi3-"), "the wheel is {name}, not {tag}");
        if target.ends_with("musl") {
            needs_musl_alone(python, &wheel, &folder)?;
        } else {
            run(Command::new(python).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
        }
        built.push(wheel);
    }
    Ok(built)
}

/// Returns an error if the wheel's library needs another one than musl's libc.so, a name that
/// musl's loader takes for itself. auditwheel knows only the name that Alpine's compiler writes.
fn needs_musl_alone(python: &Path, wheel: &Path, folder: &Path) -> Result<()> {
    let contents = folder.join("contents");
    run(Command::new(python).args(["-m", "zipfile", "-e"]).arg(wheel).arg(&contents))?;
    let library = contents.join("headwater/_native.abi3.so");
    let read = output(program("readelf --wide --dynamic").arg(library))?;
    let needed: Vec<&str> = read.lines().filter(|line| line.contains("(NEEDED)")).collect();
    ensure!(
        needed.len() == 1 && needed[0].ends_with("[libc.so]"),
        "{} needs other libraries than musl:\n{}",
        wheel.display(),
        needed.join("\n")
    );
    Ok(fs::remove_dir_all(contents)?)
}

/// Builds the wheels of a release with files of this time, and copies them.
pub(crate) fn release(dist: &Path, epoch: u64) -> Result<()> {
    let python = tools::python(&[&TESTED[..1], &WHEELS[..]].concat())
        .context("maturin, zig and auditwheel come by pip, into a virtual environment")?;
    for wheel in wheels(&python, Some(epoch))? {
        let name = wheel.file_name().context("a wheel without a name")?;
        fs::copy(&wheel, dist.join(name))?;
    }
    Ok(())
}

/// Builds one wheel. With an epoch, the files in it have that time, and no trace of this machine.
fn build(python: &Path, folder: &Path, options: &[&OsStr], epoch: Option<u64>) -> Result<()> {
    // Beside pyproject.toml, because its patterns for licences cannot leave that directory.
    let directory = root()?.join("fronts/python");
    let licences = notices::write(&directory, "headwater-python", &directory)?;
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--release", "--locked", "--quiet"]);
    maturin.args(["--manifest-path", MANIFEST, "--out"]).arg(folder).args(options);
    if let Some(epoch) = epoch {
        maturin.arg("--strip").env(EPOCH, epoch.to_string());
        reproducible(&mut maturin, &root()?);
    }
    // maturin starts zig as the module ziglang of the Python that it finds first.
    let programs = python.parent().context("a Python without a directory")?;
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = iter::once(programs.to_path_buf()).chain(env::split_paths(&path));
    maturin.env("PATH", env::join_paths(folders)?);
    run(maturin.env("CARGO_TARGET_DIR", target_directory()?.join("python")))?;
    let place = format!("headwater-{VERSION}.dist-info/licenses");
    notices::expect(&licences, &only_file(folder)?, &place)
}

fn cargo(line: &str) -> Result<Command> {
    let mut cargo = program(&format!("cargo {line} --manifest-path {MANIFEST}"));
    cargo.env("CARGO_TARGET_DIR", target_directory()?.join("python"));
    Ok(cargo)
}

/// Makes an empty directory, so that no wheel of an earlier build is taken for a new one.
fn fresh(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_path_buf())
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?;
    let file = files.next().with_context(|| format!("{} is empty", folder.display()))??;
    ensure!(files.next().is_none(), "{} holds more than one file", folder.display());
    Ok(file.path())
}
