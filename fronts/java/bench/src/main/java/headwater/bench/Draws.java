package headwater.bench;

import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * UUIDs and byte arrays from headwater and from the JDK's generators, one shared by all threads as
 * UUID.randomUUID does.
 *
 * <p>Without a line about headwater, so that the agent, or its absence, decides. JMH measures a
 * parameter's values in forks of their own, one after the other.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
@State(Scope.Benchmark)
public class Draws {
    /** The algorithm behind each draw. */
    @Param({"Headwater", "NativePRNG", "DRBG", "SHA1PRNG"})
    public String algorithm;

    private SecureRandom random;

    /** The arrays of a thread. */
    @State(Scope.Thread)
    public static class Arrays {
        final byte[] sixteen = new byte[16];
        final byte[] large = new byte[65_536];
    }

    /** Puts headwater first, or leaves the JDK as it is. */
    @Setup(Level.Trial)
    public void setUp() throws Exception {
        if (algorithm.equals("Headwater")) {
            Security.insertProviderAt((Provider) Class.forName("headwater.Headwater")
                    .getConstructor().newInstance(), 1);
        }
        random = SecureRandom.getInstance(algorithm);
    }

    /** UUID.randomUUID, which takes the first provider: for Headwater and NativePRNG only. */
    @Benchmark
    public UUID uuid() {
        return UUID.randomUUID();
    }

    /** 16 bytes into a new array, whose zeroing leaves the vector registers dirty. */
    @Benchmark
    public byte[] sixteenFresh() {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return bytes;
    }

    /** 16 bytes into one array. */
    @Benchmark
    public byte[] sixteenReused(Arrays arrays) {
        random.nextBytes(arrays.sixteen);
        return arrays.sixteen;
    }

    /** 64 KiB into one array. */
    @Benchmark
    public byte[] large(Arrays arrays) {
        random.nextBytes(arrays.large);
        return arrays.large;
    }
}
