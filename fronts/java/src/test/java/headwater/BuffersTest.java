package headwater;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Parts of arrays and buffers hold what whole arrays hold. */
class BuffersTest {
    private static final int N = 5000; // three pieces
    private final Stream stream = Key.of(42).stream(3);

    @Test
    void buffersHoldTheNumbersOfArrays() {
        byte[] bytes = new byte[9 * N];
        stream.fill(7, bytes);
        for (ByteBuffer buffer : new ByteBuffer[] {
                ByteBuffer.allocate(9 * N), ByteBuffer.allocateDirect(9 * N)}) {
            stream.fill(7, buffer);
            assertEquals(0, buffer.remaining());
            byte[] found = new byte[9 * N];
            buffer.rewind();
            buffer.get(found);
            assertArrayEquals(bytes, found);
        }
        int[] ints = new int[N];
        stream.fill(7, ints);
        IntBuffer intBuffer = IntBuffer.allocate(N);
        stream.fill(7, intBuffer);
        assertArrayEquals(ints, intBuffer.array());
        long[] longs = new long[N];
        stream.fill(7, longs);
        LongBuffer longBuffer = LongBuffer.allocate(N);
        stream.fill(7, longBuffer);
        assertArrayEquals(longs, longBuffer.array());
        float[] floats = new float[N];
        stream.fill(7, floats);
        FloatBuffer floatBuffer = FloatBuffer.allocate(N);
        stream.fill(7, floatBuffer);
        assertArrayEquals(floats, floatBuffer.array());
        stream.fillNormal(7, floats);
        stream.fillNormal(7, floatBuffer.rewind());
        assertArrayEquals(floats, floatBuffer.array());
        double[] doubles = new double[N];
        stream.fill(7, doubles);
        DoubleBuffer doubleBuffer = DoubleBuffer.allocate(N);
        stream.fill(7, doubleBuffer);
        assertArrayEquals(doubles, doubleBuffer.array());
        stream.fillNormal(7, doubles);
        // Memory outside the heap, as a model's weights or a file that is mapped.
        ByteBuffer direct = ByteBuffer.allocateDirect(8 * N).order(ByteOrder.nativeOrder());
        stream.fillNormal(7, direct.asDoubleBuffer());
        double[] found = new double[N];
        direct.asDoubleBuffer().get(found);
        assertArrayEquals(doubles, found);
    }

    @Test
    void distributionsFillBuffers() {
        double[] doubles = new double[3 * 2000];
        Distribution.Reals shares = Distribution.dirichlet(1, 2, 3);
        stream.fill(shares, 5, doubles);
        DoubleBuffer buffer = DoubleBuffer.allocate(doubles.length);
        stream.fill(shares, 5, buffer);
        assertArrayEquals(doubles, buffer.array());
        long[] longs = new long[N];
        stream.fill(Distribution.poisson(4), 5, longs);
        LongBuffer counts = LongBuffer.allocate(N);
        stream.fill(Distribution.poisson(4), 5, counts);
        assertArrayEquals(longs, counts.array());
        assertThrows(IllegalArgumentException.class,
                () -> stream.fill(shares, 0, DoubleBuffer.allocate(4)));
        stream.fill(shares, 0, DoubleBuffer.allocate(0));
    }

    @Test
    void aBufferThatIsRefusedIsUnchanged() {
        LongBuffer buffer = LongBuffer.allocate(N);
        assertThrows(IllegalArgumentException.class, () -> stream.fill(-1 - 100L, buffer));
        assertEquals(0, buffer.position());
        assertTrue(Arrays.stream(buffer.array()).allMatch(word -> word == 0));
        assertThrows(ReadOnlyBufferException.class,
                () -> stream.fill(0, LongBuffer.allocate(1).asReadOnlyBuffer()));
    }

