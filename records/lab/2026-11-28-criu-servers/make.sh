# make.sh: the machine's image for each kernel, and the container's files
set -eu
cp $REPOSITORY/target/release/{headwater,libheadwater_openssl.so,libheadwater_preload.so,libheadwater.so,libheadwater_clones.so} hw/ 2>/dev/null || true
rm -rf rootfs; mkdir -p rootfs/{proc,sys,dev,tmp,run,w,etc,var/log/nginx,var/lib/nginx,var/lib/headwater,usr/lib/x86_64-linux-gnu,usr/sbin,usr/bin,ck}
ln -s usr/lib rootfs/lib; ln -s usr/lib64 rootfs/lib64; mkdir -p rootfs/usr/lib64; ln -s usr/bin rootfs/bin; ln -s usr/sbin rootfs/sbin
for p in /usr/sbin/nginx /usr/bin/openssl /usr/bin/busybox /usr/bin/bash hw/headwater hw/libheadwater_openssl.so; do
  ldd $p 2>/dev/null | grep -oE '/[^ ]+' | while read -r l; do case $l in /lib*) mkdir -p rootfs/usr$(dirname $l); cp -L $l rootfs/usr$l;; esac; done; done
cp -L $(readlink -f $(which nginx)) rootfs/usr/sbin/nginx; cp $(which openssl) rootfs/usr/bin/; cp $(which bash) rootfs/usr/bin/; ln -s bash rootfs/usr/bin/sh
cp -L $(which busybox) rootfs/usr/bin/busybox
echo root:x:0:0:root:/root:/bin/sh > rootfs/etc/passwd; echo 'www-data:x:33:33:www:/:/bin/sh' >> rootfs/etc/passwd; printf 'root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n' > rootfs/etc/group; echo 'nobody:x:65534:65534::/:/bin/sh' >> rootfs/etc/passwd
mkdir -p rootfs/usr/lib/ssl; cp /etc/ssl/openssl.cnf rootfs/usr/lib/ssl/
cp -r hw rootfs/ck/; cp nginx.conf rootfs/ck/
tar -C rootfs -cf rootfs.tar .
sed -e 's/^PROGRAMS = """/PROGRAMS = """nginx podman conmon runc ip iptables iptables-save ip6tables-save tar gzip gunzip zstd openssl sort uniq wc grep ps /' \
    -e 's#^mount -t proc proc /proc; #if [ ! -e /switched ]; then mkdir -p /n; mount -t tmpfs -o size=2800m none /n; for d in /*; do [ "$d" = /n ] || cp -a "$d" /n/; done; mkdir -p /n/proc /n/sys; busybox touch /n/switched; exec busybox switch_root /n /init; fi\n&#' \
    $REPOSITORY/boot/clones/outside/qemu.py > qemu.py
rm -rf img; mkdir -p img/etc; cp -r hw criu41 criu42 modules img/; cp rootfs.tar *.sh draw.py nginx.conf img/; cp /etc/containers/{policy.json,registries.conf} /usr/share/containers/{seccomp.json,containers.conf} /etc/ssl/openssl.cnf img/etc/
for k in ${*:-6.12 6.18 7}; do HEADWATER=/tmp/ck/hw/headwater HEADWATER_QEMU_MORE="/tmp/ck/img" HEADWATER_KERNEL=$k HEADWATER_QEMU_STATE=/tmp/ckr-$k python3 qemu.py image; done
