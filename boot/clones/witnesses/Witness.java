// Witness for Java 11 and later: shows which random sources repeat in copies of a warm process.
//
// Life of every witness: warm all sources up, say `ready`, wait for `go`, draw, leave. The process
// is copied while it waits, and each copy draws for itself; whoever started it compares them.
// HEADWATER_WITNESS_DIR names the directory for `ready`, `go`, `draws` and the scratch directory.
//
// It runs from its source: java Witness.java

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;

public class Witness {
    static final int WARM_UPS = 5;
    static final int DRAWS = 8;
    static final long POLL_MS = 5;

    static final Path HOME = Path.of(System.getenv("HEADWATER_WITNESS_DIR"));
    static final Path SCRATCH = HOME.resolve("scratch");

    static final Map<String, Callable<Object>> SOURCES = new LinkedHashMap<>();
    static final List<String> SKIPPED = new ArrayList<>();

    // Kept as the program's own identity hash: the number is made at the first question.
    static final Object KEPT = new Object();

    public static void main(String[] arguments) {
        try {
            witness();
        } catch (Exception error) {
            System.err.println("java witness: " + error);
            System.exit(1);
        }
    }

    static void witness() throws Exception {
        // Not its parents: they are gone only if the planting was removed, and then it must stay so.
        Files.createDirectory(SCRATCH);
        SecureRandom secure = new SecureRandom();
        addSources(secure);
        for (int round = 0; round < WARM_UPS; round++) {
            draw(new ArrayList<>());
        }
        drawIdentities(new ArrayList<>());

        List<String> ready = new ArrayList<>();
        ready.add("Java " + System.getProperty("java.version"));
        ready.addAll(SKIPPED);
        publish("ready", ready);

        // The default generator reads ahead and drops what is older than 100 ms. It is kept busy
        // here, as in a server under load: an idle one has only old bytes, drops them after the
        // copy, and looks innocent.
        byte[] load = new byte[64];
        while (!Files.exists(HOME.resolve("go"))) {
            if (!Files.exists(HOME.resolve("ready"))) {
                return; // The planter gave up; nobody would ever say go.
            }
            secure.nextBytes(load);
            Thread.sleep(POLL_MS);
        }

        List<String> lines = new ArrayList<>();
        for (int round = 0; round < DRAWS; round++) {
            draw(lines);
        }
        drawIdentities(lines);
        publish("draws", lines);
    }

    static void addSources(SecureRandom secure) {
        // These three share one buffer, and come first because of its 100 ms.
        SOURCES.put("SecureRandom", () -> bytes(secure));
        SOURCES.put("UUID.randomUUID", UUID::randomUUID);
        SOURCES.put("File.createTempFile", Witness::temporaryName);
        addSecure("NativePRNGNonBlocking");
        addSecure("DRBG");
        addSecure("SHA1PRNG");
        SOURCES.put("Math.random", Math::random);
        Random random = new Random();
        SOURCES.put("Random, kept", random::nextLong);
        SOURCES.put("Random, new", () -> new Random().nextLong());
        SOURCES.put("ThreadLocalRandom", () -> ThreadLocalRandom.current().nextLong());
        SplittableRandom splittable = new SplittableRandom();
        SOURCES.put("SplittableRandom, kept", splittable::nextLong);
        SOURCES.put("SplittableRandom, new", () -> new SplittableRandom().nextLong());
        addGenerator();
        SOURCES.put("Collections.shuffle", Witness::shuffled);
    }

    static void addSecure(String algorithm) {
        String name = "SecureRandom." + algorithm;
        try {
            SecureRandom generator = SecureRandom.getInstance(algorithm);
            SOURCES.put(name, () -> bytes(generator));
        } catch (NoSuchAlgorithmException error) {
            skip(name, error);
        }
    }

    // By reflection: the interface came with Java 17, and this file must compile before.
    static void addGenerator() {
        String name = "RandomGenerator.getDefault, kept";
        try {
            Class<?> type = Class.forName("java.util.random.RandomGenerator");
            Object generator = type.getMethod("getDefault").invoke(null);
            var next = type.getMethod("nextLong");
            SOURCES.put(name, () -> next.invoke(generator));
        } catch (ReflectiveOperationException error) {
            skip(name, error);
        }
    }

    static void skip(String name, Exception error) {
        SKIPPED.add("skipped\tjava/" + name + "\t" + error.toString().replaceAll("\\s+", " "));
    }

    static String bytes(SecureRandom generator) {
        byte[] drawn = new byte[8];
        generator.nextBytes(drawn);
        StringBuilder text = new StringBuilder();
        for (byte one : drawn) {
            text.append(String.format("%02x", one));
        }
        return text.toString();
    }

    // Deleted at once: a name still taken makes the next copy try another one, and that retry would
    // hide a repeat.
    static String temporaryName() throws IOException {
        File file = File.createTempFile("tmp", "", SCRATCH.toFile());
        Files.delete(file.toPath());
        return file.getName();
    }

    static String shuffled() {
        List<Integer> deck = new ArrayList<>();
        for (int card = 0; card < 20; card++) {
            deck.add(card);
        }
        Collections.shuffle(deck);
        return deck.toString();
    }

    // The salt turns the order of every immutable set and decides its direction. A large set shows
    // 13 bits of it; a small one has only a few orders, which agree by accident.
    static String saltedOrder() {
        Integer[] elements = new Integer[4096];
        for (int index = 0; index < elements.length; index++) {
            elements[index] = index;
        }
        Iterator<Integer> order = Set.of(elements).iterator();
        return order.next() + "-" + order.next();
    }

    static void draw(List<String> lines) throws Exception {
        for (Map.Entry<String, Callable<Object>> source : SOURCES.entrySet()) {
            lines.add("java/" + source.getKey() + "\t" + source.getValue().call());
        }
    }

    static void drawIdentities(List<String> lines) {
        lines.add("java/Set.of salt\t" + saltedOrder());
        lines.add("java/identityHashCode\t" + System.identityHashCode(KEPT));
    }

    // Written under another name first, so that nobody reads half of it.
    static void publish(String name, List<String> lines) throws IOException {
        Path unfinished = HOME.resolve(name + ".tmp");
        Files.write(unfinished, lines);
        Files.move(unfinished, HOME.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
