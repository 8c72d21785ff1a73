package headwater;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A function of a row's id, as engines for tables have it: {@code hw_normal(id, 42, 'noise')}.
 * <b>Not for secrets.</b>
 *
 * <pre>{@code
 * RowPlan noise = RowFunction.of("hw_normal").plan(42, "noise");
 * Rows rows = noise.rows(); // one for each thread
 * double number = rows.real(7);
 * }</pre>
 *
 * <p>Each engine's SQL has these functions with the same arguments and values, so a front for
 * another engine of the JVM needs only its engine's way to declare a function. Names, arguments and
 * errors are those of headwater's extension for DuckDB.
 */
public final class RowFunction {
    /** The values of a function. */
    public enum Result {
        /** Doubles, by {@link Rows#real(long)}. */
        DOUBLE,
        /** Longs, by {@link Rows#whole(long)}. */
        LONG,
        /** Longs without a sign, by {@link Rows#whole(long)}. */
        UNSIGNED,
        /** Whether a row is in a sample, by {@link Rows#isIn(long)}. */
        BOOLEAN,
        /** The number of a part from 0 to 255, by {@link Rows#part(long)}. */
        PART
    }

    /** The ways to make a value of a row's word. */
    enum Way {
        DRAW,
        PERMUTE,
        SAMPLE,
        SPLIT,
        ORDER,
        WEIGHTED
    }

    /**
     * Stands for a parameter that is a column, in place of its value in {@link #plan(Object...)}.
     * {@link ColumnRows} then takes a value for each row.
     */
    public static final Object COLUMN = new Object() {
        @Override
        public String toString() {
            return "a column";
        }
    };

    private static final List<RowFunction> ALL = made();
    private static final BigInteger BIT_63 = BigInteger.ONE.shiftLeft(63);
    private static final BigInteger BIT_64 = BigInteger.ONE.shiftLeft(64);

    private final String name;
    private final Way way;
    private final RowKind kind;
    private final Result result;
    private final List<String> arguments;
    private final int optional;
    /** The parameters of the kind in the order of arguments, as places in the table. */
    private final int[] order;

    private RowFunction(String name, Way way, RowKind kind, Result result, String... arguments) {
        this.name = "hw_" + name;
        this.way = way;
        this.kind = kind;
        this.result = result;
        List<String> names = new ArrayList<>(Arrays.asList(arguments));
        int left = 1;
        int[] places = new int[kind.parameters.length];
        if (way == Way.DRAW) {
            left = 0;
            int used = 0;
            // Those that a call may leave out come last.
            for (boolean hasDefault : new boolean[] {false, true}) {
                for (int i = 0; i < places.length; i++) {
                    if (kind.parameters[i].hasDefault == hasDefault) {
                        names.add(kind.parameters[i].name);
                        left += hasDefault ? 1 : 0;
                        places[used++] = i;
                    }
                }
            }
        }
        this.arguments = Collections.unmodifiableList(names);
        this.optional = left;
        this.order = places;
    }

    private static List<RowFunction> made() {
        List<RowFunction> all = new ArrayList<>();
        for (RowKind kind : RowKind.values()) {
            Result result = kind.isReal ? Result.DOUBLE
                    : kind == RowKind.WORDS ? Result.UNSIGNED : Result.LONG;
            all.add(new RowFunction(kind.title, Way.DRAW, kind, result, "id", "seed", "name"));
        }
        RowKind words = RowKind.WORDS;
        all.add(new RowFunction("permute", Way.PERMUTE, RowKind.PERMUTATION, Result.LONG,
                "i", "n", "seed", "name"));
        all.add(new RowFunction("sample", Way.SAMPLE, words, Result.BOOLEAN,
                "id", "seed", "p", "name"));
        all.add(new RowFunction("split", Way.SPLIT, words, Result.PART,
                "id", "seed", "parts", "name"));
        all.add(new RowFunction("order", Way.ORDER, words, Result.LONG, "id", "seed", "name"));
        all.add(new RowFunction("weighted_order", Way.WEIGHTED, RowKind.STANDARD_EXPONENTIAL,
                Result.DOUBLE, "id", "seed", "weight", "name"));
        return Collections.unmodifiableList(all);
    }

    /** Returns all functions. */
    public static List<RowFunction> all() {
        return ALL;
    }

    /**
     * Returns the function of this name, such as {@code hw_normal}.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static RowFunction of(String name) {
        for (RowFunction function : ALL) {
            if (function.name.equals(name)) {
                return function;
            }
        }
        throw new IllegalArgumentException("there is no function " + name
                + " of rows: RowFunction.all() has those that there are");
    }

    /** Returns the name in SQL. */
    public String name() {
        return name;
    }

