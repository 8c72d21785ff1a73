# Witness for Bash: shows which random sources repeat in copies of a warm shell.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.

set -eu

readonly WARM_UPS=5 DRAWS=8
readonly home=$HEADWATER_WITNESS_DIR

fail() {
    printf 'bash witness: line %s failed\n' "$1" >&2
    exit 1
}
trap 'fail $LINENO' ERR

# Each function leaves its value in `value` and never in a $(...): a subshell seeds RANDOM anew, and
# what it prints is not what the shell itself would draw.

# 15 bits at a time, so six make a value that cannot be equal by accident.
draw_RANDOM() {
    printf -v value '%s-' $RANDOM $RANDOM $RANDOM $RANDOM $RANDOM $RANDOM
}

draw_SRANDOM() {
    printf -v value '%s-%s' "$SRANDOM" "$SRANDOM"
}

draw_uuid() {
    read -r value </proc/sys/kernel/random/uuid
}

# Child processes: they start after the copy and keep nothing. The file goes at once: a name still
# taken makes the next copy try another one, and that retry would hide a repeat.
draw_mktemp() {
    value=$(mktemp "$home/scratch/XXXXXXXXXX")
    rm "$value"
    value=${value##*/}
}

draw_shuf() {
    value=$(shuf -e {1..20})
    value=${value//$'\n'/-}
}

# Not its parents: they are gone only if the planting was removed, and then it must stay so.
mkdir "$home/scratch"
skipped=
# The kernel's sources first: only its first draws are sure to be the same in copied machines.
sources=(uuid)
if [[ -n ${SRANDOM-} ]]; then
    sources+=(SRANDOM)
else
    skipped+=$'skipped\tbash/SRANDOM\tneeds Bash 5.1\n'
fi
for tool in mktemp shuf; do
    if command -v "$tool" >/dev/null; then
        sources+=("$tool")
    else
        skipped+=$'skipped\tbash/'"$tool"$'\tnot installed\n'
    fi
done
sources+=(RANDOM)

for ((round = 0; round < WARM_UPS; round++)); do
    for source in "${sources[@]}"; do
        "draw_$source"
    done
done

# Written under another name first, so that nobody reads half of it.
printf 'Bash %s\n%s' "${BASH_VERSION%%(*}" "$skipped" >"$home/ready.tmp"
mv "$home/ready.tmp" "$home/ready"
until [[ -e $home/go ]]; do
    # Without `ready` the planter gave up, and nobody would ever say go.
    [[ -e $home/ready ]] || exit 0
    sleep 0.05
done

lines=
for ((round = 0; round < DRAWS; round++)); do
    for source in "${sources[@]}"; do
        "draw_$source"
        lines+="bash/$source"$'\t'"$value"$'\n'
    done
done
printf '%s' "$lines" >"$home/draws.tmp"
mv "$home/draws.tmp" "$home/draws"
