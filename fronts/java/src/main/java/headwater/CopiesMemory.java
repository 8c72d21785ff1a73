package headwater;

import java.nio.ByteBuffer;

/**
 * The memory of {@link Headwater#copies()}, for code that must know of a copy before each draw of a
 * nanosecond, and cannot afford a call.
 *
 * <pre>{@code
 * VarHandle longs = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
 * boolean isAsked = (long) longs.getAcquire(word, 0) != 1 || CopiesMemory.seesMachines();
 * long copies = isAsked ? Headwater.copies() : (long) longs.getAcquire(count, 0);
 * }</pre>
 *
 * <p>The word comes first: the count moves before the word is 1 again. With plain reads the
 * compiler might read both once for a whole loop.
 */
public final class CopiesMemory {
    private CopiesMemory() {}

    /**
     * Returns a view of 8 bytes that hold 1 in the order of this CPU until this process may have
     * been copied. It stays readable.
     */
    public static ByteBuffer word() {
        Draw.require();
        return Native.copiesWord().asReadOnlyBuffer();
    }

    /** Returns a view of the count, 8 bytes in the order of this CPU. It stays readable. */
    public static ByteBuffer count() {
        Draw.require();
        return Native.copiesCount().asReadOnlyBuffer();
    }

    /** Returns true if copies of this process can be seen: CRIU 4.2 or later on Linux 6.11. */
    public static boolean seesProcesses() {
        Draw.require();
        return (Native.copiesSeen() & 1) != 0;
    }

    /**
     * Returns true if copies of the machine can be seen, which the word does not show; some of them
     * only after {@code headwater clones repair}.
     */
    public static boolean seesMachines() {
        Draw.require();
        return (Native.copiesSeen() & 2) != 0;
    }
}
