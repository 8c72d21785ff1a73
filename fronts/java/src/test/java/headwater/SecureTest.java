package headwater;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Secure bytes and UUIDs within one JVM. */
class SecureTest {
    private static final Provider PROVIDER = new Headwater();

    private static SecureRandom random() throws Exception {
        return SecureRandom.getInstance(Headwater.NAME, PROVIDER);
    }

    /** What a copy does to them is in ClonesTest; here, that they are what their names say. */
    @Test
    void theMemoryOfCopiesIsTheCount() {
        long copies = Headwater.copies();
        assertEquals(copies, CopiesMemory.count().order(ByteOrder.nativeOrder()).getLong());
        assertEquals(1, CopiesMemory.word().order(ByteOrder.nativeOrder()).getLong());
        for (ByteBuffer memory : List.of(CopiesMemory.word(), CopiesMemory.count())) {
            assertTrue(memory.isDirect());
            assertEquals(Long.BYTES, memory.capacity());
            assertThrows(ReadOnlyBufferException.class, () -> memory.putLong(0, 2));
        }
        assertEquals(copies, Headwater.copies());
    }

    @Test
    void theInterfaceIsThatOfTheVersion() throws Exception {
        boolean isFfm = Runtime.version().feature() >= 22 && Jars.hasFfm();
        assertEquals(isFfm ? "FFM" : "JNI", Headwater.nativeInterface());
    }

    @Test
    void everyLengthIsFilledToItsEnd() throws Exception {
        SecureRandom random = random();
        int[] long_ = {4095, 4096, 4097, 65_535, 131_071, 131_072, 131_073, 300_001};
        for (int i = 0; i < 300 + long_.length; i++) {
            int length = i < 300 ? i : long_[i - 300];
            byte[] all = new byte[length];
            // Each byte is 0 in all rounds with probability 2^-80.
            for (int round = 0; round < 10; round++) {
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                for (int j = 0; j < length; j++) {
                    all[j] |= bytes[j];
                }
            }
            for (int j = 0; j < length; j++) {
                assertNotEquals(0, all[j], "byte " + j + " of " + length);
            }
        }
    }

    @Test
    void bitsAreBalanced() throws Exception {
        byte[] bytes = new byte[1 << 20];
        random().nextBytes(bytes);
        int[] ones = new int[8];
        for (byte value : bytes) {
            for (int bit = 0; bit < 8; bit++) {
                ones[bit] += value >> bit & 1;
            }
        }
        // 512 is one standard deviation; beyond eight with probability 1e-15.
        for (int count : ones) {
            assertTrue(Math.abs(count - (1 << 19)) < 8 * 512, "ones: " + count);
        }
    }

