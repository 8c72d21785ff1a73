package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent that renews the JDK's generators in copies: fronts/java/clones. */
class ClonesTest {
    /**
     * The sources of program Sources, each with what it does in two copies: without the agent, with
     * it, and with its argument {@code seeded}. R repeats, D differs; a source that asks the clock
     * may do either, and has a dash. They were written down before the first run, which changed two:
     * a new DRBG was expected to ask the kernel, but it has its seed from a buffer.
     */
    private static final String SOURCES = """
            Random: R D D
            Random nextBytes: R D D
            Random nextInt(1000): R D D
            Random nextBoolean: R D D
            Random ints(): R D D
            Random doubles(): R D D
            Random new: - D D
            Random subclass: R D D
            Random subclass with a state of its own: R R R
            Random(42): R R D
            Random setSeed(42): R R D
            Random(long of SecureRandom): R R D
            Random new, setSeed(7): R R R
            Random kept, setSeed(7): R R R
            Random of a stream: R R R
            Math.random: R D D
            StrictMath.random: R D D
            Collections.shuffle: R D D
            Collections.shuffle by Random(1): R R D
            ThreadLocalRandom: R D D
            ThreadLocalRandom nextLong(bound): R D D
            ThreadLocalRandom nextDouble: R D D
            ThreadLocalRandom nextExponential: R D D
            ThreadLocalRandom ints(): R D D
            ThreadLocalRandom of a new thread: R D D
            ThreadLocalRandom of a pool: R D D
            Random of a pool: - D D
            SplittableRandom: R R R
            SplittableRandom split: R R R
            SplittableRandom new: R D D
            SplittableRandom(42): R R R
            L32X64MixRandom new: R D D
            L64X128MixRandom new: R D D
            L64X128StarStarRandom new: R D D
            L64X256MixRandom new: R D D
            L64X1024MixRandom new: R D D
            L128X128MixRandom new: R D D
            L128X256MixRandom new: R D D
            L128X1024MixRandom new: R D D
            Xoroshiro128PlusPlus new: R D D
            Xoshiro256PlusPlus new: R D D
            Random new by RandomGenerator: - D D
            SplittableRandom new by RandomGenerator: R D D
            SecureRandom new by RandomGenerator: - D D
            RandomGenerator.getDefault: R R R
            L64X128MixRandom(42): R R R
            SecureRandom: - D D
            SecureRandom nextLong: - D D
            SecureRandom new: - D D
            SecureRandom generateSeed: D D D
            NativePRNG: - D D
            NativePRNG new: - D D
            NativePRNGNonBlocking: - D D
            NativePRNGNonBlocking new: - D D
            NativePRNGBlocking: - D D
            NativePRNGBlocking new: - D D
            DRBG: R D D
            DRBG new: R D D
            SHA1PRNG: R D D
            SHA1PRNG new: R D D
            DRBG with parameters: R D D
            SHA1PRNG setSeed(42): R R D
            SHA1PRNG draw, setSeed(42): R D D
            SHA1PRNG new, setSeed(7): R R R
            SecureRandom subclass with its own nextBytes: R R R
            SecureRandomSpi that takes seeds: R D D
            AES key: - D D
            EC key: - D D
            X25519 key: - D D
            ECDSA signature: - D D
            GCM nonce: - D D
            TLS ClientHello: - D D
            UUID.randomUUID: - D D
            File.createTempFile: - D D
            Files.createTempDirectory: - D D
            commons-lang insecure(): R D D
            commons-lang secure(): - D D
            java-uuid-generator random: - D D
            java-uuid-generator over Random: R D D
            Bouncy Castle DEFAULT: R R R
            Bouncy Castle NONCEANDIV: R R R
            Random second of a pair: R D D
            Random(42) second of a pair: R R D
            Random setSeed(42) second of a pair: R R D
            SecureRandom second of a pair: R D D
            ThreadLocalRandom second of a pair: R D D
            Random without a draw: R D D
            DRBG without a draw: R D D
            SHA1PRNG without a draw: R D D
            NativePRNG without a draw: - D D
            parallel stream: - D D
            """;

    private static final String AGENT = System.getProperty("headwater.clones.jar", "");

    @TempDir
    Path directory;

    @BeforeEach
    void agentIsBuilt() {
        assumeFalse(AGENT.isEmpty(), "skipped: no agent is named, so nothing is known of copies");
    }

    @Test
    void sourcesRepeatWithoutTheAgent() throws Exception {
        compare(0, List.of());
    }

    @Test
    void sourcesDifferWithTheAgent() throws Exception {
        compare(1, List.of("-javaagent:" + AGENT));
    }

    @Test
    void seededSourcesDifferIfTheAgentIsAsked() throws Exception {
        compare(2, List.of("-javaagent:" + AGENT + "=seeded"));
    }

