#!/usr/bin/env python3
"""Runs real programs and other projects' test cases against libheadwater and OpenSSL's module.

    fronts/outside/cases.py target/release [CASE...]

Each case names its expected answer first, as a regular expression of the whole output. A program that
is not installed is skipped. The exit status is 1 if any case fails. docs/packaging.md has the table of
one run, which --table prints.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "../c/include")
CNF = os.path.join(HERE, "../openssl/headwater-openssl.cnf")

arguments = [a for a in sys.argv[1:] if a != "--table"]
release = os.path.abspath(arguments[0])
wanted = arguments[1:]
work = tempfile.mkdtemp(prefix="headwater-outside-")
os.chmod(work, 0o755)
modules = os.path.join(work, "ossl-modules")
os.mkdir(modules)
shutil.copy(os.path.join(release, "libheadwater_openssl.so"), os.path.join(modules, "headwater.so"))
text = open(CNF).read()
found = text.replace("#module = /usr/local/lib/ossl-modules", "module = " + modules)
wrong = text.replace("#module = /usr/local/lib/ossl-modules", "module = /nonexistent")
for name, content in [("found.cnf", found), ("wrong.cnf", wrong)]:
    # `req` needs a section of its own.
    with open(os.path.join(work, name), "w") as file:
        file.write("[req]\ndistinguished_name = dn\n[dn]\n" + content)

for name in ["libheadwater.so", "libheadwater.so.0"]:
    os.symlink(os.path.join(release, "libheadwater.so"), os.path.join(work, name))
BUILDS = [
    ("shared", ["gcc", "-O2"], ["-L" + work, "-lheadwater", "-Wl,-rpath," + work]),
    ("static", ["gcc", "-O2", "-static"], [os.path.join(release, "libheadwater.a")]),
    ("static-pie", ["gcc", "-O2", "-static-pie", "-fPIE"], [os.path.join(release, "libheadwater.a")]),
    ("clang", ["clang", "-O2"], [os.path.join(release, "libheadwater.a")]),
    ("asan", ["gcc", "-g", "-fsanitize=address,undefined"], ["-L" + work, "-lheadwater", "-Wl,-rpath," + work]),
]
programs = {}
for build, compiler, link in BUILDS:
    if shutil.which(compiler[0]):
        program = os.path.join(work, "arc4random-" + build)
        source = os.path.join(HERE, "arc4random.c")
        done = subprocess.run(compiler + ["-Wall", "-I" + HEADER, "-o", program, source] + link + ["-pthread"])
        if done.returncode == 0:
            programs[build] = program

OK = "as expected\n"
HEX16 = "[0-9a-f]{32}\n"
HW = {"OPENSSL_CONF": os.path.join(work, "found.cnf")}
BAD = {"OPENSSL_CONF": os.path.join(work, "wrong.cnf")}
PY = "import ctypes; l = ctypes.CDLL('%s/libheadwater.so.0'); b = ctypes.create_string_buffer(32); " % work
NGINX = """
daemon off; master_process off; pid %(w)s/nginx.pid; error_log %(w)s/nginx.err;
events {}
http { access_log off; server { listen 127.0.0.1:18444 ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate %(w)s/c.pem;
ssl_certificate_key %(w)s/k.pem; location / { return 200 "$request_id\\n"; } } }
""" % {"w": work}
with open(os.path.join(work, "nginx.conf"), "w") as file:
    file.write(NGINX)
SERVE = (
    "cd %(w)s; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=localhost "
    "-keyout k.pem -out c.pem 2>/dev/null; nginx -p %(w)s -c %(w)s/nginx.conf 2>>start.err & n=$!; "
    "for i in $(seq 100); do curl -ks https://127.0.0.1:18444/ >/dev/null && break; sleep 0.1; done; "
) % {"w": work}

# Name, expected answer (a regular expression), needed program, environment, shell command.
CASES = []


def case(name, expected, needs, environment, command):
    CASES.append((name, expected, needs, environment, command))


for what in [
    "forks before the first draw", "forks after a draw", "grandchildren", "threads", "statistics",
    "uniform", "errors", "signals", "raw clone and vfork",
]:
    case("arc4random tests: " + what, OK, "gcc", {}, "'%s' '%s'" % (programs.get("shared"), what))
for build in ["static", "static-pie", "clang", "asan"]:
    if build in programs:
        for what in ["forks after a draw", "errors"]:
            case("arc4random tests, %s: %s" % (build, what), OK, "gcc", {}, "'%s' '%s'" % (programs[build], what))
for mode in ["hedged", "strict", "kernel"]:
    case("arc4random tests, mode %s: forks" % mode, OK, "gcc", {"HEADWATER_MODE": mode},
         "'%s' 'forks after a draw'" % programs.get("shared"))
case("valgrind: errors", OK, "valgrind", {}, "valgrind -q --error-exitcode=9 '%s' errors" % programs.get("shared"))
case("gdb: a breakpoint in a draw", "(?s).*as expected.*exited normally.*", "gdb", {"HEADWATER_NO_RSEQ": "1"},
     "gdb -batch -ex 'set breakpoint pending on' -ex 'break headwater_getrandom if len == 7' -ex run -ex continue "
     "--args '%s' errors 2>/dev/null" % programs.get("shared"))
case("no /proc, no /sys", OK, "unshare", {},
     "unshare -m sh -c 'mount -t tmpfs none /sys && mount -t tmpfs none /proc && exec \"$0\" errors' '%s'"
     % programs.get("static"))
case("2,000 variables in the environment", OK, "env", {},
     "env $(seq -f 'V%%.0f=x' 2000) '%s' errors" % programs.get("shared"))
case("Python ctypes: fill", "0 True\n", "python3", {}, "python3 -c \"%sprint(l.headwater_fill(b, 32), any(b.raw))\"" % PY)
case("Python ctypes: 10,000 dlopen and dlclose", "done\n", "python3", {},
     "python3 -c \"import ctypes, _ctypes\nfor i in range(10000):\n l = ctypes.CDLL('%s/libheadwater.so.0'); "
     "l.headwater_arc4random(); _ctypes.dlclose(l._handle)\nprint('done')\"" % work)
case("Python multiprocessing: 200 draws in 8 forked workers", "200\n", "python3", {},
     "python3 -c \"import multiprocessing, ctypes\nl = ctypes.CDLL('%s/libheadwater.so.0')\ndef f(i):\n"
     " b = ctypes.create_string_buffer(16); l.headwater_fill(b, 16); return b.raw\nl.headwater_arc4random()\n"
     "print(len(set(multiprocessing.get_context('fork').Pool(8).map(f, range(200)))))\"" % work)
case("openssl rand", HEX16, "openssl", HW, "openssl rand -hex 16")
case("openssl rand: 1,000,003 bytes", "1000003\n", "openssl", HW, "openssl rand 1000003 | wc -c")
case("openssl list", "(HEADWATER ){3}\n", "openssl", HW,
     "openssl list -random-instances | grep -o 'HEADWATER' | tr '\\n' ' '; echo")
case("openssl speed rand", "(?s).*rand .*k\n", "openssl", HW, "openssl speed -seconds 1 -bytes 16 rand 2>/dev/null")
case("openssl genpkey, two RSA keys", "2\n", "openssl", HW,
     "for i in 1 2; do openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 2>/dev/null | sha256sum; done | sort -u | wc -l")
case("openssl dgst: two ECDSA signatures, both valid", "Verified OK\nVerified OK\n2\n", "openssl", HW,
     "cd %s; openssl ecparam -name prime256v1 -genkey -noout -out e.pem; openssl ec -in e.pem -pubout -out p.pem 2>/dev/null; "
     "for i in 1 2; do openssl dgst -sha256 -sign e.pem -out s$i e.pem; openssl dgst -sha256 -verify p.pem -signature s$i e.pem; "
     "done; cat s1 s2 | split -b 60 - part; sha256sum s1 s2 | cut -c1-64 | sort -u | wc -l" % work)
case("openssl enc: salts differ", "2\n", "openssl", HW,
     "for i in 1 2; do echo x | openssl enc -aes-256-cbc -pbkdf2 -pass pass:p | sha256sum; done | sort -u | wc -l")
case("openssl passwd: salts differ", "2\n", "openssl", HW,
     "for i in 1 2; do openssl passwd -6 word; done | sort -u | wc -l")
case("openssl prime", "[0-9]+\n", "openssl", HW, "openssl prime -generate -bits 256")
case("openssl pkcs12", "MAC: .*\n", "openssl", HW,
     "cd %s; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=a -keyout a.key -out a.crt 2>/dev/null; "
     "openssl pkcs12 -export -inkey a.key -in a.crt -passout pass:p -out a.p12; "
     "openssl pkcs12 -in a.p12 -passin pass:p -info -noout 2>&1 | grep MAC:" % work)
case("openssl with fips=yes", "(?s).*unable to fetch drbg.*", "openssl",
     HW, "printf '[openssl_init]\\nalg_section = e\\n[e]\\ndefault_properties = fips=yes\\n' | cat %s/found.cnf - > %s/fips.cnf; "
     "OPENSSL_CONF=%s/fips.cnf openssl rand -hex 16 2>&1" % (work, work, work))
case("Python ssl.RAND_bytes", "16 1\n", "python3", HW,
     "python3 -c 'import ssl; print(len(ssl.RAND_bytes(16)), int(ssl.RAND_status()))'")
case("Python multiprocessing with ssl: 200 draws in 8 workers", "200\n", "python3", HW,
     "python3 -c \"import ssl, multiprocessing\ndef f(i): return ssl.RAND_bytes(16)\nssl.RAND_bytes(1)\n"
     "print(len(set(multiprocessing.get_context('fork').Pool(8).map(f, range(200)))))\"")
case("Node randomBytes, randomUUID, a key", "16 36 private\n", "node", HW,
     "node -e 'const c=require(\"crypto\"); console.log(c.randomBytes(16).length, c.randomUUID().length, "
     "c.generateKeyPairSync(\"ec\",{namedCurve:\"P-256\"}).privateKey.type)'")
case("nginx: $request_id over TLS, 20 requests by curl", "20\n", "nginx", HW,
     SERVE + "for i in $(seq 20); do curl -ks https://127.0.0.1:18444/; done | grep -cE '^[0-9a-f]{32}$'; kill $n; wait $n 2>/dev/null || true")
case("nginx: all request ids differ", "20\n", "nginx", HW,
     SERVE + "for i in $(seq 20); do curl -ks https://127.0.0.1:18444/; done | sort -u | wc -l; kill $n; wait $n 2>/dev/null || true")
case("curl: TLS 1.2 and 1.3 to nginx", "200 200 \n", "nginx", HW,
     SERVE + "for v in '--tlsv1.2 --tls-max 1.2' --tlsv1.3; do curl -ks $v -o /dev/null -w '%{http_code} ' https://127.0.0.1:18444/; done; echo; kill $n; wait $n 2>/dev/null || true")
case("ssh-keygen: RSA, ECDSA and Ed25519", "3\n", "ssh-keygen", HW,
     "cd %s; rm -f h_*; for t in rsa ecdsa ed25519; do ssh-keygen -q -t $t -N '' -f h_$t; done; ls h_*.pub | wc -l" % work)
case("sshd -t with host keys", "\n?", "sshd", HW,
     "mkdir -p /run/sshd; cd %s; ls h_rsa >/dev/null 2>&1 || ssh-keygen -q -t rsa -N '' -f h_rsa; $(command -v sshd || echo /usr/sbin/sshd) -t -h %s/h_rsa -f /dev/null" % (work, work))
case("PostgreSQL: initdb, and 1,000 uuids that differ", "1000\n", "/usr/lib/postgresql/15/bin/initdb", HW,
     "d=%s/pg; mkdir -p $d; chown postgres $d; echo word > $d.word; b=/usr/lib/postgresql/15/bin; "
     "setpriv --reuid postgres --regid postgres --clear-groups $b/initdb -D $d -A scram-sha-256 --pwfile=$d.word >/dev/null 2>$d.err || cat $d.err; "
     "echo 'select count(distinct gen_random_uuid()) from generate_series(1, 1000)' | setpriv --reuid postgres --regid postgres "
     "--clear-groups $b/postgres --single -D $d postgres 2>/dev/null | grep -oE '\"[0-9]+\"' | tr -d '\"'" % work)
case("Ruby OpenSSL::Random", "16\n", "ruby", HW, "ruby -ropenssl -e 'puts OpenSSL::Random.random_bytes(16).length'")
case("PHP openssl_random_pseudo_bytes", "16", "php", HW, "php -r 'echo strlen(openssl_random_pseudo_bytes(16));'")
# A path without a module: no program falls back to another generator.
case("wrong path: openssl", "(?s).*unable to fetch drbg.*", "openssl", BAD, "openssl rand -hex 16 2>&1")
case("wrong path: Python", "(?s).*ssl.SSLError: unsupported.*", "python3", BAD,
     "python3 -c 'import ssl; print(ssl.RAND_bytes(16))' 2>&1")
case("wrong path: Node", "(?s).*Assertion failed: crypto::CSPRNG.*", "node", BAD,
     "node -e 'console.log(require(\"crypto\").randomBytes(16))' 2>&1")
case("wrong path: nginx", "(?s).*SSL_CTX_new\\(\\) failed.*unable to fetch drbg.*", "nginx", BAD,
     "cd %(w)s; ls c.pem >/dev/null; timeout 5 nginx -p %(w)s -c %(w)s/nginx.conf 2>&1; cat nginx.err 2>/dev/null" % {"w": work})
case("wrong path: sshd", "(?s).*PRNG is not seeded.*", "sshd", BAD, "$(command -v sshd || echo /usr/sbin/sshd) -t -f /dev/null 2>&1")
case("wrong path: Ruby", "(?s).*unable to fetch drbg.*", "ruby", BAD,
     "ruby -ropenssl -e 'p OpenSSL::Random.random_bytes(16)' 2>&1")
case("wrong path: PHP", "(?s).*Error reading from source device.*", "php", BAD,
     "php -r 'var_dump(openssl_random_pseudo_bytes(16));' 2>&1")

os.environ["PATH"] += ":/usr/sbin:/sbin"
failed = 0
number = 0
for name, expected, needs, environment, command in CASES:
    number += 1
    if wanted and str(number) not in wanted:
        continue
    if not (shutil.which(needs) or os.path.exists(needs)):
        print("%2d skipped: %s: no %s" % (number, name, needs))
        continue
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "HEADWATER_"))}
    try:
        done = subprocess.run(["bash", "-c", command], env={**clean, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300, cwd=work)
        out = done.stdout.decode(errors="replace")
        good = re.fullmatch(expected, out) is not None
        err = done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        out, good, err = "timeout", False, ""
    if "--table" in sys.argv:
        print("| %d | %s | `%s` | %s |" % (number, name, expected.strip().replace("\n", " ").replace("|", "/")[:60], "yes" if good else "**no**"))
    else:
        print("%2d %s: %s" % (number, "ok" if good else "FAILED", name))
    if not good:
        failed += 1
        sys.stderr.write("   expected %r, got %r %r\n" % (expected, out[-400:], err[-300:]))
    sys.stdout.flush()
shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failed else 0)
