#!/bin/bash
# dracut module: starts the observer in the initramfs, before the first hook that can wait.

check() {
    require_binaries headwater || return 1
    # Only if the user asks for it: add_dracutmodules+=" headwater-observer "
    return 255
}

depends() {
    return 0
}

install() {
    inst_binary headwater
    # The first hook of all. systemd in the initramfs runs it by dracut-cmdline.service.
    # shellcheck disable=SC2154 # dracut sets moddir
    inst_hook cmdline 00 "$moddir/headwater-observer.sh"
}
