package headwater;

import java.io.IOException;
import java.security.ProviderException;
import java.util.Arrays;

/** Secure draws of any length, with the native library's errors as exceptions. */
final class Draw {
    /**
     * Bytes of one native call. The garbage collector waits for the end of a call, about 20 us for
     * this many.
     */
    private static final int PIECE = 128 * 1024;

    /** Bytes of one native call for a seed. The JNI half has a buffer of this size. */
    private static final int FRESH_PIECE = 4096;

    private Draw() {}

    /** Throws if the native library could not be loaded. */
    static void require() {
        if (Native.FAILURE != null) {
            throw new ProviderException(Native.FAILURE.getMessage(), Native.FAILURE);
        }
    }

    static void fill(byte[] out) {
        require();
        for (int done = 0, n; done < out.length; done += n) {
            n = Math.min(PIECE, out.length - done);
            int result = Native.fill(out, done, n);
            if (result != 0) {
                Arrays.fill(out, (byte) 0);
                throw refused(result);
            }
        }
    }

    /** Fills an array under keys that the kernel returns for this request alone. */
    static void fillFresh(byte[] out) {
        require();
        for (int done = 0, n; done < out.length; done += n) {
            n = Math.min(FRESH_PIECE, out.length - done);
            int result = Native.fillFresh(out, done, n);
            if (result != 0) {
                Arrays.fill(out, (byte) 0);
                throw refused(result);
            }
        }
    }

    static void fill(long[] out) {
        require();
        for (int done = 0, n; done < out.length; done += n) {
            n = Math.min(PIECE / 8, out.length - done);
            int result = Native.fillLongs(out, done, n);
            if (result != 0) {
                Arrays.fill(out, 0);
                throw refused(result);
            }
        }
    }

    /** Returns the exception for a result other than 0. */
    static ProviderException refused(int result) {
        String reason = result > 0
                ? "getrandom(2) and /dev/urandom both failed with errno " + result
                : "the kernel returned an impossible answer";
        return new ProviderException(
                "headwater: no random bytes: " + reason, new IOException(reason));
    }
}
