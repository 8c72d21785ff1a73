package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Parameters that are columns, against a plan of each row's own constants: for every function, in
 * orders of ids and of parameters that go the ways of blocks, of equal rows, and of single ones.
 */
class ColumnRowsTest {
    private static final int N = 1500;
    private static final long[] NO_ORDER = new Random(7).longs(N, 0, N).toArray();

    /** Returns a value of a parameter that its kind takes beside the others of the same step. */
    private static double value(String kind, String parameter, int step) {
        switch (parameter) {
            case "low":
            case "left":
                return -1.5 - step;
            case "high":
            case "right":
                return 4.0 + step;
            case "mode":
                return 1.0;
            case "p":
                return 0.25 + step / 8.0;
            case "mu":
                return step / 2.0 - 1.0;
            case "nsample":
                return 3.0;
            case "a":
                return kind.equals("hw_zipf") ? 2.5 + step : 1.0 + step;
            default:
                return 4.0 + step;
        }
    }

    @Test
    void eachRowHasTheValueOfItsOwnParameters() {
        int tried = 0;
        for (RowFunction function : RowFunction.all()) {
            int parameters = function.arguments().size() - 3;
            if (parameters < 1 || function.column(3) < 0) {
                continue;
            }
            // Of each parameter alone, and of all: the others are constants.
            for (int mask = 1; mask < 1 << parameters; mask++) {
                compare(function, parameters, mask);
            }
            tried++;
        }
        assertTrue(tried > 30, tried + " functions");
    }

    private static void compare(RowFunction function, int parameters, int mask) {
        Object[] constants = new Object[2 + parameters];
        constants[0] = 42;
        constants[1] = "z";
        boolean isReal = function.result() == RowFunction.Result.DOUBLE;
        for (int order = 0; order < 4; order++) {
            fill(function, constants, 0, -1);
            for (int i = 0; i < parameters; i++) {
                if ((mask >> i & 1) != 0) {
                    constants[2 + i] = RowFunction.COLUMN;
                }
            }
            ColumnRows rows = function.plan(constants).columnRows();
            RowPlan[] own = new RowPlan[5];
            for (int step = 0; step < own.length; step++) {
                fill(function, constants, step, mask);
                own[step] = function.plan(constants);
            }
            for (int i = 0; i < N; i++) {
                // Parameters that change in each row, and that stay for some; ids in order and not.
                int step = order % 2 == 0 ? i % 5 : i / 9 % 5;
                long id = order < 2 ? i : NO_ORDER[i];
                for (int k = 0; k < parameters; k++) {
                    if ((mask >> k & 1) != 0) {
                        set(rows, function, k, step);
                    }
                }
                Rows right = own[step].rows();
                String what = function.name() + " " + mask + " of " + id;
                if (isReal) {
                    assertEquals(Double.doubleToRawLongBits(right.real(id)),
                            Double.doubleToRawLongBits(rows.real(id)), what);
                } else {
                    assertEquals(right.whole(id), rows.whole(id), what);
                }
            }
        }
    }

    private static void set(ColumnRows rows, RowFunction function, int parameter, int step) {
        double value = value(function.name(), function.arguments().get(3 + parameter), step);
        int column = function.column(3 + parameter);
        if (!function.isCount(column)) {
            rows.set(column, value);
        } else if (step % 2 == 0) {
            rows.setCount(column, (long) value);
        } else {
            rows.setCount(column, BigInteger.valueOf((long) value));
        }
    }

    /** Sets constants to the values of a step where the mask has a bit, and of step 0 elsewhere. */
    private static void fill(RowFunction function, Object[] constants, int step, int mask) {
        for (int i = 0; i < constants.length - 2; i++) {
            int own = (mask >> i & 1) != 0 ? step : 0;
            double value = value(function.name(), function.arguments().get(3 + i), own);
            boolean isCount = function.isCount(function.column(3 + i));
            constants[2 + i] = isCount ? (Object) (long) value : (Object) value;
        }
    }

    /** The ends of ranges: scales of both zeros, the largest numbers, and what is none. */
    @Test
    void endsOfRangesAreThoseOfConstants() {
        double[] ends = {0.0, -0.0, 1.0, -1.0, Double.MIN_VALUE, 1e308, -1e308,
            Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN};
        int taken = 0;
        int refused = 0;
        for (String name : new String[] {"hw_normal", "hw_uniform", "hw_laplace", "hw_gumbel",
            "hw_logistic", "hw_cauchy", "hw_gamma", "hw_lognormal"}) {
            RowFunction function = RowFunction.of(name);
            RowPlan plan = function.plan(42, "z", RowFunction.COLUMN, RowFunction.COLUMN);
            for (double first : ends) {
                for (double second : ends) {
                    ColumnRows rows = plan.columnRows();
                    rows.set(function.column(3), first);
                    rows.set(function.column(4), second);
                    String what = name + " " + first + " " + second;
                    for (long id = 3; id < 6; id++) {
                        long at = id;
                        RowPlan own;
                        try {
                            own = function.plan(42, "z", first, second);
                        } catch (IllegalArgumentException wrong) {
                            assertThrows(IllegalArgumentException.class, () -> rows.real(at), what);
                            refused++;
                            continue;
                        }
                        assertEquals(Double.doubleToRawLongBits(own.rows().real(id)),
                                Double.doubleToRawLongBits(rows.real(id)), what);
                        taken++;
                    }
                }
            }
        }
        assertTrue(taken > 300 && refused > 300, taken + " taken, " + refused + " refused");
    }

