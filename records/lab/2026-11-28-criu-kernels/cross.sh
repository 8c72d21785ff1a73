# cross.sh FROM VERSION MODE QUIESCE TARGETS...
export HEADWATER_QEMU_MORE=/tmp/ck HEADWATER_QEMU_MEMORY=1200 HEADWATER_CPU=max; Q="python3 boot/clones/outside/qemu.py"
from=$1 v=$2 mode=$3 q=$4; shift 4
export HEADWATER_KERNEL=$from HEADWATER_QEMU_STATE=/tmp/ckr-$from; rm -f /tmp/ckr.disk; truncate -s 256M /tmp/ckr.disk
$Q start a -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=/tmp/ckr.disk -device virtio-blk-pci,drive=d
timeout 100 $Q exec a "bash /tmp/ck/modules.sh $from >/dev/null; bash /tmp/ck/dump.sh $v $mode $q" > /tmp/ckr-dump.txt 2>&1; grep -oE '"mode":"[a-z]*"|dump [0-9]+|.*Error.*' /tmp/ckr-dump.txt | tr '\n' ' '; $Q stop a
for k in "$@"; do export HEADWATER_KERNEL=$k HEADWATER_QEMU_STATE=/tmp/ckr-$k
for n in 1 2; do $Q start b$n -device vmgenid,guid=auto -drive if=none,id=d,format=raw,file=/tmp/ckr.disk,snapshot=on -device virtio-blk-pci,drive=d
timeout 100 $Q exec b$n "bash /tmp/ck/modules.sh $k > /dev/null; bash /tmp/ck/restore.sh $v; busybox cat /w/log; busybox dmesg | busybox tail -n 30 | busybox grep -i segf" > /tmp/ckr-$from-$k-$v-$mode-$q-$n.txt 2>&1;  $Q stop b$n; done
echo; echo "$from -> $k criu$v $mode $q: $(grep -hoE '^restore [0-9]+|"restored":.*|.*segfault.*|.*wc.*' /tmp/ckr-$from-$k-$v-$mode-$q-1.txt | tr '\n' ' ') repeats: $(python3 - /tmp/ckr-$from-$k-$v-$mode-$q-1.txt /tmp/ckr-$from-$k-$v-$mode-$q-2.txt <<'P'
import json,sys,re
def load(f):
    rows=[]; names=None
    for line in open(f,errors='replace'):
        m=re.match(r'HW \w+ (\{.*\})',line.strip())
        if not m: continue
        o=json.loads(m[1])
        if 'dumpable' in o: names=o['dumpable']['witnesses']
        if 'round' in o: rows.append([d.get('bytes') if isinstance(d,dict) else d for d in o['round']['draws']])
    return names,rows
n,a=load(sys.argv[1]); _,b=load(sys.argv[2])
out=[]
for i,w in enumerate(n or []):
    h=lambda rows:[x for r in rows if r[i] for x in ((str(r[i])[:16],str(r[i])[16:]) if isinstance(r[i],str) else (tuple(r[i][:8]),tuple(r[i][8:])))]
    s=set(h(b)); x=h(a); out.append(f"{w} {sum(y in s for y in x)//2 if x else '-'}/{len(x)//2}")
print(', '.join(out))
P
)"; done
