package headwater;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.ProviderException;

/**
 * The native library through JNI. The jar holds a second class of this name, for Java 22 and later,
 * that goes through the FFM API; both must have the same members.
 */
@SuppressWarnings("restricted")
final class Native {
    /** The reason why no call can be served, or null. */
    static final ProviderException FAILURE = Library.load(Native::bind);

    private Native() {}

    private static String bind(Path file) {
        System.load(file.toString());
        byte[] version = new byte[64];
        int length = version0(version);
        // Does the set-up now, so that no draw waits inside a critical section of the JVM. A draw
        // reports the error, if there is one.
        init0();
        return new String(version, 0, Math.min(length, version.length), StandardCharsets.UTF_8);
    }

    /** Returns the interface in use: a method, because javac copies constants into other classes. */
    static String name() {
        return "JNI";
    }

    static int fill(byte[] out, int off, int len) {
        return fill0(out, off, len);
    }

    static int fillFresh(byte[] out, int off, int len) {
        return fillFresh0(out, off, len);
    }

    static int fillLongs(long[] out, int off, int len) {
        return fillLongs0(out, off, len);
    }

    static long generation() {
        return generation0();
    }

    static long copies() {
        return copies0();
    }

    static int copiesSeen() {
        return copiesSeen0();
    }

    static ByteBuffer copiesWord() {
        return copiesWord0();
    }

    static ByteBuffer copiesCount() {
        return copiesCount0();
    }

    static int quiesce() {
        return quiesce0();
    }

    static int resume() {
        return resume0();
    }

    static int status(byte[] out) {
        return status0(out);
    }

    static int streamFill(int kind, int engine, long low, long high, long stream, long start,
            long bound, Object out, int off, int n) {
        return streamFill0(kind, engine, low, high, stream, start, bound, out, off, n);
    }

    static int streamAt(int kind, int engine, long low, long high, long stream, long bound,
            long[] indices, int indexOff, Object out, int off, int n) {
        return streamAt0(
                kind, engine, low, high, stream, bound, indices, indexOff, out, off, n);
    }

    static int draw(int kind, int dtype, int engine, long low, long high, long stream, long start,
            long[] parameters, Object out, int off, int n) {
        return draw0(kind, dtype, engine, low, high, stream, start, parameters, out, off, n);
    }

    static int drawAt(int kind, int dtype, int engine, long low, long high, long stream,
            long[] parameters, long[] indices, int indexOff, int many, Object out, int off,
            int n) {
        return drawAt0(kind, dtype, engine, low, high, stream, parameters, indices, indexOff,
                many, out, off, n);
    }

    /** Returns the bits of one element, or those of no element: see {@link Rows}. */
    static long one(int kind, int dtype, int engine, long low, long high, long stream, long first,
            long second, long third, long fourth, long index) {
        return one0(kind, dtype, engine, low, high, stream, first, second, third, fourth, index);
    }

    /** Returns 0 if a kind exists for these parameters; otherwise writes the reason as text. */
    static int check(int kind, int dtype, long[] given, byte[] out) {
        return check0(kind, dtype, given, out);
    }

    static int prepare(int kind, long[] given, long[] out) {
        return prepare0(kind, given, out);
    }

    static int derive(int purpose, int engine, long low, long high, int kind, byte[] label,
            byte[] out) {
        return derive0(purpose, engine, low, high, kind, label, out);
    }

    // The names end in 0, so that the other class can have methods in their place.

    private static native int init0();

    private static native int version0(byte[] out);

    private static native int fill0(byte[] out, int off, int len);

    private static native int fillFresh0(byte[] out, int off, int len);

    private static native int fillLongs0(long[] out, int off, int len);

    private static native long generation0();

    private static native long copies0();

    private static native int copiesSeen0();

    private static native ByteBuffer copiesWord0();

    private static native ByteBuffer copiesCount0();

    private static native int quiesce0();

    private static native int resume0();

    private static native int status0(byte[] out);

    private static native int streamFill0(int kind, int engine, long low, long high, long stream,
            long start, long bound, Object out, int off, int n);

    private static native int streamAt0(int kind, int engine, long low, long high, long stream,
            long bound, long[] indices, int indexOff, Object out, int off, int n);

    private static native int draw0(int kind, int dtype, int engine, long low, long high,
            long stream, long start, long[] parameters, Object out, int off, int n);

    private static native int drawAt0(int kind, int dtype, int engine, long low, long high,
            long stream, long[] parameters, long[] indices, int indexOff, int many, Object out,
            int off, int n);

    private static native long one0(int kind, int dtype, int engine, long low, long high,
            long stream, long first, long second, long third, long fourth, long index);

    private static native int check0(int kind, int dtype, long[] given, byte[] out);

    private static native int prepare0(int kind, long[] given, long[] out);

    private static native int derive0(int purpose, int engine, long low, long high, int kind,
            byte[] label, byte[] out);
}
