# Witness for nginx: shows whether $request_id repeats in copies of a warm server.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the server's files.

set -eu

readonly WARM_UPS=5 DRAWS=8
readonly home=$HEADWATER_WITNESS_DIR

command -v nginx >/dev/null || {
    echo "nginx is not installed" >&2
    exit 1
}

# One process, so that each request meets the same generator. No master: it would start a new worker
# with a new generator, if the copy's worker ended.
start() {
    cat >"$home/nginx.conf" <<CONF
daemon off;
master_process off;
pid $home/nginx.pid;
error_log $home/error.log;
events { worker_connections 16; }
http {
    access_log off;
    client_body_temp_path $home/body;
    proxy_temp_path $home/proxy;
    fastcgi_temp_path $home/fastcgi;
    uwsgi_temp_path $home/uwsgi;
    scgi_temp_path $home/scgi;
    server {
        listen 127.0.0.1:$port;
        location / { return 200 "\$request_id\n"; }
    }
}
CONF
    nginx -p "$home" -c "$home/nginx.conf" -e "$home/error.log" >/dev/null 2>&1 &
    server=$!
}

# A connection for each request: one that is open at the copy would have to be copied too.
draw() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET / HTTP/1.0\r\n\r\n' >&3
    value=
    while read -r line <&3; do
        value=${line%$'\r'}
    done
    exec 3>&-
    [[ ${#value} == 32 ]]
}

trap 'kill "$server" 2>/dev/null || :' EXIT
for ((attempt = 0; attempt < 20; attempt++)); do
    port=$((20000 + SRANDOM % 10000))
    start
    # Another server may have the port; then this one ends at once.
    for ((look = 0; look < 50; look++)); do
        if ! kill -0 "$server" 2>/dev/null; then break; fi
        if draw 2>/dev/null; then break 2; fi
        sleep 0.1
    done
    kill "$server" 2>/dev/null || :
done
for ((round = 0; round < WARM_UPS; round++)); do
    draw
done

# Written under another name first, so that nobody reads half of it.
printf '%s\n' "$(nginx -v 2>&1 | sed 's/^nginx version: //')" >"$home/ready.tmp"
mv "$home/ready.tmp" "$home/ready"
until [[ -e $home/go ]]; do
    # Without `ready` the planter gave up, and nobody would ever say go.
    [[ -e $home/ready ]] || exit 0
    sleep 0.05
done

lines=
for ((round = 0; round < DRAWS; round++)); do
    draw
    lines+=$'nginx/request_id\t'"$value"$'\n'
done
printf '%s' "$lines" >"$home/draws.tmp"
mv "$home/draws.tmp" "$home/draws"
