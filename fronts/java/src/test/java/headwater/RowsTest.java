package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Functions of rows against the arrays of {@link Stream}, which other tests compare with the
 * vectors, in every order of ids: the order decides which ids are computed in blocks.
 */
class RowsTest {
    private static final int N = 3000;
    private static final BigInteger WORDS = BigInteger.ONE.shiftLeft(64);
    private static final Key KEY = Key.of(42);

    private static RowPlan plan(String name, Object... constants) {
        return RowFunction.of(name).plan(constants);
    }

    /** Returns ids in many orders: runs, runs with holes, backwards, at random, the same again. */
    private static List<long[]> orders() {
        List<long[]> orders = new ArrayList<>();
        for (int step : new int[] {1, 2, 3, 4, 5, 7, N - 1}) {
            long[] ids = new long[N];
            for (int i = 0; i < N; i++) {
                ids[i] = (long) i * step % N;
            }
            orders.add(ids);
        }
        Random random = new Random(7);
        orders.add(random.longs(N, 0, N).toArray());
        long[] runs = new long[N];
        for (int i = 0; i < N; i++) {
            // A run, and an id of before it that may still be in the array.
            runs[i] = i % 9 == 8 ? Math.max(0, i - random.nextInt(600)) : i;
        }
        orders.add(runs);
        orders.add(new long[N]);
        return orders;
    }

    private static void reals(String name, double[] right, Object... constants) {
        for (long[] ids : orders()) {
            Rows rows = plan(name, constants).rows();
            for (long id : ids) {
                assertEquals(right[(int) id], rows.real(id), name + " of " + id);
            }
        }
    }

    private static void longs(String name, long[] right, Object... constants) {
        for (long[] ids : orders()) {
            Rows rows = plan(name, constants).rows();
            for (long id : ids) {
                assertEquals(right[(int) id], rows.whole(id), name + " of " + id);
            }
        }
    }

    private static Stream stream(String name) {
        return KEY.child(name).stream(0);
    }

    private static double[] of(Distribution.Reals distribution) {
        double[] right = new double[N];
        stream("z").fill(distribution, 0, right);
        return right;
    }

    private static long[] of(Distribution.Counts distribution) {
        long[] right = new long[N];
        stream("z").fill(distribution, 0, right);
        return right;
    }

    private static long[] words(Key key) {
        long[] words = new long[N];
        key.stream(0).fill(0, words);
        return words;
    }