    /** Returns the type of the values. */
    public Result result() {
        return result;
    }

    /** Returns the names of the arguments: the id first, and the last ones may be left out. */
    public List<String> arguments() {
        return arguments;
    }

    /** Returns the number of arguments that a call needs. */
    public int least() {
        return arguments.size() - optional;
    }

    /** Returns the place of the argument that differs from row to row beside the id, or -1. */
    public int weight() {
        return arguments.indexOf("weight");
    }

    /**
     * Returns the number of the parameter that an argument is, if it may be a {@link #COLUMN}, and
     * otherwise -1. By this number {@link ColumnRows} knows it.
     */
    public int column(int argument) {
        int place = argument - 3;
        if (way != Way.DRAW || kind == RowKind.PERMUTATION || place < 0 || place >= order.length) {
            return -1;
        }
        RowKind.Form form = kind.parameters[order[place]].form;
        boolean isColumn = form == RowKind.Form.REAL || form == RowKind.Form.COUNT;
        return isColumn ? order[place] : -1;
    }

    /** Returns true if a parameter that may be a column is a whole number from 0. */
    public boolean isCount(int column) {
        return kind.parameters[column].form == RowKind.Form.COUNT;
    }

    /** Returns how the function is called, for errors. */
    @Override
    public String toString() {
        return name + "(" + String.join(", ", arguments) + ")";
    }

    /**
     * Makes the function of its constants: all arguments but the id and a weight.
     *
     * <p>A seed is a whole number (a boxed integer or BigInteger), a Boolean, a text, or bytes;
     * other numbers may be Double or BigDecimal as well, and shares are an array of doubles. A
     * parameter that has a {@link #column(int)} may be {@link #COLUMN}.
     *
     * @throws IllegalArgumentException if there are too few or too many, or one has no such value
     */
    public RowPlan plan(Object... constants) {
        int own = arguments.size() - 1 - (way == Way.WEIGHTED ? 1 : 0);
        if (constants.length > own || constants.length < own - optional) {
            int least = own - optional;
            throw new IllegalArgumentException(this + " takes " + (least == own ? "" : least
                    + " to ") + own + " constants, not " + constants.length);
        }
        int at = way == Way.PERMUTE ? 1 : 0;
        Key key = key(constants[at]);
        switch (way) {
            case DRAW:
                return draw(key.child(text(constants[1])), values(constants));
            case PERMUTE:
                return draw(named(key, RowKind.PERMUTATION.title, constants, 2, true),
                        new Object[] {constants[0]});
            case SAMPLE:
                return RowPlan.sample(this, named(key, "sample", constants, 2, false),
                        Decisions.bound(real("p", constants[1])));
            case SPLIT:
                return split(named(key, "split", constants, 2, false), constants[1]);
            case ORDER:
                return RowPlan.of(this, named(key, "order", constants, 1, false));
            default:
                return RowPlan.of(this, named(key, "weighted", constants, 1, false));
        }
    }

    /** Returns the values of a kind's parameters, in the order of the table. */
    private Object[] values(Object[] constants) {
        Object[] values = new Object[order.length];
        for (int i = 0; i < order.length; i++) {
            // Null where the call leaves a value out: the default, which needs no check.
            values[order[i]] = i + 2 < constants.length ? constants[i + 2] : null;
        }
        return values;
    }

    private RowPlan draw(Key key, Object[] values) {
        long[] words = new long[values.length];
        int columns = 0;
        for (int i = 0; i < values.length; i++) {
            RowKind.Parameter parameter = kind.parameters[i];
            Object value = values[i];
            boolean isNumber = parameter.form == RowKind.Form.REAL
                    || parameter.form == RowKind.Form.COUNT;
            if (value == COLUMN && isNumber && kind != RowKind.PERMUTATION) {
                columns |= 1 << i;
                continue;
            }
            switch (parameter.form) {
                case REAL:
                    double real = value == null ? parameter.value : real(parameter.name, value);
                    words[i] = Double.doubleToRawLongBits(real);
                    break;
                case COUNT:
                    words[i] = value == null ? (long) parameter.value
                            : whole(parameter.name, value, BigInteger.ZERO,
                                    BIT_64.subtract(BigInteger.ONE), "from 0 to 2^64 - 1")
                                    .longValue();
                    break;
                case INTEGER:
                    words[i] = value == null ? (long) parameter.value
                            : integer(parameter.name, value);
                    break;
                default:
                    words[i] = value == null ? (long) parameter.value
                            : whole(parameter.name, value, BigInteger.ZERO, BIT_64,
                                    "true or false").signum();
            }
        }
        if (kind == RowKind.INTEGERS && words[0] > words[1]) {
            throw new IllegalArgumentException(
                    "no number lies in a range that ends before it begins: raise its end");
        }
        if (kind == RowKind.PERMUTATION && words[0] < 0 && words[0] != Long.MIN_VALUE) {
            throw new IllegalArgumentException("n must be from 0 to 2^63, above which elements are"
                    + " no longs, not " + Long.toUnsignedString(words[0]));
        }
        return RowPlan.draw(this, key, words, columns, shown(values));
    }

