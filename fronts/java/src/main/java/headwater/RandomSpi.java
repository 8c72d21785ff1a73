package headwater;

import java.security.SecureRandomSpi;
import java.util.Objects;

/** The generator behind SecureRandom. It has no state, so threads share one without a lock. */
final class RandomSpi extends SecureRandomSpi {
    private static final long serialVersionUID = 1L;

    @Override
    protected void engineNextBytes(byte[] bytes) {
        Draw.fill(bytes);
    }

    /**
     * Draws a seed for another generator, under a key that the kernel returns for this call alone.
     * A copy of the process from before the call says nothing about the seed.
     */
    @Override
    protected byte[] engineGenerateSeed(int length) {
        if (length < 0) {
            throw new IllegalArgumentException("length is negative: " + length);
        }
        byte[] seed = new byte[length];
        Draw.fillFresh(seed);
        return seed;
    }

    /**
     * Changes nothing. A seed supplements a generator, and this one has no state that lacks
     * anything.
     */
    @Override
    protected void engineSetSeed(byte[] seed) {
        Objects.requireNonNull(seed, "seed");
    }
}
