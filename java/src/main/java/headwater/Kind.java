package headwater;

/** A kind of number. The order is that of the native library. */
enum Kind {
    U8(1, 1),
    U32(4, 1),
    U64(8, 1),
    F32(4, 1),
    F64(8, 1),
    NORMAL_F32(4, 1),
    NORMAL_F64(8, 2),
    EXPONENTIAL_F64(8, 1),
    BOUNDED_U32(4, 1),
    BOUNDED_U64(8, 1),
    PERMUTATION(8, 1);

    /** Bytes of an element. */
    final int width;
    /**
     * The last element, as an unsigned number. A pair of two words exists only if both words do; a
     * pair of half words lies in one word.
     */
    final long last;

    Kind(int width, int together) {
        this.width = width;
        this.last = -1L - together; // 2^64 - 2 or 2^64 - 3
    }
}
