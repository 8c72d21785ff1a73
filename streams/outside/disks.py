#!/usr/bin/env python3
"""Writes and verifies real and failing block devices in a guest: device-mapper, LVM, md, btrfs,
partitions, SCSI disks with medium errors, NVMe.

    python3 streams/outside/disks.py target/release/headwater [--directory DIR]

Needs root, debootstrap and QEMU's system emulator, and takes some minutes without `--kvm`. The
directory keeps the guest's root file system, so that a second run starts at once. Each line of the result holds the
expected exit status and a pattern of the expected message, which disks-guest.sh names before it
runs the command.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGES = (
    "linux-image-amd64,initramfs-tools,lvm2,thin-provisioning-tools,mdadm,btrfs-progs,xfsprogs,"
    "dosfstools,fdisk,dmsetup,cryptsetup-bin,e2fsprogs,udev,kmod,procps"
)


def root_file_system(directory):
    """Returns the guest's root directory, which the first call makes."""
    root = directory / "root"
    if not (root / "boot").is_dir() or not list((root / "boot").glob("initrd.img-*")):
        debootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm"]
        subprocess.run([*debootstrap, str(root)], check=True)
    return root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--directory", type=pathlib.Path)
    parser.add_argument("--kvm", action="store_true", help="use the CPU's virtualisation")
    arguments = parser.parse_args()
    directory = arguments.directory or pathlib.Path(tempfile.mkdtemp(prefix="headwater-disks-"))
    directory.mkdir(parents=True, exist_ok=True)
    root = root_file_system(directory)
    shutil.copy(arguments.program, root / "usr/bin/headwater")
    script = root / "disks-guest.sh"
    shutil.copy(pathlib.Path(__file__).with_name("disks-guest.sh"), script)
    script.chmod(0o755)
    image = directory / "root.ext4"
    image.unlink(missing_ok=True)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(image), "2G"], check=True)
    kernel, initrd = (sorted((root / "boot").glob(f"{name}-*"))[-1] for name in ("vmlinuz", "initrd.img"))
    disks = ["-drive", f"file={image},if=virtio,format=raw"]
    for name, mib in (("b", 64), ("c", 64), ("d", 320), ("e", 64)):  # 300 MiB hold an xfs
        disk = directory / f"{name}.raw"
        disk.unlink(missing_ok=True)
        with open(disk, "wb") as file:
            file.truncate(mib << 20)
        disks += ["-drive", f"file={disk},if=virtio,format=raw,cache=unsafe"]
    nvme = directory / "nvme.raw"
    with open(nvme, "wb") as file:
        file.truncate(32 << 20)
    disks += ["-drive", f"file={nvme},if=none,id=n,format=raw", "-device", "nvme,drive=n,serial=1"]
    disks += ["-device", "virtio-scsi-pci", "-device", "scsi-cd"]
    kvm = ["-enable-kvm", "-cpu", "host"] if arguments.kvm else ["-cpu", "max"]
    words = f"root=/dev/vda rw init=/{script.name} console=ttyS0 loglevel=1 panic=-1"
    guest = subprocess.Popen(
        ["qemu-system-x86_64", *kvm, "-smp", "2", "-m", "2048", "-nographic", "-no-reboot",
         "-kernel", str(kernel), "-initrd", str(initrd), "-append", words, *disks],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace",
    )
    done = None
    for line in guest.stdout:
        line = line.strip()
        if line.startswith(("case", "ok", "DIFFERS", "skipped", "cannot", "done:")):
            print(line, flush=True)
        if line.startswith("done:"):
            done = line
    guest.wait()
    if done is None or not done.endswith(" 0 differ"):
        sys.exit(1)


if __name__ == "__main__":
    main()
