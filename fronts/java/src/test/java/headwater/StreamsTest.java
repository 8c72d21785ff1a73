package headwater;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys and streams against the vectors that all languages share. */
class StreamsTest {
    private static final HexFormat HEX = HexFormat.of();

    private static List<JsonObject> cases(String file) throws Exception {
        String text = Jars.text(Jars.vectors().resolve(file));
        List<JsonObject> cases = new ArrayList<>();
        JsonParser.parseString(text).getAsJsonObject().getAsJsonArray("cases")
                .forEach(one -> cases.add(one.getAsJsonObject()));
        assertTrue(!cases.isEmpty());
        return cases;
    }

    private static Engine engine(JsonObject one) {
        return Engine.valueOf(one.get("engine").getAsString().toUpperCase());
    }

    private static byte[] bytes(JsonObject one, String name) {
        return HEX.parseHex(one.get(name).getAsString());
    }

    private static Stream stream(JsonObject one) {
        Key key = Key.of(engine(one), new BigInteger(one.get("seed").getAsString()));
        assertArrayEquals(bytes(one, "key"), key.bytes());
        return key.stream(one.get("stream").getAsLong());
    }

    @Test
    void keysAreThoseOfTheVectors() throws Exception {
        for (JsonObject one : cases("keys.json")) {
            JsonObject seed = one.getAsJsonObject("seed");
            Label label;
            if (seed.has("integer")) {
                BigInteger number = new BigInteger(seed.get("integer").getAsString());
                label = Label.of(number);
            } else if (seed.has("text")) {
                label = Label.of(seed.get("text").getAsString());
            } else {
                label = Label.of(bytes(seed, "bytes"));
            }
            Key key = switch (label.kind) {
                case 2 -> Key.of(engine(one), label.bytes);
                case 3 -> Key.of(engine(one), seed.get("text").getAsString());
                default -> Key.of(
                        engine(one), new BigInteger(seed.get("integer").getAsString()));
            };
            assertArrayEquals(bytes(one, "key"), key.bytes(), one.toString());
            Key child = switch (label.kind) {
                case 2 -> key.child(label.bytes);
                case 3 -> key.child(seed.get("text").getAsString());
                default -> key.child(new BigInteger(seed.get("integer").getAsString()));
            };
            assertArrayEquals(bytes(one, "child"), child.bytes(), one.toString());
            byte[] expanded = bytes(one, "expanded");
            byte[] ours = new byte[expanded.length];
            child.expand(label, ours);
            assertArrayEquals(expanded, ours, one.toString());
        }
        BigInteger end = BigInteger.ONE.shiftLeft(128);
        for (BigInteger outside : new BigInteger[] {end, end.negate().subtract(BigInteger.ONE)}) {
            assertThrows(IllegalArgumentException.class, () -> Label.of(outside));
        }
    }

    @Test
    void bytesAreThoseOfTheVectors() throws Exception {
        for (JsonObject one : cases("streams.json")) {
            byte[] expected = bytes(one, "bytes");
            long start = Long.parseUnsignedLong(one.get("start").getAsString());
            byte[] ours = new byte[expected.length];
            stream(one).fill(start, ours);
            assertArrayEquals(expected, ours, one.toString());
            stream(one).at(indices(start, ours.length), ours);
            assertArrayEquals(expected, ours, one.toString());
        }
    }

    private static long[] indices(long start, int n) {
        long[] indices = new long[n];
        for (int i = 0; i < n; i++) {
            indices[i] = start + i;
        }
        return indices;
    }

    @Test
    void numbersAreThoseOfTheVectors() throws Exception {
        List<String> kinds = new ArrayList<>();
        List<String> leftOut = new ArrayList<>();
        for (JsonObject one : cases("numbers.json")) {
            String kind = one.get("kind").getAsString();
            if (compare(kind, one)) {
                kinds.add(kind);
            } else {
                leftOut.add(kind);
            }
        }
        assertTrue(new java.util.TreeSet<>(kinds).containsAll(List.of("bounded_u32", "bounded_u64",
                "exponential_f64", "f32", "f64", "normal_f32", "normal_f64", "permutation", "sample",
                "shuffle")),
                kinds.toString());
        // Java has no unsigned types, and ranges of ints are compared below.
        assertTrue(List.of("range_u32", "range_i32", "range_u64")
                .containsAll(leftOut), leftOut.toString());
    }

