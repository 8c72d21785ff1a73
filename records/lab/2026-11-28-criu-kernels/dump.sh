# dump.sh VERSION MODE QUIESCE
set -u
W=/w; mkdir -p $W/images; cd /
criu() { v=$1; shift; /tmp/ck/criu$v/ld-linux-x86-64.so.2 --library-path /tmp/ck/criu$v /tmp/ck/criu$v/criu "$@"; }
echo 9000 > /proc/sys/kernel/ns_last_pid
setsid /tmp/ck/subject/ld-linux-x86-64.so.2 --library-path /tmp/ck/subject /tmp/ck/subject/headwater-guest restored $2 $3 $W/go > $W/log 2>&1 < /dev/null &
sleep 4
cat $W/log
pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' $W/log)
echo "pid $pid"
grep -a . /dev/null 2>/dev/null; sed -n '/vvar\|vdso/p' /proc/$pid/maps
criu $1 dump --tree $pid --images-dir $W/images -o dump.log -v4; echo "dump $?"
sed -n '/Error/p' $W/images/dump.log
busybox tar cf /dev/vda -C $W .
