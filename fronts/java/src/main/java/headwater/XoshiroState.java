package headwater;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The state and steps of xoshiro256++ (Blackman and Vigna, ACM TOMS 47(4), 2021). */
final class XoshiroState {
    private static final long[] JUMP = {
        0x180ec6d33cfd0abaL, 0xd5a61266f0c9392cL, 0xa9582618e03fc9aaL, 0x39abdc4529b1661cL
    };
    private static final long[] LEAP = {
        0x76e15d3efefdcbbfL, 0xc5004e441c522fb3L, 0x77710069854ee241L, 0x39109bb02acbe635L
    };

    private long s0;
    private long s1;
    private long s2;
    private long s3;

    XoshiroState(XoshiroState other) {
        set(other.s0, other.s1, other.s2, other.s3);
    }

    XoshiroState(Key key) {
        byte[] bytes = new byte[32];
        key.expand("xoshiro256pp", bytes);
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        set(words.getLong(), words.getLong(), words.getLong(), words.getLong());
        if ((s0 | s1 | s2 | s3) == 0) {
            // A generator never leaves the state of zeros, so it starts as from the number 0.
            long[] state = new long[4];
            for (int i = 0; i < 4; i++) {
                state[i] = splitMix(0x9E3779B97F4A7C15L * (i + 1));
            }
            set(state[0], state[1], state[2], state[3]);
        }
    }

    XoshiroState(long[] state) {
        if (state.length != 4) {
            throw new IllegalArgumentException("a state has 4 words, not " + state.length);
        }
        set(state[0], state[1], state[2], state[3]);
        if ((s0 | s1 | s2 | s3) == 0) {
            throw new IllegalArgumentException("the state is zero everywhere");
        }
    }

    private static long splitMix(long x) {
        long z = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    private void set(long a, long b, long c, long d) {
        s0 = a;
        s1 = b;
        s2 = c;
        s3 = d;
    }

    long[] words() {
        return new long[] {s0, s1, s2, s3};
    }

    long next() {
        long word = Long.rotateLeft(s0 + s3, 23) + s0;
        long t = s1 << 17;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = Long.rotateLeft(s3, 45);
        return word;
    }

    /** Skips 2^128 words. */
    void jump() {
        skip(JUMP);
    }

    /** Skips 2^192 words. */
    void leap() {
        skip(LEAP);
    }

    private void skip(long[] polynomial) {
        long a = 0;
        long b = 0;
        long c = 0;
        long d = 0;
        for (long word : polynomial) {
            for (int bit = 0; bit < 64; bit++) {
                if ((word >>> bit & 1) != 0) {
                    a ^= s0;
                    b ^= s1;
                    c ^= s2;
                    d ^= s3;
                }
                next();
            }
        }
        set(a, b, c, d);
    }
}