    private static void assertFails(String pattern, Runnable call) {
        String text = assertThrows(IllegalArgumentException.class, call::run).getMessage();
        assertTrue(text.matches(".*" + pattern + ".*"), text);
    }

    @Test
    void wrongValuesAreNamedWithTheirIdAndTheNextRowIsDrawn() {
        RowFunction normal = RowFunction.of("hw_normal");
        ColumnRows rows = normal.plan(42, "z", RowFunction.COLUMN, RowFunction.COLUMN).columnRows();
        rows.set(0, 5.0);
        rows.set(1, -1.0);
        assertFails("scale must be a finite number from 0, not -1.0, for id 7 in hw_normal",
                () -> rows.real(7));
        rows.set(1, 2.0);
        double right = normal.plan(42, "z", 5, 2).rows().real(7);
        assertEquals(right, rows.real(7));
        assertFails("id -1 in hw_normal.* is negative", () -> rows.real(-1));
        assertEquals(right, rows.real(7));

        RowFunction binomial = RowFunction.of("hw_binomial");
        ColumnRows counts = binomial.plan(42, "z", RowFunction.COLUMN, 0.5).columnRows();
        counts.setCount(0, -3);
        assertFails("n must be a whole number from 0 to 2\\^64 - 1, not -3, for id 9 in hw_binomial",
                () -> counts.whole(9));
        counts.setCount(0, BigInteger.ONE.shiftLeft(64));
        assertFails("n must be .*, not 18446744073709551616, for id 9", () -> counts.whole(9));
        counts.setCount(0, 20);
        assertEquals(binomial.plan(42, "z", 20, 0.5).rows().whole(9), counts.whole(9));
        assertFails("id -1 in hw_binomial.* is negative", () -> counts.whole(-1));
        // A row of a null has set a count and is not drawn: its count is no fault of the next row.
        counts.setCount(0, -3);
        counts.setCount(0, 20);
        assertEquals(binomial.plan(42, "z", 20, 0.5).rows().whole(9), counts.whole(9));
        Object column = RowFunction.COLUMN;
        RowFunction items = RowFunction.of("hw_hypergeometric");
        ColumnRows two = items.plan(42, "z", column, column, 3).columnRows();
        two.setCount(0, -3);
        two.setCount(1, BigInteger.ONE.negate());
        assertFails("ngood must be .*, not -3, for id 9", () -> two.whole(9));
        two.setCount(0, 5);
        assertFails("nbad must be .*, not -1, for id 9", () -> two.whole(9));
        two.setCount(1, 7);
        assertEquals(items.plan(42, "z", 5, 7, 3).rows().whole(9), two.whole(9));
        ColumnRows unsigned = binomial.plan(42, "z", RowFunction.COLUMN, 0.5).unsignedColumnRows();
        unsigned.setCount(0, 20);
        assertEquals(binomial.plan(42, "z", 20, 0.5).unsignedRows().whole(-5), unsigned.whole(-5));
    }

    @Test
    void onlyParametersOfNumbersAreColumns() {
        for (String name : new String[] {"hw_integers", "hw_permutation", "hw_permute",
            "hw_sample", "hw_split", "hw_order", "hw_weighted_order", "hw_words"}) {
            RowFunction function = RowFunction.of(name);
            for (int i = -1; i < 8; i++) {
                assertEquals(-1, function.column(i), name);
            }
        }
        Object column = RowFunction.COLUMN;
        assertFails("low must be an integer, not a column",
                () -> RowFunction.of("hw_integers").plan(42, "z", column, 9));
        assertFails("n must be an integer, not a column",
                () -> RowFunction.of("hw_permutation").plan(42, "z", column));
        assertFails("seed must be an integer, a text or bytes, not a column",
                () -> RowFunction.of("hw_normal").plan(column, "z", 1));
        assertFails("p must be a number, not a column",
                () -> RowFunction.of("hw_sample").plan(42, column));
        RowPlan plan = RowFunction.of("hw_normal").plan(42, "z", column);
        String text = assertThrows(IllegalStateException.class, plan::rows).getMessage();
        assertTrue(text.contains("columnRows() takes its values"), text);
    }

    /** A constant stays one, and a long is no double. */
    @Test
    void whatIsNoColumnIsNotSet() {
        RowFunction normal = RowFunction.of("hw_normal");
        ColumnRows rows = normal.plan(42, "x", RowFunction.COLUMN, 0.5).columnRows();
        for (int column : new int[] {1, 2, 99, -1}) {
            IllegalArgumentException thrown = assertThrows(
                    IllegalArgumentException.class, () -> rows.set(column, 7.0));
            assertTrue(thrown.getMessage().contains("is no column"), thrown.getMessage());
        }
        rows.set(0, 7.0);
        assertEquals(normal.plan(42, "x", 7.0, 0.5).rows().real(5), rows.real(5));
        assertThrows(IllegalStateException.class, () -> rows.whole(5));
        ColumnRows poisson =
                RowFunction.of("hw_poisson").plan(42, "x", RowFunction.COLUMN).columnRows();
        poisson.set(0, 3.5);
        assertThrows(IllegalStateException.class, () -> poisson.real(5));
    }
}
