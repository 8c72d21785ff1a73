package headwater;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * One of a key's streams: a function from an element's index to its value. <b>Not for secrets.</b>
 *
 * <p>Element i depends on the key, the stream and i alone. Any thread, process or machine can
 * therefore fill any part of an array, in any order, and parts make the whole. All kinds of numbers
 * are views of the same bytes, so two arrays that must be independent need two streams.
 *
 * <p>Indices are unsigned numbers up to 2^64 - 2, and normal doubles end one earlier. If a call
 * throws an exception, it has written nothing. STREAMS.md defines every value to the bit.
 */
public final class Stream implements Serializable {
    private static final long serialVersionUID = 1L;
    /** Bytes of one native call, which holds the garbage collector back. A power of two. */
    private static final int PIECE = 128 * 1024;

    private final Key key;
    private final long id;

    Stream(Key key, long id) {
        this.key = key;
        this.id = id;
    }

    /** Returns the key. */
    public Key key() {
        return key;
    }

    /** Returns the stream's number. */
    public long id() {
        return id;
    }

    /** Writes the stream's bytes from {@code start} on. */
    public void fill(long start, byte[] out) {
        fill(Kind.WORDS_U8, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(long, byte[])} does. */
    public void fill(long start, byte[] out, int off, int n) {
        fill(Kind.WORDS_U8, start, 0, out, out.length, off, n);
    }

    /** Writes numbers of 32 bits, the stream's bytes with the lowest first. */
    public void fill(long start, int[] out) {
        fill(Kind.WORDS_U32, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(long, int[])} does. */
    public void fill(long start, int[] out, int off, int n) {
        fill(Kind.WORDS_U32, start, 0, out, out.length, off, n);
    }

    /** Writes numbers of 64 bits, the stream's bytes with the lowest first. */
    public void fill(long start, long[] out) {
        fill(Kind.WORDS_U64, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(long, long[])} does. */
    public void fill(long start, long[] out, int off, int n) {
        fill(Kind.WORDS_U64, start, 0, out, out.length, off, n);
    }

    /** Writes numbers from 0 to below 1, multiples of 2^-24. */
    public void fill(long start, float[] out) {
        fill(Kind.UNIFORM_F32, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(long, float[])} does. */
    public void fill(long start, float[] out, int off, int n) {
        fill(Kind.UNIFORM_F32, start, 0, out, out.length, off, n);
    }

    /** Writes numbers from 0 to below 1, multiples of 2^-53. */
    public void fill(long start, double[] out) {
        fill(Kind.UNIFORM_F64, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(long, double[])} does. */
    public void fill(long start, double[] out, int off, int n) {
        fill(Kind.UNIFORM_F64, start, 0, out, out.length, off, n);
    }

    /** Writes normal numbers with mean 0 and variance 1. */
    public void fillNormal(long start, float[] out) {
        fill(Kind.NORMAL_F32, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillNormal(long, float[])} does. */
    public void fillNormal(long start, float[] out, int off, int n) {
        fill(Kind.NORMAL_F32, start, 0, out, out.length, off, n);
    }

    /** Writes normal numbers with mean 0 and variance 1. */
    public void fillNormal(long start, double[] out) {
        fill(Kind.NORMAL_F64, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillNormal(long, double[])} does. */
    public void fillNormal(long start, double[] out, int off, int n) {
        fill(Kind.NORMAL_F64, start, 0, out, out.length, off, n);
    }

    /** Writes exponential numbers with mean 1. */
    public void fillExponential(long start, double[] out) {
        fill(Kind.EXPONENTIAL_F64, start, 0, out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillExponential(long, double[])} does. */
    public void fillExponential(long start, double[] out, int off, int n) {
        fill(Kind.EXPONENTIAL_F64, start, 0, out, out.length, off, n);
    }

    /**
     * Writes whole numbers from 0 to below {@code bound}, each equally likely, from 32 bits of the
     * stream each.
     *
     * @throws IllegalArgumentException if the bound is not above 0
     */
    public void fillBounded(int bound, long start, int[] out) {
        fill(Kind.INTEGERS_U32, start, positive(bound), out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillBounded(int, long, int[])} does. */
    public void fillBounded(int bound, long start, int[] out, int off, int n) {
        fill(Kind.INTEGERS_U32, start, positive(bound), out, out.length, off, n);
    }

    /**
     * Writes whole numbers from 0 to below {@code bound}, each equally likely.
     *
     * @throws IllegalArgumentException if the bound is not above 0
     */
    public void fillBounded(long bound, long start, long[] out) {
        fill(Kind.INTEGERS_U64, start, positive(bound), out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillBounded(long, long, long[])} does. */
    public void fillBounded(long bound, long start, long[] out, int off, int n) {
        fill(Kind.INTEGERS_U64, start, positive(bound), out, out.length, off, n);
    }

    /**
     * Writes whole numbers from {@code low} to {@code high}, both included, each equally likely.
     *
     * @throws IllegalArgumentException if {@code high} is below {@code low}
     */
    public void fillRange(long low, long high, long start, long[] out) {
        fillRange(low, high, start, out, 0, out.length);
    }

    /** Writes part of an array as {@link #fillRange(long, long, long, long[])} does. */
    public void fillRange(long low, long high, long start, long[] out, int off, int n) {
        if (high < low) {
            throw new IllegalArgumentException("the range is empty: " + low + " to " + high);
        }
        long count = high - low + 1; // unsigned; 0 stands for 2^64
        Kind kind = count == 0 ? Kind.WORDS_U64 : Kind.INTEGERS_U64;
        fill(kind, start, count, out, out.length, off, n);
        for (int i = off; i < off + n; i++) {
            out[i] += low;
        }
    }

    /**
     * Writes whole numbers from {@code low} to {@code high}, both included, each equally likely,
     * from 32 bits of the stream each.
     *
     * @throws IllegalArgumentException if {@code high} is below {@code low}
     */
    public void fillRange(int low, int high, long start, int[] out) {
        fillRange(low, high, start, out, 0, out.length);
    }

    /** Writes part of an array as {@link #fillRange(int, int, long, int[])} does. */
    public void fillRange(int low, int high, long start, int[] out, int off, int n) {
        if (high < low) {
            throw new IllegalArgumentException("the range is empty: " + low + " to " + high);
        }
        long count = (long) high - low + 1;
        Kind kind = count == 1L << 32 ? Kind.WORDS_U32 : Kind.INTEGERS_U32;
        fill(kind, start, count, out, out.length, off, n);
        for (int i = off; i < off + n; i++) {
            out[i] += low;
        }
    }

    /** Brings an array into random order: the one that Rust and Python have for its length. */
    public void shuffle(int[] array) {
        new Shuffle(this).run(array.length, (i, j) -> {
            int moved = array[i];
            array[i] = array[j];
            array[j] = moved;
        });
    }

    /** Brings an array into random order. */
    public void shuffle(long[] array) {
        new Shuffle(this).run(array.length, (i, j) -> {
            long moved = array[i];
            array[i] = array[j];
            array[j] = moved;
        });
    }

    /** Brings an array into random order. */
    public void shuffle(double[] array) {
        new Shuffle(this).run(array.length, (i, j) -> {
            double moved = array[i];
            array[i] = array[j];
            array[j] = moved;
        });
    }

    /** Brings an array into random order. */
    public void shuffle(Object[] array) {
        new Shuffle(this).run(array.length, (i, j) -> {
            Object moved = array[i];
            array[i] = array[j];
            array[j] = moved;
        });
    }

    /** Brings a list into random order. Lists without random access take long. */
    public void shuffle(List<?> list) {
        new Shuffle(this).run(list.size(), (i, j) -> Collections.swap(list, i, j));
    }

    /**
     * Writes different numbers from 0 to n - 1 in random order: the beginning of
     * {@link #fillPermutation}.
     *
     * @throws IllegalArgumentException if the array has more than n elements
     */
    public void sample(long n, long[] out) {
        fillPermutation(n, 0, out);
    }

    /** Writes elements {@code start} and following of the stream's permutation of 0 to n - 1. */
    public void fillPermutation(long n, long start, long[] out) {
        fill(Kind.PERMUTATION_U64, start, positive(n), out, out.length, 0, out.length);
    }

    /** Writes part of an array as {@link #fillPermutation(long, long, long[])} does. */
    public void fillPermutation(long n, long start, long[] out, int off, int count) {
        fill(Kind.PERMUTATION_U64, start, positive(n), out, out.length, off, count);
    }

    /**
     * Writes elements {@code start} and following of a distribution. Vectors follow each other.
     *
     * @throws IllegalArgumentException if the array has no room for whole vectors
     */
    public void fill(Distribution.Reals distribution, long start, double[] out) {
        new Drawing(this, distribution, out).fill(start, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(Distribution.Reals, long, double[])} does. */
    public void fill(Distribution.Reals distribution, long start, double[] out, int off, int n) {
        new Drawing(this, distribution, out).fill(start, off, n);
    }

    /**
     * Writes the elements of {@link #fill(Distribution.Reals, long, double[])} in single precision.
     *
     * @throws IllegalArgumentException if the distribution has vectors, other than complex numbers
     */
    public void fill(Distribution.Reals distribution, long start, float[] out) {
        new Drawing(this, distribution, out).fill(start, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(Distribution.Reals, long, float[])} does. */
    public void fill(Distribution.Reals distribution, long start, float[] out, int off, int n) {
        new Drawing(this, distribution, out).fill(start, off, n);
    }

    /** Writes counts. */
    public void fill(Distribution.Counts distribution, long start, long[] out) {
        new Drawing(this, distribution, out).fill(start, 0, out.length);
    }

    /** Writes part of an array as {@link #fill(Distribution.Counts, long, long[])} does. */
    public void fill(Distribution.Counts distribution, long start, long[] out, int off, int n) {
        new Drawing(this, distribution, out).fill(start, off, n);
    }

    /** Writes the elements of a distribution at the indices. */
    public void at(Distribution.Reals distribution, long[] indices, double[] out) {
        new Drawing(this, distribution, out).at(indices, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(Distribution.Reals, long[], double[])} does. */
    public void at(Distribution.Reals distribution, long[] indices, double[] out, int off) {
        new Drawing(this, distribution, out).at(indices, off);
    }

    /** Writes the elements of a distribution at the indices, in single precision. */
    public void at(Distribution.Reals distribution, long[] indices, float[] out) {
        new Drawing(this, distribution, out).at(indices, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(Distribution.Reals, long[], float[])} does. */
    public void at(Distribution.Reals distribution, long[] indices, float[] out, int off) {
        new Drawing(this, distribution, out).at(indices, off);
    }

    /** Writes the counts at the indices. */
    public void at(Distribution.Counts distribution, long[] indices, long[] out) {
        new Drawing(this, distribution, out).at(indices, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(Distribution.Counts, long[], long[])} does. */
    public void at(Distribution.Counts distribution, long[] indices, long[] out, int off) {
        new Drawing(this, distribution, out).at(indices, off);
    }

    /** Writes the bytes at the indices. */
    public void at(long[] indices, byte[] out) {
        at(Kind.WORDS_U8, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(long[], byte[])} does. */
    public void at(long[] indices, byte[] out, int off) {
        at(Kind.WORDS_U8, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the numbers of 32 bits at the indices. */
    public void at(long[] indices, int[] out) {
        at(Kind.WORDS_U32, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(long[], int[])} does. */
    public void at(long[] indices, int[] out, int off) {
        at(Kind.WORDS_U32, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the numbers of 64 bits at the indices. */
    public void at(long[] indices, long[] out) {
        at(Kind.WORDS_U64, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(long[], long[])} does. */
    public void at(long[] indices, long[] out, int off) {
        at(Kind.WORDS_U64, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fill(long, float[])} at the indices. */
    public void at(long[] indices, float[] out) {
        at(Kind.UNIFORM_F32, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(long[], float[])} does. */
    public void at(long[] indices, float[] out, int off) {
        at(Kind.UNIFORM_F32, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fill(long, double[])} at the indices. */
    public void at(long[] indices, double[] out) {
        at(Kind.UNIFORM_F64, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #at(long[], double[])} does. */
    public void at(long[] indices, double[] out, int off) {
        at(Kind.UNIFORM_F64, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillNormal(long, float[])} at the indices. */
    public void normalAt(long[] indices, float[] out) {
        at(Kind.NORMAL_F32, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #normalAt(long[], float[])} does. */
    public void normalAt(long[] indices, float[] out, int off) {
        at(Kind.NORMAL_F32, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillNormal(long, double[])} at the indices. */
    public void normalAt(long[] indices, double[] out) {
        at(Kind.NORMAL_F64, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #normalAt(long[], double[])} does. */
    public void normalAt(long[] indices, double[] out, int off) {
        at(Kind.NORMAL_F64, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillExponential} at the indices. */
    public void exponentialAt(long[] indices, double[] out) {
        at(Kind.EXPONENTIAL_F64, indices, 0, out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #exponentialAt(long[], double[])} does. */
    public void exponentialAt(long[] indices, double[] out, int off) {
        at(Kind.EXPONENTIAL_F64, indices, 0, out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillBounded(int, long, int[])} at the indices. */
    public void boundedAt(int bound, long[] indices, int[] out) {
        at(Kind.INTEGERS_U32, indices, positive(bound), out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #boundedAt(int, long[], int[])} does. */
    public void boundedAt(int bound, long[] indices, int[] out, int off) {
        at(Kind.INTEGERS_U32, indices, positive(bound), out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillBounded(long, long, long[])} at the indices. */
    public void boundedAt(long bound, long[] indices, long[] out) {
        at(Kind.INTEGERS_U64, indices, positive(bound), out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #boundedAt(long, long[], long[])} does. */
    public void boundedAt(long bound, long[] indices, long[] out, int off) {
        at(Kind.INTEGERS_U64, indices, positive(bound), out, off, room(out.length, indices, off));
    }

    /** Writes the elements of {@link #fillPermutation} at the indices. */
    public void permutationAt(long n, long[] indices, long[] out) {
        at(Kind.PERMUTATION_U64, indices, positive(n), out, 0, out.length);
    }

    /** Writes from {@code out[off]} on as {@link #permutationAt(long, long[], long[])} does. */
    public void permutationAt(long n, long[] indices, long[] out, int off) {
        at(Kind.PERMUTATION_U64, indices, positive(n), out, off, room(out.length, indices, off));
    }

    /** Returns a generator that takes the stream's words in order, from its beginning. */
    public StreamGenerator generator() {
        return new StreamGenerator(this, 0);
    }

    /** Returns a generator that takes the stream's words in order, from this one on. */
    public StreamGenerator generator(long position) {
        return new StreamGenerator(this, position);
    }

    /**
     * Writes the stream's bytes from {@code start} on to all that remains of a buffer, and moves
     * its position. A {@code MemorySegment} has such a view of itself, {@code asByteBuffer()}.
     */
    public void fill(long start, ByteBuffer out) {
        byte[] piece = Buffers.bytes(out.remaining());
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fill(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fill(long, int[])} to all that remains of a buffer. */
    public void fill(long start, IntBuffer out) {
        int[] piece = new int[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fill(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fill(long, long[])} to all that remains of a buffer. */
    public void fill(long start, LongBuffer out) {
        long[] piece = new long[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fill(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fill(long, float[])} to all that remains of a buffer. */
    public void fill(long start, FloatBuffer out) {
        float[] piece = new float[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fill(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fill(long, double[])} to all that remains of a buffer. */
    public void fill(long start, DoubleBuffer out) {
        double[] piece = new double[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fill(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fillNormal(long, float[])} to all that remains of a buffer. */
    public void fillNormal(long start, FloatBuffer out) {
        float[] piece = new float[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fillNormal(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /** Writes the numbers of {@link #fillNormal(long, double[])} to all that remains of a buffer. */
    public void fillNormal(long start, DoubleBuffer out) {
        double[] piece = new double[Buffers.piece(out.remaining())];
        Buffers.write(start, out.remaining(), piece.length,
                (from, n) -> fillNormal(from, piece, 0, n), n -> out.put(piece, 0, n));
    }

    /**
     * Writes elements of a distribution to all that remains of a buffer.
     *
     * @throws IllegalArgumentException if the buffer has no room for whole vectors
     */
    public void fill(Distribution.Reals distribution, long start, DoubleBuffer out) {
        int width = distribution.dimension();
        int rows = Buffers.rows(out.remaining(), width);
        double[] piece = new double[Buffers.piece(rows) * width];
        Buffers.write(start, rows, piece.length / width,
                (from, n) -> fill(distribution, from, piece, 0, n * width),
                n -> out.put(piece, 0, n * width));
    }

    /** Writes counts to all that remains of a buffer. */
    public void fill(Distribution.Counts distribution, long start, LongBuffer out) {
        int width = distribution.dimension();
        int rows = Buffers.rows(out.remaining(), width);
        long[] piece = new long[Buffers.piece(rows) * width];
        Buffers.write(start, rows, piece.length / width,
                (from, n) -> fill(distribution, from, piece, 0, n * width),
                n -> out.put(piece, 0, n * width));
    }

    private static long positive(long bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("the bound is not above 0: " + bound);
        }
        return bound;
    }

    /** Writes elements of any kind. The bound is unsigned, and 0 for kinds that have none. */
    void fill(Kind kind, long start, long bound, Object out, int length, int off, int n) {
        if (off < 0 || n < 0 || off > length - n) {
            throw new IndexOutOfBoundsException(
                    "elements " + off + " to " + off + " + " + n + " of an array of " + length);
        }
        if (n == 0) {
            return;
        }
        Draw.require();
        // Checked before the first piece is written, so that an exception leaves nothing behind.
        long last = start + n - 1;
        if (Long.compareUnsigned(last, start) < 0 || isOutside(kind, last, bound)) {
            throw outside(kind, start, n, bound);
        }
        int piece = PIECE / kind.width;
        for (int done = 0; done < n; done += Math.min(piece, n - done)) {
            int result = Native.streamFill(kind.code, key.engine().ordinal(), key.low(),
                    key.high(), id, start + done, bound, out, off + done,
                    Math.min(piece, n - done));
            if (result != 0) {
                throw outside(kind, start, n, bound);
            }
        }
    }

    /** Returns the number of places for the indices, from {@code off} on. */
    private static int room(int length, long[] indices, int off) {
        if (off < 0 || off > length - indices.length) {
            throw new IndexOutOfBoundsException("elements " + off + " to " + off + " + "
                    + indices.length + " of an array of " + length);
        }
        return indices.length;
    }

    private void at(Kind kind, long[] indices, long bound, Object out, int off, int length) {
        if (Objects.requireNonNull(indices, "indices").length != length) {
            throw new IllegalArgumentException(
                    indices.length + " indices for " + length + " elements");
        }
        if (length == 0) {
            return;
        }
        Draw.require();
        // A copy, because another thread could put an index behind the end after the check.
        long[] checked = indices.clone();
        for (long index : checked) {
            if (isOutside(kind, index, bound)) {
                throw outside(kind, index, 1, bound);
            }
        }
        int piece = PIECE / 8;
        for (int done = 0; done < length; done += Math.min(piece, length - done)) {
            int result = Native.streamAt(kind.code, key.engine().ordinal(), key.low(),
                    key.high(), id, bound, checked, done, out, off + done,
                    Math.min(piece, length - done));
            if (result != 0) {
                throw new IllegalStateException("headwater: indices were refused: " + result);
            }
        }
    }

    private static boolean isOutside(Kind kind, long index, long bound) {
        return Long.compareUnsigned(index, kind.last) > 0
                || kind == Kind.PERMUTATION_U64 && Long.compareUnsigned(index, bound) >= 0;
    }

    private static IllegalArgumentException outside(Kind kind, long start, int n, long bound) {
        String end = kind == Kind.PERMUTATION_U64 ? Long.toUnsignedString(bound - 1)
                : Long.toUnsignedString(kind.last);
        return new IllegalArgumentException(n + " elements from index "
                + Long.toUnsignedString(start) + " on end behind the last one, " + end);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Stream && id == ((Stream) other).id
                && key.equals(((Stream) other).key);
    }

    @Override
    public int hashCode() {
        return Objects.hash(key, id);
    }

    @Override
    public String toString() {
        return key + "/" + id;
    }
}
