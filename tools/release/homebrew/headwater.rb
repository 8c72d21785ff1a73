# Homebrew's formula, on Linux. `cargo xtask release` fills in the version, and the sum of the
# archive, which has every crate.
class Headwater < Formula
  desc "Randomness layer of a Linux machine: command, C library, OpenSSL provider"
  homepage "https://headwater.invalid/"
  url "https://headwater.invalid/headwater-@VERSION@-source.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "xtask", "install", "--prefix", prefix
  end

  test do
    assert_match "mode", shell_output("#{bin}/headwater status")
    system bin/"headwater", "run", "--", "head", "-c", "16", "/dev/urandom"
  end
end
