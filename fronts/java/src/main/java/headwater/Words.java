package headwater;

import java.math.BigInteger;

/** The words of a stream in order, fetched many at a time. One thread may use it. */
final class Words {
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

    long next() {
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

    /** Returns the index of the next word. */
    long position() {
        return next - (buffer.length - used);
    }

    /** Goes to the word with this index. */
    void seek(long position) {
        next = position;
        used = buffer.length;
    }

    /** Skips words. */
    void skip(BigInteger words) {
        BigInteger there = new BigInteger(Long.toUnsignedString(position())).add(words);
        if (words.signum() < 0 || there.compareTo(END) > 0) {
            throw new IllegalArgumentException("a jump of " + words + " words from word "
                    + Long.toUnsignedString(position()) + " leaves the stream of 2^64 - 1 words");
        }
        seek(there.longValue());
    }
}
