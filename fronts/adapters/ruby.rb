# Renews Ruby's random numbers in a copied process or machine:
#
#     ruby -r /usr/share/headwater-clones/ruby.rb program.rb
#
# A process that was copied (CRIU, a cloned machine) continues each Random, in every copy alike. This
# file puts a comparison before the draws of Kernel, Random and Array. In a copy, the first draw
# renews every Random that has taken its seed from the kernel; one that the program has seeded, by
# srand(42) or Random.new(42), stays as it is. docs/adapters.md says what stays out of reach.

require "fiddle"

module Headwater
  # The comparison, and what it leads to.
  module Clones
    LIBRARY = "libheadwater_clones.so"
    PLACES = [__dir__, "/usr/local/lib", *Dir["/usr/lib/*-linux-gnu"], "/usr/lib64", "/usr/lib"]
    FILE = ENV["HEADWATER_CLONES_LIBRARY"] ||
           PLACES.map { |place| File.join(place, LIBRARY) }.find { |path| File.file?(path) } ||
           raise(LoadError, "headwater: #{LIBRARY} is in none of #{PLACES.join(', ')}; " \
                            "name its file by HEADWATER_CLONES_LIBRARY")

    handle = Fiddle.dlopen(FILE)
    function = ->(name, type) { Fiddle::Function.new(handle[name], [], type) }
    COPIES = function.call("headwater_clones_copies", -Fiddle::TYPE_LONG_LONG)
    # Both are read in place: a call of the function takes four times as long. The count is read too,
    # because the hooks before the C library's functions may have looked, and set the byte again.
    memory = ->(name) { Fiddle::Pointer.new(function.call(name, Fiddle::TYPE_VOIDP).call.to_i, 8) }
    WORD = memory.call("headwater_clones_word")
    COUNT = memory.call("headwater_clones_count")
    SEES_MACHINES = function.call("headwater_clones_sees_machines", Fiddle::TYPE_INT).call == 1

    @seen = COPIES.call
    @bytes = [@seen].pack("Q")

    # A seed of Random.new_seed has 128 bits, and a program's is shorter.
    SELF_SEEDED = 1 << 64

    def self.check
      renew if WORD[0] != 1 || COUNT[0, 8] != @bytes || (SEES_MACHINES && COPIES.call != @seen)
    end

    def self.renew
      now = COPIES.call # sets the byte again
      return if now == @seen

      Random.srand if Random.seed >= SELF_SEEDED
      ObjectSpace.each_object(Random) do |random|
        random.send(:initialize, Random.new_seed) if random.seed >= SELF_SEEDED
      end
      @seen = now
      @bytes = [now].pack("Q")
    end

    # Puts the comparison before methods of a class or a module. A text, because a block that passes
    # its arguments on makes each draw twice as slow.
    def self.precede(owner, *names)
      hooks = Module.new
      names.each do |name|
        hooks.module_eval("def #{name}(...) = (Headwater::Clones.check; super)", __FILE__, __LINE__)
        # Kernel's are private, so that an object's method_missing is asked for `object.rand`.
        hooks.send(:private, name) if owner.private_method_defined?(name)
      end
      owner.prepend(hooks)
    end

    precede(Random, :rand, :bytes, :random_number)
    precede(Random.singleton_class, :rand, :bytes, :random_number)
    precede(Kernel, :rand)
    precede(Kernel.singleton_class, :rand)
    precede(Array, :shuffle, :shuffle!, :sample)
  end
end
