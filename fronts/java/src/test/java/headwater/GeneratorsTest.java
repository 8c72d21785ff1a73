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
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGenerator.ArbitrarilyJumpableGenerator;
import java.util.random.RandomGenerator.LeapableGenerator;
import java.util.random.RandomGenerator.SplittableGenerator;
import java.util.random.RandomGeneratorFactory;
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
    }

    /** A split for each element gave two threads one generator, in one run of some. */
    @Test
    void splitsInParallelAreThoseInOneThread() {
        for (int round = 0; round < 20; round++) {
            assertArrayEquals(
                    splittable(0).splits(1000).mapToLong(RandomGenerator::nextLong).toArray(),
                    splittable(0).splits(1000).parallel()
                            .mapToLong(RandomGenerator::nextLong).toArray());
            assertEquals(1000, splittable(0).splits(1000, splittable(1)).parallel()
                    .mapToLong(RandomGenerator::nextLong).distinct().count());
            assertEquals(1000, splittable(0).splits().parallel().limit(1000)
                    .mapToLong(RandomGenerator::nextLong).distinct().count());
        }
    }

    @Test
    void jumpsInParallelGiveNoPositionTwice() {
        for (int round = 0; round < 20; round++) {
            ArbitrarilyJumpableGenerator generator =
                    (ArbitrarilyJumpableGenerator) (Object) Key.of(42).stream(0).generator();
            assertEquals(1000, generator.jumps(1000, 12345.0).parallel()
                    .mapToLong(RandomGenerator::nextLong).distinct().count());
            LeapableGenerator xoshiro =
                    (LeapableGenerator) (Object) Xoshiro256pp.of(Key.of(42));
            for (LeapableGenerator leapable : new LeapableGenerator[] {generator, xoshiro}) {
                assertEquals(1000, leapable.jumps(1000).parallel()
                        .mapToLong(RandomGenerator::nextLong).distinct().count());
                assertEquals(1000, leapable.leaps(1000).parallel()
                        .mapToLong(RandomGenerator::nextLong).distinct().count());
            }
        }
    }

    @Test
    void jumpsLeadToTheWordsThatTheyName() {
        Stream stream = Key.of(42).stream(0);
        ArbitrarilyJumpableGenerator generator =
                (ArbitrarilyJumpableGenerator) (Object) stream.generator();
        long expected = 0;
        long[] word = new long[1];
        Runnable[] jumps = {
            generator::jump, generator::leap, () -> generator.jump(12345.0),
            () -> generator.jumpPowerOfTwo(40), () -> generator.jumpPowerOfTwo(0)
        };
        long[] distances = {1L << 32, 1L << 48, 12345, 1L << 40, 1};
        for (int i = 0; i < jumps.length; i++) {
            jumps[i].run();
            expected += distances[i];
            stream.fill(expected, word);
            assertEquals(word[0], generator.nextLong());
            expected++;
        }
        assertEquals(0x1.0p32, generator.jumpDistance());
        assertEquals(0x1.0p48, generator.leapDistance());
        ArbitrarilyJumpableGenerator copy = generator.copy();
        assertEquals(copy.nextLong(), generator.nextLong());
        // Each of the generators begins one jump further on.
        stream.fill((1L << 32) * 2 + 5, word);
        RandomGenerator third = ((ArbitrarilyJumpableGenerator) (Object) stream.generator(5))
                .jumps().skip(2).findFirst().get();
        assertEquals(word[0], third.nextLong());
        assertEquals(4, generator.rngs(4).map(RandomGenerator::nextLong).distinct().count());
        for (double distance : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY, 0x1p64}) {
            assertThrows(IllegalArgumentException.class, () -> generator.jump(distance));
        }
        assertThrows(IllegalArgumentException.class, () -> generator.jumpPowerOfTwo(64));
        assertThrows(IllegalArgumentException.class, () -> generator.jumpPowerOfTwo(-1));
    }

    @Test
    void generatorsAreSavedAndRestored() {
        Stream stream = Key.of(42).stream(7);
        StreamGenerator generator = stream.generator();
        for (int i = 0; i < 3000; i++) {
            assertEquals(i, generator.position());
            generator.nextInt();
        }
        long saved = generator.position();
        long next = generator.nextLong();
        assertEquals(next, stream.generator(saved).nextLong());
        generator.position(saved);
        assertEquals(next, generator.nextLong());
        assertEquals(generator.copy().nextLong(), generator.nextLong());
        // The last word of a stream, and none after it.
        StreamGenerator last = stream.generator(-3);
        long[] words = new long[2];
        stream.fill(-3, words);
        assertEquals(words[0], last.nextLong());
        assertEquals(words[1], last.nextLong());
        assertThrows(IllegalArgumentException.class, last::nextLong);
        assertEquals(-1, last.position());
        Xoshiro256pp xoshiro = Xoshiro256pp.of(Key.of(1));
        xoshiro.nextLong();
        Xoshiro256pp restored = Xoshiro256pp.ofState(xoshiro.state());
        assertEquals(xoshiro.nextLong(), restored.nextLong());
    }

    /** If a later JDK finds them, docs/java.md is wrong. */
    @Test
    void theJdksFactoryFindsItsOwnGeneratorsAlone() {
        assertThrows(IllegalArgumentException.class, () -> RandomGenerator.of("Xoshiro256pp"));
        assertTrue(RandomGeneratorFactory.all().noneMatch(
                factory -> factory.name().contains("Stream")));
    }

    @Test
    void xoshiroIsTheJdksOwn() throws Exception {
        // A seed of 32 bytes is the state, each word with its highest byte first.
        ByteBuffer state = ByteBuffer.allocate(32).putLong(1).putLong(2).putLong(3).putLong(4);
        LeapableGenerator jdk = (LeapableGenerator) RandomGeneratorFactory
                .of("Xoshiro256PlusPlus").create(state.array());
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
            int offset = (int) Math.min(1000, one.get("offset").getAsLong());
            boolean isOurs = one.get("generator").getAsString().equals("xoshiro256pp");
            if (!isOurs || offset == 1000) {
                continue; // 2^40 words further on, which Java would take one by one
            }
            Xoshiro256pp ours = Xoshiro256pp.of(key(one.get("seed").getAsString()));
            byte[] expected = HexFormat.of().parseHex(one.get("bytes").getAsString());
            ByteBuffer bytes = ByteBuffer.allocate(offset + expected.length + 8)
                    .order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.remaining() >= 8) {
                bytes.putLong(ours.nextLong());
            }
            assertArrayEquals(expected, Arrays.copyOfRange(
                    bytes.array(), offset, offset + expected.length), one.toString());
            compared++;
        }
        assertEquals(8, compared);
    }

    /** Returns the key of a seed as it is typed to the command. */
    private static Key key(String seed) {
        if (seed.startsWith("text:")) {
            return Key.of(seed.substring(5));
        } else if (seed.startsWith("hex:")) {
            return Key.of(Engine.ARS7, HexFormat.of().parseHex(seed.substring(4)));
        }
        return Key.of(Engine.ARS7, new BigInteger(seed));
    }
}
