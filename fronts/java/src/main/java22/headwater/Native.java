package headwater;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.ProviderException;

/**
 * The native library through the FFM API, in place of the class of this name for JNI.
 *
 * <p>Draws and streams are critical calls: the library writes into the array on the heap, and the
 * thread stays in its Java state. The garbage collector and a virtual thread's carrier wait
 * meanwhile, so callers pass a few hundred KiB at most.
 */
@SuppressWarnings("restricted")
final class Native {
    /** The reason why no call can be served, or null. */
    static final ProviderException FAILURE;

    // Constants, because HotSpot compiles calls through other handles 10 times slower.
    private static final MethodHandle FILL;
    private static final MethodHandle FILL_FRESH;
    private static final MethodHandle GENERATION;
    private static final MethodHandle COPIES;
    private static final MethodHandle COPIES_SEEN;
    private static final MethodHandle COPIES_WORD;
    private static final MethodHandle COPIES_COUNT;
    private static final MethodHandle QUIESCE;
    private static final MethodHandle RESUME;
    private static final MethodHandle STATUS;
    private static final MethodHandle STREAM_FILL;
    private static final MethodHandle STREAM_AT;
    private static final MethodHandle DRAW;
    private static final MethodHandle DRAW_AT;
    private static final MethodHandle ONE;
    private static final MethodHandle CHECK;
    private static final MethodHandle PREPARE;
    private static final MethodHandle DERIVE;

    static {
        Handles[] handles = new Handles[1];
        FAILURE = Library.load(file -> {
            handles[0] = new Handles(file);
            return handles[0].version();
        });
        Handles bound = FAILURE == null ? handles[0] : null;
        FILL = bound == null ? null : bound.fill;
        FILL_FRESH = bound == null ? null : bound.fillFresh;
        GENERATION = bound == null ? null : bound.generation;
        COPIES = bound == null ? null : bound.copies;
        COPIES_SEEN = bound == null ? null : bound.copiesSeen;
        COPIES_WORD = bound == null ? null : bound.copiesWord;
        COPIES_COUNT = bound == null ? null : bound.copiesCount;
        QUIESCE = bound == null ? null : bound.quiesce;
        RESUME = bound == null ? null : bound.resume;
        STATUS = bound == null ? null : bound.status;
        STREAM_FILL = bound == null ? null : bound.streamFill;
        STREAM_AT = bound == null ? null : bound.streamAt;
        DRAW = bound == null ? null : bound.draw;
        DRAW_AT = bound == null ? null : bound.drawAt;
        ONE = bound == null ? null : bound.one;
        CHECK = bound == null ? null : bound.check;
        PREPARE = bound == null ? null : bound.prepare;
        DERIVE = bound == null ? null : bound.derive;
    }

    private Native() {}

    private static final class Handles {
        private static final Linker.Option HEAP = Linker.Option.critical(true);

        private final Linker linker = Linker.nativeLinker();
        private final SymbolLookup library;
        private final MethodHandle version;
        final MethodHandle fill;
        final MethodHandle fillFresh;
        final MethodHandle generation;
        final MethodHandle copies;
        final MethodHandle copiesSeen;
        final MethodHandle copiesWord;
        final MethodHandle copiesCount;
        final MethodHandle quiesce;
        final MethodHandle resume;
        final MethodHandle status;
        final MethodHandle streamFill;
        final MethodHandle streamAt;
        final MethodHandle draw;
        final MethodHandle drawAt;
        final MethodHandle one;
        final MethodHandle check;
        final MethodHandle prepare;
        final MethodHandle derive;

