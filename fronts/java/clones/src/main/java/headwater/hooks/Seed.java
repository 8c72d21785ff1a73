package headwater.hooks;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The state of a {@link java.util.Random} that nobody has seeded, in place of the AtomicLong that
 * the class makes for itself.
 *
 * <p>It is a subclass because an agent can add no field to a class that is loaded, and a table of
 * all generators would have to be searched before each draw.
 */
final class Seed extends AtomicLong {
    private static final long serialVersionUID = 1L;
    /** The epoch of a generator that the program has seeded itself, which is never renewed. */
    private static final long KEPT = -1;
    /** The bits of a state, as {@code Random} documents them. */
    private static final long MASK = (1L << 48) - 1;

    /** The count of copies for which the state was made. */
    private volatile long epoch;
    /** The count for which the second half of a pair of normal numbers was made. */
    private long gaussian;

    Seed(long state, long epoch) {
        super(state);
        this.epoch = epoch;
        gaussian = epoch;
    }

    /** Notes that the program has seeded the generator, in this copy. */
    void seeded(boolean isKept) {
        epoch = isKept ? KEPT : Copies.now();
    }

    /** Renews the state if it is a copy's. Threads may do it at once: each state is a fresh one. */
    void refresh() {
        long now = Copies.now();
        if (epoch != now && epoch != KEPT) {
            set(Copies.fresh() & MASK);
            epoch = now;
        }
    }

    /** Returns false if the second half of a pair was made before a copy. */
    boolean isGaussianValid() {
        refresh();
        boolean isValid = gaussian == epoch;
        gaussian = epoch;
        return isValid;
    }
}