    private static byte[] label(String name) {
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void realsAreThoseOfTheStreams() {
        double[] right = new double[N];
        stream("z").fillNormal(0, right);
        reals("hw_standard_normal", right, 42, "z");
        reals("hw_normal", right, 42, "z");
        stream("z").fill(0, right);
        reals("hw_random", right, 42L, "z");
        reals("hw_uniform", right, (short) 42, "z");
        reals("hw_uniform", of(Distribution.uniform(-2.0, 5.0)), 42, "z", -2, new BigDecimal(5));
        reals("hw_normal", of(Distribution.normal(5.0, 0.25)), 42, "z", 5, 0.25);
        reals("hw_chisquare", of(Distribution.chiSquare(3.5)), 42, "z", 3.5);
        reals("hw_beta", of(Distribution.beta(2.0, 0.5)), 42, "z", 2, 0.5f);
        reals("hw_truncated_normal", of(Distribution.truncatedNormal(0.5, 2.0, -1.0, 3.0)), 42,
                "z", -1, 3, 0.5, 2.0);
        double[] gamma = of(Distribution.gamma(2.5));
        reals("hw_standard_gamma", gamma, 42, "z", 2.5);
        reals("hw_gamma", gamma, 42, "z", 2.5);
    }

    @Test
    void longsAreThoseOfTheStreams() {
        longs("hw_words", words(KEY.child("z")), 42, "z");
        longs("hw_poisson", of(Distribution.poisson(3.5)), 42, "z", 3.5);
        longs("hw_binomial", of(Distribution.binomial(20, 0.25)), 42, "z", 20, 0.25);
        longs("hw_geometric", of(Distribution.geometric(0.25)), 42, "z", 0.25);
        long[] right = new long[N];
        stream("z").fillRange(-3, 8, 0, right);
        longs("hw_integers", right, 42, "z", -3, 9);
        stream("z").fillRange(Long.MIN_VALUE, Long.MAX_VALUE, 0, right);
        longs("hw_integers", right, 42, "z", Long.MIN_VALUE, BigInteger.ONE.shiftLeft(63));
        stream("z").fillPermutation(N, 0, right);
        longs("hw_permutation", right, 42, "z", N);
        longs("hw_permute", right, N, 42, "z");
        KEY.child(label("permutation")).stream(0).fillPermutation(N, 0, right);
        longs("hw_permute", right, N, 42);
        right = words(KEY.child(label("order")));
        for (int i = 0; i < N; i++) {
            right[i] += Long.MIN_VALUE;
        }
        longs("hw_order", right, 42);
    }

    private static BigInteger unsigned(long word) {
        return new BigInteger(Long.toUnsignedString(word));
    }

    /** Compares words with shares of 2^64 in exact numbers. */
    @Test
    void samplesAndPartsAreDecidedByExactNumbers() {
        long[] words = words(KEY.child(label("sample")));
        long[] named = words(KEY.child(label("sample")).child("x"));
        for (double p : new double[] {0, 1e-300, 0.01, 0.3, 0.5, 0.75, Math.nextDown(1.0), 1}) {
            Rows rows = plan("hw_sample", 42, p).rows();
            Rows other = plan("hw_sample", 42, p, "x").rows();
            BigDecimal bound = new BigDecimal(p).multiply(new BigDecimal(WORDS));
            for (int i = 0; i < N; i++) {
                BigDecimal word = new BigDecimal(unsigned(words[i]));
                assertEquals(word.compareTo(bound) < 0, rows.isIn(i), p + " " + i);
                BigDecimal second = new BigDecimal(unsigned(named[i]));
                assertEquals(second.compareTo(bound) < 0, other.isIn(i), p + " " + i);
            }
        }
        words = words(KEY.child(label("split")));
        for (int parts : new int[] {1, 2, 10, 255, 256}) {
            Rows rows = plan("hw_split", 42, parts).rows();
            for (int i = 0; i < N; i++) {
                BigInteger part = unsigned(words[i]).multiply(BigInteger.valueOf(parts));
                assertEquals(part.shiftRight(64).shortValue(), rows.part(i));
            }
        }
        double[] shares = {0.8, 0.1, 0.1};
        Rows rows = plan("hw_split", 42, shares).rows();
        for (int i = 0; i < N; i++) {
            double end = 0;
            int part = 0;
            for (int k = 0; k < 2; k++) {
                end += shares[k];
                BigDecimal border = new BigDecimal(end).multiply(new BigDecimal(WORDS));
                part += new BigDecimal(unsigned(words[i])).compareTo(border) >= 0 ? 1 : 0;
            }
            assertEquals((short) part, rows.part(i), "row " + i);
        }
    }

    /** A bound between two doubles' products needs the upper one, and 63 bits have two halves. */
    @Test
    void boundsAreRoundedUp() {
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            double p = i % 2 == 0 ? random.nextDouble()
                    : Math.scalb(1 + random.nextDouble(), -1 - random.nextInt(1060));
            BigDecimal exact = new BigDecimal(p).multiply(new BigDecimal(WORDS));
            BigInteger up = exact.setScale(0, java.math.RoundingMode.CEILING).toBigInteger();
            assertEquals(up, unsigned(Decisions.bound(p)), "p " + p);
        }
    }

    @Test
    void weightsDivide() {
        double[] numbers = new double[N];
        KEY.child(label("weighted")).stream(0).fill(Distribution.exponential(1.0), 0, numbers);
        Rows rows = plan("hw_weighted_order", 42).rows();
        for (int i = 0; i < N; i++) {
            assertEquals(numbers[i] / 3.0, rows.weighted(i, 3.0));
        }
        assertEquals(Double.POSITIVE_INFINITY, rows.weighted(7, 0.0));
        for (double wrong : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(IllegalArgumentException.class, () -> rows.weighted(7, wrong));
        }
        // Over smaller weights a number may be infinite, as over 0.
        for (int i = 0; i < N; i++) {
            assertTrue(Double.isFinite(rows.weighted(i, 1e-306)));
        }
        for (double tiny : new double[] {Double.MIN_VALUE, 1e-310, 9.9e-307}) {
            assertFails("weights above 0 must be from 1e-306 on", () -> rows.weighted(7, tiny));
        }
    }

    /** The bits of a double are no long, and a long is in no sample. */
    @Test
    void valuesOfAnotherTypeAreRefused() {
        Rows normal = plan("hw_normal", 42, "x").rows();
        Rows poisson = plan("hw_poisson", 42, "x", 3.5).rows();
        Rows sample = plan("hw_sample", 42, 0.5).rows();
        // Before any value, after one, and within a block of them.
        for (int round = 0; round < 20; round++) {
            int id = round;
            assertRefused("has doubles: real", () -> normal.whole(id));
            assertRefused("has doubles: real", () -> normal.isIn(id));
            assertRefused("has doubles: real", () -> normal.part(id));
            assertRefused("has longs: whole", () -> poisson.real(id));
            assertRefused("has longs: whole", () -> poisson.isIn(id));
            assertRefused("has longs: whole", () -> poisson.weighted(id, 1.0));
            assertRefused("has longs: whole", () -> sample.part(id));
            normal.real(id);
            poisson.whole(id);
            sample.isIn(id);
        }
    }

    private static void assertRefused(String text, org.junit.jupiter.api.function.Executable call) {
        IllegalStateException thrown = assertThrows(IllegalStateException.class, call);
        assertTrue(thrown.getMessage().contains(text), thrown.getMessage());
    }

