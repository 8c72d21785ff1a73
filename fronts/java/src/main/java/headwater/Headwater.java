package headwater;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * A security provider whose SecureRandom draws from headwater's pools: no lock, and bytes exactly as
 * fresh as the kernel's.
 *
 * <pre>{@code
 * Security.insertProviderAt(new Headwater(), 1);
 * byte[] key = new byte[32];
 * new SecureRandom().nextBytes(key);
 * }</pre>
 *
 * <p>{@code -javaagent:headwater.jar} does the same for a program that stays as it is.
 */
public final class Headwater extends Provider {
    private static final long serialVersionUID = 1L;
    /** The name of the provider and of its algorithm. */
    public static final String NAME = "Headwater";

    /**
     * Makes the provider. The native library is loaded by the first draw, whose exception names
     * what was tried if that fails.
     *
     * <p>With {@code -Dheadwater.fallback=true} the library is loaded here. If that fails, the
     * provider has no algorithm, so the JDK's own takes its place, and stderr says so.
     */
    public Headwater() {
        super(NAME, version(), "Secure random bytes from headwater, without a lock");
        if (Boolean.getBoolean("headwater.fallback") && Native.FAILURE != null) {
            System.err.println(Native.FAILURE.getMessage());
            System.err.println("headwater.fallback=true: SecureRandom is the JDK's own");
            return;
        }
        putService(new RandomService(this));
    }

    /** Returns the version as Java 8 takes it: 0.2 of 0.2.0. */
    private static double version() {
        return Double.parseDouble(Library.VERSION.substring(0, Library.VERSION.lastIndexOf('.')));
    }

    private static final class RandomService extends Service {
        RandomService(Provider provider) {
            super(provider, "SecureRandom", NAME, RandomSpi.class.getName(), null, attributes());
        }

        private static Map<String, String> attributes() {
            Map<String, String> attributes = new HashMap<>();
            // Without this attribute SecureRandom holds a lock around each draw.
            attributes.put("ThreadSafe", "true");
            attributes.put("ImplementedIn", "Software");
            return Collections.unmodifiableMap(attributes);
        }

        /** Returns a generator, without the reflection that the JDK would use. */
        @Override
        public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
            if (parameter != null) {
                throw new NoSuchAlgorithmException(NAME + " takes no parameters: " + parameter);
            }
            Draw.require();
            return new RandomSpi();
        }
    }

    /** Fills an array with secure random bytes. */
    public static void fill(byte[] out) {
        Draw.fill(out);
    }

    /** Fills all that remains of a buffer with secure random bytes, and moves its position. */
    public static void fill(ByteBuffer out) {
        byte[] bytes = new byte[Math.min(out.remaining(), 4096)];
        while (out.hasRemaining()) {
            Draw.fill(bytes);
            out.put(bytes, 0, Math.min(bytes.length, out.remaining()));
        }
        Arrays.fill(bytes, (byte) 0);
    }

    /** Returns a random UUID: version 4, 122 random bits. */
    public static UUID uuid4() {
        long[] words = new long[2];
        Draw.fill(words);
        return new UUID(version(words[0], 4), variant(words[1]));
    }

    /**
     * Fills an array with UUIDs of version 4: for each its most significant and then its least
     * significant bits, as {@code new UUID(out[2 * i], out[2 * i + 1])} takes them.
     *
     * @throws IllegalArgumentException if the length is odd
     */
    public static void uuid4(long[] out) {
        if (out.length % 2 != 0) {
            throw new IllegalArgumentException("the length is odd: " + out.length);
        }
        Draw.fill(out);
        for (int i = 0; i < out.length; i += 2) {
            out[i] = version(out[i], 4);
            out[i + 1] = variant(out[i + 1]);
        }
    }

    /**
     * Returns a time-ordered UUID: version 7, milliseconds since 1970, the fraction of the
     * millisecond in 12 bits, 62 random bits.
     *
     * <p>UUIDs that one thread makes one after the other ascend with the clock, and not faster. If
     * the clock is set back, later UUIDs sort before earlier ones.
     */
    public static UUID uuid7() {
        long[] word = new long[1];
        Draw.fill(word);
        Instant now = Instant.now();
        // A clock before 1970 counts as 0.
        return uuid7(Math.max(0, now.getEpochSecond()), now.getNano(), word[0]);
    }

    static UUID uuid7(long seconds, int nanoseconds, long random) {
        long milliseconds = seconds * 1000 + nanoseconds / 1_000_000;
        long fraction = nanoseconds % 1_000_000 * 4096L / 1_000_000;
        return new UUID(version(milliseconds << 16 | fraction, 7), variant(random));
    }

    private static long version(long word, int version) {
        return word & ~0xF000L | (long) version << 12;
    }

    private static long variant(long word) {
        return word & 0x3FFF_FFFF_FFFF_FFFFL | 0x8000_0000_0000_0000L;
    }

    /**
     * Returns a number that changes at every event after which kept random values must be
     * discarded: a reseed of the kernel, a clone of the machine, a fork, a restore of this process
     * without its pages (CRIU 4.2). Returns 0 if this machine cannot detect clones of itself. The
     * number is no identity: compare it with an earlier one of the same copy, for inequality only.
     */
    public static long generation() {
        Draw.require();
        return Native.generation();
    }

    /**
     * Returns true if random values kept since the last call with this stamp must be discarded, and
     * stores the present {@link #generation()} in {@code stamp[0]}. Start with 0. Returns true in
     * every call on a machine that cannot detect changes.
     *
     * <p>Only one thread at a time may use a stamp and the values that it guards.
     */
    public static boolean stale(long[] stamp) {
        if (Objects.requireNonNull(stamp, "stamp").length == 0) {
            throw new IllegalArgumentException("the stamp has no element");
        }
        long now = generation();
        boolean isStale = now == 0 || now != stamp[0];
        stamp[0] = now;
        return isStale;
    }

    /**
     * Returns how often this process, or its machine, was seen to be copied since the first call.
     * It moves at no reseed of the kernel, as {@link #generation()} does, so a generator that is
     * renewed when it moved keeps its numbers otherwise. The number is no identity: two copies of
     * one original have the same. {@link CopiesMemory} tells what can be seen here.
     */
    public static long copies() {
        Draw.require();
        return Native.copies();
    }

    /** Returns the JSON document of {@code headwater status --json}, for this process. */
    public static String status() {
        Draw.require();
        byte[] text = new byte[4096];
        int length = Native.status(text);
        return new String(text, 0, Math.min(length, text.length), StandardCharsets.UTF_8);
    }

    /** Returns the interface to the native library: {@code JNI}, or {@code FFM} from Java 22 on. */
    public static String nativeInterface() {
        return Native.name();
    }

    /**
     * Prepares the process for a checkpoint by CRIU or CRaC: discards every buffered byte. Later
     * draws are keyed afresh one by one, so that two restored copies differ, until {@link
     * #resume()}.
     */
    public static void quiesce() {
        Draw.require();
        int result = Native.quiesce();
        if (result != 0) {
            throw Draw.refused(result);
        }
    }

    /** Ends the state that {@link #quiesce()} began: to be called after a restore. */
    public static void resume() {
        Draw.require();
        int result = Native.resume();
        if (result != 0) {
            throw Draw.refused(result);
        }
    }
}
