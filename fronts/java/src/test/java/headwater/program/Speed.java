package headwater.program;

import java.security.KeyPairGenerator;
import java.security.SecureRandom;

/**
 * Times key generators and TLS handshakes, with the agent or without it. No test runs it:
 *
 * <pre>java [-javaagent:headwater.jar] -cp target/test-classes headwater.program.Speed STORE</pre>
 */
public final class Speed {
    private static final int ROUNDS = 30;

    private Speed() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(new SecureRandom().getProvider().getName());
        keys("EC", 256, 100);
        keys("Ed25519", 255, 100);
        keys("RSA", 2048, 3);
        time("10 requests by TLS 1.3, each with a handshake", 1,
                () -> Https.serves("TLSv1.3", arguments[0]));
    }

    private static void keys(String algorithm, int size, int times) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        generator.initialize(size);
        time("a key pair of " + algorithm, times, () -> generator.generateKeyPair() != null);
    }

    /** Prints the least and the median of several rounds. */
    private static void time(String name, int times, Outside.Case one) throws Exception {
        double[] rounds = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < times; i++) {
                one.run();
            }
            rounds[round] = (System.nanoTime() - start) / 1e3 / times;
        }
        java.util.Arrays.sort(rounds);
        System.out.printf("%-48s %10.1f us %10.1f us%n", name, rounds[0], rounds[ROUNDS / 2]);
    }
}
