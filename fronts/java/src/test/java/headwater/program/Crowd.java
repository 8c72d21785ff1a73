package headwater.program;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Threads that draw from shared generators, wait for a file, and draw again all at once. A test
 * saves the process meanwhile, and restores it twice. Each draw after the file is printed.
 */
public final class Crowd {
    private static final int THREADS = 12;
    private static final int WARM_UPS = 100_000;
    private static final int DRAWS = 1000;

    private static volatile boolean isOver;
    private static long sink;

    private Crowd() {}

    public static void main(String[] arguments) throws Exception {
        Path go = Path.of(arguments[0]);
        Random random = new Random();
        SecureRandom secure = SecureRandom.getInstance("SHA1PRNG");
        secure.nextInt();
        // One word of Random has 48 bits of state, so two draws are one value here.
        List<LongSupplier> sources = List.of(random::nextLong, secure::nextLong,
                () -> ThreadLocalRandom.current().nextLong());
        long[][] drawn = new long[THREADS][DRAWS];
        CountDownLatch warm = new CountDownLatch(THREADS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            LongSupplier source = sources.get(i % sources.size());
            long[] out = drawn[i];
            threads.add(new Thread(() -> {
                long sum = 0;
                for (int k = 0; k < WARM_UPS; k++) {
                    sum += source.getAsLong();
                }
                sink = sum;
                warm.countDown();
                while (!isOver) {
                    Thread.onSpinWait(); // all at once then: none is woken before the others
                }
                for (int k = 0; k < DRAWS; k++) {
                    out[k] = source.getAsLong();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        warm.await();
        System.out.println("ready " + ProcessHandle.current().pid());
        while (!Files.exists(go)) {
            Thread.sleep(20);
        }
        isOver = true;
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < THREADS; i++) {
            for (long value : drawn[i]) {
                System.out.println(i % sources.size() + " " + Long.toHexString(value));
            }
        }
        System.out.println("end");
        Thread.sleep(60_000);
    }
}
