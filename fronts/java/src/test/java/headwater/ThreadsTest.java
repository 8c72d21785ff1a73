package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.Provider;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Threads of both kinds, the garbage collector, and class loaders. */
class ThreadsTest {
    private static Set<UUID> draw(ExecutorService pool, int tasks, int each) throws Exception {
        SecureRandom shared = SecureRandom.getInstance(Headwater.NAME, new Headwater());
        Callable<List<UUID>> task = () -> {
            List<UUID> uuids = new ArrayList<>();
            byte[] bytes = new byte[24];
            for (int i = 0; i < each; i++) {
                shared.nextBytes(bytes);
                uuids.add(UUID.nameUUIDFromBytes(bytes));
                uuids.add(Headwater.uuid4());
            }
            return uuids;
        };
        List<Future<List<UUID>>> results = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            results.add(pool.submit(task));
        }
        Set<UUID> seen = new HashSet<>();
        for (Future<List<UUID>> result : results) {
            seen.addAll(result.get());
        }
        return seen;
    }

    @Test
    void threadsShareOneGenerator() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(16);
        try {
            assertEquals(16 * 2 * 5000, draw(pool, 16, 5000).size());
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void tenThousandVirtualThreadsDraw() throws Exception {
        assumeTrue(Jars.isAtLeast(21), "virtual threads need Java 21");
        ExecutorService pool = (ExecutorService) Executors.class
                .getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        try {
            assertEquals(10_000 * 2 * 5, draw(pool, 10_000, 5).size());
        } finally {
            pool.shutdown();
        }
    }

    /** Arrays that the collector moves while the library writes to them would be torn. */
    @Test
    void theCollectorRunsBesideDraws() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Future<Integer> garbage = pool.submit(() -> {
            int collections = 0;
            for (long end = System.nanoTime() + 1_000_000_000L; System.nanoTime() < end;) {
                byte[][] pieces = new byte[1000][];
                for (int i = 0; i < pieces.length; i++) {
                    pieces[i] = new byte[1000];
                }
                if (++collections % 50 == 0) {
                    System.gc();
                }
            }
            return collections;
        });
        Stream stream = Key.of(7).stream(1);
        long[] expected = new long[50_000];
        stream.fill(3, expected);
        int rounds = 0;
        while (!garbage.isDone()) {
            long[] words = new long[50_000];
            stream.fill(3, words);
            org.junit.jupiter.api.Assertions.assertArrayEquals(expected, words);
            byte[] bytes = new byte[100_000];
            Draw.fill(bytes);
            assertTrue(bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 0 || bytes[3] != 0);
            rounds++;
        }
        assertTrue(rounds > 0 && garbage.get() > 0);
        pool.shutdown();
    }

    @Test
    void classLoadersLoadAndUnload() throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            loaders.add(drawFromAnotherLoader(seen));
        }
        assertEquals(3, seen.size());
        for (int i = 0; i < 50 && loaders.stream().anyMatch(l -> l.get() != null); i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertTrue(loaders.stream().allMatch(l -> l.get() == null), "a class loader is held");
        assertNotNull(Headwater.uuid4());
    }

    private static WeakReference<ClassLoader> drawFromAnotherLoader(Set<Long> seen)
            throws Exception {
        URL[] jar = {Jars.jar().toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(jar, null)) {
            Provider provider = (Provider) Class.forName("headwater.Headwater", true, loader)
                    .getConstructor().newInstance();
            assertTrue(provider.getClass() != Headwater.class);
            seen.add(SecureRandom.getInstance("Headwater", provider).nextLong());
            return new WeakReference<>(loader);
        }
    }
}
