# restore.sh VERSION
set -u
W=/w; mkdir -p $W; cd /
criu() { v=$1; shift; /tmp/ck/criu$v/ld-linux-x86-64.so.2 --library-path /tmp/ck/criu$v /tmp/ck/criu$v/criu "$@"; }
busybox tar xf /dev/vda -C $W
criu $1 restore --restore-detached --images-dir $W/images -o restore.log -v4; echo "restore $?"
sed -n '/Error/p' $W/images/restore.log
sed -n '/vdso/p' $W/images/restore.log | head -40
pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' $W/log)
cat /proc/$pid/maps
echo > $W/go
sleep 6
ls /proc/$pid/comm 2>&1; busybox wc $W/log; busybox tail -n 1 $W/log
