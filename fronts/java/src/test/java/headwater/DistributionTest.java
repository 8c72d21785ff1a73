package headwater;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Distributions against the vectors that all languages share, and their ends and refusals. */
class DistributionTest {
    private static final Stream STREAM = Key.of(42).child("noise").stream(3);

    private static List<JsonObject> cases() throws Exception {
        List<JsonObject> cases = new ArrayList<>();
        for (String file : List.of("distributions.json", "samplers.json")) {
            JsonParser.parseString(Jars.text(Jars.vectors().resolve(file))).getAsJsonObject()
                    .getAsJsonArray("cases").forEach(one -> cases.add(one.getAsJsonObject()));
        }
        return cases;
    }

    /** Returns the distribution of a case, or null if Java has none. */
    private static Distribution distribution(String kind, JsonObject one, double[] p)
            throws Exception {
        String n = one.has("n") ? one.get("n").getAsString() : "0";
        // Java's counts of trials end at 2^63 - 1.
        if (new BigInteger(n).bitLength() > 63) {
            return null;
        }
        long trials = Long.parseLong(n);
        return switch (kind) {
            case "binomial" -> Distribution.binomial(trials, p[0]);
            case "categorical" -> Distribution.categorical(p);
            case "dirichlet" -> Distribution.dirichlet(p);
            case "multinomial" -> Distribution.multinomial(trials, p);
            case "multivariate_hypergeometric" -> Distribution.multivariateHypergeometric(
                    Arrays.stream(p).mapToLong(x -> (long) x).toArray(), trials);
            case "hypergeometric" -> Distribution.hypergeometric((long) p[0], (long) p[1],
                    (long) p[2]);
            case "multivariate_normal" -> {
                int d = (int) Math.sqrt(p.length);
                double[][] covariance = new double[d][];
                for (int row = 0; row < d; row++) {
                    covariance[row] = Arrays.copyOfRange(p, d + row * d, d + (row + 1) * d);
                }
                yield Distribution.multivariateNormal(Arrays.copyOf(p, d), covariance);
            }
            case "sobol" -> p[1] == 1 ? Distribution.sobol((int) p[0])
                    : Distribution.plainSobol((int) p[0]);
            case "complex_normal_f64", "complex_normal_f32" -> Distribution.complexNormal();
            default -> ofNumbers(kind, p);
        };
    }

    /** Returns the distribution by the factory of the kind's name, or null if there is none. */
    private static Distribution ofNumbers(String kind, double[] p) throws Exception {
        // Java's uniform, normal and exponential numbers have their parameters as all others do.
        String name = kind.replaceFirst("^scaled_", "").replace("_", "");
        for (Method factory : Distribution.class.getMethods()) {
            if (factory.getName().equalsIgnoreCase(name)
                    && Arrays.equals(factory.getParameterTypes(), doubles(p.length))) {
                return (Distribution) factory.invoke(null, Arrays.stream(p).boxed().toArray());
            }
        }
        return null;
    }

    private static Class<?>[] doubles(int n) {
        return Collections.nCopies(n, double.class).toArray(Class<?>[]::new);
    }

    @Test
    void numbersAreThoseOfTheVectors() throws Exception {
        Map<String, Integer> compared = new HashMap<>();
        List<String> leftOut = new ArrayList<>();
        for (JsonObject one : cases()) {
            String kind = one.get("kind").getAsString();
            double[] parameters = one.getAsJsonArray("parameters").asList().stream()
                    .mapToDouble(p -> Double.longBitsToDouble(
                            Long.parseUnsignedLong(p.getAsString(), 16)))
                    .toArray();
            Distribution distribution = distribution(kind, one, parameters);
            if (distribution == null) {
                leftOut.add(kind);
                continue;
            }
            Key key = Key.of(Engine.valueOf(one.get("engine").getAsString().toUpperCase()),
                    new BigInteger(one.get("seed").getAsString()));
            Stream stream = key.stream(one.get("stream").getAsLong());
            long start = Long.parseUnsignedLong(one.get("start").getAsString());
            List<JsonElement> values = one.getAsJsonArray("values").asList();
            compare(distribution, stream, start, one.get("value").getAsString(), values, one);
            compared.merge(kind, 1, Integer::sum);
        }
        assertTrue(compared.keySet().containsAll(List.of("gamma", "chi_square", "beta", "student_t",
                "lognormal", "truncated_normal", "von_mises", "geometric", "poisson", "binomial",
                "categorical", "dirichlet", "multinomial", "multivariate_normal", "sobol",
                "complex_normal_f64", "complex_normal_f32", "scaled_uniform", "scaled_normal",
                "scaled_exponential", "rayleigh", "weibull", "pareto", "power", "gumbel",
                "logistic", "cauchy", "triangular", "wald", "fisher_f", "zipf", "log_series",
                "negative_binomial", "noncentral_chi_square", "noncentral_f", "hypergeometric",
                "multivariate_hypergeometric", "log_gamma", "maxwell")),
                compared.toString());
        // Java has no float of 16 bits, and its numbers of trials end at 2^63 - 1.
        assertTrue(List.of("bf16", "binomial", "f16", "multinomial", "normal_bf16", "normal_f16")
                .containsAll(leftOut), leftOut.toString());
        assertTrue(compared.get("binomial") >= 30 && compared.get("multinomial") >= 6);
    }

