#!/bin/bash
# Runs as init of the guest that disks.py starts: writes and verifies devices that fail, lie, or are
# in use, and compares status and message with the answer beside each command. A line of the result
# starts with "case", "ok" or "DIFFERS".
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
/lib/systemd/systemd-udevd --daemon; udevadm trigger; udevadm settle
export HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd /tmp
N=0; WRONG=0
# expect NAME STATUS REGEX COMMAND...: the regex is matched against all output, lines joined.
expect() {
  local name=$1 status=$2 regex=$3 said got; shift 3; N=$((N + 1))
  said=$(timeout 120 "$@" 2>&1 < /dev/null); got=$?
  said=$(tr '\r\n' '  ' <<< "$said")
  if [ "$got" = "$status" ] && grep -qE -- "$regex" <<< "$said"; then
    echo "ok      | $N | $name | $status | $regex"
  else
    WRONG=$((WRONG + 1))
    echo "DIFFERS | $N | $name | $status, got $got | $regex | ${said:0:600}"
  fi
}
W="headwater stream write --yes --seed 42"
V="headwater stream verify --seed 42"
quietly() { "$@" > /tmp/setup 2>&1 || { echo "cannot set up: $* ($?): $(head -c 400 /tmp/setup)"; }; }
settle() { udevadm settle; }
B=/dev/vdb C=/dev/vdc D=/dev/vdd E=/dev/vde
S=$(blockdev --getsz $B)

echo "case: device-mapper targets that fail"
quietly dmsetup create bad --table "0 $S error"
expect "error: every write fails" 3 "Input/output error|I/O error" $W /dev/mapper/bad
expect "error: every read fails" 3 "unreadable" $V /dev/mapper/bad
quietly dmsetup remove bad
quietly dmsetup create part --table "0 $S linear $B 0"
expect "linear: written" 0 "" $W /dev/mapper/part
expect "linear: right" 0 "" $V /dev/mapper/part
expect "the device below is a part of a volume" 2 "vdb.*part of.*device-mapper volume part" $W $B
quietly dmsetup suspend part
quietly dmsetup load part --table "0 20000 linear $B 0
20000 8 error
20008 $((S - 20008)) linear $B 20008"
quietly dmsetup resume part
expect "error in 8 sectors: they alone are unreadable" 3 "10,240,000 +10,244,096 +4,096" $V /dev/mapper/part
expect "error in 8 sectors: the write reports the place" 3 "I/O error|Input/output error" $W /dev/mapper/part
quietly dmsetup remove part
expect "flakey, drop_writes: set-up" 0 "" blkdiscard -z $B
quietly dmsetup create flaky --table "0 $S flakey $B 0 0 60 1 drop_writes"
expect "flakey, drop_writes: the write itself succeeds" 0 "" $W /dev/mapper/flaky
quietly dmsetup remove flaky
expect "flakey, drop_writes: zeros are found" 1 "zeros" $V $B
quietly dmsetup create flaky --table "0 $S flakey $B 0 0 60 1 error_writes"
expect "flakey, error_writes" 3 "I/O error|Input/output error" $W /dev/mapper/flaky
quietly dmsetup remove flaky
expect "written again" 0 "" $W $B
quietly dmsetup create flaky --table "0 $S flakey $B 0 0 60 5 corrupt_bio_byte 100 w 7 0"
expect "flakey, corrupt_bio_byte: the write itself succeeds" 0 "" $W /dev/mapper/flaky
quietly dmsetup remove flaky
expect "flakey, corrupt_bio_byte: wrong bytes are found" 1 "other data|one bit" $V $B
if modprobe dm-dust 2>/dev/null; then
  quietly dmsetup create dust --table "0 $S dust $B 0 512"
  for block in 60 61 67 20000; do quietly dmsetup message dust 0 addbadblock $block; done
  quietly dmsetup message dust 0 enable
  expect "dust: four bad sectors are unreadable, each named" 3 "4 .*unreadable|unreadable" $V /dev/mapper/dust
  expect "dust: their places" 3 "30720.*31744.*34304.*34816.*10240000.*10240512" $V --json /dev/mapper/dust
  expect "dust: a write repairs them" 0 "" $W /dev/mapper/dust
  expect "dust: right again" 0 "" $V /dev/mapper/dust
  quietly dmsetup remove dust