        Handles(Path file) {
            library = lookup(file);
            fill = function("fill", JAVA_INT, HEAP, ADDRESS, JAVA_LONG);
            // One system call a request, without waiting: still short.
            fillFresh = function("fill_fresh", JAVA_INT, HEAP, ADDRESS, JAVA_LONG);
            generation = function("generation", JAVA_LONG, Linker.Option.critical(false));
            version = function("version", JAVA_LONG, HEAP, ADDRESS, JAVA_LONG);
            // Two reads of /proc in a copy, at most: still short.
            copies = function("copies", JAVA_LONG, Linker.Option.critical(false));
            copiesSeen = function("copies_seen", JAVA_INT, null);
            copiesWord = function("copies_word", ADDRESS, null);
            copiesCount = function("copies_count", ADDRESS, null);
            // These read files or change mappings, which may take long: ordinary calls.
            status = function("status", JAVA_LONG, null, ADDRESS, JAVA_LONG);
            quiesce = function("quiesce", JAVA_INT, null);
            resume = function("resume", JAVA_INT, null);
            streamFill = function("stream_fill", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, JAVA_LONG,
                    JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
            streamAt = function("stream_at", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, JAVA_LONG,
                    JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG);
            draw = function("draw", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG,
                    JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
            drawAt = function("draw_at", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG,
                    JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS,
                    JAVA_LONG);
            one = function("one", JAVA_LONG, Linker.Option.critical(false), JAVA_INT, JAVA_INT,
                    JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                    JAVA_LONG, JAVA_LONG);
            check = function("check", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG,
                    ADDRESS, JAVA_LONG);
            // A large table takes long to build: an ordinary call.
            prepare = function("prepare", JAVA_INT, null, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
                    JAVA_LONG);
            derive = function("derive", JAVA_INT, HEAP, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG,
                    JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
            try {
                // Does the set-up now, so that no critical call waits. A draw reports the error.
                int ignored = (int) function("init", JAVA_INT, null).invokeExact();
            } catch (Throwable failure) {
                throw unexpected(failure);
            }
        }

        private static SymbolLookup lookup(Path file) {
            try {
                return SymbolLookup.libraryLookup(file, Arena.global());
            } catch (IllegalArgumentException withoutReason) {
                // The FFM API drops the loader's message. The older way to load has it, and fails
                // by the same reason.
                System.load(file.toString());
                throw withoutReason;
            }
        }

        private MethodHandle function(String name, MemoryLayout result, Linker.Option option,
                MemoryLayout... arguments) {
            MemorySegment address = library.find("headwater_java_" + name).orElseThrow(
                    () -> new UnsatisfiedLinkError("it has no function headwater_java_" + name));
            FunctionDescriptor type = FunctionDescriptor.of(result, arguments);
            return option == null
                    ? linker.downcallHandle(address, type)
                    : linker.downcallHandle(address, type, option);
        }

        String version() {
            byte[] text = new byte[64];
            try {
                long length =
                        (long) version.invokeExact(MemorySegment.ofArray(text), (long) text.length);
                return new String(
                        text, 0, (int) Math.min(length, text.length), StandardCharsets.UTF_8);
            } catch (Throwable failure) {
                throw unexpected(failure);
            }
        }
    }

    static String name() {
        return "FFM";
    }

    static int fill(byte[] out, int off, int len) {
        MemorySegment array = MemorySegment.ofArray(out);
        try {
            // A whole array needs no second segment, which costs a nanosecond.
            return off == 0
                    ? (int) FILL.invokeExact(array, (long) len)
                    : (int) FILL.invokeExact(array.asSlice(off), (long) len);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int fillFresh(byte[] out, int off, int len) {
        try {
            return (int) FILL_FRESH.invokeExact(
                    MemorySegment.ofArray(out).asSlice(off), (long) len);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int fillLongs(long[] out, int off, int len) {
        MemorySegment array = MemorySegment.ofArray(out);
        try {
            return off == 0
                    ? (int) FILL.invokeExact(array, 8L * len)
                    : (int) FILL.invokeExact(array.asSlice(8L * off), 8L * len);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long generation() {
        try {
            return (long) GENERATION.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long copies() {
        try {
            return (long) COPIES.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int copiesSeen() {
        try {
            return (int) COPIES_SEEN.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static ByteBuffer copiesWord() {
        try {
            return view((MemorySegment) COPIES_WORD.invokeExact());
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static ByteBuffer copiesCount() {
        try {
            return view((MemorySegment) COPIES_COUNT.invokeExact());
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    /** Returns a buffer over a word of the library, which stays readable. */
    private static ByteBuffer view(MemorySegment address) {
        return address.reinterpret(Long.BYTES).asByteBuffer();
    }

    static int quiesce() {
        try {
            return (int) QUIESCE.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int resume() {
        try {
            return (int) RESUME.invokeExact();
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int status(byte[] out) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(out.length);
            long length = (long) STATUS.invokeExact(text, (long) out.length);
            MemorySegment.copy(text, JAVA_BYTE, 0, out, 0, out.length);
            return (int) length;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int streamFill(int kind, int engine, long low, long high, long stream, long start,
            long bound, Object out, int off, int n) {
        try {
            return (int) STREAM_FILL.invokeExact(kind, engine, low, high, stream, start, bound,
                    segment(out, off), (long) n);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int streamAt(int kind, int engine, long low, long high, long stream, long bound,
            long[] indices, int indexOff, Object out, int off, int n) {
        try {
            return (int) STREAM_AT.invokeExact(kind, engine, low, high, stream, bound,
                    segment(indices, indexOff), segment(out, off), (long) n);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int draw(int kind, int dtype, int engine, long low, long high, long stream, long start,
            long[] parameters, Object out, int off, int n) {
        try {
            return (int) DRAW.invokeExact(kind, dtype, engine, low, high, stream, start,
                    MemorySegment.ofArray(parameters), (long) parameters.length,
                    segment(out, off), (long) n);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int drawAt(int kind, int dtype, int engine, long low, long high, long stream,
            long[] parameters, long[] indices, int indexOff, int many, Object out, int off,
            int n) {
        try {
            return (int) DRAW_AT.invokeExact(kind, dtype, engine, low, high, stream,
                    MemorySegment.ofArray(parameters), (long) parameters.length,
                    segment(indices, indexOff), (long) many, segment(out, off), (long) n);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static long one(int kind, int dtype, int engine, long low, long high, long stream, long first,
            long second, long third, long fourth, long index) {
        try {
            return (long) ONE.invokeExact(kind, dtype, engine, low, high, stream, first, second,
                    third, fourth, index);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int check(int kind, int dtype, long[] given, byte[] out) {
        try {
            return (int) CHECK.invokeExact(kind, dtype, MemorySegment.ofArray(given),
                    (long) given.length, MemorySegment.ofArray(out), (long) out.length);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int prepare(int kind, long[] given, long[] out) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocateFrom(JAVA_LONG, given);
            MemorySegment to = arena.allocate(JAVA_LONG, out.length);
            int result = (int) PREPARE.invokeExact(kind, from, (long) given.length, to,
                    (long) out.length);
            MemorySegment.copy(to, JAVA_LONG, 0, out, 0, out.length);
            return result;
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    static int derive(int purpose, int engine, long low, long high, int kind, byte[] label,
            byte[] out) {
        try {
            return (int) DERIVE.invokeExact(purpose, engine, low, high, kind,
                    MemorySegment.ofArray(label), (long) label.length,
                    MemorySegment.ofArray(out), (long) out.length);
        } catch (Throwable failure) {
            throw unexpected(failure);
        }
    }

    private static MemorySegment segment(Object array, int off) {
        if (array instanceof double[] doubles) {
            return MemorySegment.ofArray(doubles).asSlice(8L * off);
        } else if (array instanceof long[] longs) {
            return MemorySegment.ofArray(longs).asSlice(8L * off);
        } else if (array instanceof float[] floats) {
            return MemorySegment.ofArray(floats).asSlice(4L * off);
        } else if (array instanceof int[] ints) {
            return MemorySegment.ofArray(ints).asSlice(4L * off);
        }
        return MemorySegment.ofArray((byte[]) array).asSlice(off);
    }

    private static RuntimeException unexpected(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception
                ? exception
                : new IllegalStateException(failure);
    }
}
