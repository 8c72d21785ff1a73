package headwater;

import java.io.Serializable;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * The key of 2^48 reproducible streams. <b>Not for secrets.</b>
 *
 * <pre>{@code
 * double[] noise = new double[1000];
 * Key.of(42).child("noise").stream(3).fillNormal(0, noise);
 * }</pre>
 *
 * <p>A key is a value: it depends on its seed and its labels alone, and the Rust crate, the C
 * library, the command and the Python package make the same one. Programs may store it and send it.
 */
public final class Key implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int ROOT = 0;
    private static final int CHILD = 1;
    private static final int EXPAND = 2;
    private static final long STREAMS = 1L << 48;

    private final Engine engine;
    private final long low;
    private final long high;

    private Key(Engine engine, byte[] bytes) {
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        this.engine = engine;
        this.low = words.getLong();
        this.high = words.getLong();
    }

    /** Returns the key of a number, with the default engine. */
    public static Key of(long seed) {
        return root(Engine.ARS7, Label.of(seed));
    }

    /** Returns the key of a text, with the default engine. */
    public static Key of(String seed) {
        return root(Engine.ARS7, Label.of(seed));
    }

    /** Returns the key of a number. */
    public static Key of(Engine engine, long seed) {
        return root(engine, Label.of(seed));
    }

    /** Returns the key of a number from -2^128 to 2^128 - 1. */
    public static Key of(Engine engine, BigInteger seed) {
        return root(engine, Label.of(seed));
    }

    /** Returns the key of a text. */
    public static Key of(Engine engine, String seed) {
        return root(engine, Label.of(seed));
    }

    /** Returns the key of bytes. */
    public static Key of(Engine engine, byte[] seed) {
        return root(engine, Label.of(seed));
    }

    /**
     * Returns the key made of 16 bytes as they are, with no hash between: a stored key.
     *
     * @throws IllegalArgumentException if there are not 16 bytes
     */
    public static Key raw(Engine engine, byte[] bytes) {
        if (bytes.length != 16) {
            throw new IllegalArgumentException("a key has 16 bytes, not " + bytes.length);
        }
        return new Key(Objects.requireNonNull(engine, "engine"), bytes);
    }

    private static Key root(Engine engine, Label seed) {
        byte[] bytes = new byte[16];
        derive(ROOT, Objects.requireNonNull(engine, "engine"), 0, 0, seed, bytes);
        return new Key(engine, bytes);
    }

    private static void derive(
            int purpose, Engine engine, long low, long high, Label label, byte[] out) {
        Draw.require();
        int result = Native.derive(
                purpose, engine.ordinal(), low, high, label.kind, label.bytes, out);
        if (result != 0) {
            throw new IllegalStateException("headwater: a key was refused: " + result);
        }
    }

    /** Returns the key of a part of a program that needs numbers of its own. */
    public Key child(long label) {
        return child(Label.of(label));
    }

    /** Returns the key of the child with this number, from -2^128 to 2^128 - 1. */
    public Key child(BigInteger label) {
        return child(Label.of(label));
    }

    /** Returns the key of the child with this name. */
    public Key child(String label) {
        return child(Label.of(label));
    }

    /** Returns the key of the child with these bytes as its name. */
    public Key child(byte[] label) {
        return child(Label.of(label));
    }

    private Key child(Label label) {
        byte[] bytes = new byte[16];
        derive(CHILD, engine, low, high, label, bytes);
        return new Key(engine, bytes);
    }

    /** Fills an array with the material that seeds another generator, named by its label. */
    public void expand(String label, byte[] out) {
        expand(Label.of(label), out);
    }

    void expand(Label label, byte[] out) {
        if (out.length != 0) {
            derive(EXPAND, engine, low, high, label, out);
        }
    }

    /**
     * Returns one of the key's streams. No two of them share a block.
     *
     * @throws IllegalArgumentException if the number is negative, or 2^48 or more
     */
    public Stream stream(long id) {
        if (id < 0 || id >= STREAMS) {
            throw new IllegalArgumentException("the stream's number is not in 0 to 2^48 - 1: " + id);
        }
        return new Stream(this, id);
    }

    /** Returns the engine. */
    public Engine engine() {
        return engine;
    }

    /** Returns the key's 16 bytes. */
    public byte[] bytes() {
        return ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(low)
                .putLong(high)
                .array();
    }

    long low() {
        return low;
    }

    long high() {
        return high;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Key && engine == ((Key) other).engine && low == ((Key) other).low
                && high == ((Key) other).high;
    }

    @Override
    public int hashCode() {
        return Objects.hash(engine.toString(), low, high);
    }

    /** Returns the engine and the 16 bytes in hexadecimal digits. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(engine.toString()).append(':');
        for (byte value : bytes()) {
            text.append(Character.forDigit(value >> 4 & 15, 16));
            text.append(Character.forDigit(value & 15, 16));
        }
        return text.toString();
    }
}
