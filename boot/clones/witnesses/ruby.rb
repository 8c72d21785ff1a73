# Witness for Ruby: shows which random sources repeat in copies of a warm process.
#
# Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
# is copied while it waits, and each copy draws for itself; whoever started it compares them.
# HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.

require "securerandom"
require "tempfile"

WARM_UPS = 5
DRAWS = 8
POLL_S = 0.005

HOME = ENV.fetch("HEADWATER_WITNESS_DIR")
SCRATCH = File.join(HOME, "scratch")

def hex(bytes)
  bytes.unpack1("H*")
end

# Date and process number stand before the random part of a name, so only its tail is compared. The
# file goes at once: a name still taken makes the next copy try another one, which hides a repeat.
def temporary_name
  file = Tempfile.new("t", SCRATCH)
  name = File.basename(file.path)
  file.close!
  name.split("-").drop(2).join("-")
end

# The kernel's sources come first: in a copied machine only the first draws of the kernel are sure
# to be the same in each copy.
def sources
  kept = Random.new
  deck = (1..20).to_a
  {
    "Random.urandom" => -> { hex(Random.urandom(16)) },
    "SecureRandom.hex" => -> { SecureRandom.hex(16) },
    "SecureRandom.uuid" => -> { SecureRandom.uuid },
    "SecureRandom.random_number" => -> { SecureRandom.random_number(1 << 64) },
    "Random.new_seed" => -> { Random.new_seed },
    "Random, new" => -> { Random.new.rand },
    "rand" => -> { rand },
    "Random.rand" => -> { Random.rand(1 << 64) },
    "Random.bytes" => -> { hex(Random.bytes(16)) },
    "Random, kept" => -> { kept.rand },
    "shuffle" => -> { deck.shuffle.join("-") },
    "sample" => -> { deck.sample(18).join("-") },
    "Tempfile" => -> { temporary_name },
  }
end

# Made once per process and kept for its whole life.
def identities
  { "String#hash" => "headwater".hash, "Random.seed" => Random.seed }
end

def openssl_source
  require "openssl"
  [{ "OpenSSL::Random" => -> { hex(OpenSSL::Random.random_bytes(16)) } }, []]
rescue LoadError => error
  reason = error.message.split.join(" ")
  [{}, ["skipped\truby/OpenSSL::Random\t#{reason}"]]
end

def in_place(name)
  File.join(HOME, name)
end

# Written under another name first, so that nobody reads half of it.
def publish(name, lines)
  File.write(in_place("#{name}.tmp"), lines.join("\n") + "\n")
  File.rename(in_place("#{name}.tmp"), in_place(name))
end

def witness
  # Not its parents: they are gone only if the planting was removed, and then it must stay so.
  Dir.mkdir(SCRATCH)
  openssl, skipped = openssl_source
  # First, because the library that renews OpenSSL then learns of the copy before Ruby's own draws.
  drawn = openssl.merge(sources)
  WARM_UPS.times { drawn.each_value(&:call) }
  identities

  publish("ready", ["Ruby #{RUBY_VERSION}"] + skipped)
  until File.exist?(in_place("go"))
    return unless File.exist?(in_place("ready")) # The planter gave up; no go will ever come.

    sleep(POLL_S)
  end

  lines = []
  DRAWS.times { drawn.each { |name, draw| lines << "ruby/#{name}\t#{draw.call}" } }
  identities.each { |name, value| lines << "ruby/#{name}\t#{value}" }
  publish("draws", lines)
end

begin
  witness
rescue StandardError => error
  abort("ruby witness: #{error.message}")
end
