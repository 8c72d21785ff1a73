# Runs the linker of libheadwater.so, and finishes both libraries of the release build.
#
# gcc (-wrapper) runs this script in place of each command of its own, with the command as arguments.
# The first two arguments come from build.rs: the driver, and "hide" or "keep".
#
# 1. libheadwater.so: each exported function gets the version HEADWATER_0. rustc passes the linker a
#    version script without a version name, and no linker accepts a second script beside an anonymous
#    one. The name is therefore written into rustc's script, a temporary file of this one link.
#
# 2. libheadwater.a: rustc leaves every symbol global, `core::panicking::panic` and `rust_begin_unwind`
#    among them. A program that links a second Rust archive of the same compiler would define them
#    twice. The archive is therefore linked into one object, in which only the functions of rustc's
#    script stay global. rustc has written the archive before this link, because Cargo.toml names
#    "staticlib" first. Other builds (cargo rustc --crate-type staticlib) keep the archive as it is.
set -eu
driver=$1 hide=$2
shift 2

script= output= before=
for argument; do
    case $argument in
    --version-script=*) script=${argument#--version-script=} ;;
    esac
    [ "$before" = -o ] && output=$argument
    before=$argument
done

if [ -n "$script" ]; then
    sed -i '1s/^{/HEADWATER_0 {/' "$script"
    archive=${output%/*}/libheadwater.a
    if [ "$hide" = hide ] && [ -f "$archive" ]; then
        linker=$("$driver" -print-prog-name=ld)
        objcopy=$("$driver" -print-prog-name=objcopy)
        ar=$("$driver" -print-prog-name=ar)
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        sed -n 's/^ *\(headwater_[a-z0-9_]*\);$/\1/p' "$script" > "$folder/functions"
        sed 's/^/-u /' "$folder/functions" > "$folder/roots"
        # No COMDAT groups: the linker joins groups by name, and would drop ours for a stranger's of
        # the same name. No debug information: it names the builder's directories.
        "$linker" -r -S --gc-sections --force-group-allocation @"$folder/roots" \
            -o "$folder/headwater.o" "$archive"
        # No bitcode: members of compiler_builtins carry theirs in these sections, so as soon as one
        # is needed, it is here. Debian's ar asks the plugin of an older LLVM for every object, and
        # that aborts with "Invalid encoding" at rustc's bitcode, as it would in a user's build.
        "$objcopy" --keep-global-symbols="$folder/functions" \
            --remove-section=.llvmbc --remove-section=.llvmcmd "$folder/headwater.o"
        rm -f "$archive"
        "$ar" crsD "$archive" "$folder/headwater.o"
    fi
fi
"$@"
