#!/usr/bin/env python3
"""Measures unmodified programs, stock and under `headwater run`, round by round.

    fronts/outside/programs.py target/release [CASE...] [--rounds N]

Each case is a program that measures itself and prints seconds per operation, or a command that is
timed as a whole. A round runs both forms one after the other, so that a slow phase of the machine
meets both. The table has the least time of each form and the median of the rounds' ratios. A program
that is not installed is skipped. The exit status is 1 if a program fails.
"""

import argparse
import os
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

options = argparse.ArgumentParser()
options.add_argument("release")
options.add_argument("case", nargs="*")
options.add_argument("--rounds", type=int, default=7)
options = options.parse_args()
release = os.path.abspath(options.release)
headwater = os.path.join(release, "headwater")
work = tempfile.mkdtemp(prefix="headwater-programs-")
os.chmod(work, 0o755)
modules = os.path.join(work, "ossl-modules")
os.mkdir(modules)
shutil.copy(os.path.join(release, "libheadwater_openssl.so"), os.path.join(modules, "headwater.so"))
# Where a server that gives up its identity can read it too.
shim = shutil.copy(os.path.join(release, "libheadwater_preload.so"), work)
environment = dict(os.environ, OPENSSL_MODULES=modules, HEADWATER_PRELOAD=shim)
environment.pop("LD_PRELOAD", None)

RUN = [headwater, "run", "--"]
OPENSSL = [headwater, "run", "--openssl", "--"]
rows = []


def output(command, **more):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compare(name, front, time_of):
    """Interleaves both forms. `time_of` returns the seconds of one run of a command prefix."""
    if options.case and not any(part in name for part in options.case):
        return
    stock, ours = [], []
    for _ in range(options.rounds):
        stock.append(time_of([]))
        ours.append(time_of(front))
    ratio = statistics.median(a / b for a, b in zip(stock, ours))
    rows.append((name, min(stock), min(ours), ratio))
    print(f"{name:58} {words(min(stock)):>10} {words(min(ours)):>10} {ratio:6.2f}x", flush=True)


def words(seconds):
    for unit, size in [("s", 1), ("ms", 1e-3), ("us", 1e-6)]:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def printed(command, **more):
    """The time of a run is the last number that the program prints: seconds per operation."""
    return lambda front: float(output(front + command, **more).split()[-1])


def whole(command, times=1, **more):
    def run(front):
        begin = time.perf_counter()
        for _ in range(times):
            output(front + command, **more)
        return (time.perf_counter() - begin) / times

    return run


