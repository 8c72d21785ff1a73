#!/bin/sh
# Builds the native library for the jar: build-native.sh FOLDER. Maven calls it.
#
# Each library goes to FOLDER/linux-ARCH. A target without its Rust standard library is left out,
# with a line that says so. arm64 needs no cross compiler, because rust-lld links it.
set -eu
out=$1
here=$(dirname "$0")
target=${CARGO_TARGET_DIR:-$here/native/target}
for arch in x86_64 aarch64; do
    triple=$arch-unknown-linux-gnu
    if [ ! -d "$(rustc --print target-libdir --target $triple)" ]; then
        echo "headwater.jar: no library for $arch (rustup target add $triple)" >&2
        continue
    fi
    if [ "$(uname -m)" != $arch ]; then
        variable=CARGO_TARGET_$(echo $triple | tr a-z- A-Z_)_LINKER
        eval "export $variable=\${$variable:-rust-lld}"
    fi
    cargo build --quiet --release --locked --manifest-path "$here/native/Cargo.toml" \
        --target $triple --target-dir "$target"
    mkdir -p "$out/linux-$arch"
    cp "$target/$triple/release/libheadwater_java.so" "$out/linux-$arch/"
done
