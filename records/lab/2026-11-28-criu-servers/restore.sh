# restore.sh SUBJECT
C=/tmp/ck/img; cd /
busybox tar xf /dev/vda -C /w
if [ $1 = nginx ]; then
    mkdir -p /var/lib/headwater; cp /w/log /w/log2
    criu restore --restore-detached --images-dir /w/images -o restore.log -v4; echo "restore $?"
    sed -n '/Error/p' /w/images/restore.log
else
    podman --runtime runc load -i /w/image.tar > /dev/null
    podman --runtime runc container restore --import /w/checkpoint.tar; echo "restore $?"
    busybox find /var/lib/containers -name restore.log -exec grep Error {} +
fi
sleep 2; python3 $C/draw.py 300
