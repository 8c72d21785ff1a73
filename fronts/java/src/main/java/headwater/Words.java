package headwater;

import java.math.BigInteger;

/**
 * The words of a stream in order, fetched many at a time. One thread may use it.
 *
 * <p>A base of the generators and no field of theirs: the step to another object costs each word about
 * a tenth of its time.
 */
abstract class Words {
    /** Words of the first native call: a generator of few words, such as a split, stays small. */
    private static final int FEWEST = 64;
    /** Words of each later call, of which a word costs less than a nanosecond. */
    private static final int MOST = 1024;
    /** Words that a stream has: the number of the last one is 2^64 - 2. */
    private static final BigInteger END = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    final Stream stream;
    private long[] buffer = new long[0];
    /** The word after those in the buffer. */
    private long next;
    /** Words of the buffer that are used. */
    private int used;

    Words(Stream stream, long position) {
        this.stream = stream;
        this.next = position;
    }

    /** Returns the next word of the stream. */
    public long nextLong() {
        // Locals, so that HotSpot reads each field once, and compares with the length once.
        long[] words = buffer;
        int here = used;
        if (here >= words.length) {
            return refilled();
        }
        used = here + 1;
        return words[here];
    }

    private long refilled() {
        int length = buffer.length == 0 ? FEWEST : MOST;
        long left = -1 - next; // unsigned: words in front of the end
        if (left >= 0 && left < length) {
            // A stream that has ended is asked for a word as well, for its exception.
            length = (int) Math.max(1, left);
        }
        long[] filled = buffer.length == length ? buffer : new long[length];
        stream.fill(next, filled);
        buffer = filled;
        next += length;
        used = 1;
        return filled[0];
    }

    /** Returns the upper half of the next word. */
    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /** Returns a number from 0 to below 1, a multiple of 2^-53. */
    public double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }

    /** Returns the index of the next word: {@link Stream#generator(long)} continues from there. */
    public long position() {
        return next - (buffer.length - used);
    }

    /** Goes to the word with this index, forwards or back. */
    public void position(long index) {
        next = index;
        used = buffer.length;
    }

    /** Skips words. */
    void skip(BigInteger words) {
        BigInteger there = new BigInteger(Long.toUnsignedString(position())).add(words);
        if (words.signum() < 0 || there.compareTo(END) > 0) {
            throw new IllegalArgumentException("a jump of " + words + " words from word "
                    + Long.toUnsignedString(position()) + " leaves the stream of 2^64 - 1 words");
        }
        position(there.longValue());
    }

    /** Returns a stream of the child named by the stream and the position, and skips a word. */
    Stream child() {
        BigInteger position = new BigInteger(Long.toUnsignedString(position()));
        nextLong();
        BigInteger label = BigInteger.valueOf(stream.id()).shiftLeft(64).or(position);
        return stream.key().child(label).stream(0);
    }
}