    private static boolean compare(String kind, JsonObject one) {
        Stream stream = stream(one);
        long start = one.has("start")
                ? Long.parseUnsignedLong(one.get("start").getAsString()) : 0;
        List<JsonElement> values = one.getAsJsonArray("values").asList();
        int n = values.size();
        long[] indices = indices(start, n);
        switch (kind) {
            case "f64", "normal_f64", "exponential_f64" -> {
                double[] all = new double[n];
                double[] some = new double[n];
                if (kind.equals("f64")) {
                    stream.fill(start, all);
                    stream.at(indices, some);
                } else if (kind.equals("normal_f64")) {
                    stream.fillNormal(start, all);
                    stream.normalAt(indices, some);
                } else {
                    stream.fillExponential(start, all);
                    stream.exponentialAt(indices, some);
                }
                for (int i = 0; i < n; i++) {
                    long bits = Long.parseUnsignedLong(values.get(i).getAsString(), 16);
                    assertEquals(bits, Double.doubleToRawLongBits(all[i]), kind + " " + i);
                    assertEquals(bits, Double.doubleToRawLongBits(some[i]), kind + " at " + i);
                }
            }
            case "f32", "normal_f32" -> {
                float[] all = new float[n];
                float[] some = new float[n];
                if (kind.equals("f32")) {
                    stream.fill(start, all);
                    stream.at(indices, some);
                } else {
                    stream.fillNormal(start, all);
                    stream.normalAt(indices, some);
                }
                for (int i = 0; i < n; i++) {
                    int bits = Integer.parseUnsignedInt(values.get(i).getAsString(), 16);
                    assertEquals(bits, Float.floatToRawIntBits(all[i]), kind + " " + i);
                    assertEquals(bits, Float.floatToRawIntBits(some[i]), kind + " at " + i);
                }
            }
            case "bounded_u32" -> {
                long bound = Long.parseUnsignedLong(one.get("bound").getAsString());
                int[] all = new int[n];
                stream.fill(Kind.INTEGERS_U32, start, bound, all, n, 0, n);
                for (int i = 0; i < n; i++) {
                    assertEquals(values.get(i).getAsLong(), Integer.toUnsignedLong(all[i]), kind);
                }
                if (bound <= Integer.MAX_VALUE) {
                    int[] some = new int[n];
                    stream.boundedAt((int) bound, indices, some);
                    assertArrayEquals(all, some);
                }
            }
            case "bounded_u64" -> {
                long bound = Long.parseUnsignedLong(one.get("bound").getAsString());
                long[] all = new long[n];
                stream.fill(Kind.INTEGERS_U64, start, bound, all, n, 0, n);
                assertArrayEquals(words(values), all);
                if (bound > 0) {
                    long[] some = new long[n];
                    stream.boundedAt(bound, indices, some);
                    assertArrayEquals(all, some);
                }
            }
            case "permutation" -> {
                long count = Long.parseUnsignedLong(one.get("n").getAsString());
                long[] all = new long[n];
                stream.fill(Kind.PERMUTATION_U64, start, count, all, n, 0, n);
                assertArrayEquals(words(values), all);
                if (count > 0) {
                    long[] some = new long[n];
                    stream.permutationAt(count, indices, some);
                    assertArrayEquals(all, some);
                }
            }
            case "sample" -> {
                long[] all = new long[n];
                stream.sample(Long.parseUnsignedLong(one.get("n").getAsString()), all);
                assertArrayEquals(words(values), all);
            }
            case "shuffle" -> shuffled(stream, words(values));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void shuffled(Stream stream, long[] expected) {
        int n = expected.length;
        long[] longs = indices(0, n);
        stream.shuffle(longs);
        assertArrayEquals(expected, longs);
        int[] ints = java.util.stream.IntStream.range(0, n).toArray();
        double[] doubles = java.util.Arrays.stream(ints).asDoubleStream().toArray();
        Object[] objects = java.util.Arrays.stream(ints).boxed().toArray();
        List<Object> list = new ArrayList<>(List.of(objects));
        stream.shuffle(ints);
        stream.shuffle(doubles);
        stream.shuffle(objects);
        stream.shuffle(list);
        assertEquals(List.of(objects), list);
        for (int i = 0; i < n; i++) {
            assertEquals(expected[i], ints[i]);
            assertEquals(expected[i], doubles[i]);
            assertEquals((int) expected[i], objects[i]);
        }
    }

    private static long[] words(List<JsonElement> values) {
        return values.stream()
                .mapToLong(value -> Long.parseUnsignedLong(value.getAsString())).toArray();
    }

    @Test
    void partsMakeTheWhole() {
        Stream stream = Key.of(42).child("noise").stream(3);
        double[] whole = new double[100_001];
        stream.fillNormal(17, whole);
        double[] parts = new double[whole.length];
        for (int off = 0; off < parts.length; off += 33_333) {
            int n = Math.min(33_333, parts.length - off);
            stream.fillNormal(17 + off, parts, off, n);
        }
        assertArrayEquals(whole, parts);
        long[] indices = new long[40_000];
        double[] some = new double[indices.length];
        for (int i = 0; i < indices.length; i++) {
            indices[i] = 17 + (i * 77L) % whole.length;
        }
        stream.normalAt(indices, some);
        for (int i = 0; i < some.length; i++) {
            assertEquals(whole[(int) indices[i] - 17], some[i]);
        }
    }

    @Test
    void rangesCoverBothEnds() {
        long[] dice = new long[1000];
        Key.of(1).stream(0).fillRange(-3, 2, 0, dice);
        long[] bounded = new long[1000];
        Key.of(1).stream(0).fillBounded(6, 0, bounded);
        for (int i = 0; i < dice.length; i++) {
            assertEquals(bounded[i] - 3, dice[i]);
        }
        int[] pips = new int[1000];
        Key.of(1).stream(0).fillRange(-3, 2, 0, pips);
        int[] below = new int[1000];
        Key.of(1).stream(0).fillBounded(6, 0, below);
        int[] every = new int[1000];
        Key.of(1).stream(0).fillRange(Integer.MIN_VALUE, Integer.MAX_VALUE, 0, every);
        int[] halves = new int[1000];
        Key.of(1).stream(0).fill(0, halves);
        int[] wide = new int[1000]; // a range that no bound of Java's ints has
        Key.of(1).stream(0).fillRange(-2_000_000_000, 2_000_000_000, 0, wide);
        for (int i = 0; i < pips.length; i++) {
            assertEquals(below[i] - 3, pips[i]);
            assertEquals(halves[i] + Integer.MIN_VALUE, every[i]);
            assertTrue(Math.abs((long) wide[i]) <= 2_000_000_000);
        }
        refused(() -> Key.of(1).stream(0).fillRange(1, 0, 0, new int[1]));
        refused(() -> Key.of(1).stream(0).sample(3, new long[4]));
        long[] all = new long[1000];
        Key.of(1).stream(0).fillRange(Long.MIN_VALUE, Long.MAX_VALUE, 0, all);
        long[] words = new long[1000];
        Key.of(1).stream(0).fill(0, words);
        for (int i = 0; i < all.length; i++) {
            assertEquals(words[i] + Long.MIN_VALUE, all[i]);
        }
    }

    @Test
    void theEndsOfAStreamAreThoseOfTheSpecification() {
        Stream stream = Key.of(42).stream(0);
        stream.fill(-3, new long[2]); // up to 2^64 - 2
        refused(() -> stream.fill(-2, new long[2]));
        refused(() -> stream.fill(-1, new long[1]));
        stream.fillNormal(-4, new double[2]); // up to 2^64 - 3
        refused(() -> stream.fillNormal(-3, new double[2]));
        stream.fillNormal(-3, new float[2]);
        refused(() -> stream.fillNormal(-2, new float[2]));
        stream.at(new long[] {-2}, new double[1]);
        refused(() -> stream.at(new long[] {-1}, new double[1]));
        refused(() -> stream.normalAt(new long[] {-2}, new double[1]));
        stream.fillPermutation(10, 8, new long[2]);
        refused(() -> stream.fillPermutation(10, 9, new long[2]));
        refused(() -> stream.permutationAt(10, new long[] {10}, new long[1]));
        // Nothing is written, also by the pieces before the end.
        long[] words = new long[100_000];
        refused(() -> stream.fill(-50_000, words));
        assertArrayEquals(new long[words.length], words);
        // Java's limits are those of the library: it accepts the last element and no further one.
        for (Kind kind : Kind.values()) {
            Object array = switch (kind.width) {
                case 1 -> new byte[1];
                case 4 -> new int[1];
                default -> new long[1];
            };
            if (kind == Kind.PERMUTATION_U64) {
                continue;
            }
            Object typed = kind.name().endsWith("F32") ? new float[1] : array;
            Key key = stream.key();
            assertEquals(0, Native.streamFill(kind.code, 0, key.low(), key.high(), 0,
                    kind.last, 5, typed, 0, 1), kind.toString());
            assertEquals(-2, Native.streamFill(kind.code, 0, key.low(), key.high(), 0,
                    kind.last + 1, 5, typed, 0, 1), kind.toString());
        }
    }

    private static void refused(org.junit.jupiter.api.function.Executable call) {
        assertThrows(IllegalArgumentException.class, call);
    }

    @Test
    void badInputIsRefused() {
        Key key = Key.of(42);
        Stream stream = key.stream(0);
        refused(() -> key.stream(-1));
        refused(() -> key.stream(1L << 48));
        refused(() -> Key.raw(Engine.ARS7, new byte[15]));
        refused(() -> Key.of("\uD800"));
        refused(() -> stream.fillBounded(0, 0, new int[1]));
        refused(() -> stream.fillBounded(-1L, 0, new long[1]));
        refused(() -> stream.fillRange(1, 0, 0, new long[1]));
        refused(() -> stream.at(new long[2], new double[1]));
        assertThrows(NullPointerException.class, () -> key.child((String) null));
        assertThrows(NullPointerException.class, () -> stream.fill(0, (double[]) null));
        assertThrows(NullPointerException.class, () -> stream.at(null, new double[1]));
        assertThrows(NullPointerException.class, () -> Key.of(null, 42));
        for (int[] part : new int[][] {{-1, 1}, {0, -1}, {0, 11}, {11, 0}, {10, 1},
                {1, Integer.MAX_VALUE}, {Integer.MAX_VALUE, Integer.MAX_VALUE}}) {
            assertThrows(IndexOutOfBoundsException.class,
                    () -> stream.fill(0, new double[10], part[0], part[1]));
        }
        stream.fill(0, new double[0]);
        stream.at(new long[0], new double[0]);
    }

    @Test
    void keysAndStreamsAreValues() throws Exception {
        Stream stream = Key.of(42).child("noise").stream(3);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(stream);
        }
        Object copy = new ObjectInputStream(
                new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertEquals(stream, copy);
        assertEquals(stream.hashCode(), copy.hashCode());
        assertNotEquals(stream, Key.of(42).stream(3));
        assertEquals(stream.key(), Key.raw(Engine.ARS7, stream.key().bytes()));
        assertEquals("ars7:02d10f8fda2a1d904602656d0a63511f", Key.of(42).toString());
        assertNotEquals(Key.of(7), Key.of("7"));
    }
}