    @Test
    void drawsNeverRepeat() throws Exception {
        SecureRandom first = random();
        SecureRandom second = random();
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            // Two words are equal with probability 1e-9.
            assertTrue(seen.add(first.nextLong()));
            assertTrue(seen.add(second.nextLong()));
        }
    }

    @Test
    void seedsChangeNothing() throws Exception {
        SecureRandom one = random();
        SecureRandom two = random();
        one.setSeed(new byte[20]);
        two.setSeed(new byte[20]);
        assertNotEquals(one.nextLong(), two.nextLong());
        one.setSeed(1);
        two.setSeed(1);
        assertNotEquals(one.nextLong(), two.nextLong());
        one.setSeed(new byte[0]);
        assertThrows(NullPointerException.class, () -> one.setSeed(null));
    }

    @Test
    void seedsAreDrawn() throws Exception {
        SecureRandom random = random();
        assertEquals(0, random.generateSeed(0).length);
        assertEquals(33, random.generateSeed(33).length);
        assertNotEquals(
                new java.math.BigInteger(random.generateSeed(16)),
                new java.math.BigInteger(random.generateSeed(16)));
        assertThrows(IllegalArgumentException.class, () -> random.generateSeed(-1));
        assertThrows(IllegalArgumentException.class, () -> new RandomSpi().engineGenerateSeed(-1));
    }

    /** The seed of another generator is worth what the kernel returns, not what a page holds. */
    @Test
    void eachSeedAsksTheKernel() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/strace")),
                "skipped: strace is not installed, so nothing shows that seeds are fresh");
        assertTrue(keysAskedFor("seeds") >= 300);
        assertTrue(keysAskedFor("bytes") < 100);
    }

    /** Returns how many keys a program asked the kernel for while it drew 300 times. */
    private static long keysAskedFor(String kind) throws Exception {
        String classes = Jars.jar() + ":" + Jars.tests();
        List<String> command = new ArrayList<>(List.of("/usr/bin/strace", "-f", "-qq", "-e",
                "trace=getrandom", Jars.java("java").toString(), "-XX:TieredStopAtLevel=1"));
        if (Jars.isAtLeast(22)) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", classes, "headwater.program.Seeds", kind, "300"));
        String text = Jars.run(command, null).succeeded().text();
        return text.lines().filter(line -> line.contains(", 32, 0") && line.contains("= 32"))
                .count();
    }

    @Test
    void aLongSeedIsFilledToItsEnd() throws Exception {
        SecureRandom random = random();
        for (int length : new int[] {4095, 4096, 4097, 100_000}) {
            byte[] all = new byte[length];
            for (int round = 0; round < 10; round++) {
                byte[] seed = random.generateSeed(length);
                for (int j = 0; j < length; j++) {
                    all[j] |= seed[j];
                }
            }
            for (int j = 0; j < length; j++) {
                assertNotEquals(0, all[j], "byte " + j + " of " + length);
            }
        }
    }

    @Test
    void badInputIsRefused() throws Exception {
        SecureRandom random = random();
        assertThrows(NullPointerException.class, () -> random.nextBytes(null));
        assertThrows(UnsupportedOperationException.class, random::reseed);
        assertThrows(IllegalArgumentException.class, () -> Headwater.uuid4(new long[3]));
        assertThrows(NullPointerException.class, () -> Headwater.uuid4(null));
        assertThrows(NullPointerException.class, () -> Headwater.stale(null));
        assertThrows(IllegalArgumentException.class, () -> Headwater.stale(new long[0]));
        assertThrows(java.security.NoSuchAlgorithmException.class,
                () -> SecureRandom.getInstance("Headwater",
                        java.security.DrbgParameters.instantiation(128,
                                java.security.DrbgParameters.Capability.NONE, null), PROVIDER));
    }

    @Test
    void theProviderDescribesItself() throws Exception {
        assertEquals("true", PROVIDER.getService("SecureRandom", "Headwater")
                .getAttribute("ThreadSafe"));
        assertEquals("Headwater", random().getAlgorithm());
        assertEquals(1, PROVIDER.getServices().size());
    }

    @Test
    void aSecondRegistrationIsIgnored() {
        assertTrue(Security.insertProviderAt(new Headwater(), 1) > 0);
        assertEquals(-1, Security.insertProviderAt(new Headwater(), 1));
        Agent.install();
        assertEquals("Headwater", new SecureRandom().getAlgorithm());
        Security.removeProvider(Headwater.NAME);
        assertNotEquals("Headwater", new SecureRandom().getAlgorithm());
    }

    @Test
    void generatorsSurviveSerialisation() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        SecureRandom before = random();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(before);
        }
        ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        SecureRandom after = (SecureRandom) in.readObject();
        assertNotEquals(before.nextLong(), after.nextLong());
    }

    @Test
    void randomUuidsAreMarked() {
        Set<UUID> seen = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            UUID uuid = Headwater.uuid4();
            assertEquals(4, uuid.version());
            assertEquals(2, uuid.variant());
            assertTrue(seen.add(uuid));
        }
        long[] words = new long[100_002];
        Headwater.uuid4(words);
        for (int i = 0; i < words.length; i += 2) {
            UUID uuid = new UUID(words[i], words[i + 1]);
            assertTrue(uuid.version() == 4 && uuid.variant() == 2 && seen.add(uuid));
        }
        Headwater.uuid4(new long[0]);
    }

    @Test
    void timeOrderedUuidsHaveTheLayoutOfTheRfc() {
        // The example of RFC 9562, appendix A.6, whose 12 and 62 other bits are random there.
        UUID example = Headwater.uuid7(1_645_557_742L, 0, 0x18C4_DC0C_0C07_398FL);
        assertEquals("017f22e2-79b0-7000-98c4-dc0c0c07398f", example.toString());
        assertEquals(4095, Headwater.uuid7(1, 999_999, 0).getMostSignificantBits() & 0xFFF);
        assertEquals(1, Headwater.uuid7(1, 7_000_245, 0).getMostSignificantBits() & 0xFFF);
        long before = Instant.now().toEpochMilli();
        UUID uuid = Headwater.uuid7();
        long milliseconds = uuid.getMostSignificantBits() >>> 16;
        assertTrue(before <= milliseconds && milliseconds <= Instant.now().toEpochMilli());
        assertEquals(7, uuid.version());
        assertEquals(2, uuid.variant());
    }

    @Test
    void stampsDetectChanges() {
        long[] stamp = {0};
        assertTrue(Headwater.stale(stamp));
        if (Headwater.generation() == 0) {
            assertTrue(Headwater.stale(stamp));
            return;
        }
        // The kernel reseeds once a minute, hardly twice in two calls.
        assertFalse(Headwater.stale(stamp) && Headwater.stale(stamp));
        assertEquals(stamp[0], Headwater.generation());
    }

    @Test
    void theStatusIsADocument() {
        JsonObject status = JsonParser.parseString(Headwater.status()).getAsJsonObject();
        assertEquals("headwater.status/1", status.get("schema").getAsString());
        assertEquals(Library.VERSION, status.get("version").getAsString());
    }

    @Test
    void theVersionIsThatOfTheWorkspace() throws Exception {
        String pom = Jars.text(Jars.vectors().resolve("../../fronts/java/pom.xml"));
        assertTrue(pom.contains("<version>" + Library.VERSION + "</version>"));
        String cargo = Jars.text(Jars.vectors().resolve("../../Cargo.toml"));
        assertTrue(cargo.contains("version = \"" + Library.VERSION + "\""));
    }

    @Test
    void refusalsBecomeProviderExceptions() {
        assertTrue(Draw.refused(1).getMessage().contains("errno 1"));
        assertTrue(Draw.refused(-1).getCause() instanceof java.io.IOException);
    }

    @Test
    void partsOfArraysAreFilled() {
        byte[] bytes = new byte[64];
        assertEquals(0, Native.fill(bytes, 16, 32));
        assertArrayEquals(new byte[16], java.util.Arrays.copyOf(bytes, 16));
        assertArrayEquals(new byte[16], java.util.Arrays.copyOfRange(bytes, 48, 64));
        long[] words = new long[2000];
        assertEquals(0, Native.fillLongs(words, 500, 1000));
        for (int i = 0; i < words.length; i++) {
            assertEquals(i < 500 || i >= 1500, words[i] == 0, "word " + i);
        }
    }
}
