package headwater.program;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.NoArgGenerator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DrbgParameters;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.SecureRandomSpi;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.SecretKey;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.apache.commons.lang3.RandomStringUtils;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

/**
 * Warms sources of random numbers, waits until a file appears, and prints a draw of each. A test
 * saves the process during the wait, and restores it twice.
 *
 * <p>Its arguments: the file, which is there already if nothing shall be waited for, and a scratch
 * directory.
 */
public final class Sources {
    /** Draws of each source before the wait: enough for both compilers. */
    private static final int WARM_UPS = 20_000;

    private static final Map<String, Callable<Object>> SOURCES = new LinkedHashMap<>();
    /** Those that take too long to be warmed so often. */
    private static final List<String> SLOW = new ArrayList<>();

    private Sources() {}

    public static void main(String[] arguments) throws Exception {
        Path go = Path.of(arguments[0]);
        Path scratch = Path.of(arguments[1]);
        random();
        threads();
        splittable();
        secure();
        keys();
        names(scratch);
        libraries();
        for (Map.Entry<String, Callable<Object>> source : SOURCES.entrySet()) {
            int draws = SLOW.contains(source.getKey()) ? 5 : WARM_UPS;
            for (int i = 0; i < draws; i++) {
                source.getValue().call();
            }
        }
        late();
        System.out.println("ready " + ProcessHandle.current().pid());
        while (!Files.exists(go)) {
            Thread.sleep(20);
        }
        for (Map.Entry<String, Callable<Object>> source : SOURCES.entrySet()) {
            System.out.println(source.getKey() + "\t" + source.getValue().call());
        }
        System.out.println("end");
        // The test ends the process, once it has read the last line.
        Thread.sleep(arguments.length > 2 ? 0 : 60_000);
        System.exit(0);
    }

    private static void add(String name, Callable<Object> draw) {
        if (SOURCES.put(name, draw) != null) {
            throw new AssertionError(name);
        }
    }

    private static void slow(String name, Callable<Object> draw) {
        add(name, draw);
        SLOW.add(name);
    }

    private static String words(RandomGenerator generator) {
        return Long.toHexString(generator.nextLong()) + Long.toHexString(generator.nextLong());
    }

    private static String bytes(SecureRandom generator) {
        byte[] bytes = new byte[16];
        generator.nextBytes(bytes);
        return Arrays.toString(bytes);
    }

    // --- java.util.Random and what stands on it -------------------------------------------------

