package headwater;

/**
 * The generator xoshiro256++ with the state of a key, for one thread. <b>Not for secrets.</b>
 *
 * <p>From Java 17 on it is a {@code RandomGenerator.LeapableGenerator}.
 */
public final class Xoshiro256pp {
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
    public Xoshiro256pp copy() {
        return new Xoshiro256pp(new XoshiroState(state));
    }

    /** Returns the next word. */
    public long nextLong() {
        return state.next();
    }

    /** Skips 2^128 words. */
    public void jump() {
        state.jump();
    }

    /** Skips 2^192 words. */
    public void leap() {
        state.leap();
    }
}
