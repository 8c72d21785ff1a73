# prep.sh KERNEL: what CRIU and Podman need of a machine
C=/tmp/ck/img
for m in crc32c_generic libcrc32c nfnetlink nf_tables unix_diag inet_diag tcp_diag udp_diag raw_diag af_packet_diag netlink_diag veth tun; do [ -e $C/modules/$1/$m.ko ] && busybox insmod $C/modules/$1/$m.ko; done
mkdir -p /dev/net /tmp /dev/pts /dev/shm /var/tmp /var/log/nginx /var/lib/nginx /etc/containers /usr/share/containers /sys/fs/cgroup /w/images
[ -e /dev/net/tun ] || busybox mknod /dev/net/tun c 10 200
mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup; echo +memory +pids +cpu > /sys/fs/cgroup/cgroup.subtree_control
cp $C/etc/policy.json $C/etc/registries.conf /etc/containers/; cp $C/etc/seccomp.json $C/etc/containers.conf /usr/share/containers/
printf '[storage]\ndriver="vfs"\nrunroot="/run/containers/storage"\ngraphroot="/var/lib/containers/storage"\n' > /etc/containers/storage.conf
printf '#!/bin/bash\nexec %s/ld-linux-x86-64.so.2 --library-path %s %s/criu "$@"\n' $C/criu$2 $C/criu$2 $C/criu$2 > /usr/sbin/criu; chmod 755 /usr/sbin/criu
echo 'www-data:x:33:33:www:/:/bin/sh' >> /etc/passwd; echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd; printf 'www-data:x:33:\nnogroup:x:65534:\n' >> /etc/group
mkdir -p /usr/lib/ssl; cp $C/etc/openssl.cnf /usr/lib/ssl/
