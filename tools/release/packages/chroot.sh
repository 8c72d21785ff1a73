#!/bin/sh
# Installs, uses, upgrades, removes and purges the Debian packages of a directory in a clean chroot.
#
#   tools/release/packages/chroot.sh SUITE DIST CACHE
#
# SUITE is bookworm or trixie, DIST has the .deb files, and CACHE keeps a chroot of debootstrap with
# the compilers that the tests use. Needs root and debootstrap. No file may differ between the moment
# before the installation and the moment after the purge, but for logs and caches of the system.
set -eu
suite=$1 dist=$2 cache=$3
here=$(cd "$(dirname "$0")/../../.." && pwd)
arch=$(dpkg --print-architecture)
clean=$cache/$suite

# What the tests use is there before the first listing, so that the listings show headwater alone.
tools="cmake gcc libc6-dev make man-db openssl pkgconf python3-minimal systemd"

root=
mounted() {
    root=$1
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
    mount --bind /dev "$root/dev"
}
unmounted() {
    umount -R "$root/proc" "$root/sys" "$root/dev" 2> /dev/null || :
}
leave() {
    unmounted
    # Never through a mount that is still there.
    case $root in
    */"$suite".*) mountpoint -q "$root/dev" || rm -rf --one-file-system "$root" ;;
    esac
}
trap leave EXIT
inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"; }
# logged COMMAND: its output is shown only if it fails.
logged() { "$@" > "$cache/$suite.log" 2>&1 || { cat "$cache/$suite.log" && exit 1; }; }

if [ ! -e "$clean.done" ]; then
    mkdir -p "$cache"
    if [ ! -e "$clean/etc/debian_version" ]; then
        logged debootstrap --variant=minbase "$suite" "$clean"
    fi
    mounted "$clean"
    logged inside apt-get -q update
    # shellcheck disable=SC2086 # the words are packages
    logged inside apt-get -q -y install --no-install-recommends $tools
    unmounted
    touch "$clean.done"
fi

mounted_copy=$(mktemp -d "$cache/$suite.XXXXXX")
cp -a "$clean/." "$mounted_copy/"
mounted "$mounted_copy"

# Files of the system that any installation changes: caches, logs, dpkg's own lists.
listing() {
    inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /packages \
        -o -path /older -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
        -o -path /var/lib/dpkg -o -path /root \) -prune -o -printf '%p %y %l\n' | sort
}
names="headwater libheadwater0 libheadwater-dev libheadwater-preload0 headwater-openssl"

listing > "$cache/$suite.before"

# The same packages with an older version, as which an upgrade begins. Only their control files
# differ.
mkdir "$root/packages" "$root/older"
for name in $names; do
    file=$(ls "$dist/${name}"_*_"$arch".deb)
    cp "$file" "$root/packages/"
    version=$(dpkg-deb -f "$file" Version)
    older=0.1.0~0-1
    dpkg-deb -R "$file" "$root/older/tree"
    sed -i "s/$version/$older/g" "$root/older/tree/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$root/older/tree" "$root/older/$name.deb" > /dev/null
    rm -r "$root/older/tree"
done
cp "$here/tools/release/debian/tests/use" "$root/tmp/use"

step() { echo "== $suite: $*"; }
step 'install the older version'
logged inside sh -c 'apt-get -q -y install --no-install-recommends /older/*.deb'
inside headwater bytes 16 --hex
# Enabled by the administrator: an upgrade keeps it, and a purge leaves no link.
inside systemctl --quiet enable headwater-doctor.timer
step 'upgrade'
logged inside sh -c 'apt-get -q -y install --no-install-recommends /packages/*.deb'
for name in $names; do
    inside dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' "$name"
done
test "$(inside dpkg-query -W -f '${Version}' headwater)" != 0.1.0~0-1
inside systemctl is-enabled headwater-doctor.timer
inside systemctl --quiet disable headwater-doctor.timer
step 'use'
inside sh -eu /tmp/use
step 'newest version of the C library that a file needs'
# shellcheck disable=SC2016 # the inner shell expands
inside sh -c 'dpkg -L '"$names"' | sort -u | while read -r file; do
    case $file in *.so* | */bin/headwater) [ -f "$file" ] && objdump -T "$file" ;; esac
done' | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | tee "$root/tmp/glibc"
test "$(printf 'GLIBC_2.36\n%s\n' "$(cat "$root/tmp/glibc")" | sort -V | tail -n 1)" = GLIBC_2.36
step 'a removal that a configuration forbids'
cp "$root/etc/ssl/openssl.cnf" "$root/tmp/openssl.cnf"
for line in '.include /usr/share/headwater/headwater-openssl.cnf' \
    'module = /usr/lib/ossl-modules/headwater.so'; do
    echo "$line" >> "$root/etc/ssl/openssl.cnf"
    if inside apt-get -q -y remove headwater-openssl > "$root/tmp/refusal" 2>&1; then
        echo "$suite: removed under '$line'" >&2
        exit 1
    fi
    grep -x /etc/ssl/openssl.cnf "$root/tmp/refusal"
    cp "$root/tmp/openssl.cnf" "$root/etc/ssl/openssl.cnf"
done
inside dpkg --configure -a
# As after a boot with the observer.
inside mkdir -p /var/lib/headwater/boots
inside touch /var/lib/headwater/boots/record.json
inside systemctl --quiet enable headwater-doctor.timer
step 'remove'
# shellcheck disable=SC2086 # the words are packages
logged inside apt-get -q -y remove $names
inside test -e /var/lib/headwater/boots/record.json
inside sh -c '! command -v headwater'
step 'purge'
# shellcheck disable=SC2086 # the words are packages
logged inside dpkg --purge $names
inside ldconfig
listing > "$cache/$suite.after"
if ! diff "$cache/$suite.before" "$cache/$suite.after"; then
    echo "$suite: the lines above are what the packages left, or took" >&2
    exit 1
fi
echo "== $suite: nothing is left ($(wc -l < "$cache/$suite.after") paths compared)"