    private void compare(int column, List<String> options) throws Exception {
        Images images = new Images(directory, Images.NEWEST);
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(program(images.go));
        List<List<String>> copies = images.restoreTwice("auto", arguments);
        Map<String, String> first = draws(copies.get(0));
        Map<String, String> second = draws(copies.get(1));
        StringBuilder faults = new StringBuilder();
        Map<String, String> expected = expected();
        assertEquals(expected.keySet(), first.keySet());
        for (Map.Entry<String, String> source : expected.entrySet()) {
            String name = source.getKey();
            String known = source.getValue().split(" ")[column];
            String found = first.get(name).equals(second.get(name)) ? "R" : "D";
            if (!known.equals("-") && !known.equals(found)) {
                faults.append(name).append(": ").append(known).append(" expected, ")
                        .append(first.get(name)).append(" and ").append(second.get(name))
                        .append('\n');
            }
        }
        assertEquals("", faults.toString());
    }

    /** Many threads meet the copy at once, and only the first of them finds the word lost. */
    @Test
    void threadsOfTwoCopiesShareNoDraw() throws Exception {
        Set<String> shared = sharedByCrowd(List.of("-javaagent:" + AGENT));
        assertEquals(Set.of(), shared);
    }

    @Test
    void threadsOfTwoCopiesShareDrawsWithoutTheAgent() throws Exception {
        Set<String> shared = sharedByCrowd(List.of());
        for (String source : List.of("0", "1", "2")) {
            assertTrue(shared.stream().anyMatch(draw -> draw.startsWith(source)), source);
        }
    }

    private Set<String> sharedByCrowd(List<String> options) throws Exception {
        Images images = new Images(directory, Images.NEWEST);
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of("-cp", Jars.tests().toString(), "headwater.program.Crowd",
                images.go.toString()));
        List<List<String>> copies = images.restoreTwice("auto", arguments);
        Set<String> shared = new HashSet<>(copies.get(0));
        assertEquals(copies.get(0).size(), shared.size(), "draws of one copy");
        shared.retainAll(new HashSet<>(copies.get(1)));
        return shared;
    }

    /** In the original, the agent changes no number that a program has seeded. */
    @Test
    void seededNumbersStayAsTheyWere() throws Exception {
        Path go = Files.createFile(directory.resolve("go"));
        Map<String, String> plain = draws(run(List.of(), go));
        for (String argument : List.of("", "=seeded")) {
            Map<String, String> edited = draws(run(List.of("-javaagent:" + AGENT + argument), go));
            for (Map.Entry<String, String> source : expected().entrySet()) {
                String name = source.getKey();
                // These have no seed that the program knows, although they are never renewed.
                boolean isSeeded = name.contains("42)") || name.contains("(7)")
                        || name.contains("Random(1)") || name.endsWith("its own nextBytes")
                        || name.endsWith("a state of its own") || name.endsWith("takes seeds");
                assertEquals(isSeeded && !name.contains("draw,"),
                        plain.get(name).equals(edited.get(name)), name);
            }
        }
    }

    @Test
    void anUnknownArgumentEndsTheStart() throws Exception {
        Jars.Result result = Jars.java("-javaagent:" + AGENT + "=sedeed", "-version");
        assertEquals(1, result.status(), result.text());
        assertTrue(result.text().contains("unknown argument sedeed"), result.text());
    }

    @Test
    void theAgentIsSilent() throws Exception {
        Path go = Files.createFile(directory.resolve("go"));
        List<String> lines = run(List.of("-javaagent:" + AGENT), go);
        assertEquals(expected().size() + 2, lines.size(), String.join("\n", lines));
    }

    /** A program has its own version of ASM, or of nothing: all classes are under our names. */
    @Test
    void theJarHasNoNamesButItsOwn() throws Exception {
        try (JarFile jar = new JarFile(AGENT)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                assertTrue(name.startsWith("headwater/") || name.startsWith("META-INF/"), name);
            }
            assertTrue(jar.getEntry("META-INF/LICENSE-ASM") != null);
        }
    }

    private List<String> run(List<String> options, Path go) throws Exception {
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(program(go));
        arguments.add("once");
        return Jars.java(arguments.toArray(new String[0])).succeeded().text().lines().toList();
    }

    private List<String> program(Path go) throws Exception {
        String path = Jars.tests() + File.pathSeparator + System.getProperty("java.class.path");
        return List.of("-cp", path, "headwater.program.Sources", go.toString(),
                Files.createDirectories(directory.resolve("scratch")).toString());
    }

    private static Map<String, String> draws(List<String> lines) {
        Map<String, String> draws = new LinkedHashMap<>();
        for (String line : lines) {
            String[] parts = line.split("\t");
            if (parts.length == 2) {
                draws.put(parts[0], parts[1]);
            }
        }
        return draws;
    }

    private static Map<String, String> expected() {
        Map<String, String> expected = new LinkedHashMap<>();
        for (String line : SOURCES.split("\n")) {
            String[] parts = line.split(": ");
            expected.put(parts[0], parts[1]);
        }
        return expected;
    }
}
