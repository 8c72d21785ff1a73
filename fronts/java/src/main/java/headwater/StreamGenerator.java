package headwater;

import java.math.BigInteger;

/**
 * A stream's words in order, for one thread. <b>Not for secrets.</b>
 *
 * <p>From Java 17 on it is a {@code RandomGenerator.SplittableGenerator} and an {@code
 * ArbitrarilyJumpableGenerator}.
 */
public final class StreamGenerator {
    private final Words words;

    StreamGenerator(Stream stream, long position) {
        words = new Words(stream, position);
    }

    /** Returns the next word of the stream. */
    public long nextLong() {
        return words.next();
    }

    /** Returns the upper half of the next word. */
    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /** Returns a number from 0 to below 1, a multiple of 2^-53. */
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }

    /** Returns the generator of a child key, and skips a word. */
    public StreamGenerator split() {
        return new StreamGenerator(childOf(words), 0);
    }

    /** Returns the index of the next word: {@link Stream#generator(long)} continues from there. */
    public long position() {
        return words.position();
    }

    /** Goes to the word with this index, forwards or back. */
    public void position(long index) {
        words.seek(index);
    }

    /** Returns a generator of the same stream at the same word. */
    public StreamGenerator copy() {
        return new StreamGenerator(words.stream, words.position());
    }

    /** Returns a stream of the child named by the stream and the position, and skips a word. */
    static Stream childOf(Words words) {
        BigInteger position = new BigInteger(Long.toUnsignedString(words.position()));
        words.next();
        BigInteger label = BigInteger.valueOf(words.stream.id()).shiftLeft(64).or(position);
        return words.stream.key().child(label).stream(0);
    }
}