else
  echo "skipped: dm-dust: this kernel has none, so bad sectors are tried with scsi_debug alone"
fi
quietly dmsetup create slow --table "0 4096 delay $B 0 20"
expect "delay of 20 ms: written" 0 "" $W /dev/mapper/slow
expect "delay of 20 ms: right" 0 "" $V /dev/mapper/slow
quietly dmsetup remove slow
quietly dmsetup create zero --table "0 8192 zero"
expect "zero: the write is lost" 0 "" $W /dev/mapper/zero
expect "zero: zeros" 1 "zeros" $V /dev/mapper/zero
quietly dmsetup remove zero
quietly dmsetup create three --table "0 3 linear $B 9"
expect "3 sectors: written" 0 "" $W /dev/mapper/three
expect "3 sectors: right" 0 "" $V /dev/mapper/three
quietly dmsetup remove three
echo key | quietly cryptsetup open -q --type plain --cipher aes-xts-plain64 --key-size 256 --key-file - $B secret
expect "crypt: written" 0 "" $W /dev/mapper/secret
expect "crypt: right" 0 "" $V /dev/mapper/secret
expect "crypt: the device below is in use" 2 "device-mapper volume secret" $W $B
expect "crypt: the device below holds other data" 1 "other" $V $B
quietly dmsetup remove secret
dd if=/dev/zero of=$B bs=1M count=4 status=none
quietly dmsetup create sealed --table "0 4096 integrity $B 0 - D 1 internal_hash:crc32c"
NEED=$(dmsetup status sealed | awk '{print $5}'); quietly dmsetup remove sealed
quietly dmsetup create sealed --table "0 ${NEED:-4096} integrity $B 0 - D 1 internal_hash:crc32c"
expect "integrity: written" 0 "" $W /dev/mapper/sealed
quietly dmsetup remove sealed
printf x | dd of=$B bs=1 seek=$((40 << 20)) conv=notrunc status=none
quietly dmsetup create sealed --table "0 ${NEED:-4096} integrity $B 0 - D 1 internal_hash:crc32c"
expect "integrity: a changed byte below is unreadable above" 3 "unreadable" $V /dev/mapper/sealed
quietly dmsetup remove sealed

echo "case: LVM"
wipefs -aq $B $C $D $E
quietly pvcreate -y $B $C
quietly vgcreate group $B $C
quietly lvcreate -y -L 32M -n one group
settle
expect "a physical volume is in use" 2 "vdb is part of .*group-one" $W $B
expect "the second, without an extent in use" 0 "" $V --help
expect "a logical volume: written" 0 "" $W /dev/group/one
expect "a logical volume: right" 0 "" $V /dev/group/one
quietly mkfs.ext4 -q /dev/group/one
mkdir -p /tmp/m /tmp/n
quietly mount /dev/group/one /tmp/m
expect "a mounted logical volume" 2 "mounted at /tmp/m" $W /dev/group/one
quietly umount /tmp/m
quietly lvcreate -y -s -L 16M -n snap group/one
expect "the origin of a snapshot: the write fills the snapshot" 0 "" $W /dev/group/one
expect "the snapshot: its space ran out" 3 "I/O error|Input/output error|unreadable" $V /dev/group/snap
quietly lvremove -fy group/snap
quietly lvcreate -y --type thin-pool -L 16M -n pool group
quietly lvchange -y --errorwhenfull y group/pool
quietly lvcreate -y --type thin -V 48M --thinpool pool -n thin group
expect "a thin volume larger than its pool" 3 "No space left|I/O error|Input/output error" $W /dev/group/thin
quietly vgremove -fy group
quietly pvremove -fy $B $C

