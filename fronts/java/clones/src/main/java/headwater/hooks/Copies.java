package headwater.hooks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * What the JDK's generators call before a draw, once the agent has edited them.
 *
 * <p>The generators see classes of the JDK alone. So the agent defines this one among them, with
 * {@link Seed}, and passes everything else in types of the JDK.
 *
 * <p>A draw that was under way while the copy was made returns the same in each copy: its check is
 * over then.
 */
public final class Copies {
    private static final VarHandle LONG =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** The word while no copy was made: see {@code headwater.CopiesMemory}. */
    private static final long ARMED = 1;
    /** The mark of a SecureRandom that the program has seeded before its first draw. */
    private static final long KEPT = -1;

    private static ByteBuffer word;
    private static ByteBuffer count;
    private static LongSupplier copies;
    private static Consumer<byte[]> fill;
    private static boolean machines;
    private static boolean renewsSeeded;

    /** A number that each copy adds to the state of ThreadLocalRandom, and the count it is for. */
    private static Salt salt;

    private Copies() {}

    /**
     * Begins to count. The agent calls this once, before it edits a generator.
     *
     * @param machines whether {@code copies} sees more than the word does
     * @param renewsSeeded whether generators are renewed that the program has seeded
     */
    public static void begin(ByteBuffer word, ByteBuffer count, LongSupplier copies,
            Consumer<byte[]> fill, boolean machines, boolean renewsSeeded) {
        Copies.word = word;
        Copies.count = count;
        Copies.copies = copies;
        Copies.fill = fill;
        Copies.machines = machines;
        Copies.renewsSeeded = renewsSeeded;
        salt = new Salt(Begun.EPOCH, 0);
        fresh(); // loads what a draw needs, outside of one
    }

    /** What {@link #begin} was given, as constants for the compiler. */
    private static final class Begun {
        static final ByteBuffer WORD = word;
        static final ByteBuffer COUNT = count;
        static final LongSupplier COPIES = copies;
        static final Consumer<byte[]> FILL = fill;
        static final boolean MACHINES = machines;
        static final boolean RENEWS_SEEDED = renewsSeeded;
        static final long EPOCH = copies.getAsLong();
    }

    private static final class Salt {
        final long epoch;
        final long value;

        Salt(long epoch, long value) {
            this.epoch = epoch;
            this.value = value;
        }
    }

    /** Returns the count of copies. */
    static long now() {
        // The word first: the count moves before the word is set again, so a thread that finds it
        // set has the count that another thread's look has made.
        boolean isQuiet = (long) LONG.getAcquire(Begun.WORD, 0) == ARMED && !Begun.MACHINES;
        return isQuiet ? (long) LONG.getAcquire(Begun.COUNT, 0) : Begun.COPIES.getAsLong();
    }

    /** Returns 64 bits of headwater. */
    static long fresh() {
        return ByteBuffer.wrap(freshBytes(Long.BYTES)).getLong();
    }

    private static byte[] freshBytes(int length) {
        byte[] bytes = new byte[length];
        Begun.FILL.accept(bytes);
        return bytes;
    }

    // --- java.util.Random ----------------------------------------------------------------------

    /** Returns the state of a generator that has just seeded itself. */
    public static AtomicLong own(AtomicLong state) {
        long now = now();
        // The clock alone tells two copies' seeds apart, and they may read it at one moment.
        return new Seed(now == Begun.EPOCH ? state.get() : fresh() >>> 16, now);
    }

    /** Notes that the program seeds a generator. */
    public static void seeded(AtomicLong state) {
        if (state instanceof Seed) {
            ((Seed) state).seeded(!Begun.RENEWS_SEEDED);
        }
    }

    /** Renews a generator's state if this is a copy. */
    public static void random(AtomicLong state) {
        if (state instanceof Seed) {
            ((Seed) state).refresh();
        }
    }

    /** Returns whether a generator still has the second half of a pair of normal numbers. */
    public static boolean gaussian(Random generator, AtomicLong state, boolean isThere) {
        if (state instanceof Seed) {
            return ((Seed) state).isGaussianValid() && isThere;
        }
        // Both inherit the pair, and the state, which they do not use: it can hold the count.
        if (generator instanceof SecureRandom || generator instanceof ThreadLocalRandom) {
            long now = now();
            return state.getAndSet(now) == now && isThere;
        }
        return isThere;
    }

    // --- ThreadLocalRandom, and new generators of the kinds that can be split ------------------

    /** Returns the state of a draw, moved to a place of its own in each copy. */
    public static long salted(long state) {
        long now = now();
        Salt present = salt;
        return state + (present.epoch == now ? present : renew(now)).value;
    }

    /** Threads may do this at once. A salt that another one replaces has served its draw. */
    private static Salt renew(long now) {
        Salt made = new Salt(now, fresh());
        salt = made;
        return made;
    }

    // --- SecureRandom --------------------------------------------------------------------------

    /**
     * Returns whether a SecureRandom may draw. Its serial field {@code counter}, which no code
     * uses since Java 1.2, holds the count of copies and 1; 0 before the first draw.
     */
    public static boolean isCurrent(long counter) {
        return counter == now() + 1 || counter == KEPT;
    }

    /** Seeds a SecureRandom if this is a copy, and returns its new counter. */
    public static long reseed(SecureRandom generator, long counter) {
        long now = now();
        // A generator without draws may nevertheless have been seeded before the copy was made.
        if (counter != 0 || now != Begun.EPOCH) {
            generator.setSeed(freshBytes(32));
            // Before the counter, which the caller stores: no thread may find it alone.
            VarHandle.fullFence();
        }
        return now + 1;
    }

    /**
     * Returns the counter of a SecureRandom that the program seeds. A seed supplements what is
     * there, but for SHA1PRNG before its first draw, whose numbers then follow from it alone.
     */
    public static long seeded(SecureRandom generator, long counter) {
        if (counter != 0 || !generator.getAlgorithm().equals("SHA1PRNG")) {
            return counter;
        }
        return Begun.RENEWS_SEEDED ? now() + 1 : KEPT;
    }
}
