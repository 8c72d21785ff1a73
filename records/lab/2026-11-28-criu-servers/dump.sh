# dump.sh SUBJECT (nginx, podman) WITH (headwater, stock)
C=/tmp/ck/img; cd /
with() { [ $1 = headwater ] && echo "$2/hw/headwater run --openssl --"; }
echo 9000 > /proc/sys/kernel/ns_last_pid
if [ $1 = nginx ]; then
    setsid $(with $2 $C) nginx -c $C/nginx.conf > /w/log 2>&1 < /dev/null & pid=$!
    sleep 6; python3 $C/draw.py 20 | busybox tail -n 2
    pid=$(cat /w/nginx.pid); grep -c libheadwater /proc/$pid/maps
    criu dump --tree $pid --images-dir /w/images -o dump.log -v4; echo "dump $?"
    sed -n '/Error/p' /w/images/dump.log
else
    podman --runtime runc import $C/rootfs.tar ngx
    podman --runtime runc run -d --name n --network host ngx $(with $2 /ck) nginx -c /ck/nginx.conf
    sleep 12; podman logs n; python3 $C/draw.py 20 | busybox tail -n 2
    podman save -o /w/image.tar ngx > /dev/null 2>&1
    podman --runtime runc container checkpoint n --compress none --export /w/checkpoint.tar; echo "dump $?"
    busybox find /var/lib/containers -name dump.log -exec grep Error {} +
fi
ls -la /w /w/images | busybox tail -n 12
busybox tar cf /dev/vda -C /w .
