# cross.sh SUBJECT WITH FROM TARGETS...: dumps in one machine, restores in two of each target
cd /tmp/ck; export HEADWATER_QEMU_MEMORY=3000 HEADWATER_CPU=max
Q="python3 qemu.py"; subject=$1 with=$2 from=$3; shift 3
machine() { export HEADWATER_KERNEL=$1 HEADWATER_QEMU_STATE=/tmp/ckr-$1; }
machine $from; rm -f disk; truncate -s 700M disk
$Q start a -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=disk -device virtio-blk-pci,drive=d
timeout 280 $Q exec a "bash /tmp/ck/img/prep.sh $from ${CRIU:-42} > /run/prep 2>&1; bash /tmp/ck/img/dump.sh $subject $with" > out/dump-$subject-$with-$from.txt 2>&1; $Q stop a
grep -E '^dump|Error' out/dump-$subject-$with-$from.txt | head -3
for k in "$@"; do machine $k
for n in 1 2; do $Q start b$n -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=disk,snapshot=on -device virtio-blk-pci,drive=d
timeout 280 $Q exec b$n "bash /tmp/ck/img/prep.sh $k ${CRIU:-42} > /run/prep 2>&1; bash /tmp/ck/img/restore.sh $subject" > out/$subject-$with-$from-$k-$n.txt 2>&1; $Q stop b$n; done
a=out/$subject-$with-$from-$k-1.txt b=out/$subject-$with-$from-$k-2.txt
grep -hE '^restore' $a $b | tr '\n' ' '; echo "$from -> $k, $subject, $with, CRIU ${CRIU:-42}: repeats $(grep -h '^R ' $a $b | sort | uniq -d | wc -l) of $(grep -c '^R ' $a), $(grep -c '^R ' $b)"
done
