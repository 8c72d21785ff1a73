# The linker of libheadwater.so, which gives each function that rustc exports the version HEADWATER_0.
#
# rustc hands the linker a version script of its own, a list without a name, and no linker takes a second script
# beside such a one. So the name is put in front of the list. gcc runs this in the place of everything that it would
# run itself (-wrapper), with the command as arguments; the script is a file of this one link's, in a folder that rustc
# makes and deletes.
for argument; do
    case $argument in
    --version-script=*) sed -i '1s/^{/HEADWATER_0 {/' "${argument#--version-script=}" ;;
    esac
done
exec "$@"