    private static void compare(Distribution distribution, Stream stream, long start, String type,
            List<JsonElement> values, JsonObject one) {
        int n = values.size();
        long[] indices = new long[n / distribution.dimension()];
        for (int i = 0; i < indices.length; i++) {
            indices[i] = start + i;
        }
        long[] all = new long[n];
        long[] some = new long[n];
        if (distribution instanceof Distribution.Counts counts) {
            stream.fill(counts, start, all);
            stream.at(counts, indices, some);
        } else if (type.equals("f32")) {
            float[] filled = new float[n];
            float[] listed = new float[n];
            stream.fill((Distribution.Reals) distribution, start, filled);
            stream.at((Distribution.Reals) distribution, indices, listed);
            for (int i = 0; i < n; i++) {
                all[i] = Float.floatToRawIntBits(filled[i]);
                some[i] = Float.floatToRawIntBits(listed[i]);
            }
        } else {
            double[] filled = new double[n];
            double[] listed = new double[n];
            stream.fill((Distribution.Reals) distribution, start, filled);
            stream.at((Distribution.Reals) distribution, indices, listed);
            all = Arrays.stream(filled).mapToLong(Double::doubleToRawLongBits).toArray();
            some = Arrays.stream(listed).mapToLong(Double::doubleToRawLongBits).toArray();
        }
        for (int i = 0; i < n; i++) {
            String value = values.get(i).getAsString();
            long expected = type.equals("u64") ? Long.parseUnsignedLong(value)
                    : type.equals("f32") ? Integer.parseUnsignedInt(value, 16)
                    : Long.parseUnsignedLong(value, 16);
            assertEquals(expected, all[i], i + " of " + one);
            assertEquals(expected, some[i], i + " at, of " + one);
        }
    }

    @Test
    void partsMakeTheWhole() {
        for (Distribution.Reals reals : List.of(Distribution.gamma(0.7),
                Distribution.dirichlet(1, 2, 3), Distribution.sobol(3),
                Distribution.truncatedNormal(0, 1, 1, 2), Distribution.complexNormal())) {
            int d = reals.dimension();
            double[] whole = new double[20_001 * d];
            STREAM.fill(reals, 17, whole);
            double[] parts = new double[whole.length];
            for (int row = 0; row < 20_001; row += 6_667) {
                STREAM.fill(reals, 17 + row, parts, row * d, Math.min(6_667, 20_001 - row) * d);
            }
            assertArrayEquals(whole, parts, reals.toString());
            long[] indices = new long[5_000];
            double[] some = new double[indices.length * d];
            for (int i = 0; i < indices.length; i++) {
                indices[i] = 17 + (i * 77L) % 20_001;
            }
            STREAM.at(reals, indices, some);
            for (int i = 0; i < some.length; i++) {
                assertEquals(whole[(int) (indices[i / d] - 17) * d + i % d], some[i]);
            }
        }
        long[] counts = new long[10_000];
        STREAM.fill(Distribution.binomial(1000, 0.25), 5, counts);
        long[] part = new long[10_000];
        STREAM.fill(Distribution.binomial(1000, 0.25), 5 + 9_000, part, 9_000, 1_000);
        assertArrayEquals(Arrays.copyOfRange(counts, 9_000, 10_000),
                Arrays.copyOfRange(part, 9_000, 10_000));
        assertEquals(250, Arrays.stream(counts).average().orElse(0), 1);
    }