    private static void random() throws Exception {
        Random kept = new Random();
        add("Random", () -> words(kept));
        Random bytes = new Random();
        add("Random nextBytes", () -> {
            byte[] out = new byte[16];
            bytes.nextBytes(out);
            return Arrays.toString(out);
        });
        Random bounded = new Random();
        add("Random nextInt(1000)", () -> {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 10; i++) {
                text.append(bounded.nextInt(1000)).append(' ');
            }
            return text;
        });
        Random bits = new Random();
        add("Random nextBoolean", () -> {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 64; i++) {
                text.append(bits.nextBoolean() ? 1 : 0);
            }
            return text;
        });
        Iterator<Integer> ints = new Random().ints().iterator();
        add("Random ints()", () -> ints.next() + " " + ints.next());
        Iterator<Double> doubles = new Random().doubles(1_000_000, 0, 10).iterator();
        add("Random doubles()", () -> doubles.next() + " " + doubles.next());
        add("Random new", () -> words(new Random()));
        Random subclass = new Random() {
            private static final long serialVersionUID = 1L;

            @Override
            public int nextInt() {
                return ~super.nextInt();
            }
        };
        add("Random subclass", () -> subclass.nextInt() + " " + subclass.nextLong());
        Random own = new Random() {
            private static final long serialVersionUID = 1L;
            private int state;

            @Override
            protected int next(int bits) {
                return (state += 77) >>> 32 - bits;
            }
        };
        add("Random subclass with a state of its own", () -> words(own));
        Random seeded = new Random(42);
        add("Random(42)", () -> words(seeded));
        Random later = new Random();
        later.setSeed(42);
        add("Random setSeed(42)", () -> words(later));
        Random from = new Random(new SecureRandom().nextLong());
        add("Random(long of SecureRandom)", () -> words(from));
        add("Random new, setSeed(7)", () -> {
            Random now = new Random();
            now.setSeed(7);
            return words(now);
        });
        Random again = new Random();
        add("Random kept, setSeed(7)", () -> {
            again.setSeed(7);
            return words(again);
        });
        ByteArrayOutputStream saved = new ByteArrayOutputStream();
        new ObjectOutputStream(saved).writeObject(new Random());
        Random read = (Random) new ObjectInputStream(
                new ByteArrayInputStream(saved.toByteArray())).readObject();
        add("Random of a stream", () -> words(read));
        add("Math.random", () -> Math.random() + " " + Math.random());
        add("StrictMath.random", () -> StrictMath.random() + " " + StrictMath.random());
        add("Collections.shuffle", () -> shuffled(null));
        Random deck = new Random(1);
        add("Collections.shuffle by Random(1)", () -> shuffled(deck));
    }

    private static Object shuffled(Random random) {
        List<Integer> cards = new ArrayList<>();
        for (int card = 0; card < 40; card++) {
            cards.add(card);
        }
        if (random == null) {
            Collections.shuffle(cards);
        } else {
            Collections.shuffle(cards, random);
        }
        return cards;
    }

    // --- ThreadLocalRandom ----------------------------------------------------------------------

    private static void threads() throws Exception {
        add("ThreadLocalRandom", () -> words(ThreadLocalRandom.current()));
        add("ThreadLocalRandom nextLong(bound)", () ->
                ThreadLocalRandom.current().nextLong(1L << 62) + " "
                        + ThreadLocalRandom.current().nextLong(5, 1L << 61));
        add("ThreadLocalRandom nextDouble", () -> ThreadLocalRandom.current().nextDouble() + " "
                + ThreadLocalRandom.current().nextDouble(5));
        add("ThreadLocalRandom nextExponential", () ->
                ((RandomGenerator) ThreadLocalRandom.current()).nextExponential());
        add("ThreadLocalRandom ints()", () ->
                Arrays.toString(ThreadLocalRandom.current().ints(4).toArray()));
        slow("ThreadLocalRandom of a new thread", () -> {
            String[] drawn = new String[1];
            Thread thread = new Thread(() -> drawn[0] = words(ThreadLocalRandom.current()));
            thread.start();
            thread.join();
            return drawn[0];
        });
        ExecutorService pool = Executors.newFixedThreadPool(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        slow("ThreadLocalRandom of a pool", () ->
                pool.submit(() -> words(ThreadLocalRandom.current())).get());
        slow("Random of a pool", () -> pool.submit(() -> words(new Random())).get());
    }

    // --- SplittableRandom and RandomGenerator ---------------------------------------------------

    private static void splittable() {
        SplittableRandom kept = new SplittableRandom();
        add("SplittableRandom", () -> words(kept));
        add("SplittableRandom split", () -> words(kept.split()));
        add("SplittableRandom new", () -> words(new SplittableRandom()));
        SplittableRandom seeded = new SplittableRandom(42);
        add("SplittableRandom(42)", () -> words(seeded));
        for (String name : List.of("L32X64MixRandom", "L64X128MixRandom", "L64X128StarStarRandom",
                "L64X256MixRandom", "L64X1024MixRandom", "L128X128MixRandom", "L128X256MixRandom",
                "L128X1024MixRandom", "Xoroshiro128PlusPlus", "Xoshiro256PlusPlus", "Random",
                "SplittableRandom", "SecureRandom")) {
            boolean isOwn = name.matches("(L|Xo).*");
            slow(name + (isOwn ? " new" : " new by RandomGenerator"),
                    () -> words(RandomGenerator.of(name)));
        }
        RandomGenerator algorithm = RandomGenerator.getDefault();
        add("RandomGenerator.getDefault", () -> words(algorithm));
        RandomGenerator fixed = RandomGeneratorFactory.of("L64X128MixRandom").create(42);
        add("L64X128MixRandom(42)", () -> words(fixed));
    }

    // --- SecureRandom ---------------------------------------------------------------------------

    private static void secure() throws Exception {
        SecureRandom kept = new SecureRandom();
        add("SecureRandom", () -> bytes(kept));
        add("SecureRandom nextLong", () -> words(kept));
        add("SecureRandom new", () -> bytes(new SecureRandom()));
        add("SecureRandom generateSeed", () -> Arrays.toString(kept.generateSeed(16)));
        for (String name : List.of("NativePRNG", "NativePRNGNonBlocking", "NativePRNGBlocking",
                "DRBG", "SHA1PRNG")) {
            SecureRandom named = SecureRandom.getInstance(name);
            add(name, () -> bytes(named));
            slow(name + " new", () -> bytes(SecureRandom.getInstance(name)));
        }
        SecureRandom drbg = SecureRandom.getInstance("DRBG",
                DrbgParameters.instantiation(256, DrbgParameters.Capability.RESEED_ONLY, null));
        add("DRBG with parameters", () -> {
            byte[] out = new byte[16];
            drbg.nextBytes(out, DrbgParameters.nextBytes(256, false, new byte[] {1}));
            return Arrays.toString(out);
        });
        SecureRandom seeded = SecureRandom.getInstance("SHA1PRNG");
        seeded.setSeed(42);
        add("SHA1PRNG setSeed(42)", () -> bytes(seeded));
        SecureRandom supplemented = SecureRandom.getInstance("SHA1PRNG");
        supplemented.nextInt();
        supplemented.setSeed(42);
        add("SHA1PRNG draw, setSeed(42)", () -> bytes(supplemented));
        slow("SHA1PRNG new, setSeed(7)", () -> {
            SecureRandom now = SecureRandom.getInstance("SHA1PRNG");
            now.setSeed(7);
            return bytes(now);
        });
        SecureRandom constant = new SecureRandom() {
            private static final long serialVersionUID = 1L;
            private byte next;

            @Override
            public void nextBytes(byte[] out) {
                Arrays.fill(out, next++);
            }
        };
        add("SecureRandom subclass with its own nextBytes", () -> bytes(constant));
        SecureRandom spi = new SecureRandom(new Mixed(), null) {
            private static final long serialVersionUID = 1L;
        };
        add("SecureRandomSpi that takes seeds", () -> bytes(spi));
    }

    /** A generator without a provider, whose state seeds are mixed into. */
    private static final class Mixed extends SecureRandomSpi {
        private static final long serialVersionUID = 1L;
        private long state = 1;

        @Override
        protected void engineSetSeed(byte[] seed) {
            state ^= ByteBuffer.wrap(seed).getLong();
        }

        @Override
        protected void engineNextBytes(byte[] out) {
            for (int i = 0; i < out.length; i++) {
                state = state * 6364136223846793005L + 1;
                out[i] = (byte) (state >>> 56);
            }
        }

        @Override
        protected byte[] engineGenerateSeed(int length) {
            return new byte[length];
        }
    }

    // --- what draws for itself ------------------------------------------------------------------

    private static void keys() throws Exception {
        KeyGenerator aes = KeyGenerator.getInstance("AES");
        add("AES key", () -> Arrays.toString(aes.generateKey().getEncoded()));
        KeyPairGenerator ec = KeyPairGenerator.getInstance("EC");
        slow("EC key", () -> Arrays.toString(ec.generateKeyPair().getPublic().getEncoded()));
        KeyPairGenerator x25519 = KeyPairGenerator.getInstance("X25519");
        slow("X25519 key", () ->
                Arrays.toString(x25519.generateKeyPair().getPublic().getEncoded()));
        KeyPair signer = ec.generateKeyPair();
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(signer.getPrivate());
        slow("ECDSA signature", () -> {
            signature.update((byte) 1);
            return Arrays.toString(signature.sign());
        });
        SecretKey key = aes.generateKey();
        slow("GCM nonce", () -> {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, key);
            return Arrays.toString(cipher.getIV());
        });
        SSLContext tls = SSLContext.getDefault();
        slow("TLS ClientHello", () -> {
            SSLEngine engine = tls.createSSLEngine("localhost", 1);
            engine.setUseClientMode(true);
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            // Record header 5, handshake header 4, version 2, then 32 random bytes (RFC 8446).
            return Arrays.toString(Arrays.copyOfRange(hello.array(), 11, 43));
        });
    }

    private static void names(Path scratch) {
        add("UUID.randomUUID", UUID::randomUUID);
        slow("File.createTempFile", () -> {
            File file = File.createTempFile("tmp", "", scratch.toFile());
            Files.delete(file.toPath());
            return file.getName();
        });
        slow("Files.createTempDirectory", () -> {
            Path directory = Files.createTempDirectory(scratch, "tmp");
            Files.delete(directory);
            return directory.getFileName();
        });
    }

    private static void libraries() throws Exception {
        add("commons-lang insecure()", () -> RandomStringUtils.insecure().nextAlphanumeric(20));
        add("commons-lang secure()", () -> RandomStringUtils.secure().nextAlphanumeric(20));
        NoArgGenerator jug = Generators.randomBasedGenerator();
        add("java-uuid-generator random", jug::generate);
        NoArgGenerator plain = Generators.randomBasedGenerator(new Random());
        add("java-uuid-generator over Random", plain::generate);
        Provider castle = new BouncyCastleProvider();
        for (String name : List.of("DEFAULT", "NONCEANDIV")) {
            SecureRandom named = SecureRandom.getInstance(name, castle);
            add("Bouncy Castle " + name, () -> bytes(named));
        }
    }

    /**
     * Adds sources whose state at the wait must be an odd number of draws, or none; and last the
     * one that draws from this thread's state as often as it happens.
     */
    private static void late() throws Exception {
        Random pair = new Random();
        pair.nextGaussian();
        add("Random second of a pair", pair::nextGaussian);
        Random fixed = new Random(42);
        fixed.nextGaussian();
        add("Random(42) second of a pair", fixed::nextGaussian);
        Random later = new Random();
        later.setSeed(42);
        later.nextGaussian();
        add("Random setSeed(42) second of a pair", later::nextGaussian);
        SecureRandom secure = new SecureRandom();
        secure.nextGaussian();
        add("SecureRandom second of a pair", secure::nextGaussian);
        ThreadLocalRandom.current().nextGaussian();
        add("ThreadLocalRandom second of a pair", ThreadLocalRandom.current()::nextGaussian);
        Random untouched = new Random();
        add("Random without a draw", () -> words(untouched));
        for (String name : List.of("DRBG", "SHA1PRNG", "NativePRNG")) {
            SecureRandom generator = SecureRandom.getInstance(name);
            add(name + " without a draw", () -> bytes(generator));
        }
        add("parallel stream", () -> Arrays.toString(IntStream.range(0, 100).parallel()
                .mapToLong(i -> ThreadLocalRandom.current().nextLong()).toArray()));
    }
}
