#!/bin/sh
# Runs the commands of documents in a clean root of Debian, as a reader does who has just installed it.
#
#   tools/release/packages/pages.sh SUITE CACHE TREE SCRIPTS
#
# SUITE is bookworm or trixie. CACHE keeps the root that debootstrap made. TREE is copied to the
# reader's home: a checkout called headwater, or the files of a release called dist. SCRIPTS is a
# directory with a script for each page, run in the order of their names. Needs root and debootstrap.
#
# The reader is a user who may use sudo. The root has what `debootstrap --variant=minbase` installs,
# and sudo and certificates; every other package comes by a command of a page.
set -eu
# Mounts of a namespace of its own end with it, however this ends. In the machine's namespace a
# mount below a bound /dev would also show in the machine's, and so would its end.
if [ "${READER_NAMESPACE:-}" != 1 ]; then
    READER_NAMESPACE=1 exec unshare --mount --propagation private sh "$0" "$@"
fi
suite=$1 cache=$2 tree=$3 scripts=$4
clean=$cache/reader-$suite

root=
mounted() {
    root=$1
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
    mount --bind /dev "$root/dev"
    mount --bind /dev/pts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
}
leave() {
    umount -R "$root/dev" "$root/sys" "$root/proc" 2> /dev/null || :
    case $root in
    */reader-"$suite".*) rm -rf --one-file-system "$root" ;; # never through a mount
    esac
}
trap leave EXIT

if [ ! -e "$clean.done" ]; then
    mkdir -p "$cache"
    rm -rf --one-file-system "$clean"
    debootstrap --variant=minbase --include=ca-certificates,sudo "$suite" "$clean" \
        > "$clean.log" 2>&1 || { cat "$clean.log" && exit 1; }
    # A machine of this release has these by default; debootstrap knows the first alone.
    mirror=$(sed -n 's/^deb \([^ ]*\) .*/\1/p' "$clean/etc/apt/sources.list" | head -n 1)
    {
        echo "deb $mirror $suite main"
        echo "deb $mirror $suite-updates main"
        echo "deb $mirror-security $suite-security main"
    } > "$clean/etc/apt/sources.list"
    # Nobody is here to say yes, and no service may start beside those of this machine.
    echo 'APT::Get::Assume-Yes "true";' > "$clean/etc/apt/apt.conf.d/90reader"
    printf '#!/bin/sh\nexit 101\n' > "$clean/usr/sbin/policy-rc.d"
    chmod 755 "$clean/usr/sbin/policy-rc.d"
    chroot "$clean" useradd --create-home --shell /bin/bash reader
    echo 'reader ALL=(ALL) NOPASSWD: ALL' > "$clean/etc/sudoers.d/reader"
    touch "$clean.done"
fi

copy=$(mktemp -d "$cache/reader-$suite.XXXXXX")
cp -a "$clean/." "$copy/"
mounted "$copy"
chmod 755 "$root"
# The machine's way to the registries: its certificates, and what cargo, pip and npm read. Java reads
# certificates one by one when it is installed, so its own must be among them and not in the bundle alone.
mkdir -p "$root/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2> /dev/null || :
chroot "$root" update-ca-certificates > /dev/null 2>&1
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
for settings in .cargo/config.toml .npmrc .m2/settings.xml; do
    [ ! -e "$HOME/$settings" ] || install -D "$HOME/$settings" "$root/home/reader/$settings"
done
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"

name=$(basename "$tree")
cp -a "$tree" "$root/home/reader/$name"
cp -a "$scripts" "$root/home/reader/pages"
chroot "$root" chown -R reader:reader /home/reader
# A login by systemd makes this directory and names it.
reader=$(chroot "$root" id -u reader)
install -d -m 700 -o "$reader" -g "$reader" "$root/run/user/$reader"
echo "export XDG_RUNTIME_DIR=/run/user/$reader" > "$root/etc/profile.d/login.sh"
chroot "$root" apt-get -qq update

failed=
for script in "$scripts"/*.sh; do
    page=$(basename "$script")
    echo "== $suite: $page"
    # A session as at a login: /etc/profile and ~/.profile, which add ~/.local/bin if it is there.
    chroot "$root" su --login reader --command "bash -l pages/$page" || failed="$failed $page"
done
if [ -n "$failed" ]; then
    echo "$suite: not as written:$failed" >&2
    exit 1
fi
echo "== $suite: every page works as written"