    @Test
    void partsOfArraysHoldTheNumbersOfWholeOnes() {
        byte[] bytes = new byte[10];
        stream.fill(4, bytes);
        byte[] partOfBytes = new byte[20];
        stream.fill(4, partOfBytes, 5, 10);
        assertArrayEquals(bytes, Arrays.copyOfRange(partOfBytes, 5, 15));
        assertEquals(0, partOfBytes[4] | partOfBytes[15]);
        int[] ints = new int[10];
        int[] partOfInts = new int[20];
        stream.fill(4, ints);
        stream.fill(4, partOfInts, 5, 10);
        assertArrayEquals(ints, Arrays.copyOfRange(partOfInts, 5, 15));
        stream.fillBounded(6, 4, ints);
        stream.fillBounded(6, 4, partOfInts, 5, 10);
        assertArrayEquals(ints, Arrays.copyOfRange(partOfInts, 5, 15));
        stream.fillRange(-3, 3, 4, ints);
        Arrays.fill(partOfInts, 99);
        stream.fillRange(-3, 3, 4, partOfInts, 5, 10);
        assertArrayEquals(ints, Arrays.copyOfRange(partOfInts, 5, 15));
        assertTrue(partOfInts[4] == 99 && partOfInts[15] == 99);
        long[] longs = new long[10];
        long[] partOfLongs = new long[20];
        stream.fillPermutation(100, 4, longs);
        stream.fillPermutation(100, 4, partOfLongs, 5, 10);
        assertArrayEquals(longs, Arrays.copyOfRange(partOfLongs, 5, 15));
        float[] floats = new float[10];
        float[] partOfFloats = new float[20];
        stream.fillNormal(4, floats);
        stream.fillNormal(4, partOfFloats, 5, 10);
        assertArrayEquals(floats, Arrays.copyOfRange(partOfFloats, 5, 15));
        stream.fill(Distribution.gamma(2), 4, floats);
        stream.fill(Distribution.gamma(2), 4, partOfFloats, 5, 10);
        assertArrayEquals(floats, Arrays.copyOfRange(partOfFloats, 5, 15));
        double[] doubles = new double[10];
        double[] partOfDoubles = new double[20];
        stream.fillExponential(4, doubles);
        stream.fillExponential(4, partOfDoubles, 5, 10);
        assertArrayEquals(doubles, Arrays.copyOfRange(partOfDoubles, 5, 15));
        assertThrows(IndexOutOfBoundsException.class, () -> stream.fill(0, partOfInts, 15, 6));
        assertThrows(IndexOutOfBoundsException.class,
                () -> stream.fillRange(0, 1, 0, partOfInts, -1, 3));
    }

    @Test
    void elementsHereAndThereGoToParts() {
        long[] indices = {9, 2, 2, 1L << 40};
        double[] whole = new double[4];
        double[] part = new double[7];
        stream.normalAt(indices, whole);
        stream.normalAt(indices, part, 2);
        assertArrayEquals(whole, Arrays.copyOfRange(part, 2, 6));
        assertTrue(part[1] == 0 && part[6] == 0);
        stream.at(Distribution.gamma(2), indices, whole);
        stream.at(Distribution.gamma(2), indices, part, 3);
        assertArrayEquals(whole, Arrays.copyOfRange(part, 3, 7));
        long[] counts = new long[8];
        stream.at(Distribution.multinomial(10, 1, 1), new long[] {1, 2}, counts, 4);
        assertEquals(10, counts[4] + counts[5]);
        assertEquals(0, counts[3]);
        assertThrows(IndexOutOfBoundsException.class, () -> stream.normalAt(indices, part, 4));
        assertThrows(IndexOutOfBoundsException.class,
                () -> stream.at(Distribution.gamma(2), indices, part, 4));
    }

    @Test
    void secureBytesFillArraysAndBuffers() {
        byte[] bytes = new byte[32];
        Headwater.fill(bytes);
        ByteBuffer buffer = ByteBuffer.allocateDirect(10_000);
        buffer.position(100);
        Headwater.fill(buffer);
        assertEquals(0, buffer.remaining());
        buffer.rewind();
        int zeros = 0;
        for (int i = 0; i < 10_000; i++) {
            zeros += buffer.get() == 0 ? 1 : 0;
        }
        // 100 are not written, and of the others one in 256 is zero: 39 on average.
        assertTrue(zeros >= 100 && zeros < 250, zeros + " zeros");
    }
}
