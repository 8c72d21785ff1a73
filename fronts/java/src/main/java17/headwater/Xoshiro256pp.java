package headwater;

import java.util.random.RandomGenerator.LeapableGenerator;

/**
 * The generator xoshiro256++ with the state of a key, for one thread. <b>Not for secrets.</b>
 *
 * <p>Takes the place of the class of this name for Java 8, and has its members.
 */
public final class Xoshiro256pp implements LeapableGenerator {
    private final XoshiroState state;

    private Xoshiro256pp(XoshiroState state) {
        this.state = state;
    }

    /** Returns the generator with the state that the key stands for. */
    public static Xoshiro256pp of(Key key) {
        return new Xoshiro256pp(new XoshiroState(key));
    }

    /** Returns the generator with these four words as its state. */
    public static Xoshiro256pp ofState(long... state) {
        return new Xoshiro256pp(new XoshiroState(state));
    }

    /** Returns the four words of the state, of which {@link #ofState} makes the generator again. */
    public long[] state() {
        return state.words();
    }

    /** Returns a generator in the same state. */
    @Override
    public Xoshiro256pp copy() {
        return new Xoshiro256pp(new XoshiroState(state));
    }

    /** Returns the next word. */
    @Override
    public long nextLong() {
        return state.next();
    }

    /** Skips 2^128 words. */
    @Override
    public void jump() {
        state.jump();
    }

    // With a lock, as in StreamGenerator: the JDK's streams of jumps may be parallel.

    /** Returns a copy, and jumps. */
    @Override
    public synchronized Xoshiro256pp copyAndJump() {
        Xoshiro256pp copy = copy();
        jump();
        return copy;
    }

    /** Returns a copy, and leaps. */
    @Override
    public synchronized Xoshiro256pp copyAndLeap() {
        Xoshiro256pp copy = copy();
        leap();
        return copy;
    }

    /** Returns 2^128. */
    @Override
    public double jumpDistance() {
        return 0x1.0p128;
    }

    /** Skips 2^192 words. */
    @Override
    public void leap() {
        state.leap();
    }

    /** Returns 2^192. */
    @Override
    public double leapDistance() {
        return 0x1.0p192;
    }
}
