package headwater;

import java.util.Arrays;

/**
 * A distribution with parameters, for {@link Stream}. <b>Not for secrets.</b>
 *
 * <p>Element i of a distribution depends on the key, the stream, i and the parameters alone.
 * Methods that reject proposals are no exception, because each element owns the words that it may need.
 * STREAMS.md defines every value to the bit, and Rust, C and Python have the same ones.
 *
 * <p>Two arrays of one distribution from one stream share their words, also with other parameters,
 * so independent arrays take two streams. Distributions are immutable, and threads may share them.
 *
 * <p>A parameter for which a distribution does not exist is an {@link IllegalArgumentException}.
 */
public abstract class Distribution {
    /** The order is that of the native library. */
    enum Kind {
        GAMMA, CHI_SQUARE, BETA, STUDENT_T, LOG_NORMAL, TRUNCATED_NORMAL, VON_MISES, GEOMETRIC,
        POISSON, BINOMIAL, CATEGORICAL, DIRICHLET, MULTIVARIATE_NORMAL, SOBOL, MULTINOMIAL,
        COMPLEX_NORMAL
    }

    final Kind kind;
    /** Bits of doubles, whole numbers, or a table, as the native library has prepared them. */
    final long[] parameters;
    private final int dimension;

    private Distribution(Kind kind, long[] parameters, int dimension) {
        this.kind = kind;
        this.parameters = parameters;
        this.dimension = dimension;
    }

    /** Returns the number of components of an element: 1 unless elements are vectors. */
    public int dimension() {
        return dimension;
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(java.util.Locale.ROOT);
    }

    /** A distribution of real numbers, or of vectors of them. */
    public static final class Reals extends Distribution {
        private Reals(Kind kind, long[] parameters, int dimension) {
            super(kind, parameters, dimension);
        }

        /** Returns true if the numbers have a form of single precision. */
        boolean hasFloats() {
            return kind.ordinal() < Kind.GEOMETRIC.ordinal() || kind == Kind.COMPLEX_NORMAL;
        }
    }

    /** A distribution of counts, or of vectors of them. Counts are unsigned, as all longs here. */
    public static final class Counts extends Distribution {
        private Counts(Kind kind, long[] parameters, int dimension) {
            super(kind, parameters, dimension);
        }
    }

    /** Returns gamma numbers. The shape is finite and above 0. Multiply by a scale. */
    public static Reals gamma(double shape) {
        return reals(Kind.GAMMA, "shape must be a finite number above 0", shape);
    }

    /** Returns chi-square numbers. The degrees of freedom are finite and above 0. */
    public static Reals chiSquare(double degrees) {
        return reals(Kind.CHI_SQUARE, "degrees must be a finite number above 0", degrees);
    }

    /** Returns beta numbers. Both shapes are finite and above 0. */
    public static Reals beta(double a, double b) {
        return reals(Kind.BETA, "a and b must be finite numbers above 0", a, b);
    }

    /** Returns Student's t. The degrees of freedom are finite and above 0. */
    public static Reals studentT(double degrees) {
        return reals(Kind.STUDENT_T, "degrees must be a finite number above 0", degrees);
    }

    /** Returns numbers whose logarithms are normal, with this mean and standard deviation. */
    public static Reals logNormal(double mean, double deviation) {
        return reals(Kind.LOG_NORMAL,
                "mean must be a finite number, and deviation a finite number from 0", mean,
                deviation);
    }

    /** Returns normal numbers, given that they lie from {@code low} to {@code high}. */
    public static Reals truncatedNormal(double mean, double deviation, double low, double high) {
        return reals(Kind.TRUNCATED_NORMAL,
                "mean must be finite, deviation finite and above 0, and low below high", mean,
                deviation, low, high);
    }

    /** Returns angles around {@code mean}, which is from -pi to pi, of this concentration. */
    public static Reals vonMises(double mean, double concentration) {
        return reals(Kind.VON_MISES,
                "mean must be from -pi to pi, and concentration a finite number from 0", mean,
                concentration);
    }

    /** Returns the trials up to the first success, from 1; they end at 2^64 - 1. */
    public static Counts geometric(double probability) {
        return counts(Kind.GEOMETRIC, "probability must be above 0 and at most 1", 1,
                Double.doubleToRawLongBits(probability));
    }

    /** Returns Poisson's counts. The mean is from 0 to 2^63. */
    public static Counts poisson(double mean) {
        return counts(Kind.POISSON, "mean must be from 0 to 2^63", 1,
                Double.doubleToRawLongBits(mean));
    }

