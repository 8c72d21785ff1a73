# zeros.sh FROM ONTO: what lies at the old place of [vvar] in a process that was restored
export HEADWATER_QEMU_MEMORY=1200 HEADWATER_CPU=max; Q="python3 boot/clones/outside/qemu.py"
export HEADWATER_KERNEL=$1 HEADWATER_QEMU_STATE=/tmp/ckr-$1; rm -f /tmp/ckr.disk; truncate -s 256M /tmp/ckr.disk
$Q start a -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=/tmp/ckr.disk -device virtio-blk-pci,drive=d
$Q exec a "bash /tmp/ck/modules.sh $1 > /dev/null; bash /tmp/ck/dump.sh 41 buffered go-on" > /tmp/ckr-dump.txt 2>&1; $Q stop a
at=$(sed -n 's/^\([0-9a-f]*\)-.*\[vvar\]$/\1/p' /tmp/ckr-dump.txt | head -n 1)
grep -E 'vvar|vdso|"mode"' /tmp/ckr-dump.txt
export HEADWATER_KERNEL=$2 HEADWATER_QEMU_STATE=/tmp/ckr-$2
$Q start b -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=/tmp/ckr.disk,snapshot=on -device virtio-blk-pci,drive=d
$Q exec b "bash /tmp/ck/modules.sh $2 > /dev/null; bash /tmp/ck/restore.sh 41 > /run/r & sleep 8; echo restored on $2:; busybox grep -E 'vvar|vdso|^$at' /proc/9001/maps; busybox dd if=/proc/9001/mem bs=4096 skip=\$((0x$at / 4096)) count=4 2> /dev/null | busybox hexdump -C; wait; busybox grep -o '__vdso_[a-z0-9_]*' /w/images/restore.log | busybox sort -u"
$Q stop b
