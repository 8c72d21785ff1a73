package headwater;

/** Elements on their way to a buffer of NIO, which may be outside the heap. */
final class Buffers {
    /** Elements of an array between the native library and the buffer. */
    private static final int PIECE = 2048;

    private Buffers() {}

    /** Draws n elements from {@code start} on into an array. */
    interface Draw {
        void elements(long start, int n);
    }

    /** Moves n elements from that array to the buffer. */
    interface Put {
        void elements(int n);
    }

    /** Returns the length of the array for so many elements. */
    static int piece(int n) {
        return Math.min(n, PIECE);
    }

    /** Returns the array for so many bytes. */
    static byte[] bytes(int n) {
        return new byte[Math.min(n, 8 * PIECE)];
    }

    /** Returns the number of whole vectors that a buffer has room for. */
    static int rows(int n, int width) {
        if (n % width != 0) {
            throw new IllegalArgumentException("room for " + n + " numbers is not that of vectors"
                    + " of " + width + " components");
        }
        return n / width;
    }

    static void write(long start, int n, int piece, Draw draw, Put put) {
        if (n == 0) {
            return;
        }
        long last = start + n - 1;
        if (Long.compareUnsigned(last, start) < 0) {
            throw new IllegalArgumentException(n + " elements from index "
                    + Long.toUnsignedString(start) + " on end behind the last one");
        }
        // The last element first, so that an exception leaves nothing in the buffer.
        draw.elements(last, 1);
        for (int done = 0; done < n; done += Math.min(piece, n - done)) {
            int here = Math.min(piece, n - done);
            draw.elements(start + done, here);
            put.elements(here);
        }
    }
}
