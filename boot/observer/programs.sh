#!/bin/bash
# Boots a guest of unmodified programs that wait for random bytes: sshd, a Java start, and a shell
# script. The observer is the first program (headwater-init) and becomes the init. The kernel has no
# usable clock and no random device, until the init loads the driver after 45 s.
#
# usage: programs.sh HEADWATER KERNEL VIRTIO_RNG_KO BUSYBOX JRE OUT
#   HEADWATER   the command; KERNEL a kernel image; BUSYBOX a static one
#   JRE         a Java runtime, such as jlink makes, with Keys.class in it
#   OUT         file for the record and for the times that the programs took by their own clocks
set -eu
headwater=$1 kernel=$2 module=$3 busybox=$4 jre=$5 out=$6
qemu=${QEMU:-qemu-system-x86_64}
here=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,sbin,dev,proc,sys,run/sshd,var/lib,etc/ssh,tmp,usr/bin,usr/sbin,root,lib64}

# Copies a program with its libraries, under the paths where its loader looks.
with_libraries() {
    install -D "$1" "$root$2"
    { ldd "$1" || true; } | grep -o '/[^ ]*' | while read -r library; do
        [ -e "$root$library" ] || install -D "$library" "$root$library"
    done
}
install "$busybox" "$root/bin/busybox"
for name in sh mount cat sleep insmod poweroff cut; do ln -s busybox "$root/bin/$name"; done
with_libraries "$headwater" /usr/bin/headwater
with_libraries /usr/sbin/sshd /usr/sbin/sshd
with_libraries /bin/dash /bin/dash
cp -a "$jre" "$root/jre"
for file in "$jre/bin/java" "$jre/lib/libjli.so" "$jre/lib/server/libjvm.so" "$jre"/lib/*.so; do
    { ldd "$file" || true; } | grep -o '/[^ ]*' | while read -r library; do
        case $library in "$jre"*) ;; *) [ -e "$root$library" ] || install -D "$library" "$root$library" ;; esac
    done
done
echo 'root:x:0:0:root:/root:/bin/sh
sshd:x:100:65534::/run/sshd:/bin/false' > "$root/etc/passwd"
echo 'passwd: files' > "$root/etc/nsswitch.conf"
: > "$root/etc/ssh/sshd_config"
ssh-keygen -q -t ed25519 -N '' -f "$root/etc/ssh/ssh_host_ed25519_key"
install "$module" "$root/virtio-rng.ko"
install "$here/boot/packaging/init/headwater-init" "$root/sbin/headwater-init"

# The victims write their own times to files, because each byte on the console is interrupts, and
# the kernel credits interrupts.
cat > "$root/keygen.sh" <<'SCRIPT'
#!/bin/dash
read -r from rest < /proc/uptime
read -r line < /dev/random
read -r until rest < /proc/uptime
echo "keygen.sh $$ $from $until" > /tmp/keygen.times
SCRIPT
cat > "$root/sshd.sh" <<'SCRIPT'
#!/bin/dash
read -r from rest < /proc/uptime
/usr/sbin/sshd -t
status=$?
read -r until rest < /proc/uptime
echo "sshd $$ $from $until status $status" > /tmp/sshd.times
SCRIPT
cat > "$root/sbin/init" <<'SCRIPT'
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2> /dev/null
sleep 2
/keygen.sh &
sleep 1
/sshd.sh &
/jre/bin/java -Xint -XX:TieredStopAtLevel=0 -cp /jre Keys > /tmp/java.times 2>&1 &
sleep 45
cat /proc/uptime > /tmp/driver
insmod /virtio-rng.ko
wait
sleep 1
echo BEGIN
cat /tmp/*.times
echo "driver $(cat /tmp/driver)"
cat /run/headwater/boots/*.json
echo END
sleep 1
poweroff -f
SCRIPT
chmod +x "$root/keygen.sh" "$root/sshd.sh" "$root/sbin/init"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2> /dev/null) > "$out.cpio"
console=$out.console
timeout 300 "$qemu" -accel tcg -nodefaults -display none -no-reboot -m 1024 -machine pc \
    -cpu qemu64,-tsc -smp 1 -serial "file:$console" -kernel "$kernel" -initrd "$out.cpio" \
    -object rng-random,id=rng0,filename=/dev/urandom -device virtio-rng-pci,rng=rng0 \
    -append "console=ttyS0 quiet panic=-1 reboot=t no_timer_check clocksource=jiffies nohz=off highres=off rdinit=/sbin/headwater-init"
rm -f "$out.cpio"
tr -d '\r' < "$console" | sed -n '/^BEGIN$/,/^END$/p' > "$out"