    /** Returns the successes of {@code trials} trials. */
    public static Counts binomial(long trials, double probability) {
        if (trials < 0) {
            throw new IllegalArgumentException("trials must not be negative: " + trials);
        }
        return counts(Kind.BINOMIAL, "probability must be from 0 to 1", 1, trials,
                Double.doubleToRawLongBits(probability));
    }

    /**
     * Returns outcomes from 0, each as likely as its share in the weights, which need not add up to
     * 1. The table of the weights is made once, in about 15 ns a weight.
     */
    public static Counts categorical(double... weights) {
        long[] table = new long[Math.multiplyExact(2, weights.length)];
        return new Counts(Kind.CATEGORICAL, prepared(Kind.CATEGORICAL, bits(weights), table,
                "weights must be finite numbers from 0, one of them above 0", weights), 1);
    }

    /** Returns vectors of shares, which add up to 1. Each shape is above 0 and at most 2^900. */
    public static Reals dirichlet(double... shapes) {
        long[] given = bits(shapes);
        return new Reals(Kind.DIRICHLET, prepared(Kind.DIRICHLET, given, given.clone(),
                "shapes must be numbers above 0 and at most 2^900", shapes), shapes.length);
    }

    /** Returns vectors that say how often each outcome occurs in {@code trials} trials. */
    public static Counts multinomial(long trials, double... weights) {
        if (trials < 0) {
            throw new IllegalArgumentException("trials must not be negative: " + trials);
        }
        long[] given = new long[weights.length + 1];
        given[0] = trials;
        System.arraycopy(bits(weights), 0, given, 1, weights.length);
        return new Counts(Kind.MULTINOMIAL, prepared(Kind.MULTINOMIAL, given, given.clone(),
                "weights must be numbers from 0 with a finite sum above 0", weights),
                weights.length);
    }

    /**
     * Returns normal vectors. The covariance is positive semidefinite, and only its lower triangle
     * is read.
     */
    public static Reals multivariateNormal(double[] mean, double[][] covariance) {
        int d = mean.length;
        long[] given = new long[Math.addExact(d, Math.multiplyExact(d, d))];
        System.arraycopy(bits(mean), 0, given, 0, d);
        boolean square = covariance.length == d;
        for (int row = 0; square && row < d; row++) {
            square = covariance[row].length == d;
            if (square) {
                System.arraycopy(bits(covariance[row]), 0, given, d + row * d, d);
            }
        }
        if (!square) {
            throw new IllegalArgumentException(
                    "covariance must have " + d + " rows of " + d + " numbers");
        }
        return new Reals(Kind.MULTIVARIATE_NORMAL,
                prepared(Kind.MULTIVARIATE_NORMAL, given, given.clone(), "mean must be a list of"
                        + " finite numbers, and covariance finite and positive semidefinite", mean),
                d);
    }

    /** Returns points of Sobol's sequence of 1 to 1111 dimensions, scrambled by the stream. */
    public static Reals sobol(int dimension) {
        return sobol(dimension, 1);
    }

    /** Returns points of Sobol's sequence itself, which no stream changes. The first is 0. */
    public static Reals plainSobol(int dimension) {
        return sobol(dimension, 0);
    }

    private static Reals sobol(int dimension, long scrambled) {
        long[] given = {dimension, scrambled};
        return new Reals(Kind.SOBOL, prepared(Kind.SOBOL, given, given.clone(),
                "dimension must be from 1 to 1111", dimension), dimension);
    }

    /** Returns complex normal numbers, the real part first; their squared sizes have mean 1. */
    public static Reals complexNormal() {
        return new Reals(Kind.COMPLEX_NORMAL, new long[0], 2);
    }

    private static Reals reals(Kind kind, String need, double... parameters) {
        long[] given = bits(parameters);
        return new Reals(kind, prepared(kind, given, given.clone(), need, parameters), 1);
    }

    private static Counts counts(Kind kind, String need, int dimension, long... given) {
        double last = Double.longBitsToDouble(given[given.length - 1]);
        return new Counts(kind, prepared(kind, given, given.clone(), need, last), dimension);
    }

    private static long[] bits(double[] numbers) {
        return Arrays.stream(numbers).mapToLong(Double::doubleToRawLongBits).toArray();
    }

    /** Returns what the native library makes of the parameters, which it checks. */
    private static long[] prepared(Kind kind, long[] given, long[] out, String need,
            double... shown) {
        Draw.require();
        if (Native.prepare(kind.ordinal(), given, out) != 0) {
            String values = shown.length <= 8 ? Arrays.toString(shown) : shown.length + " numbers";
            throw new IllegalArgumentException(need + ", not " + values);
        }
        return out;
    }
}