echo "case: arrays"
wipefs -aq $B $C $D $E
yes | quietly mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 $B $C
settle
expect "a member of an array is in use" 2 "vdb is part of md0 \(md array, raid1\)" $W $B
expect "an array: written" 0 "" $W /dev/md0
quietly mdadm --fail /dev/md0 $C
expect "a degraded array: right" 0 "" $V /dev/md0
quietly mdadm --stop /dev/md0
expect "a member alone: its data is misplaced, behind the array's own sectors" 1 "elsewhere.*data of byte 0" $V $B
yes | quietly mdadm --create /dev/md1 --run --level=5 --raid-devices=3 $B $C $D
settle
expect "raid5: written" 0 "" $W /dev/md1
quietly mdadm --fail /dev/md1 $D
expect "raid5 without one disk: right" 0 "" $V /dev/md1
expect "raid5: the failed member is still part of it" 2 "vdd is part of md1" $W $D
quietly mdadm --stop /dev/md1
wipefs -aq $B $C $D $E

echo "case: partitions"
printf 'label: gpt\nsize=16MiB\nsize=16MiB\nsize=16MiB\n' | quietly sfdisk -q $B
settle
quietly mkfs.ext4 -q ${B}1
quietly mount ${B}1 /tmp/m
expect "a mounted partition" 2 "vdb1 is mounted at /tmp/m" $W ${B}1
expect "the disk of a mounted partition" 2 "vdb1 is mounted at /tmp/m" $W $B
expect "its neighbour: written" 0 "" $W ${B}2
expect "its neighbour: right" 0 "" $V ${B}2
expect "the disk, by force, which also skips the claim" 0 "" $W --force --to 1MiB $B
quietly umount /tmp/m
quietly mkswap ${B}3
quietly swapon ${B}3
expect "swap on a partition" 2 "vdb3 is swap space" $W $B
quietly swapoff ${B}3
quietly cryptsetup open -q --type plain --key-file /dev/urandom ${B}3 inner
expect "crypt on a partition" 2 "vdb3 is part of .*device-mapper volume inner" $W $B
quietly dmsetup remove inner
quietly mount --bind /tmp/m /tmp/n
unshare -m sh -c "mount ${B}1 /mnt; exec sleep 20" & sleep 1
expect "mounted in another mount namespace" 3 "busy|in use" $W ${B}1
kill %1; wait
expect "nothing in use any more: the whole disk" 0 "" $W $B
expect "the whole disk: right" 0 "" $V $B

echo "case: file systems"
quietly mkfs.btrfs -q -f --mixed $B $C
quietly mount $B /tmp/m
expect "btrfs: its first device" 2 "vdb is mounted at /tmp/m" $W $B
expect "btrfs: its second device" 2 "vdc.*(mounted|btrfs|in use)" $W $C
expect "btrfs: a file" 0 "" $W --size 20MiB /tmp/m/file
expect "btrfs: the file is right" 0 "" $V /tmp/m/file
expect "btrfs: compression and checksums do not matter" 0 "" $V --from 4097 --to 70001 /tmp/m/file
quietly umount /tmp/m
quietly mkfs.xfs -q -f $D
quietly mount $D /tmp/m
expect "xfs: mounted" 2 "vdd is mounted" $W $D
expect "xfs: a file" 0 "" $W --size 20MiB /tmp/m/file
expect "xfs: right" 0 "" $V /tmp/m/file
expect "xfs: full" 3 "No space left" $W --size 2GiB /tmp/m/large
quietly fallocate -l 8MiB /tmp/m/swap; chmod 600 /tmp/m/swap
quietly mkswap /tmp/m/swap; quietly swapon /tmp/m/swap
expect "xfs: a swap file" 2 "swap space" $W /tmp/m/swap
quietly swapoff /tmp/m/swap
quietly umount /tmp/m
quietly mount -o ro $D /tmp/m
expect "a read-only file system" 3 "Read-only file system" $W --size 1MiB /tmp/m/new
expect "mounted read-only: still in use" 2 "mounted" $W $D
expect "a file on a read-only file system is verified" 0 "" $V /tmp/m/file
quietly umount /tmp/m
quietly mkfs.vfat $E
quietly mount $E /tmp/m
expect "vfat: a file" 0 "" $W --size 20MiB /tmp/m/file
expect "vfat: right" 0 "" $V /tmp/m/file
expect "vfat: larger than its files may be" 3 "too large|File too big|No space" $W --size 5GiB /tmp/m/large
quietly umount /tmp/m

