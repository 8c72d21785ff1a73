# Runs the linker of libheadwater.so, so that each exported function has the version HEADWATER_0.
#
# rustc passes the linker a version script without a version name, and no linker accepts a second
# script beside an anonymous one. This wrapper writes the name into rustc's script, a temporary file
# of this one link. gcc (-wrapper) runs it in place of each command, with the command as arguments.
for argument; do
    case $argument in
    --version-script=*) sed -i '1s/^{/HEADWATER_0 {/' "${argument#--version-script=}" ;;
    esac
done
exec "$@"
