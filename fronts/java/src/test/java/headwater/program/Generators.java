package headwater.program;

import java.security.SecureRandom;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Times draws of the JDK's generators, with the agent for copies or without it. No test runs it:
 *
 * <pre>java [-javaagent:headwater-clones.jar] -cp target/test-classes
 * headwater.program.Generators</pre>
 */
public final class Generators {
    private static final int ROUNDS = 15;
    private static final int DRAWS = 1_000_000;
    private static volatile long sink;

    private Generators() {}

    public static void main(String[] arguments) throws Exception {
        Random own = new Random();
        Random seeded = new Random(42);
        SecureRandom secure = new SecureRandom();
        byte[] out = new byte[16];
        // Twice, because what is compiled first is compiled again once the others have run.
        for (int pass = 0; pass < 2; pass++) {
            System.out.println("pass " + pass);
            time("Random.nextInt", own::nextInt);
            time("Random(42).nextInt", seeded::nextInt);
            time("Random.nextGaussian", () -> (long) own.nextGaussian());
            time("Math.random", () -> (long) (1e9 * Math.random()));
            time("ThreadLocalRandom nextLong", () -> ThreadLocalRandom.current().nextLong());
            time("ThreadLocalRandom nextInt(100)", () -> ThreadLocalRandom.current().nextInt(100));
            time("new SplittableRandom", () -> new SplittableRandom().nextLong());
            time("SecureRandom, 16 bytes", () -> {
                secure.nextBytes(out);
                return out[0];
            });
            time("UUID.randomUUID", () -> UUID.randomUUID().getLeastSignificantBits());
        }
    }

    /** Prints the least and the median of several rounds. */
    private static void time(String name, LongSupplier draw) {
        double[] rounds = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long sum = 0;
            long start = System.nanoTime();
            for (int i = 0; i < DRAWS; i++) {
                sum += draw.getAsLong();
            }
            rounds[round] = (System.nanoTime() - start) / (double) DRAWS;
            sink = sum;
        }
        java.util.Arrays.sort(rounds);
        System.out.printf("%-32s %8.2f ns %8.2f ns%n", name, rounds[0], rounds[ROUNDS / 2]);
    }
}
