package headwater;

/**
 * A stream's words in order, for one thread. <b>Not for secrets.</b>
 *
 * <p>From Java 17 on it is a {@code RandomGenerator.SplittableGenerator} and an {@code
 * ArbitrarilyJumpableGenerator}.
 */
public final class StreamGenerator extends Words {
    StreamGenerator(Stream stream, long position) {
        super(stream, position);
    }

    /** Returns the generator of a child key, and skips a word. */
    public StreamGenerator split() {
        return new StreamGenerator(child(), 0);
    }

    /** Returns a generator of the same stream at the same word. */
    public StreamGenerator copy() {
        return new StreamGenerator(stream, position());
    }
}
