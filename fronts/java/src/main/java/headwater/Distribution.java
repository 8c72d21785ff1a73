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
    final DistributionKind kind;
    /** Bits of doubles, whole numbers, or a table, as the native library has prepared them. */
    final long[] parameters;
    private final int dimension;

    private Distribution(DistributionKind kind, long[] parameters, int dimension) {
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
        private Reals(DistributionKind kind, long[] parameters, int dimension) {
            super(kind, parameters, dimension);
        }

        /** Returns true if the numbers have a form of single precision. */
        boolean hasFloats() {
            return kind.narrow >= 0;
        }
    }

    /** A distribution of counts, or of vectors of them. Counts are unsigned, as all longs here. */
    public static final class Counts extends Distribution {
        private Counts(DistributionKind kind, long[] parameters, int dimension) {
            super(kind, parameters, dimension);
        }
    }

    // Generated factories: `cargo xtask generate` makes them from the table of kinds.

    /**
     * Returns lognormal numbers: e to the power of {@code mean} + {@code deviation} * x, with the
     * elements of {@link Stream#fillNormal(long, double[])} as x. {@code mean} must be a finite
     * number, and {@code deviation} a finite number from 0.
     */
    public static Reals logNormal(double mean, double deviation) {
        return reals(DistributionKind.LOG_NORMAL,
                "mean must be a finite number, and deviation a finite number from 0",
                mean, deviation);
    }

    /**
     * Returns gamma numbers of this shape and scale 1. {@code shape} must be a finite number above
     * 0.
     */
    public static Reals gamma(double shape) {
        return reals(DistributionKind.GAMMA,
                "shape must be a finite number above 0",
                shape);
    }

    /**
     * Returns chi-square numbers of {@code degrees} degrees of freedom. {@code degrees} must be a
     * finite number above 0.
     */
    public static Reals chiSquare(double degrees) {
        return reals(DistributionKind.CHI_SQUARE,
                "degrees must be a finite number above 0",
                degrees);
    }

    /**
     * Returns beta numbers of the shapes {@code a} and {@code b}, whose mean is a / (a + b).
     * {@code a} and {@code b} must each be a finite number above 0.
     */
    public static Reals beta(double a, double b) {
        return reals(DistributionKind.BETA,
                "a and b must each be a finite number above 0",
                a, b);
    }

    /**
     * Returns numbers of Student's t distribution with {@code degrees} degrees of freedom.
     * {@code degrees} must be a finite number above 0.
     */
    public static Reals studentT(double degrees) {
        return reals(DistributionKind.STUDENT_T,
                "degrees must be a finite number above 0",
                degrees);
    }

    /**
     * Returns geometric numbers, from 1: trials up to the first success, each of probability
     * {@code probability}. {@code probability} must be a number above 0 and at most 1.
     */
    public static Counts geometric(double probability) {
        return counts(DistributionKind.GEOMETRIC,
                "probability must be a number above 0 and at most 1",
                probability);
    }

    /** Returns Poisson numbers of this mean. {@code mean} must be a number from 0 to 2^63. */
    public static Counts poisson(double mean) {
        return counts(DistributionKind.POISSON,
                "mean must be a number from 0 to 2^63",
                mean);
    }

    /**
     * Returns binomial numbers: successes among {@code trials} trials, each of probability
     * {@code probability}. {@code probability} must be a number from 0 to 1.
     */
    public static Counts binomial(long trials, double probability) {
        return counts(DistributionKind.BINOMIAL,
                "probability must be a number from 0 to 1",
                new long[] {whole("trials", trials), Double.doubleToRawLongBits(probability)},
                probability);
    }

    /**
     * Returns normal numbers of this mean and standard deviation, given that they are from
     * {@code low} to {@code high}. Either end may be infinite, and both may lie far from the mean.
     * {@code mean} must be a finite number, {@code deviation} a finite number above 0, and
     * {@code low} a number below high.
     */
    public static Reals truncatedNormal(double mean, double deviation, double low, double high) {
        return reals(DistributionKind.TRUNCATED_NORMAL,
                "mean must be a finite number, deviation a finite number above 0, and "
                        + "low a number below high",
                mean, deviation, low, high);
    }

    /**
     * Returns angles from -pi to pi of von Mises' distribution around {@code mean} with
     * concentration {@code concentration}. {@code mean} must be a number from -pi to pi, and
     * {@code concentration} a finite number from 0.
     */
    public static Reals vonMises(double mean, double concentration) {
        return reals(DistributionKind.VON_MISES,
                "mean must be a number from -pi to pi, and concentration a finite "
                        + "number from 0",
                mean, concentration);
    }

    /**
     * Returns numbers of Laplace's distribution around {@code mean}, on either side of which their
     * distance is exponential with the mean {@code scale}. {@code mean} must be a finite number,
     * and {@code scale} a finite number from 0.
     */
    public static Reals laplace(double mean, double scale) {
        return reals(DistributionKind.LAPLACE,
                "mean must be a finite number, and scale a finite number from 0",
                mean, scale);
    }

    /**
     * Returns uniform numbers from {@code low} to {@code high}. {@code low} must be a finite number
     * up to high, and {@code high} a finite number at a finite distance.
     */
    public static Reals uniform(double low, double high) {
        return reals(DistributionKind.UNIFORM,
                "low must be a finite number up to high, and high a finite number at a "
                        + "finite distance",
                low, high);
    }

    /**
     * Returns normal numbers of this mean and standard deviation. {@code mean} must be a finite
     * number, and {@code deviation} a finite number from 0.
     */
    public static Reals normal(double mean, double deviation) {
        return reals(DistributionKind.NORMAL,
                "mean must be a finite number, and deviation a finite number from 0",
                mean, deviation);
    }

    /**
     * Returns exponential numbers, whose mean is {@code scale}. {@code scale} must be a finite
     * number from 0.
     */
    public static Reals exponential(double scale) {
        return reals(DistributionKind.EXPONENTIAL,
                "scale must be a finite number from 0",
                scale);
    }

    /**
     * Returns numbers of Rayleigh's distribution, whose mode is {@code scale}. {@code scale} must
     * be a finite number from 0.
     */
    public static Reals rayleigh(double scale) {
        return reals(DistributionKind.RAYLEIGH,
                "scale must be a finite number from 0",
                scale);
    }

    /**
     * Returns numbers of Weibull's distribution of this shape and scale 1. {@code shape} must be a
     * finite number above 0.
     */
    public static Reals weibull(double shape) {
        return reals(DistributionKind.WEIBULL,
                "shape must be a finite number above 0",
                shape);
    }

    /**
     * Returns numbers of Pareto's distribution of the second kind (Lomax's), from 0, of this shape.
     * {@code shape} must be a finite number above 0.
     */
    public static Reals pareto(double shape) {
        return reals(DistributionKind.PARETO,
                "shape must be a finite number above 0",
                shape);
    }

    /**
     * Returns numbers from 0 to 1 whose density at x is proportional to x to the power of
     * {@code shape} - 1. {@code shape} must be a finite number above 0.
     */
    public static Reals power(double shape) {
        return reals(DistributionKind.POWER,
                "shape must be a finite number above 0",
                shape);
    }

    /**
     * Returns numbers of Gumbel's distribution of largest values, with this mode and scale.
     * {@code mode} must be a finite number, and {@code scale} a finite number from 0.
     */
    public static Reals gumbel(double mode, double scale) {
        return reals(DistributionKind.GUMBEL,
                "mode must be a finite number, and scale a finite number from 0",
                mode, scale);
    }

    /**
     * Returns numbers of the logistic distribution of this mean and scale. {@code mean} must be a
     * finite number, and {@code scale} a finite number from 0.
     */
    public static Reals logistic(double mean, double scale) {
        return reals(DistributionKind.LOGISTIC,
                "mean must be a finite number, and scale a finite number from 0",
                mean, scale);
    }

    /**
     * Returns numbers of Cauchy's distribution with this median, from which half of them are
     * farther than {@code scale}. {@code median} must be a finite number, and {@code scale} a
     * finite number from 0.
     */
    public static Reals cauchy(double median, double scale) {
        return reals(DistributionKind.CAUCHY,
                "median must be a finite number, and scale a finite number from 0",
                median, scale);
    }

    /**
     * Returns numbers from {@code left} to {@code right}, whose density is a triangle with its peak
     * at {@code mode}. {@code left} must be a finite number up to mode, {@code mode} a finite
     * number up to right, and {@code right} a finite number above left, at a finite distance.
     */
    public static Reals triangular(double left, double mode, double right) {
        return reals(DistributionKind.TRIANGULAR,
                "left must be a finite number up to mode, mode a finite number up to "
                        + "right, and right a finite number above left, at a finite distance",
                left, mode, right);
    }

    /**
     * Returns numbers of Wald's distribution (the inverse Gaussian) of this mean, whose variance is
     * the cube of the mean over {@code scale}. {@code mean} and {@code scale} must each be a finite
     * number above 0.
     */
    public static Reals wald(double mean, double scale) {
        return reals(DistributionKind.WALD,
                "mean and scale must each be a finite number above 0",
                mean, scale);
    }

    /**
     * Returns numbers of Fisher's F distribution with {@code first} and {@code second} degrees of
     * freedom. {@code first} and {@code second} must each be a finite number above 0.
     */
    public static Reals fisherF(double first, double second) {
        return reals(DistributionKind.FISHER_F,
                "first and second must each be a finite number above 0",
                first, second);
    }

    /**
     * Returns numbers of Zipf's distribution, from 1 to 2^63 - 1: k is as likely as k to the power
     * of -{@code exponent}. {@code exponent} must be a finite number above 1.
     */
    public static Counts zipf(double exponent) {
        return counts(DistributionKind.ZIPF,
                "exponent must be a finite number above 1",
                exponent);
    }

    /**
     * Returns numbers of the logarithmic series, from 1: k is as likely as {@code probability} to
     * the power of k, over k. {@code probability} must be a number from 0 to below 1.
     */
    public static Counts logSeries(double probability) {
        return counts(DistributionKind.LOG_SERIES,
                "probability must be a number from 0 to below 1",
                probability);
    }

    /**
     * Returns negative binomial numbers: failures before {@code successes} successes, each of
     * probability {@code probability}. {@code successes} must be a finite number above 0, with
     * counts below 2^63, and {@code probability} a number above 0 and at most 1.
     */
    public static Counts negativeBinomial(double successes, double probability) {
        return counts(DistributionKind.NEGATIVE_BINOMIAL,
                "successes must be a finite number above 0, with counts below 2^63, "
                        + "and probability a number above 0 and at most 1",
                successes, probability);
    }

    /**
     * Returns noncentral chi-square numbers of {@code degrees} degrees of freedom. {@code degrees}
     * must be a finite number above 0, and {@code noncentrality} a finite number from 0.
     */
    public static Reals noncentralChiSquare(double degrees, double noncentrality) {
        return reals(DistributionKind.NONCENTRAL_CHI_SQUARE,
                "degrees must be a finite number above 0, and noncentrality a finite "
                        + "number from 0",
                degrees, noncentrality);
    }

    /**
     * Returns numbers of the noncentral F distribution with {@code first} and {@code second}
     * degrees of freedom. {@code first} and {@code second} must each be a finite number above 0,
     * and {@code noncentrality} a finite number from 0.
     */
    public static Reals noncentralF(double first, double second, double noncentrality) {
        return reals(DistributionKind.NONCENTRAL_F,
                "first and second must each be a finite number above 0, and "
                        + "noncentrality a finite number from 0",
                first, second, noncentrality);
    }

    /**
     * Returns hypergeometric numbers: good items in a sample of {@code sample} items, drawn without
     * replacement from {@code good} and {@code bad} ones. {@code good} must be part of a population
     * of at most 2^53, and {@code sample} at most the population.
     */
    public static Counts hypergeometric(long good, long bad, long sample) {
        return counts(DistributionKind.HYPERGEOMETRIC,
                "good must be part of a population of at most 2^53, and sample at most "
                        + "the population",
                new long[] {whole("good", good), whole("bad", bad), whole("sample", sample)},
                good, bad, sample);
    }

    /**
     * Returns logarithms of gamma numbers of this shape and scale 1, finite for small shapes too.
     * {@code shape} must be a finite number above 0.
     */
    public static Reals logGamma(double shape) {
        return reals(DistributionKind.LOG_GAMMA,
                "shape must be a finite number above 0",
                shape);
    }

    /**
     * Returns numbers of Maxwell's distribution: lengths of vectors of three normal numbers of the
     * deviation {@code scale}. {@code scale} must be a finite number from 0.
     */
    public static Reals maxwell(double scale) {
        return reals(DistributionKind.MAXWELL,
                "scale must be a finite number from 0",
                scale);
    }

    // The end of the generated factories.

    /**
     * Returns outcomes from 0, each as likely as its share in the weights, which need not add up to
     * 1. The table of the weights is made once, in about 15 ns a weight.
     */
    public static Counts categorical(double... weights) {
        long[] table = new long[Math.multiplyExact(2, weights.length)];
        DistributionKind kind = DistributionKind.CATEGORICAL;
        return new Counts(kind, prepared(kind, bits(weights), table,
                "weights must be finite numbers from 0, one of them above 0", weights), 1);
    }

    /** Returns vectors of shares, which add up to 1. Each shape is above 0 and at most 2^900. */
    public static Reals dirichlet(double... shapes) {
        long[] given = bits(shapes);
        DistributionKind kind = DistributionKind.DIRICHLET;
        return new Reals(kind, prepared(kind, given, given.clone(),
                "shapes must be numbers above 0 and at most 2^900", shapes), shapes.length);
    }

    /** Returns vectors that say how often each outcome occurs in {@code trials} trials. */
    public static Counts multinomial(long trials, double... weights) {
        long[] given = new long[weights.length + 1];
        given[0] = whole("trials", trials);
        System.arraycopy(bits(weights), 0, given, 1, weights.length);
        DistributionKind kind = DistributionKind.MULTINOMIAL;
        return new Counts(kind, prepared(kind, given, given.clone(),
                "weights must be numbers from 0 with a finite sum above 0", weights),
                weights.length);
    }

    /**
     * Returns vectors that say how many items of each color are in a sample of {@code sample}
     * items, drawn without replacement. The numbers of items are from 0, in all at most 2^53.
     */
    public static Counts multivariateHypergeometric(long[] colors, long sample) {
        double[] items = new double[colors.length];
        for (int i = 0; i < items.length; i++) {
            // A double has each whole number up to 2^53, and more are refused.
            items[i] = colors[i];
        }
        long[] given = Arrays.copyOf(bits(items), items.length + 1);
        given[items.length] = whole("sample", sample);
        DistributionKind kind = DistributionKind.MULTIVARIATE_HYPERGEOMETRIC;
        return new Counts(kind, prepared(kind, given, given.clone(),
                "colors must be numbers from 0, in all at most 2^53 and at least sample", items),
                items.length);
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
        DistributionKind kind = DistributionKind.MULTIVARIATE_NORMAL;
        return new Reals(kind, prepared(kind, given, given.clone(), "mean must be a list of finite"
                + " numbers, and covariance finite and positive semidefinite", mean), d);
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
        DistributionKind kind = DistributionKind.SOBOL;
        return new Reals(kind, prepared(kind, given, given.clone(),
                "dimension must be from 1 to 1111", dimension), dimension);
    }

    /** Returns complex normal numbers, the real part first; their squared sizes have mean 1. */
    public static Reals complexNormal() {
        return new Reals(DistributionKind.COMPLEX_NORMAL, new long[0], 2);
    }

    private static Reals reals(DistributionKind kind, String need, double... parameters) {
        long[] given = bits(parameters);
        return new Reals(kind, prepared(kind, given, given.clone(), need, parameters), 1);
    }

    private static Counts counts(DistributionKind kind, String need, double... parameters) {
        return counts(kind, need, bits(parameters), parameters);
    }

    private static Counts counts(DistributionKind kind, String need, long[] given,
            double... shown) {
        return new Counts(kind, prepared(kind, given, given.clone(), need, shown), 1);
    }

    /** Returns a whole number that has no sign in the native library. */
    private static long whole(String name, long number) {
        if (number < 0) {
            throw new IllegalArgumentException(name + " must not be negative: " + number);
        }
        return number;
    }

    private static long[] bits(double[] numbers) {
        return Arrays.stream(numbers).mapToLong(Double::doubleToRawLongBits).toArray();
    }

    /** Returns what the native library makes of the parameters, which it checks. */
    private static long[] prepared(DistributionKind kind, long[] given, long[] out, String need,
            double... shown) {
        Draw.require();
        if (Native.prepare(kind.number, given, out) != 0) {
            String values = shown.length <= 8 ? Arrays.toString(shown) : shown.length + " numbers";
            throw new IllegalArgumentException(need + ", not " + values);
        }
        return out;
    }
}
