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

    private RowPlan(RowFunction function, Key key, long[] parameters, Long below, int parts,
            long[] borders) {
        long[] four = Arrays.copyOf(parameters, MOST);
        this.usage = function.toString();
        this.way = function.way();
        this.kind = function.kind();
        this.engine = key.engine().ordinal();
        this.low = key.low();
        this.high = key.high();
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
    }

    static RowPlan of(RowFunction function, Key key) {
        return new RowPlan(function, key, new long[0], null, 0, null);
    }

    static RowPlan sample(RowFunction function, Key key, Long below) {
        return new RowPlan(function, key, new long[0], below, 0, null);
    }

    static RowPlan split(RowFunction function, Key key, int parts, long[] borders) {
        return new RowPlan(function, key, new long[0], null, parts, borders);
    }

    /** Checks parameters, and returns the plan of a kind. */
    static RowPlan draw(RowFunction function, Key key, long[] parameters, String[] shown) {
        Draw.require();
        byte[] text = new byte[TEXT];
        RowKind kind = function.kind();
        if (Native.check(kind.number, kind.dtype, parameters, text) != 0) {
            throw new IllegalArgumentException(refused(kind, text, shown));
        }
        return new RowPlan(function, key, parameters, null, 0, null);
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

    /** Returns what one thread computes with. Negative ids are errors. */
    public Rows rows() {
        return new Rows(this, false);
    }

    /** Returns the same for ids from 0 to 2^64 - 2, as longs without a sign. */
    public Rows unsignedRows() {
        return new Rows(this, true);
    }

    /** Returns how the function is called. */
    @Override
    public String toString() {
        return usage;
    }
}
