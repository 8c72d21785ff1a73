package headwater;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGenerator.ArbitrarilyJumpableGenerator;
import java.util.random.RandomGenerator.SplittableGenerator;
import java.util.stream.LongStream;

/**
 * A stream's words in order, for one thread. <b>Not for secrets.</b>
 *
 * <p>Takes the place of the class of this name for Java 8, and has its members.
 */
public final class StreamGenerator extends Words
        implements SplittableGenerator, ArbitrarilyJumpableGenerator {
    StreamGenerator(Stream stream, long position) {
        super(stream, position);
    }

    /** Returns the generator of a child key, and skips a word. */
    @Override
    public StreamGenerator split() {
        return new StreamGenerator(child(), 0);
    }

    /** Returns the generator of a child key that two words of {@code source} name. */
    @Override
    public StreamGenerator split(SplittableGenerator source) {
        BigInteger high = new BigInteger(Long.toUnsignedString(source.nextLong())).shiftLeft(64);
        BigInteger label = high.or(new BigInteger(Long.toUnsignedString(source.nextLong())));
        return new StreamGenerator(stream.key().child(label).stream(0), 0);
    }

    /** Returns the numbered children of one {@link #split(SplittableGenerator)}, 2^63 - 1 of them. */
    @Override
    public java.util.stream.Stream<SplittableGenerator> splits(SplittableGenerator source) {
        return children(split(source), Long.MAX_VALUE);
    }

    /** Returns the numbered children of one {@link #split()}. */
    @Override
    public java.util.stream.Stream<SplittableGenerator> splits(long count) {
        check(count);
        return children(split(), count);
    }

    /** Returns the numbered children of one {@link #split(SplittableGenerator)}. */
    @Override
    public java.util.stream.Stream<SplittableGenerator> splits(
            long count, SplittableGenerator source) {
        check(count);
        return children(split(source), count);
    }

    /**
     * Returns children of a split's key, by their numbers.
     *
     * <p>A split for each element would be the shorter code. But a caller may make the stream
     * parallel, and then two threads split at once and get one generator twice. A child depends on
     * its number alone, so the elements are the same ones however many threads take them.
     */
    private static java.util.stream.Stream<SplittableGenerator> children(
            StreamGenerator parent, long count) {
        Key key = parent.stream.key();
        return LongStream.range(0, count).mapToObj(
                i -> new StreamGenerator(key.child(BigInteger.valueOf(i)).stream(0), 0));
    }

    /** Returns a generator of the same stream at the same word. */
    @Override
    public StreamGenerator copy() {
        return new StreamGenerator(stream, position());
    }

    // The JDK's streams of jumps call these three, from several threads if the stream is parallel.
    // Without the lock two threads would copy one position, and get the same numbers.

    /** Returns a copy, and jumps. */
    @Override
    public synchronized StreamGenerator copyAndJump() {
        StreamGenerator copy = copy();
        jump();
        return copy;
    }

    /** Returns a copy, and skips {@code distance} words. */
    @Override
    public synchronized StreamGenerator copyAndJump(double distance) {
        StreamGenerator copy = copy();
        jump(distance);
        return copy;
    }

    /** Returns a copy, and leaps. */
    @Override
    public synchronized StreamGenerator copyAndLeap() {
        StreamGenerator copy = copy();
        leap();
        return copy;
    }

    /** Returns 2^32. */
    @Override
    public double jumpDistance() {
        return 0x1.0p32;
    }

    /** Returns 2^48. */
    @Override
    public double leapDistance() {
        return 0x1.0p48;
    }

    /**
     * Skips words, at once however many they are.
     *
     * @throws IllegalArgumentException if the distance is negative or not a number, or ends past
     *     the stream's 2^64 - 1 words
     */
    @Override
    public void jump(double distance) {
        if (Double.isNaN(distance) || Double.isInfinite(distance)) {
            throw new IllegalArgumentException("a jump of " + distance + " words");
        }
        skip(new BigDecimal(distance).toBigInteger());
    }

    /** Skips 2 to the power of {@code logDistance} words. */
    @Override
    public void jumpPowerOfTwo(int logDistance) {
        if (logDistance < 0) {
            throw new IllegalArgumentException("the power is negative: " + logDistance);
        }
        // Any larger power leaves the stream as well.
        skip(BigInteger.ONE.shiftLeft(Math.min(logDistance, 64)));
    }

    /** Returns a stream of {@link #split()}, of which there are more than of jumps. */
    @Override
    public java.util.stream.Stream<RandomGenerator> rngs() {
        return java.util.stream.Stream.generate(this::split);
    }

    /** Returns a stream of {@link #split()}. */
    @Override
    public java.util.stream.Stream<RandomGenerator> rngs(long count) {
        check(count);
        return LongStream.range(0, count).sequential().mapToObj(i -> split());
    }

    private static void check(long count) {
        if (count < 0) {
            throw new IllegalArgumentException("the count is negative: " + count);
        }
    }
}
