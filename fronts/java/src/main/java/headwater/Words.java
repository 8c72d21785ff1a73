package headwater;

/** The words of a stream in order, fetched many at a time. One thread may use it. */
final class Words {
    /** Words of one native call, so that a word costs about a nanosecond. */
    private static final int TOGETHER = 256;

    final Stream stream;
    private final long[] buffer = new long[TOGETHER];
    /** The word after those in the buffer. */
    private long next;
    /** Words of the buffer that are used. */
    private int used = TOGETHER;

    Words(Stream stream, long position) {
        this.stream = stream;
        this.next = position;
    }

    long next() {
        if (used == TOGETHER) {
            stream.fill(next, buffer);
            next += TOGETHER;
            used = 0;
        }
        return buffer[used++];
    }

    /** Returns the index of the next word. */
    long position() {
        return next - (TOGETHER - used);
    }
}
