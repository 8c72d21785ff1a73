//! QEMU out of the cache, run through its own loader, with a guest in it.

use crate::cache::Cache;
use crate::line::Line;
use crate::manifest::Kernel;
use crate::process::{last_words, output};
use crate::qmp::Qmp;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A machine to be started.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) kernel: Kernel,
    pub(crate) archive: PathBuf,
    /// `-machine`
    pub(crate) board: String,
    /// `-cpu`
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) devices: Vec<String>,
    pub(crate) firmware: Option<PathBuf>,
    /// Words for the kernel's command line.
    pub(crate) append: String,
}

impl Machine {
    /// A plain one: no random instruction, no device but two serial lines.
    pub(crate) fn new(kernel: &Kernel, archive: &Path) -> Machine {
        let arm = kernel.architecture == "aarch64";
        Machine {
            kernel: kernel.clone(),
            archive: archive.to_path_buf(),
            // QEMU would pass a seed in the device tree.
            board: if arm { "virt,dtb-randomness=off" } else { "pc" }.to_owned(),
            cpu: if arm { "cortex-a57" } else { "qemu64" }.to_owned(),
            cpus: 1,
            devices: Vec::new(),
            firmware: None,
            append: String::new(),
        }
    }

    pub(crate) fn device(&mut self, words: &str) {
        self.devices.extend(words.split_ascii_whitespace().map(str::to_owned));
    }

    fn is_arm(&self) -> bool {
        self.kernel.architecture == "aarch64"
    }
}

/// A program in the cache, named by its path there, started by the loader and with the libraries that belong to it.
pub(crate) fn program(cache: &Cache, path: &str) -> Result<Command> {
    program_of(&cache.tools(), path)
}

