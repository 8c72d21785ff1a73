package headwater;

/**
 * The words at which samples end and parts begin, as {@code headwater-arrow} computes them. Each
 * step is a product by a power of two or a sum of doubles, which Java and Rust round alike.
 */
final class Decisions {
    private static final double WORDS = 18_446_744_073_709_551_616.0;
    /** The most parts, as other engines count them in a byte. */
    private static final int MOST = 256;

    private Decisions() {}

    /**
     * Returns the word below which rows are in a sample, as an unsigned number, or null if all rows
     * are: 2^64 is no long.
     */
    static Long bound(double p) {
        if (!(p >= 0.0 && p <= 1.0)) {
            throw new IllegalArgumentException("p must be a number from 0 to 1, not " + p);
        }
        return p < 1.0 ? threshold(p) : null;
    }

    /** Returns the smallest whole number from {@code share} * 2^64 on, for a share below 1. */
    private static long threshold(double share) {
        double scaled = share * WORDS;
        // Half of it fits a long, whatever the sign of the result, so the bits are put together.
        long half = (long) (scaled / 2.0);
        double rest = scaled - 2.0 * half;
        return 2 * half + (long) Math.ceil(rest);
    }

    /** Returns the word at which each part but the first begins. */
    static long[] borders(double[] shares) {
        double sum = 0;
        boolean areShares = shares.length > 0 && shares.length <= MOST;
        for (double share : shares) {
            sum += share;
            areShares &= share >= 0.0 && share <= 1.0;
        }
        if (!areShares || !(Math.abs(sum - 1.0) <= 1e-9)) {
            throw new IllegalArgumentException("parts must be a number from 1 to 256, or as many"
                    + " shares from 0 that add up to 1");
        }
        long[] borders = new long[shares.length - 1];
        double end = 0;
        for (int i = 0; i < borders.length; i++) {
            end += shares[i];
            // The sum may round to 1 or above, where no word is.
            borders[i] = end < 1.0 ? threshold(end) : -1L;
        }
        return borders;
    }
}