echo "case: disks of scsi_debug and null_blk"
fresh() { rmmod scsi_debug 2>/dev/null; modprobe scsi_debug "$@" delay=0; settle; sleep 1; X=/dev/$(basename "$(ls -d /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/* 2>/dev/null | head -1)"); }
fresh dev_size_mb=32
expect "512-byte sectors" 0 "" $W $X
expect "512-byte sectors: right" 0 "" $V $X
expect "its model is named" 2 "scsi_debug" headwater stream write --seed 42 $X
echo 2 > /sys/bus/pseudo/drivers/scsi_debug/opts
expect "medium error in 10 sectors from 0x1234" 3 "unreadable" $V $X
expect "their place" 3 "\"from\":2385920|\"from\": 2385920" $V --json $X
echo 0 > /sys/bus/pseudo/drivers/scsi_debug/opts
blockdev --setro $X
expect "read-only" 3 "[Rr]ead-only|Operation not permitted|Permission denied" $W $X
blockdev --setrw $X
fresh dev_size_mb=32 sector_size=4096
expect "4Kn" 0 "" $W $X
expect "4Kn: an odd range" 0 "" $W --from 4097 --to 1000001 $X
expect "4Kn: right" 0 "" $V $X
fresh dev_size_mb=32 physblk_exp=3 lowest_aligned=7
expect "512e, misaligned by 7" 0 "" $W $X
expect "512e: right" 0 "" $V $X
fresh dev_size_mb=32 wp=1
expect "write-protected" 3 "[Rr]ead-only|Operation not permitted|Permission denied" $W $X
fresh dev_size_mb=64 zbc=managed zone_size_mb=4
expect "zones that must be written in order: refused, or said" 2 "zone" $W $X
fresh dev_size_mb=32
quietly modprobe zram num_devices=1
echo 32M > /sys/block/zram0/disksize
expect "zram: written" 0 "" $W --compressible 3 /dev/zram0
expect "zram: right" 0 "" $V --compressible 3 /dev/zram0
quietly mkswap /dev/zram0; quietly swapon /dev/zram0
expect "zram as swap" 2 "swap space" $W /dev/zram0
swapoff /dev/zram0
quietly modprobe null_blk nr_devices=1 gb=1 memory_backed=1
expect "null_blk in memory" 0 "" $W --to 64MiB /dev/nullb0
expect "null_blk: right" 0 "" $V --to 64MiB /dev/nullb0
expect "the CD drive has no medium" 3 "No medium" $V /dev/sr0
( sleep 4; echo 1 > /sys/block/$(basename $X)/device/delete ) &
expect "a disk pulled out while it is written" 3 "removed|I/O error|Input/output error|No such" $W --limit-rate 2MiB $X
wait
expect "NVMe: written" 0 "" $W /dev/nvme0n1
expect "NVMe: right" 0 "" $V /dev/nvme0n1
expect "NVMe: its model is named" 2 "QEMU NVMe" headwater stream write --seed 42 /dev/nvme0n1
expect "the root disk" 2 "vda is mounted at /" $W /dev/vda
mkdir -p /tmp/nodev; mknod /tmp/nodev/absent b 8 240
expect "a device node without a device" 3 "No such device" $W /tmp/nodev/absent
expect "a character device" 2 "not a|neither" $W /dev/null
echo "done: $N cases, $WRONG differ"
sync; poweroff -f