/// The same of another tree of unpacked packages.
pub(crate) fn program_of(tools: &Path, path: &str) -> Result<Command> {
    let (loader, triple) = match std::env::consts::ARCH {
        "aarch64" => ("usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
        _ => ("usr/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
    };
    let file = tools.join(path);
    ensure!(file.is_file(), "{path} is not in {}; run `headwater lab setup`", tools.display());
    let name = path.rsplit('/').next().unwrap_or(path);
    let libraries = tools.join("usr/lib").join(triple);
    let mut command = Command::new(tools.join(loader));
    command.arg("--library-path").arg(&libraries).args(["--argv0", name]).arg(file);
    command.env("QEMU_MODULE_DIR", libraries.join("qemu"));
    Ok(command)
}

/// The same command, ended by the kernel when this process ends in whatever way.
fn dying_with_us(command: &Command) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--pdeathsig", "KILL"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    wrapped
}

/// QEMU's version line.
pub(crate) fn version(cache: &Cache) -> Result<String> {
    let text = output(program(cache, "usr/bin/qemu-system-x86_64")?.arg("--version"))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// An empty disk for snapshots.
pub(crate) fn make_disk(cache: &Cache, file: &Path) -> Result<()> {
    output(
        program(cache, "usr/bin/qemu-img")?
            .args(["create", "-q", "-f", "qcow2"])
            .arg(file)
            .arg("1G"),
    )
    .map(drop)
}

/// UEFI firmware for x86-64 guests.
pub(crate) fn firmware(cache: &Cache) -> Result<PathBuf> {
    let file = cache.tools().join("usr/share/OVMF/OVMF_CODE_4M.fd");
    ensure!(
        file.is_file(),
        "{} is missing; run `headwater lab setup --only tools --refresh`",
        file.display()
    );
    Ok(file)
}

/// A guest that runs, or is about to be resumed.
pub(crate) struct Guest {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    pub(crate) qmp: Qmp,
    /// The kernel's console, in a file.
    pub(crate) console: PathBuf,
    errors: PathBuf,
    pub(crate) begun: Instant,
}

impl Guest {
    /// Starts the machine; from a saved state if one is given, in which case it is paused.
    pub(crate) fn start(
        cache: &Cache,
        machine: &Machine,
        folder: &Path,
        name: &str,
        incoming: Option<&Path>,
    ) -> Result<Guest> {
        let mut command = program(
            cache,
            if machine.is_arm() {
                "usr/bin/qemu-system-aarch64"
            } else {
                "usr/bin/qemu-system-x86_64"
            },
        )?;
        let share = cache.tools().join("usr/share");
        let console = folder.join(format!("{name}.console"));
        let errors = folder.join(format!("{name}.errors"));
        // A socket's path may have 107 bytes; the cache's may be longer.
        let sockets = std::env::temp_dir().join(format!("headwater-lab-{}", std::process::id()));
        fs::create_dir_all(&sockets)
            .with_context(|| format!("cannot make {}", sockets.display()))?;
        let socket = sockets.join(name);
        let _ = fs::remove_file(&socket);
        let say = |part: &str, path: &Path| {
            format!("{part}{}", path.display().to_string().replace(',', ",,"))
        };
        command
            .args(["-accel", "tcg", "-nodefaults", "-display", "none", "-no-reboot", "-m", "256"])
            .arg("-L")
            .arg(share.join("qemu"))
            .arg("-L")
            .arg(share.join("seabios"))
            .args([
                "-machine",
                &machine.board,
                "-cpu",
                &machine.cpu,
                "-smp",
                &machine.cpus.to_string(),
            ])
            .args(["-serial", &say("file:", &console)])
            .args(["-chardev", "stdio,id=port,signal=off", "-serial", "chardev:port"])
            .args(["-qmp", &format!("{},server=on,wait=off", say("unix:", &socket))])
            .args(&machine.devices)
            .arg("-kernel")
            .arg(&machine.kernel.image)
            .arg("-initrd")
            .arg(&machine.archive)
            .args(["-append", &command_line(machine)]);
        if let Some(firmware) = &machine.firmware {
            let drive = say("if=pflash,unit=0,format=raw,readonly=on,file=", firmware);
            command.args(["-drive", &drive]);
        }
        if let Some(state) = incoming {
            command.args(["-incoming", &say("file:", state)]);
        }
        let mut command = dying_with_us(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?);
        let begun = Instant::now();
        let mut child = command.spawn().context("cannot start QEMU")?;
        let input = child.stdin.take().context("QEMU has no input")?;
        let output = child.stdout.take().context("QEMU has no output")?;
        let (sender, lines) = channel();
        let log = File::create(folder.join(format!("{name}.lines")))?;
        std::thread::spawn(move || {
            let mut log = log;
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                let _ = writeln!(log, "{}", line.trim_end()); // for whoever looks into a failure
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let qmp = Qmp::connect(&socket, Duration::from_secs(60));
        let _ = fs::remove_file(&socket);
        let _ = fs::remove_dir(&sockets); // made anew for the next guest
        let qmp = qmp.map_err(|error| {
            let _ = child.kill();
            let _ = child.wait();
            let words = last_words(&fs::read(&errors).unwrap_or_default());
            error
                .context(format!("QEMU does not start {}: {words}", machine.kernel.image.display()))
        })?;
        Ok(Guest { child, input, lines, qmp, console, errors, begun })
    }

    /// The next line, within the time.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Line> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(text) => {
                    if let Some(line) = Line::parse(&text) {
                        if line.word == "failed" {
                            bail!("the guest says: {}", line.get("text"));
                        }
                        return Ok(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the guest said nothing for {} s{}", patience.as_secs(), self.panic());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let words = last_words(&fs::read(&self.errors).unwrap_or_default());
                    bail!(
                        "QEMU ended{}{}{words}",
                        self.panic(),
                        if words.is_empty() { "" } else { ": " }
                    );
                }
            }
        }
    }

    /// Lines until one of this word, which is the last.
    pub(crate) fn until(&mut self, word: &str, patience: Duration) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        loop {
            let line = self.next(patience)?;
            let found = line.word == word;
            lines.push(line);
            if found {
                return Ok(lines);
            }
        }
    }

    /// Gives a command, and returns what it says.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Vec<Line>> {
        self.input
            .write_all(format!("{command}\n").as_bytes())
            .with_context(|| format!("the guest is gone at '{command}'"))?;
        let mut lines = self
            .until("ok", Duration::from_secs(120))
            .with_context(|| format!("at the command '{command}'"))?;
        lines.pop();
        Ok(lines)
    }

    /// Has the guest end itself.
    pub(crate) fn off(mut self) {
        let _ = self.input.write_all(b"off\n");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // Dropped, and killed.
    }

    /// What the kernel's console says of a panic.
    fn panic(&self) -> String {
        let console = fs::read(&self.console).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let line =
            console.lines().find(|line| line.contains("PANIC") || line.contains("Kernel panic"));
        line.map_or_else(String::new, |line| format!("; its console says: {}", line.trim()))
    }

    /// Whether its kernel panicked.
    pub(crate) fn panicked(&self) -> bool {
        !self.panic().is_empty()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel's own words go to its console, the guest's to the second line.
fn command_line(machine: &Machine) -> String {
    let (console, port) =
        if machine.is_arm() { ("ttyAMA0", "ttyAMA1") } else { ("ttyS0", "ttyS1") };
    // `reboot=t`: a triple fault ends every kind of machine. `no_timer_check`: on a busy host the emulated timer is late, and
    // the kernel panics over it.
    let common = format!("console={console} hw.port={port} quiet panic=-1 reboot=t no_timer_check");
    format!("{common} {}", machine.append).trim_end().to_owned()
}
