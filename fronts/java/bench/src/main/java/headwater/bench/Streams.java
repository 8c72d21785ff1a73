package headwater.bench;

import headwater.Headwater;
import headwater.Key;
import headwater.Stream;
import headwater.StreamGenerator;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Arrays of 4,096 numbers from streams and from the JDK, and headwater's own calls. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
@State(Scope.Thread)
public class Streams {
    private final Stream stream = Key.of(42).stream(0);
    private final double[] numbers = new double[4096];
    private final long[] words = new long[512];
    private final RandomGenerator theirs = RandomGenerator.of("L64X128MixRandom");
    private final Random legacy = new Random(42);
    private final StreamGenerator generator = stream.generator();
    private final SplittableRandom splittable = new SplittableRandom(42);
    private long start;

    /** Normal numbers of a stream. */
    @Benchmark
    public double[] normalStream() {
        stream.fillNormal(start, numbers);
        start += numbers.length;
        return numbers;
    }

    /** Normal numbers of the JDK's default algorithm. */
    @Benchmark
    public double[] normalJdk() {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = theirs.nextGaussian();
        }
        return numbers;
    }

    /** Uniform numbers of a stream. */
    @Benchmark
    public double[] uniformStream() {
        stream.fill(start, numbers);
        start += numbers.length;
        return numbers;
    }

    /** Uniform numbers of the JDK's default algorithm. */
    @Benchmark
    public double[] uniformJdk() {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = theirs.nextDouble();
        }
        return numbers;
    }

    /** Uniform numbers of java.util.Random. */
    @Benchmark
    public double[] uniformRandom() {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = legacy.nextDouble();
        }
        return numbers;
    }

    /** A word of a stream's generator. */
    @Benchmark
    public long wordGenerator() {
        return generator.nextLong();
    }

    /** A word of SplittableRandom. */
    @Benchmark
    public long wordSplittable() {
        return splittable.nextLong();
    }

    /** 4,096 words of a stream's generator. */
    @Benchmark
    public long wordsGenerator() {
        long sum = 0;
        for (int i = 0; i < 4096; i++) {
            sum += generator.nextLong();
        }
        return sum;
    }

    /** 4,096 words of SplittableRandom. */
    @Benchmark
    public long wordsSplittable() {
        long sum = 0;
        for (int i = 0; i < 4096; i++) {
            sum += splittable.nextLong();
        }
        return sum;
    }

    /** A UUID by headwater's own call. */
    @Benchmark
    public UUID uuid4() {
        return Headwater.uuid4();
    }

    /** 256 UUIDs in one array. */
    @Benchmark
    public long[] uuid4Batch() {
        Headwater.uuid4(words);
        return words;
    }

    /** A time-ordered UUID. */
    @Benchmark
    public UUID uuid7() {
        return Headwater.uuid7();
    }

    /** The change counter. */
    @Benchmark
    public long generation() {
        return Headwater.generation();
    }

    /** A word of a generator that is no secret, for comparison. */
    @Benchmark
    public long threadLocalRandom() {
        return ThreadLocalRandom.current().nextLong();
    }
}