    /** Returns the numbers that a call has, for errors. */
    private String[] shown(Object[] values) {
        String[] shown = new String[values.length];
        for (int i = 0; i < values.length; i++) {
            shown[i] = values[i] == null ? "" : shown(values[i]);
        }
        return shown;
    }

    /** Returns an end of a range of whole numbers. The upper end is left out, as in NumPy. */
    private long integer(String parameter, Object value) {
        BigInteger number = whole(parameter, value, BIT_63.negate(), BIT_64, "from -2^63 to 2^63");
        if (parameter.equals("high")) {
            number = number.subtract(BigInteger.ONE);
        }
        if (number.bitLength() > 63) {
            throw new IllegalArgumentException(
                    parameter + " must be from -2^63 to 2^63, not " + shown(value));
        }
        return number.longValue();
    }

    private RowPlan split(Key key, Object parts) {
        if (parts instanceof double[]) {
            return RowPlan.split(this, key, 0, Decisions.borders((double[]) parts));
        }
        if (isText(parts) || parts instanceof Double || parts instanceof Float
                || parts instanceof BigDecimal) {
            throw new IllegalArgumentException(
                    "parts must be an integer or a list of shares, not " + shown(parts));
        }
        BigInteger number = whole("parts", parts, BigInteger.ONE, BigInteger.valueOf(256),
                "from 1 to 256 of them");
        return RowPlan.split(this, key, number.intValue(), null);
    }

    private Key named(Key key, String purpose, Object[] constants, int place, boolean isKind) {
        String given = place < constants.length ? text(constants[place]) : null;
        // The name of a kind's column is a child of the key itself, and that of another purpose
        // one of the purpose's child.
        if (isKind && given != null) {
            return key.child(given);
        }
        Key own = key.child(purpose.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        return given == null ? own : own.child(given);
    }

    private Key key(Object seed) {
        if (seed instanceof String) {
            return Key.of((String) seed);
        }
        if (seed instanceof byte[]) {
            return Key.of(Engine.ARS7, (byte[]) seed);
        }
        BigInteger number = number(seed);
        if (number == null) {
            throw new IllegalArgumentException(
                    "seed must be an integer, a text or bytes, not " + shown(seed));
        }
        return Key.of(Engine.ARS7, number);
    }

    private String text(Object value) {
        if (!(value instanceof String)) {
            throw new IllegalArgumentException(
                    "name in " + this + " must be a text, not " + shown(value));
        }
        return (String) value;
    }

    private static boolean isText(Object value) {
        return value instanceof String;
    }

    /** Returns a whole number, or null for a value of another type. */
    private static BigInteger number(Object value) {
        if (value instanceof BigInteger) {
            return (BigInteger) value;
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? BigInteger.ONE : BigInteger.ZERO;
        }
        boolean isWhole = value instanceof Long || value instanceof Integer
                || value instanceof Short || value instanceof Byte;
        return isWhole ? BigInteger.valueOf(((Number) value).longValue()) : null;
    }

    private static BigInteger whole(String name, Object value, BigInteger least, BigInteger most,
            String range) {
        BigInteger number = number(value);
        if (number == null) {
            throw new IllegalArgumentException(
                    name + " must be an integer, not " + shown(value));
        }
        if (number.compareTo(least) < 0 || number.compareTo(most) > 0) {
            throw new IllegalArgumentException(name + " must be " + range + ", not " + number);
        }
        return number;
    }

    private static double real(String name, Object value) {
        if (value instanceof Double || value instanceof Float || value instanceof BigDecimal) {
            return ((Number) value).doubleValue();
        }
        BigInteger number = number(value);
        if (number == null) {
            throw new IllegalArgumentException(name + " must be a number, not " + shown(value));
        }
        return number.doubleValue();
    }

    /** Returns a value as an error has it. */
    private static String shown(Object value) {
        if (value instanceof String) {
            return "the text \"" + value + "\"";
        }
        if (value instanceof Double || value instanceof Float) {
            return "the double " + value;
        }
        if (value instanceof BigDecimal) {
            return "the decimal " + value;
        }
        if (value instanceof byte[]) {
            return "bytes";
        }
        if (value instanceof double[]) {
            return "a list";
        }
        return value == null ? "null" : value.toString();
    }

    Way way() {
        return way;
    }

    RowKind kind() {
        return kind;
    }
}
