#!/bin/sh
# Counts equal draws of one JVM that CRIU saved once and restored twice. Needs root.
#
#     cargo xtask test --only "Java in images of CRIU"     # builds the jar, fetches CRIU 4.1
#     sh fronts/outside/criu-java.sh JAVA go-on|quiesce auto|hedged|strict
#
# Copies on two CPUs draw from different pages: `taskset -c 0 sh ...` keeps both on one.
#
# CRIU names another CRIU than the lab's. The program that is saved is headwater.program.Restored.
set -eu
java=$1 way=$2 mode=$3
tools=${XDG_CACHE_HOME:-$HOME/.cache}/headwater/lab/tools/usr
lab="$tools/lib64/ld-linux-x86-64.so.2 --library-path $tools/lib/x86_64-linux-gnu $tools/sbin/criu"
criu=${CRIU:-$lab}
jar=$(ls "$PWD"/target/java/jar/headwater-*.jar | tail -1)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/images"
# Another directory than this one, which a restore would have to find as it was.
cd /
HEADWATER_MODE=$mode setsid "$java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData \
    -cp "$jar:${jar%/*}/test-classes" headwater.program.Restored "$place/go" "$way" 1000 \
    < /dev/null > "$place/log" 2>&1 &
until grep -q ready "$place/log"; do sleep 0.1; done
process=$(sed -n 's/^ready //p' "$place/log")
$criu dump --tree "$process" --images-dir "$place/images" -o dump.log -v2 > /dev/null
wait 2> /dev/null || true
cp "$place/log" "$place/before"
touch "$place/go"
for copy in 1 2; do
    # CRIU requires an open file to have its old length.
    cp "$place/before" "$place/log"
    unshare --pid --fork --mount-proc --kill-child $criu restore --images-dir "$place/images" \
        -o "restore-$copy.log" -v2 < /dev/null > /dev/null 2>&1 &
    until grep -q '^end' "$place/log"; do sleep 0.1; done
    sed '/^end/d; /^ready/d' "$place/log" | tail -1000 > "$place/$copy"
    kill -9 $!
    wait 2> /dev/null || true
done
# The first column is a generator with a state: equal lines show that both are copies.
awk -v way="$way" -v mode="$mode" '
    NR == FNR { states[FNR] = $1; seen[$2] = seen[$3] = 1; next }
    { copies += states[FNR] == $1; equal += ($2 in seen) + ($3 in seen) }
    END { printf "%s, %s: %d of %d draws equal; %d of %d states\n", way, mode, equal, 2 * FNR, copies, FNR }
' "$place/1" "$place/2"
