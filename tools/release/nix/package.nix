# For nixpkgs: `callPackage ./package.nix { }`, beside the archive of the same release.
#
# Not buildRustPackage: the archive has every crate and the configuration that names them, to which
# that function would add a second one.
{ lib, stdenv, cargo, rustc, src ? ./headwater-@VERSION@-source.tar.gz }:

assert lib.versionAtLeast rustc.version "1.89";

stdenv.mkDerivation {
  pname = "headwater";
  version = "@VERSION@";
  inherit src;
  nativeBuildInputs = [ cargo rustc ];
  # The installation builds what it installs.
  dontBuild = true;
  installPhase = ''
    runHook preInstall
    cargo xtask install --prefix $out
    runHook postInstall
  '';
  # The installation strips what may be stripped; the static library keeps its symbols.
  dontStrip = true;
  meta = {
    description = "Randomness layer of a Linux machine: command, C library, preload library, OpenSSL provider";
    license = with lib.licenses; [ mit asl20 ];
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "headwater";
  };
}
