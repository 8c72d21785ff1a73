# Witness for PostgreSQL: shows which random functions of a backend repeat in copies of it.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the cluster.
#
# The backend is one process (`postgres --single`), in a new cluster of its own. It refuses to be
# root, so it is the user postgres where this is root.

set -eu

readonly WARM_UPS=5 DRAWS=8
readonly home=$HEADWATER_WITNESS_DIR

for directory in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin ${PATH//:/ }; do
    [[ -x $directory/postgres && -x $directory/initdb ]] && bin=$directory
done
[[ -n ${bin-} ]] || {
    echo "PostgreSQL's server is not installed" >&2
    exit 1
}
as=()
if [[ $EUID == 0 ]]; then
    id -u postgres >/dev/null || exit 1
    # The parent directory is root's alone: the right to search it, and no other right.
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups
        --inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
    mkdir "$home/cluster"
    chown postgres "$home/cluster"
fi
"${as[@]}" "$bin/initdb" -D "$home/cluster" -A trust -U postgres -N -E UTF8 --locale=C >&2
mkfifo "$home/in" "$home/out"
"${as[@]}" "$bin/postgres" --single -D "$home/cluster" -F -j -c shared_buffers=1MB \
    -c dynamic_shared_memory_type=mmap -c max_connections=4 -c huge_pages=off postgres \
    <"$home/in" >"$home/out" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || :' EXIT
exec 3>"$home/in" 4<"$home/out"

# The answer of a backend without a client: 	 1: name = "value"	(typeid = ...)
ask() {
    printf 'SELECT %s AS value;\n\n' "$1" >&3
    while read -r -t 30 line <&4; do
        if [[ $line =~ value\ =\ \"([^\"]*)\" ]]; then
            value=${BASH_REMATCH[1]}
            return
        fi
    done
    echo "the backend did not answer: ${line-}" >&2
    exit 1
}

names=()
queries=()
offer() {
    names+=("$1")
    queries+=("$2")
}
offer gen_random_uuid 'gen_random_uuid()'
# Two to a value: one has 48 bits in older releases.
offer random "random()::text || ' ' || random()::text"

for ((round = 0; round < WARM_UPS; round++)); do
    for query in "${queries[@]}"; do
        ask "$query"
    done
done

# Written under another name first, so that nobody reads half of it.
printf '%s\n' "$("$bin/postgres" --version)" >"$home/ready.tmp"
mv "$home/ready.tmp" "$home/ready"
until [[ -e $home/go ]]; do
    # Without `ready` the planter gave up, and nobody would ever say go.
    [[ -e $home/ready ]] || exit 0
    sleep 0.05
done

lines=
for ((round = 0; round < DRAWS; round++)); do
    for index in "${!queries[@]}"; do
        ask "${queries[index]}"
        lines+="postgresql/${names[index]}"$'\t'"$value"$'\n'
    done
done
printf '%s' "$lines" >"$home/draws.tmp"
mv "$home/draws.tmp" "$home/draws"
