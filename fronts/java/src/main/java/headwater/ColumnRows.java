package headwater;

import java.math.BigInteger;
import java.util.Arrays;

/**
 * The values of a {@link RowPlan} whose parameters are columns, asked for one row after the other
 * by one thread. <b>Not for secrets.</b>
 *
 * <pre>{@code
 * RowFunction normal = RowFunction.of("hw_normal");
 * RowPlan plan = normal.plan(42, "noise", RowFunction.COLUMN, 0.5);
 * ColumnRows rows = plan.columnRows();
 * rows.set(normal.column(3), mean); // argument 3 is loc
 * double number = rows.real(id);
 * }</pre>
 *
 * <p>A value is the one that the row's parameters make as constants. Kinds with a place and a scale
 * are those of place 0 and scale 1, moved and stretched, so that ids that follow each other are
 * computed in blocks whatever their parameters are. Of another kind, rows in a row with the same
 * parameters are.
 */
public final class ColumnRows {
    private final RowPlan plan;
    private final boolean isUnsigned;
    private final Rows ids;
    /** The kind's numbers of place 0 and scale 1, or null if they cannot be stretched. */
    private final Rows unit;
    /** The parameters of this row and, if {@code isKnown}, of the row before, which a draw took. */
    private final long[] words;
    private final long[] before;
    private boolean isKnown;
    /** The rows of the parameters in {@code before}, once a second row has them. */
    private Rows same;
    /**
     * The error of each count that is no word, and a bit for each. A row may end without a draw,
     * since another parameter is null; so a count is wrong until the next one is set.
     */
    private final String[] faults;
    private int wrong;

    ColumnRows(RowPlan plan, boolean isUnsigned) {
        this.plan = plan;
        this.isUnsigned = isUnsigned;
        this.ids = new Rows(plan, isUnsigned);
        this.words = plan.parameters.clone();
        this.before = new long[words.length];
        this.faults = new String[words.length];
        this.unit = unit(plan, isUnsigned);
    }

    private static Rows unit(RowPlan plan, boolean isUnsigned) {
        long one = Double.doubleToRawLongBits(1.0);
        switch (plan.kind) {
            case UNIFORM:
            case NORMAL:
            case LAPLACE:
            case GUMBEL:
            case LOGISTIC:
            case CAUCHY:
                return new Rows(plan.with(new long[] {0, one}), isUnsigned);
            case EXPONENTIAL:
            case RAYLEIGH:
                return new Rows(plan.with(new long[] {one}), isUnsigned);
            default:
                return null;
        }
    }

    /**
     * Sets a parameter of the next row, by the number that {@link RowFunction#column} has.
     *
     * @throws IllegalArgumentException if that parameter is no column of the plan
     */
    public void set(int column, double value) {
        require(column);
        words[column] = Double.doubleToRawLongBits(value);
    }

    /** Sets a parameter of the next row that is a count, from 0, as {@link #set} does. */
    public void setCount(int column, long value) {
        require(column);
        words[column] = value;
        wrong &= ~(1 << column);
        if (value < 0) {
            setWrong(column, Long.toString(value));
        }
    }

    /** Sets a parameter of the next row that is a count, from 0 to 2^64 - 1, as {@link #set}. */
    public void setCount(int column, BigInteger value) {
        require(column);
        words[column] = value.longValue();
        wrong &= ~(1 << column);
        if (value.signum() < 0 || value.bitLength() > 64) {
            setWrong(column, value.toString());
        }
    }

    private void require(int column) {
        if (column < 0 || column >= words.length || (plan.columns >>> column & 1) == 0) {
            throw new IllegalArgumentException("parameter " + column + " of " + plan
                    + " is no column: give RowFunction.COLUMN in its place in the plan");
        }
    }

    private void setWrong(int column, String value) {
        wrong |= 1 << column;
        faults[column] = plan.kind.parameters[column].name
                + " must be a whole number from 0 to 2^64 - 1, not " + value;
    }

    /**
     * Returns the double of a row.
     *
     * @throws IllegalArgumentException for an id without an element, and for parameters that the
     *     kind does not take; it names the value and the id
     */
    public double real(long id) {
        if (unit != null) {
            double first = Double.longBitsToDouble(words[0]);
            double scale = Double.longBitsToDouble(words[words.length - 1]);
            if (plan.kind == RowKind.UNIFORM) {
                double width = scale - first;
                if (first <= scale && width < Double.POSITIVE_INFINITY) {
                    return first + width * unit.real(id);
                }
            } else if (words[words.length - 1] >= 0 && scale < Double.POSITIVE_INFINITY) {
                double stretched = unit.real(id) * scale;
                if (words.length == 1) {
                    return stretched;
                }
                if (first - first == 0.0) { // neither infinite nor NaN
                    return stretched + first;
                }
            }
        }
        return Double.longBitsToDouble(bits(true, id));
    }

    /** Returns the long of a row, as {@link #real(long)} does the double. */
    public long whole(long id) {
        return bits(false, id);
    }

    private long bits(boolean isReal, long id) {
        if (plan.kind.isReal != isReal) {
            throw new IllegalStateException(plan + " has "
                    + (isReal ? "longs: whole(id)" : "doubles: real(id)") + " returns them");
        }
        return bits(id);
    }

    private long bits(long id) {
        if (wrong != 0) {
            throw refused(faults[Integer.numberOfTrailingZeros(wrong)], id);
        }
        if (isKnown && Arrays.equals(words, before)) {
            if (same == null) {
                same = new Rows(plan.with(words), isUnsigned);
            }
            return same.bits(id);
        }
        ids.check(id);
        isKnown = false;
        same = null;
        long bits = Native.one(plan.kind.number, plan.kind.dtype, plan.engine, plan.low, plan.high,
                0, word(0), word(1), word(2), word(3), id);
        if (bits == Rows.NONE) {
            String fault = RowPlan.fault(plan.kind, words, shown());
            if (fault != null) {
                throw refused(fault, id);
            }
            // The element has these bits.
            bits = new Rows(plan.with(words), isUnsigned).bits(id);
        }
        System.arraycopy(words, 0, before, 0, words.length);
        isKnown = true;
        return bits;
    }

    private long word(int place) {
        return place < words.length ? words[place] : 0;
    }

    private IllegalArgumentException refused(String text, long id) {
        return new IllegalArgumentException(
                text + ", for id " + Long.toUnsignedString(id) + " in " + plan);
    }

    /** Returns the parameters as an error has them. */
    private String[] shown() {
        String[] shown = new String[words.length];
        for (int i = 0; i < words.length; i++) {
            boolean isReal = plan.kind.parameters[i].form == RowKind.Form.REAL;
            shown[i] = isReal ? Double.toString(Double.longBitsToDouble(words[i]))
                    : Long.toUnsignedString(words[i]);
        }
        return shown;
    }
}
