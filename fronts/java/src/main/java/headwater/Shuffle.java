package headwater;

/**
 * The shuffle of STREAMS.md: from the end, with several indices out of one word.
 *
 * <p>It runs in Java, because an array of objects is out of reach for the native library.
 */
final class Shuffle {
    /** Words that one native call writes. */
    private static final int WORDS = 256;

    /** Exchanges two elements. */
    interface Swap {
        void swap(int i, int j);
    }

    private final Stream stream;
    private final long[] words = new long[WORDS];
    private final long[] one = new long[1];

    Shuffle(Stream stream) {
        this.stream = stream;
    }

    void run(int n, Swap elements) {
        int left = n;
        for (int batch = 0; left > 1; batch++) {
            if (batch % WORDS == 0) {
                stream.fill(batch, words, 0, Math.min(WORDS, left));
            }
            int size = size(left);
            long ways = 1;
            for (int i = 0; i < size; i++) {
                ways *= left - i;
            }
            long value = below(ways, batch);
            for (int i = 0; i < size; i++, left--) {
                ways /= left;
                elements.swap(left - 1, (int) (value / ways));
                value %= ways;
            }
        }
    }

    /** Returns the number of indices out of one word. Their product stays below 2^61. */
    private static int size(int left) {
        return left <= 6 ? 1
                : left <= 512 ? 6
                : left <= 2048 ? 5
                : left <= 16384 ? 4
                : left <= 1 << 19 ? 3
                : left <= 1 << 30 ? 2
                : 1;
    }

    /** Returns the bounded number of element {@code batch}. */
    private long below(long bound, int batch) {
        long word = words[batch % WORDS];
        // Only such a low part may be rejected, and then further words of the element decide.
        if (Long.compareUnsigned(word * bound, bound) < 0) {
            stream.fillBounded(bound, batch, one);
            return one[0];
        }
        return upper(word, bound);
    }

    /** Returns the upper half of a product of unsigned numbers. Java 8 has no function for it. */
    private static long upper(long x, long y) {
        long half = 0xFFFFFFFFL;
        long low = (x & half) * (y & half);
        long middle = (x >>> 32) * (y & half) + (low >>> 32);
        long other = (x & half) * (y >>> 32) + (middle & half);
        return (x >>> 32) * (y >>> 32) + (middle >>> 32) + (other >>> 32);
    }
}