    @Test
    void idsEndWhereTheStreamDoes() {
        RowPlan words = plan("hw_words", 42, "z");
        RowPlan normal = plan("hw_normal", 42, "z");
        long[] right = new long[4];
        stream("z").at(new long[] {-5, -4, -3, -2}, right);
        for (int first = 0; first < 4; first++) {
            Rows rows = words.unsignedRows();
            for (int i = first; i < 4; i++) {
                assertEquals(right[i], rows.whole(i - 5));
            }
            assertFails("id 18446744073709551615 .* is past the end: .* 18446744073709551614",
                    () -> rows.whole(-1));
        }
        assertFails("the last id is 18446744073709551613", () -> normal.unsignedRows().real(-2));
        assertFails("id -1 in hw_words.* is negative", () -> words.rows().whole(-1));
        // The id after 2^63 - 1 is negative, also where a run of ids leads to it.
        Rows signed = normal.rows();
        for (long id = Long.MAX_VALUE - 9; id > 0; id++) {
            signed.real(id);
        }
        assertFails("id -9223372036854775808 in hw_normal.* is negative",
                () -> signed.real(Long.MIN_VALUE));
        // After a run up to the last id, as after any.
        Rows rows = plan("hw_permute", 10, 42).rows();
        for (int i = 0; i < 10; i++) {
            rows.whole(i);
        }
        assertFails("id 10 in hw_permute.* the last id is 9", () -> rows.whole(10));
        assertFails("more than a permutation of 0 has", () -> plan("hw_permute", 0, 42).rows()
                .whole(0));
        assertEquals(-3L, words.id(BigInteger.TWO.pow(64).subtract(BigInteger.valueOf(3))));
        assertFails("id -9 .* is negative", () -> words.id(BigInteger.valueOf(-9)));
        assertFails("id 18446744073709551616 .* past", () -> words.id(BigInteger.TWO.pow(64)));
    }

    private static void assertFails(String pattern, Runnable call) {
        String text = assertThrows(IllegalArgumentException.class, call::run).getMessage();
        assertTrue(text.matches(".*" + pattern + ".*"), text);
    }

    @Test
    void seedsAndNamesAreThoseOfKeys() {
        long[] right = new long[1];
        Object[][] seeds = {
                {"text", Key.of("text")}, {-7, Key.of(-7)}, {true, Key.of(1)},
                {BigInteger.ONE.shiftLeft(100), Key.of(Engine.ARS7, BigInteger.ONE.shiftLeft(100))},
                {new byte[] {1, -1}, Key.of(Engine.ARS7, new byte[] {1, -1})}};
        for (Object[] seed : seeds) {
            for (String name : new String[] {"", "Größe", "hw_words"}) {
                ((Key) seed[1]).child(name).stream(0).fill(5, right);
                assertEquals(right[0], plan("hw_words", seed[0], name).rows().whole(5));
            }
        }
    }

    @Test
    void wrongConstantsAreNamed() {
        assertFails("seed must be an integer, a text or bytes, not the double 4.5",
                () -> plan("hw_normal", 4.5, "z"));
        assertFails("name in hw_normal\\(id, seed, name, loc, scale\\) must be a text, not 7",
                () -> plan("hw_normal", 42, 7));
        assertFails("scale must be a finite number from 0, not -1",
                () -> plan("hw_normal", 42, "z", 0, -1));
        assertFails("lam must be .*, not -1", () -> plan("hw_poisson", 42, "z", -1));
        assertFails("n must be from 0 to 2\\^64 - 1, not -2",
                () -> plan("hw_binomial", 42, "z", -2, 0.5));
        assertFails("p must be .*, not the double 1.5",
                () -> plan("hw_binomial", 42, "z", 2, 1.5));
        assertFails("p must be a number from 0 to 1, not NaN",
                () -> plan("hw_sample", 42, Double.NaN));
        assertFails("parts must be from 1 to 256", () -> plan("hw_split", 42, 257));
        assertFails("as many shares from 0 that add up to 1",
                () -> plan("hw_split", 42, new double[] {0.5, 0.4}));
        assertFails("ends before it begins", () -> plan("hw_integers", 42, "z", 7, 7));
        assertFails("high must be from -2\\^63 to 2\\^63", () -> plan("hw_integers", 42, "z", 0,
                BigInteger.ONE.shiftLeft(63).add(BigInteger.ONE)));
        assertFails("n must be from 0 to 2\\^63", () -> plan("hw_permute", BigInteger.ONE
                .shiftLeft(63).add(BigInteger.ONE), 42));
        assertFails("takes 2 to 4 constants, not 1", () -> plan("hw_normal", 42));
        assertFails("there is no function hw_norml", () -> plan("hw_norml", 42));
    }

    @Test
    void plansTravel() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(plan("hw_gamma", 42, "z", 2.5, 3.0));
        }
        ObjectInputStream in = new ObjectInputStream(
                new ByteArrayInputStream(bytes.toByteArray()));
        Rows rows = ((RowPlan) in.readObject()).rows();
        assertEquals(plan("hw_gamma", 42, "z", 2.5, 3.0).rows().real(9), rows.real(9));
    }
}
