#!/bin/sh
# Uses the artefacts of a release as their users do: unpacks, installs, compiles, draws.
#
#   tools/release/packages/archives.sh DIST [WORK]
#
# DIST is the directory that `cargo xtask release` wrote, and WORK an empty directory, by default a
# temporary one. Needs man, gcc, pkg-config, CMake, Python with venv, a JDK and skopeo. chroot.sh does
# the same for Debian's packages.
set -eu
dist=$(cd "$1" && pwd)
work=${2:-$(mktemp -d)}
cpu=$(uname -m)
cd "$work"
step() { echo "== $*"; }
# one PATTERN: the only file of DIST with such a name. Several are of several releases.
one() {
    # shellcheck disable=SC2086 # the argument is a pattern
    set -- "$dist"/$1
    if [ $# -ne 1 ] || [ ! -f "$1" ]; then
        echo "not one file: $*" >&2
        exit 1
    fi
    echo "$1"
}

step 'the sums'
(cd "$dist" && sha256sum --quiet --check SHA256SUMS && wc -l < SHA256SUMS)

step 'the static command'
install -m 755 "$(one "headwater-*-linux-$cpu")" headwater
./headwater --version
./headwater status
# 1 is a finding, and 4 a check that could not be made.
status=0 && ./headwater doctor > doctor.txt || status=$?
tail -n 2 doctor.txt
case $status in 0 | 1 | 4) echo "doctor: status $status" ;; *) exit 1 ;; esac

step 'the command for glibc'
mkdir command
tar -xzf "$(one 'headwater-*-linux-gnu.tar.gz')" -C command --strip-components=1
command/bin/headwater uuid
man --warnings -l command/share/man/man1/headwater-doctor.1 > page.txt && head -n 1 page.txt

step 'the C library: the first program of its page, by three build systems'
mkdir prefix
tar -xzf "$(one 'libheadwater-*.tar.gz')" -C prefix --strip-components=1
# shellcheck disable=SC2016 # the fence of a program in Markdown
sed -n '/^```c$/,/^```$/{/^```/d;p;}; /^}$/q' prefix/share/doc/headwater/c.md > program.c
grep -q headwater_fill program.c
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig" LD_LIBRARY_PATH="$work/prefix/lib"
# shellcheck disable=SC2046 # the output is several words
gcc -Wall -Werror -o by-pkg-config program.c $(pkg-config --cflags --libs headwater)
gcc -Wall -Werror -static -I prefix/include -o by-hand program.c prefix/lib/libheadwater.a
find=$(grep -o 'find_package([^)]*)' prefix/share/doc/headwater/c.md | head -n 1)
cat > CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(program C)
$find
add_executable(by-cmake program.c)
target_link_libraries(by-cmake headwater::headwater)
END
cmake -DCMAKE_PREFIX_PATH="$work/prefix" -B cmake > cmake.log
cmake --build cmake >> cmake.log
for program in ./by-pkg-config ./by-hand cmake/by-cmake; do
    "$program" && echo "$program: drew"
done
unset LD_LIBRARY_PATH

step "OpenSSL's module"
OPENSSL_MODULES="$work/prefix/lib/ossl-modules" openssl list -provider headwater -providers |
    grep 'version\|name'

step 'the wheel'
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-index \
    "$(one "headwater-*manylinux*_$cpu.whl")"
python/bin/python - <<'END'
import importlib.metadata
import headwater

print(headwater.token_hex(16), headwater.uuid4())
files = importlib.metadata.files("headwater")
print(*sorted(file.name for file in files if "licenses" in str(file)))
END

step 'the jar'
jar=$(one 'headwater-*.jar')
java -jar "$jar" version
java -jar "$jar" uuid
cat > Draw.java <<'END'
public class Draw {
    public static void main(String[] arguments) {
        java.security.SecureRandom random = new java.security.SecureRandom();
        System.out.println(random.getProvider().getName() + " " + random.nextInt());
    }
}
END
java --enable-native-access=ALL-UNNAMED -javaagent:"$jar" Draw.java | tee draw.txt
grep -q '^Headwater ' draw.txt

step 'the image'
skopeo inspect --format '{{.Architecture}} {{.Labels}}' "oci-archive:$(one '*-oci-amd64.tar')"