def is_there(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    for program in missing:
        print(f"skipped: {program} is not installed")
    return not missing


def python():
    if not is_there("/usr/bin/python3"):
        return
    for call, setup, times in [
        ("os.urandom(16)", "import os", 200000),
        ("secrets.token_bytes(16)", "import secrets", 200000),
        ("secrets.token_hex(16)", "import secrets", 200000),
        ("secrets.randbelow(1000)", "import secrets", 100000),
        ("random.SystemRandom().random()", "import random; r = random.SystemRandom()", 100000),
        ("uuid.uuid4()", "import uuid", 100000),
        ("os.urandom(1 << 20)", "import os", 30),
    ]:
        body = call.replace("random.SystemRandom()", "r")
        program = f"import timeit; print(min(timeit.repeat({body!r}, {setup!r}, number={times}, repeat=3)) / {times})"
        compare("CPython 3.11, " + call, RUN, printed(["/usr/bin/python3", "-c", program]))


def python_of_debian_13():
    tree = os.path.join(release, "../openssl-3.5")
    library = os.path.join(tree, "usr/lib/x86_64-linux-gnu")
    linker = os.path.join(tree, "usr/lib64/ld-linux-x86-64.so.2")
    interpreter = os.path.join(tree, "usr/bin/python3.13")
    if not is_there(linker, interpreter):
        return
    for call, times in [("os.urandom(16)", 200000), ("os.urandom(1 << 20)", 30)]:
        program = (
            f"import os, time\ndef loop():\n t = time.perf_counter()\n for _ in range({times}): {call}\n"
            f" return (time.perf_counter() - t) / {times}\nprint(min(loop() for _ in range(3)))"
        )

        def run(front, program=program):
            # LD_PRELOAD would also reach the dynamic linker of this system.
            preload = ["--preload", shim] if front else []
            return float(output([linker, "--library-path", library, *preload, interpreter, "-c", program]).split()[-1])

        environment["PYTHONHOME"] = os.path.join(tree, "usr")
        compare("CPython 3.13 on glibc 2.41, " + call, RUN, run)
        del environment["PYTHONHOME"]


def php():
    if not is_there("php"):
        return
    for call in ["random_bytes(16)", "random_int(0, 99)"]:
        loop = f"$t = hrtime(true); for ($i = 0; $i < 500000; $i++) {call}; echo (hrtime(true) - $t) / 5e5 / 1e9;"
        compare("PHP 8.2, " + call, RUN, printed(["php", "-r", loop]))


def ruby():
    if not is_there("ruby"):
        return
    for call in ["Random.urandom(16)", "SecureRandom.random_bytes(16)", "SecureRandom.hex(16)", "SecureRandom.uuid"]:
        loop = (
            "require 'securerandom'; c = Process::CLOCK_MONOTONIC; t = Process.clock_gettime(c);"
            f"200_000.times {{ {call} }}; puts (Process.clock_gettime(c) - t) / 2e5"
        )
        compare("Ruby 3.1, " + call, RUN, printed(["ruby", "-e", loop]))


def shells():
    if is_there("perl"):
        loop = (
            "use Time::HiRes 'time'; my $b = 'x' x 16; my $t = time;"
            "syscall(318, $b, 16, 0) for 1 .. 300000; print ((time - $t) / 3e5)"
        )
        compare("Perl, syscall(318, ...), 16 bytes", RUN, printed(["perl", "-e", loop]))
    script = "for ((i = 0; i < 20000; i++)); do x=$SRANDOM; done"
    compare("bash, $SRANDOM 20,000 times", RUN, whole(["bash", "-c", script]))


def node():
    if not is_there("node"):
        return
    for call, setup in [
        ("crypto.randomBytes(16)", ""),
        ("crypto.randomFillSync(buffer)", "const buffer = Buffer.alloc(16);"),
        ("crypto.randomUUID()", ""),
    ]:
        loop = (
            f"const crypto = require('crypto'); {setup} for (let i = 0; i < 50000; i++) {call};"
            f"const t = process.hrtime.bigint(); for (let i = 0; i < 300000; i++) {call};"
            "console.log(Number(process.hrtime.bigint() - t) / 3e5 / 1e9)"
        )
        compare("Node 20, " + call + ", --openssl", OPENSSL, printed(["node", "-e", loop]))


def tools():
    for name, command, times in [
        ("true (the price of a start)", ["/bin/true"], 200),
        ("uuidgen", ["uuidgen"], 100),
        ("mktemp -u", ["mktemp", "-u"], 100),
        ("openssl rand -hex 32", ["openssl", "rand", "-hex", "32"], 20),
        ("ssh-keygen -t ed25519", None, 10),
    ]:
        if command is None:
            path = os.path.join(work, "key")

            def keygen(front, path=path):
                begin = time.perf_counter()
                for index in range(10):
                    output(front + ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{path}-{time.monotonic_ns()}"])
                return (time.perf_counter() - begin) / 10

            if is_there("ssh-keygen"):
                compare(name, RUN, keygen)
        elif is_there(command[0]):
            compare(name + ", started by posix_spawn" if "true" in name else name, RUN_LIGHT, spawned(command, times))
    if is_there("gpg"):

        def gpg(front):
            home = tempfile.mkdtemp(dir=work)
            os.chmod(home, 0o700)
            begin = time.perf_counter()
            line = "--batch --passphrase  --quick-generate-key a@example.org ed25519 sign 1d".split(" ")
            output(front + ["gpg", "--homedir", home, "--quiet"] + line)
            return time.perf_counter() - begin

        compare("gpg, an ed25519 key", RUN, gpg)


# The command itself costs a start too, so short programs are started with the variable alone.
RUN_LIGHT = ["LD_PRELOAD"]


def spawned(command, times):
    path = shutil.which(command[0])

    def run(front):
        variables = dict(environment, LD_PRELOAD=shim) if front else environment
        null = os.open("/dev/null", os.O_WRONLY)
        begin = time.perf_counter()
        for _ in range(times):
            id = os.posix_spawn(path, command, variables, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
            if os.waitpid(id, 0)[1] != 0:
                raise RuntimeError(f"{command} failed")
        os.close(null)
        return (time.perf_counter() - begin) / times

    return run


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the server does not listen")


def serve(command, port, **more):
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **more
    )
    wait_for(port)
    return server


def stop(server):
    os.killpg(server.pid, signal.SIGTERM)
    server.wait()


def postgresql():
    found = sorted(os.path.join("/usr/lib/postgresql", name, "bin") for name in os.listdir("/usr/lib/postgresql"))
    bin = found[-1]
    user = pwd.getpwnam("postgres")
    home = os.path.join(work, "postgres")
    os.mkdir(home)
    os.chown(home, user.pw_uid, user.pw_gid)
    identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    password = os.path.join(home, "password")
    with open(password, "w") as file:
        file.write("secret\n")
    os.chown(password, user.pw_uid, user.pw_gid)
    data = os.path.join(home, "data")
    output(
        [f"{bin}/initdb", "-D", data, "-A", "scram-sha-256", "-U", "postgres", "--pwfile", password, "--no-sync"],
        **identity,
    )
    port = free_port()
    environment.update(PGPASSWORD="secret")
    where = ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]

    def query(text):
        def run(front):
            settings = f"listen_addresses=127.0.0.1 port={port} unix_socket_directories= fsync=off".split()
            flags = [part for setting in settings for part in ("-c", setting)]
            server = serve(front + [f"{bin}/postgres", "-D", data] + flags, port, **identity)
            try:
                for _ in range(100):
                    if subprocess.run([f"{bin}/pg_isready", *where], env=environment, capture_output=True).returncode == 0:
                        break
                    time.sleep(0.05)
                if text is None:
                    said = output([f"{bin}/pgbench", *where, "-n", "-C", "-t", "200", "-f", "/dev/stdin", "postgres"], input="SELECT 1;")
                    return float(re.search(r"latency average = ([\d.]+)", said).group(1)) / 1e3
                said = output(["psql", *where, "-qAt", "postgres"], input="\\timing on\n" + text)
                return float(re.findall(r"Time: ([\d.]+) ms", said)[-1]) / 1e3
            finally:
                stop(server)

        return run

    scan = "SELECT count(gen_random_uuid()) FROM generate_series(1, 1000000);\n" * 2
    insert = (
        "DROP TABLE IF EXISTS t;\nCREATE TABLE t (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int);\n"
        "INSERT INTO t (n) SELECT generate_series(1, 200000);\n"
    )
    for name, text in [("gen_random_uuid(), 10^6 rows", scan), ("INSERT of 200,000 rows with such a key", insert), ("SCRAM logins by pgbench -C", None)]:
        compare(f"PostgreSQL 15, {name}, --openssl", OPENSSL, query(text))
    compare("PostgreSQL 15, gen_random_uuid(), 10^6 rows, preload alone", RUN, query(scan))


def tls_servers():
    key, cert = os.path.join(work, "key.pem"), os.path.join(work, "cert.pem")
    line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=localhost"
    output(["openssl", *line.split(), "-keyout", key, "-out", cert])
    os.chmod(key, 0o644)

    def handshakes(command, port):
        def run(front):
            server = serve(front + command, port)
            try:
                line = f"s_time -new -time 2 -connect 127.0.0.1:{port} -CAfile {cert}"
                said = subprocess.run(["openssl", *line.split()], env=environment, capture_output=True, text=True).stdout
                count, seconds = re.search(r"(\d+) connections in (\d+) real seconds", said).groups()
                return int(seconds) / int(count)
            finally:
                stop(server)

        return run

    if is_there("nginx"):
        port = free_port()
        text = f"""
            pid {work}/nginx.pid; error_log /dev/null; worker_processes 1; events {{}}
            http {{ access_log off; server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {cert};
            ssl_certificate_key {key}; return 200 "x"; }} }}
        """
        configuration = os.path.join(work, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(text)
        command = ["nginx", "-c", configuration, "-g", "daemon off;"]
        compare("nginx, TLS handshakes, --openssl", OPENSSL, handshakes(command, port))
    if is_there("redis-server"):
        port = free_port()
        line = f"--port 0 --tls-port {port} --tls-cert-file {cert} --tls-key-file {key} --tls-ca-cert-file {cert}"
        command = ["redis-server", *line.split(), "--tls-auth-clients", "no", "--save", ""]
        compare("redis, TLS handshakes, --openssl", OPENSSL, handshakes(command, port))


def other_servers():
    if is_there("memcached"):
        port = free_port()

        def sets(front):
            server = serve(front + ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port)], port)
            try:
                with socket.create_connection(("127.0.0.1", port)) as client:
                    begin = time.perf_counter()
                    for index in range(5000):
                        client.sendall(b"set k%d 0 0 1\r\nx\r\n" % index)
                        if client.recv(100) != b"STORED\r\n":
                            raise RuntimeError("memcached did not store")
                    return (time.perf_counter() - begin) / 5000
            finally:
                stop(server)

        compare("memcached, a set", RUN, sets)
    if is_there("unbound", "drill"):
        port = free_port()
        configuration = os.path.join(work, "unbound.conf")
        with open(configuration, "w") as file:
            file.write(
                f"server:\n interface: 127.0.0.1@{port}\n do-daemonize: no\n use-syslog: no\n username: \"\"\n chroot: \"\"\n"
                f" pidfile: \"\"\n directory: \"{work}\"\n local-zone: \"example.org.\" static\n"
                " local-data: \"a.example.org. A 192.0.2.1\"\n"
            )

        def queries(front):
            server = serve(front + ["unbound", "-d", "-c", configuration], port)
            try:
                begin = time.perf_counter()
                for _ in range(50):
                    if "192.0.2.1" not in output(["drill", "-p", str(port), "a.example.org", "@127.0.0.1"]):
                        raise RuntimeError("unbound did not answer")
                return (time.perf_counter() - begin) / 50
            finally:
                stop(server)

        compare("unbound, a query of a local zone (with the client's start)", RUN, queries)


failed = False
try:
    print(f"{'program':58} {'stock':>10} {'headwater':>10}   ratio")
    groups = [python, python_of_debian_13, php, ruby, shells, node, tools, postgresql, tls_servers, other_servers]
    for group in groups:
        try:
            group()
        except (OSError, RuntimeError, AttributeError) as error:
            print(f"FAILED: {group.__name__}: {error}")
            failed = True
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failed else 0)
