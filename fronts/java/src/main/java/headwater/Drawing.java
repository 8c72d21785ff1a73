package headwater;

import java.lang.reflect.Array;
import java.util.Objects;

/** Elements of a distribution on their way to one array. */
final class Drawing {
    /**
     * Numbers of one native call, which holds the garbage collector back: 2,048 numbers take 100 us
     * or less, multinomial counts a few times as long.
     */
    private static final int PIECE = 2048;

    private final Stream stream;
    private final Distribution distribution;
    private final Object out;
    private final int length;
    private final int dtype;
    private final int width;

    Drawing(Stream stream, Distribution distribution, Object out) {
        this.stream = stream;
        this.distribution = Objects.requireNonNull(distribution, "distribution");
        this.out = Objects.requireNonNull(out, "out");
        length = Array.getLength(out);
        boolean single = out instanceof float[];
        dtype = single ? distribution.kind.narrow : distribution.kind.wide;
        width = distribution.dimension();
        if (single && !((Distribution.Reals) distribution).hasFloats()) {
            throw new IllegalArgumentException(
                    distribution + " has no numbers of single precision: pass doubles");
        }
    }

    void fill(long start, int off, int n) {
        if (off < 0 || n < 0 || off > length - n) {
            throw new IndexOutOfBoundsException(
                    "elements " + off + " to " + off + " + " + n + " of an array of " + length);
        }
        if (n % width != 0) {
            throw new IllegalArgumentException("room for " + n + " numbers is not that of vectors"
                    + " of " + width + " components");
        }
        if (n == 0) {
            return;
        }
        int rows = n / width;
        int piece = piece();
        long last = start + (rows - 1);
        // The last element of several pieces first, so that an exception leaves nothing behind.
        if (Long.compareUnsigned(last, start) < 0
                || rows > piece && draw(last, scratch(), 0, width) != 0) {
            throw outside(start, rows);
        }
        for (int done = 0; done < rows; done += Math.min(piece, rows - done)) {
            int here = Math.min(piece, rows - done);
            if (draw(start + done, out, off + done * width, here * width) != 0) {
                throw outside(start, rows);
            }
        }
    }

    /** Writes elements to places of the array, as many as there are, from {@code off} on. */
    void at(long[] indices, int off, int places) {
        int rows = Objects.requireNonNull(indices, "indices").length;
        if ((long) rows * width != places) {
            throw new IllegalArgumentException(
                    rows + " indices of " + width + " numbers each for " + places + " numbers");
        }
        if (rows == 0) {
            return;
        }
        // A copy, because another thread could put an index behind the end after the check.
        long[] checked = indices.clone();
        int most = 0;
        for (int i = 1; i < rows; i++) {
            most = Long.compareUnsigned(checked[i], checked[most]) > 0 ? i : most;
        }
        if (drawAt(checked, most, 1, scratch(), 0) != 0) {
            throw outside(checked[most], 1);
        }
        int piece = piece();
        for (int done = 0; done < rows; done += Math.min(piece, rows - done)) {
            if (drawAt(checked, done, Math.min(piece, rows - done), out,
                    off + done * width) != 0) {
                throw outside(checked[most], 1);
            }
        }
    }

    /** Writes elements from {@code off} on. */
    void at(long[] indices, int off) {
        long numbers = (long) Objects.requireNonNull(indices, "indices").length * width;
        if (off < 0 || off > length - numbers) {
            throw new IndexOutOfBoundsException("elements " + off + " to " + off + " + " + numbers
                    + " of an array of " + length);
        }
        at(indices, off, (int) numbers);
    }

    /** Returns the number of elements of one native call. */
    private int piece() {
        return Math.max(1, PIECE / width);
    }

    private Object scratch() {
        return Array.newInstance(out.getClass().getComponentType(), width);
    }

    private int draw(long start, Object to, int off, int n) {
        Key key = stream.key();
        return Native.draw(distribution.kind.number, dtype, key.engine().ordinal(), key.low(),
                key.high(), stream.id(), start, distribution.parameters, to, off, n);
    }

    private int drawAt(long[] indices, int from, int many, Object to, int off) {
        Key key = stream.key();
        return Native.drawAt(distribution.kind.number, dtype, key.engine().ordinal(),
                key.low(), key.high(), stream.id(), distribution.parameters, indices, from, many,
                to, off, many * width);
    }

    private IllegalArgumentException outside(long start, int rows) {
        return new IllegalArgumentException(rows + " elements of " + distribution + " from index "
                + Long.toUnsignedString(start) + " on end behind the last one");
    }
}
