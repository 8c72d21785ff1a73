#!/usr/bin/env python3
"""A tool that makes copies of machines, for `headwater clones check` to drive: QEMU of the lab.

    qemu.py image                           makes the archive that machines boot from
    qemu.py start NAME [WORDS...]           boots one, with these words for QEMU
    qemu.py save NAME IMAGE                 writes its memory, and ends it
    qemu.py restore IMAGE NAME              starts a copy
    qemu.py exec NAME COMMAND...            runs a shell command inside, and prints its output
    qemu.py stop NAME

The machine has a real userland (bash, Python, Perl, Node where it is installed, OpenSSL, GnuTLS and
the headwater command), copied file by file from this host into the machine's memory. A disk would
be one more thing that copies share. It needs `headwater lab setup`, ldd, cpio and a static busybox.
Set HEADWATER to the command that is copied in; HEADWATER_QEMU_STATE names the directory of the
state, and HEADWATER_QEMU_MORE directories to copy in, as of a JVM.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headwater/lab"
STATE = Path(os.environ.get("HEADWATER_QEMU_STATE", "/tmp/headwater-clones-qemu"))
HEADWATER = os.environ.get("HEADWATER", "target/release/headwater")
KERNEL = os.environ.get("HEADWATER_KERNEL", "7")
ACCELERATOR = os.environ.get("HEADWATER_QEMU_ACCEL", "tcg")
MEMORY = os.environ.get("HEADWATER_QEMU_MEMORY", "1500")
END = "__headwater_end__"

PROGRAMS = """bash cat chmod cp date dd echo env head hostname ln ls mkdir mount mv od rm sed
setsid sh sleep stty tr uname busybox ssh-keygen perl python3 node gawk mawk awk mkfifo""".split()
LIBRARIES = """libcrypto.so.3 libssl.so.3 libgnutls.so.30 libgcrypt.so.20 libsodium.so.23 libbsd.so.0
libnss3.so libsoftokn3.so libfreebl3.so libfreeblpriv3.so libmbedcrypto.so.7
libuuid.so.1 libnss_files.so.2""".split()

INIT = """#!/bin/bash
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /run /tmp /root /var/empty /dev/shm
for module in /modules/*.ko; do [ -e "$module" ] && busybox insmod "$module"; done
busybox ip link set lo up
cat /proc/sys/kernel/random/boot_id > /dev/null
echo 0123456789abcdef0123456789abcdef > /etc/machine-id
hostname original
exec < /dev/ttyS1 > /dev/ttyS1 2>&1
stty raw -echo
echo ready
while read -r line; do
    ( eval "$line" ) < /dev/null > /run/out 2>&1
    status=$?
    cat /run/out
    echo "%s $status"
done
sleep 1000000
""" % END


def libraries(file):
    """Returns the shared libraries that a program loads."""
    text = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
    return re.findall(r"(/[^ ]+\.so[^ ]*) \(0x", text)


def image():
    """Makes the archive that machines boot from."""
    root = STATE / "root"
    shutil.rmtree(root, ignore_errors=True)
    # As on this host: otherwise a library would be copied to two places, and found at neither.
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    files = set()

    def add(file):
        file = str(file)
        if file in files or not os.path.exists(file):
            return
        files.add(file)
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(file), target)
        for library in libraries(os.path.realpath(file)):
            add(library)

    for name in PROGRAMS:
        for directory in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
            if os.path.exists(f"{directory}/{name}"):
                add(f"{directory}/{name}")
                break
    for name in LIBRARIES:
        for directory in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"):
            add(f"{directory}/{name}")
    skip = shutil.ignore_patterns("test", "tests", "idlelib", "lib2to3", "__pycache__", "ensurepip",
                                  "config-*", "distutils", "tkinter", "turtledemo")
    for directory in [*Path("/usr/lib").glob("python3.*"), *Path("/usr/share/perl").glob("5.*"),
                      *Path("/usr/lib/x86_64-linux-gnu").glob("perl*")]:
        if directory.is_dir() and not directory.is_symlink():
            shutil.copytree(directory, root / str(directory).lstrip("/"), symlinks=False,
                            ignore=skip, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    for directory in os.environ.get("HEADWATER_QEMU_MORE", "").split():
        shutil.copytree(directory, root / directory.lstrip("/"), symlinks=True, dirs_exist_ok=True)
    for library in root.rglob("*.so"):
        for needed in libraries(library):
            add(needed)
    shutil.copy2(HEADWATER, root / "usr/bin/headwater")
    for library in libraries(HEADWATER):
        add(library)
    for directory in ("proc", "sys", "dev", "etc/ssh", "run", "tmp", "modules", "var/lib/systemd"):
        (root / directory).mkdir(parents=True, exist_ok=True)
    shutil.copytree("/etc/alternatives", root / "etc/alternatives", symlinks=True,
                    dirs_exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (root / "etc/group").write_text("root:x:0:\n")
    for module in (CACHE / "kernels" / KERNEL).glob("*.ko"):
        shutil.copy2(module, root / "modules")
    for module, why in [("ptp_vmclock", "VMClock"), ("virtio-rng", "the host's generator")]:
        if not (root / f"modules/{module}.ko").exists():
            print(f"qemu.py: no {module}.ko, so the machine has no {why}", file=sys.stderr)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    with open(STATE / "archive", "wb") as archive:
        find = subprocess.Popen(["find", "."], cwd=root, stdout=subprocess.PIPE)
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], cwd=root, stdin=find.stdout,
                       stdout=archive, check=True)


def qemu(name, devices, incoming=None):
    """Starts a machine, paused if it continues from a saved memory."""
    tools = CACHE / "tools"
    libs = tools / "usr/lib/x86_64-linux-gnu"
    command = [str(tools / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(libs),
               str(tools / "usr/bin/qemu-system-x86_64"), "-accel", ACCELERATOR, "-nodefaults",
               "-display", "none", "-no-reboot", "-m", MEMORY, "-smp", "1",
               "-L", str(tools / "usr/share/qemu"), "-L", str(tools / "usr/share/seabios"),
               "-machine", "pc", "-cpu", os.environ.get("HEADWATER_CPU", "max"),
               "-serial", f"file:{STATE}/{name}.console",
               "-chardev", f"socket,id=port,path={STATE}/{name}.port,server=on,wait=off",
               "-serial", "chardev:port",
               "-qmp", f"unix:{STATE}/{name}.qmp,server=on,wait=off", *devices,
               "-kernel", str(CACHE / "kernels" / KERNEL / "vmlinuz"),
               "-initrd", str(STATE / "archive"),
               "-append", "console=ttyS0 quiet panic=-1 reboot=t no_timer_check"]
    if incoming:
        command += ["-incoming", f"file:{incoming}"]
    with open(STATE / f"{name}.errors", "w") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                   start_new_session=True,
                                   env={**os.environ, "QEMU_MODULE_DIR": str(libs / "qemu")})
    (STATE / f"{name}.pid").write_text(str(process.pid))
    (STATE / f"{name}.devices").write_text("\n".join(devices))


def connect(name, kind, limit=30):
    """Returns a connection to one of the machine's sockets, once it is there."""
    begun = time.monotonic()
    while True:
        try:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(STATE / f"{name}.{kind}"))
            return connection
        except OSError:
            if time.monotonic() - begun > limit:
                raise
            time.sleep(0.05)


def ask(name, *commands):
    """Gives QEMU commands, and returns the answers."""
    stream = connect(name, "qmp").makefile("rw")
    answers = []

    def answer():
        while True:
            message = json.loads(stream.readline())
            if "error" in message:
                sys.exit(f"QEMU: {message['error']['desc']}")
            if "return" in message:
                return message["return"]

    stream.readline()
    for command, arguments in [("qmp_capabilities", {}), *commands]:
        stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        stream.flush()
        answers.append(answer())
    return answers[1:]


def until(name, command, wanted, limit=120):
    """Asks for a status until it is one of those wanted."""
    begun = time.monotonic()
    while True:
        status = ask(name, (command, {}))[0].get("status")
        if status in wanted:
            return status
        if time.monotonic() - begun > limit:
            sys.exit(f"{name}: {command} says {status}")
        time.sleep(0.05)


def run(name, line, limit=300):
    """Runs a line in the machine's shell. Returns its output and its status."""
    port = connect(name, "port")
    port.settimeout(limit)
    port.sendall(line.encode() + b"\n")
    text = b""
    while True:
        part = port.recv(65536)
        if not part:
            sys.exit(f"{name} ended: {(STATE / f'{name}.errors').read_text()}")
        text += part
        found = re.search(rb"(?s)^(.*?)" + END.encode() + rb" (\d+)\r?\n", text)
        if found:
            return found[1].decode(errors="replace"), int(found[2])


def stop(name):
    """Ends a machine, unless its number is another process's by now."""
    try:
        number = int((STATE / f"{name}.pid").read_text())
        process = os.pidfd_open(number)
        if f"{STATE}/{name}.port".encode() in Path(f"/proc/{number}/cmdline").read_bytes():
            signal.pidfd_send_signal(process, signal.SIGKILL)
    except (OSError, ValueError):
        pass


def main():
    verb, *words = sys.argv[1:] or ["help"]
    STATE.mkdir(exist_ok=True, mode=0o700)
    # In a directory of another user, that user would choose what is booted and which number is
    # killed.
    owner = STATE.lstat()
    if not STATE.is_dir() or STATE.is_symlink() or owner.st_uid != os.geteuid() or owner.st_mode & 0o077:
        sys.exit(f"{STATE} is not this user's alone; name another by HEADWATER_QEMU_STATE")
    if verb == "image":
        image()
    elif verb == "start":
        name, devices = words[0], words[1:]
        qemu(name, devices)
        port = connect(name, "port")
        port.settimeout(300)
        text = b""
        while b"ready" not in text:
            text += port.recv(4096)
    elif verb == "save":
        name, image_name = words
        ask(name, ("stop", {}), ("migrate", {"uri": f"file:{STATE}/{image_name}"}))
        if until(name, "query-migrate", ("completed", "failed")) == "failed":
            sys.exit("QEMU could not save the machine")
        shutil.copy(STATE / f"{name}.devices", STATE / f"{image_name}.of")
        ask(name, ("quit", {}))
    elif verb == "restore":
        image_name, name = words
        devices = (STATE / f"{image_name}.of").read_text().split("\n")
        qemu(name, [word for word in devices if word], STATE / image_name)
        until(name, "query-status", ("paused", "postmigrate"))
        ask(name, ("cont", {}))
    elif verb == "exec":
        output, status = run(words[0], " ".join(words[1:]))
        sys.stdout.write(output)
        sys.exit(status)
    elif verb == "stop":
        stop(words[0])
    else:
        sys.exit(__doc__)


main()
