package headwater;

import java.io.Serializable;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A {@link RowFunction} with its seed, name and parameters: all of a call but the ids.
 *
 * <p>A plan is an immutable value that may be sent to other machines. {@link #rows()} makes the
 * state that one thread computes with.
 */
public final class RowPlan implements Serializable {
    private static final long serialVersionUID = 1L;
    /** The most parameters of a kind. */
    private static final int MOST = 4;
    /** Bytes of an error's text. */
    private static final int TEXT = 160;

    final String usage;
    final RowFunction.Way way;
    final RowKind kind;
    final int engine;
    final long low;
    final long high;
    final long[] parameters;
    /** The same four words for a call with numbers alone. */
    final long first;
    final long second;
    final long third;
    final long fourth;
    /** The last id, as an unsigned number. */
    final long last;
    /** True if no id is in range: a permutation of 0. */
    final boolean isEmpty;
    /** A sample's bound; unused if all rows are in it. */
    final long below;
    final boolean isWhole;
    /** The number of equal parts, or 0 if there are borders. */
    final int parts;
    final long[] borders;
    /** The parameters that are columns, a bit for each. */
    final int columns;

    private RowPlan(RowFunction function, Key key, long[] parameters, Long below, int parts,
            long[] borders, int columns) {
        this(function.toString(), function.way(), function.kind(), key.engine().ordinal(),
                key.low(), key.high(), parameters, below, parts, borders, columns);
    }

    private RowPlan(String usage, RowFunction.Way way, RowKind kind, int engine, long low,
            long high, long[] parameters, Long below, int parts, long[] borders, int columns) {
        long[] four = Arrays.copyOf(parameters, MOST);
        this.usage = usage;
        this.way = way;
        this.kind = kind;
        this.engine = engine;
        this.low = low;
        this.high = high;
        this.parameters = parameters;
        this.first = four[0];
        this.second = four[1];
        this.third = four[2];
        this.fourth = four[3];
        boolean isPermutation = kind == RowKind.PERMUTATION;
        this.isEmpty = isPermutation && parameters[0] == 0;
        this.last = isPermutation ? parameters[0] - 1 : kind.last;
        this.isWhole = below == null;
        this.below = below == null ? 0 : below;
        this.parts = parts;
        this.borders = borders;
        this.columns = columns;
    }

    /** Returns the plan with these parameters, which a draw has taken, in place of columns. */
    RowPlan with(long[] values) {
        return new RowPlan(usage, way, kind, engine, low, high, values.clone(), null, 0, null, 0);
    }

    static RowPlan of(RowFunction function, Key key) {
        return new RowPlan(function, key, new long[0], null, 0, null, 0);
    }

    static RowPlan sample(RowFunction function, Key key, Long below) {
        return new RowPlan(function, key, new long[0], below, 0, null, 0);
    }

    static RowPlan split(RowFunction function, Key key, int parts, long[] borders) {
        return new RowPlan(function, key, new long[0], null, parts, borders, 0);
    }

    /** Checks parameters, unless one is a column, and returns the plan of a kind. */
    static RowPlan draw(RowFunction function, Key key, long[] parameters, int columns,
            String[] shown) {
        Draw.require();
        RowKind kind = function.kind();
        String fault = columns == 0 ? fault(kind, parameters, shown) : null;
        if (fault != null) {
            throw new IllegalArgumentException(fault);
        }
        return new RowPlan(function, key, parameters, null, 0, null, columns);
    }

    /** Returns the text of the error that parameters are, or null if they are none. */
    static String fault(RowKind kind, long[] parameters, String[] shown) {
        byte[] text = new byte[TEXT];
        int result = Native.check(kind.number, kind.dtype, parameters, text);
        return result == 0 ? null : refused(kind, text, shown);
    }

    /** Returns the text of an error, with the parameter's name in calls. */
    private static String refused(RowKind kind, byte[] text, String[] shown) {
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        String need = new String(text, 0, length, StandardCharsets.UTF_8);
        // The library's name of a parameter may be another one than NumPy's.
        for (int i = 0; i < kind.parameters.length; i++) {
            String name = kind.parameters[i].nativeName + " must be ";
            if (need.startsWith(name)) {
                String value = shown[i].isEmpty() ? "" : ", not " + shown[i];
                return kind.parameters[i].name + " must be " + need.substring(name.length())
                        + value;
            }
        }
        return need.isEmpty() ? "there is no " + kind.title + " of these parameters: "
                + String.join(", ", shown) : need;
    }

    /**
     * Returns an id for {@link #unsignedRows()}.
     *
     * @throws IllegalArgumentException if it is negative, or of more than 64 bits
     */
    public long id(BigInteger id) {
        if (id.signum() < 0) {
            throw Rows.negative(this, id.toString());
        }
        if (id.bitLength() > 64) {
            throw Rows.past(this, id.toString());
        }
        return id.longValue();
    }

    /**
     * Returns what one thread computes with. Negative ids are errors.
     *
     * @throws IllegalStateException if a parameter is a column
     */
    public Rows rows() {
        return new Rows(withoutColumns(), false);
    }

    /** Returns the same for ids from 0 to 2^64 - 2, as longs without a sign. */
    public Rows unsignedRows() {
        return new Rows(withoutColumns(), true);
    }

    /** Returns what one thread computes with where parameters are columns. */
    public ColumnRows columnRows() {
        return new ColumnRows(this, false);
    }

    /** Returns the same for ids from 0 to 2^64 - 2, as longs without a sign. */
    public ColumnRows unsignedColumnRows() {
        return new ColumnRows(this, true);
    }

    private RowPlan withoutColumns() {
        if (columns != 0) {
            throw new IllegalStateException(
                    "a parameter of " + usage + " is a column: columnRows() takes its values");
        }
        return this;
    }

    /** Returns how the function is called. */
    @Override
    public String toString() {
        return usage;
    }
}
