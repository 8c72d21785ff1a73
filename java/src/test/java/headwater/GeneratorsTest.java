package headwater;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGenerator.LeapableGenerator;
import java.util.random.RandomGenerator.SplittableGenerator;
import org.junit.jupiter.api.Test;

/** The generators that have a state, as Java's RandomGenerator. */
class GeneratorsTest {
    // The casts by way of Object: the tests are compiled against the classes for Java 8, and run
    // with those of the jar.

    private static SplittableGenerator splittable(long stream) {
        return (SplittableGenerator) (Object) Key.of(42).stream(stream).generator();
    }

    @Test
    void wordsAreThoseOfTheStream() {
        for (Engine engine : Engine.values()) {
            Stream stream = Key.of(engine, 42).stream(9);
            long[] words = new long[1000];
            stream.fill(0, words);
            StreamGenerator generator = stream.generator();
            for (int i = 0; i < words.length; i++) {
                assertEquals(i, generator.position());
                assertEquals(words[i], generator.nextLong());
            }
        }
    }

    @Test
    void theJdksOwnMethodsWork() {
        RandomGenerator generator = splittable(0);
        double[] expected = new double[1];
        Key.of(42).stream(0).fill(0, expected);
        assertEquals(expected[0], generator.nextDouble());
        assertTrue(generator.ints(1000, 0, 6).allMatch(i -> i >= 0 && i < 6));
        assertTrue(generator.doubles(1000, 2, 3).allMatch(x -> x >= 2 && x < 3));
        double sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += generator.nextGaussian();
        }
        assertTrue(Math.abs(sum) < 800, "sum of normal numbers: " + sum);
        byte[] bytes = new byte[37];
        generator.nextBytes(bytes);
        assertTrue(generator.nextInt(5) < 5 && generator.nextLong(7) < 7);
    }

    @Test
    void splitsAreReproducibleAndDiffer() {
        SplittableGenerator first = splittable(0);
        SplittableGenerator second = splittable(0);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            SplittableGenerator child = first.split();
            assertEquals(child.nextLong(), second.split().nextLong());
            assertTrue(seen.add(child.nextLong()));
        }
        assertEquals(first.nextLong(), second.nextLong());
        assertEquals(5, first.splits(5).map(RandomGenerator::nextLong).distinct().count());
        assertEquals(5, first.splits(second).limit(5).map(RandomGenerator::nextLong)
                .distinct().count());
        assertThrows(IllegalArgumentException.class, () -> first.splits(-1));
        // A split under parallel streams: the JDK's own interface.
        assertEquals(1000, first.splits(1000, second).parallel().mapToLong(
                RandomGenerator::nextLong).distinct().count());
    }

    @Test
    void xoshiroIsTheJdksOwn() throws Exception {
        Class<?> theirs = Class.forName("jdk.random.Xoshiro256PlusPlus");
        LeapableGenerator jdk = (LeapableGenerator) theirs
                .getConstructor(long.class, long.class, long.class, long.class)
                .newInstance(1L, 2L, 3L, 4L);
        LeapableGenerator ours =
                (LeapableGenerator) (Object) Xoshiro256pp.ofState(1, 2, 3, 4);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 100; i++) {
                assertEquals(jdk.nextLong(), ours.nextLong());
            }
            jdk.jump();
            ours.jump();
            for (int i = 0; i < 100; i++) {
                assertEquals(jdk.nextLong(), ours.nextLong());
            }
            jdk.leap();
            ours.leap();
        }
        assertEquals(jdk.jumpDistance(), ours.jumpDistance());
        assertEquals(jdk.leapDistance(), ours.leapDistance());
        assertEquals(ours.copy().nextLong(), ours.nextLong());
        assertThrows(IllegalArgumentException.class, () -> Xoshiro256pp.ofState(0, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> Xoshiro256pp.ofState(1, 2));
    }

    @Test
    void xoshirosStatesAreThoseOfTheVectors() throws Exception {
        int compared = 0;
        String text = Jars.text(Jars.vectors().resolve("seeds.json"));
        for (var element
                : JsonParser.parseString(text).getAsJsonObject().getAsJsonArray("cases")) {
            JsonObject one = element.getAsJsonObject();
            String seed = one.get("seed").getAsString();
            boolean isNumber = seed.matches("[0-9]+");
            long offset = Long.parseUnsignedLong(one.get("offset").getAsString());
            String substream = one.get("substream").isJsonNull() ? "0"
                    : one.get("substream").getAsString();
            if (!one.get("generator").getAsString().equals("xoshiro256pp") || !isNumber
                    || offset % 8 != 0 || offset < 0 || offset > 100_000
                    || substream.length() > 3) {
                continue;
            }
            Xoshiro256pp ours = Xoshiro256pp.of(Key.of(Engine.ARS7, new BigInteger(seed)));
            for (int i = Integer.parseInt(substream); i > 0; i--) {
                ours.jump();
            }
            for (long i = 0; i < offset / 8; i++) {
                ours.nextLong();
            }
            byte[] expected = HexFormat.of().parseHex(one.get("bytes").getAsString());
            ByteBuffer bytes = ByteBuffer.allocate(expected.length + 8)
                    .order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.position() < expected.length) {
                bytes.putLong(ours.nextLong());
            }
            assertArrayEquals(expected, java.util.Arrays.copyOf(bytes.array(), expected.length));
            compared++;
        }
        assertTrue(compared >= 2, "cases compared: " + compared);
    }
}