    @Test
    void theEndsAreThoseOfTheSpecification() {
        double[] out = new double[4];
        STREAM.fill(Distribution.gamma(2), -5, out); // up to 2^64 - 2
        refused("last", () -> STREAM.fill(Distribution.gamma(2), -4, out));
        STREAM.fill(Distribution.plainSobol(2), (1L << 53) - 2, out);
        refused("last", () -> STREAM.fill(Distribution.plainSobol(2), (1L << 53) - 1, out));
        STREAM.fill(Distribution.dirichlet(1, 2), Long.MAX_VALUE - 2, out);
        refused("last", () -> STREAM.fill(Distribution.dirichlet(1, 2), Long.MAX_VALUE - 1, out));
        // Several pieces, of which the last one has no words: nothing is written.
        double[] untouched = new double[100_000];
        refused("last", () -> STREAM.fill(Distribution.gamma(2), -99_999, untouched));
        long[] indices = new long[100_000];
        indices[99_999] = -1;
        refused("last", () -> STREAM.at(Distribution.gamma(2), indices, untouched));
        assertTrue(Arrays.stream(untouched).allMatch(x -> x == 0));
        STREAM.fill(Distribution.gamma(2), -1, new double[0]);
        STREAM.at(Distribution.gamma(2), new long[0], new double[0]);
    }

    private static void refused(String message, Runnable call) {
        IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, call::run);
        assertTrue(thrown.getMessage().contains(message), thrown.getMessage());
    }

    @Test
    void badInputIsRefused() {
        double nan = Double.NaN;
        double infinity = Double.POSITIVE_INFINITY;
        refused("shape", () -> Distribution.gamma(0));
        refused("shape", () -> Distribution.gamma(nan));
        refused("shape must be a finite number above 0, not [-1.0]", () -> Distribution.gamma(-1));
        refused("degrees", () -> Distribution.chiSquare(infinity));
        refused("degrees", () -> Distribution.studentT(0));
        refused("a and b", () -> Distribution.beta(1, -1));
        refused("deviation", () -> Distribution.logNormal(0, -1));
        refused("low a number below high", () -> Distribution.truncatedNormal(0, 1, 1, 1));
        refused("low a number below high", () -> Distribution.truncatedNormal(0, 0, 1, 2));
        refused("mean", () -> Distribution.vonMises(4, 1));
        refused("concentration", () -> Distribution.vonMises(0, nan));
        refused("probability", () -> Distribution.geometric(0));
        refused("probability", () -> Distribution.geometric(1.5));
        refused("mean", () -> Distribution.poisson(-1));
        refused("mean", () -> Distribution.poisson(1e19));
        refused("probability", () -> Distribution.binomial(1, 2));
        refused("trials", () -> Distribution.binomial(-1, 0.5));
        refused("weights", () -> Distribution.categorical());
        refused("weights", () -> Distribution.categorical(0, 0));
        refused("weights", () -> Distribution.categorical(1, -1));
        refused("weights", () -> Distribution.categorical(nan));
        refused("shapes", () -> Distribution.dirichlet());
        refused("shapes", () -> Distribution.dirichlet(1, 0));
        refused("trials", () -> Distribution.multinomial(-1, 1));
        refused("weights", () -> Distribution.multinomial(1));
        refused("weights", () -> Distribution.multinomial(1, -1, 2));
        double[][] wide = {{1, 2}, {2, 1}};
        refused("positive semidefinite",
                () -> Distribution.multivariateNormal(new double[2], wide));
        refused("covariance", () -> Distribution.multivariateNormal(new double[3], wide));
        refused("covariance",
                () -> Distribution.multivariateNormal(new double[1], new double[][] {{1, 2}}));
        refused("mean", () -> Distribution.multivariateNormal(new double[0], new double[0][]));
        refused("dimension", () -> Distribution.sobol(0));
        refused("dimension", () -> Distribution.sobol(-1));
        refused("dimension", () -> Distribution.plainSobol(1112));
        Distribution.Reals rows = Distribution.dirichlet(1, 2, 3);
        refused("vectors of 3", () -> STREAM.fill(rows, 0, new double[4]));
        refused("indices", () -> STREAM.at(rows, new long[2], new double[5]));
        refused("single precision", () -> STREAM.fill(rows, 0, new float[3]));
        assertThrows(NullPointerException.class, () -> STREAM.fill(rows, 0, (double[]) null));
        assertThrows(NullPointerException.class,
                () -> STREAM.fill((Distribution.Reals) null, 0, new double[3]));
        assertThrows(NullPointerException.class, () -> STREAM.at(rows, null, new double[3]));
        assertThrows(NullPointerException.class, () -> Distribution.categorical(null));
        assertThrows(IndexOutOfBoundsException.class,
                () -> STREAM.fill(rows, 0, new double[9], 6, 6));
        assertThrows(IndexOutOfBoundsException.class,
                () -> STREAM.fill(rows, 0, new double[9], -3, 6));
    }
}
