// Draws from java.security and java.util when told to, and times itself; child.rs says how it is asked.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;

public class Bench {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int CHUNK = 1 << 20;
    /** Kept, so that its pages are there when the clock runs. */
    private static byte[] buffer = new byte[0];
    /** Where results go that the compiler must not leave out. */
    private static final String[] KEPT = new String[64];

    public static void main(String[] arguments) throws IOException {
        var requests = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("Java " + Runtime.version() + ", SecureRandom " + RANDOM.getAlgorithm());
        for (var line = requests.readLine(); line != null; line = requests.readLine()) {
            var words = line.split(" ");
            var length = Integer.parseInt(words[2]);
            if (buffer.length != length) {
                buffer = new byte[length];
            }
            if (!words[1].equals("nextBytes") && !words[1].equals("randomUUID")) {
                System.out.println("error this Java has no " + words[1]);
            } else if (words[0].equals("sample")) {
                sample(words[1], (byte) Integer.parseInt(words[3]));
            } else {
                System.out.println(time(words[1], Long.parseLong(words[3])));
            }
        }
    }

    private static void sample(String function, byte poison) {
        Arrays.fill(buffer, poison);
        var bytes = buffer;
        if (function.equals("nextBytes")) {
            RANDOM.nextBytes(buffer);
        } else {
            bytes = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
        }
        // In pieces, because the text of a long buffer would need several times its memory.
        for (int start = 0; start < bytes.length; start += CHUNK) {
            System.out.print(HexFormat.of().formatHex(bytes, start, Math.min(start + CHUNK, bytes.length)));
        }
        System.out.println();
    }

    private static long time(String function, long calls) {
        return function.equals("nextBytes") ? timeBytes(calls) : timeUuids(calls);
    }

    private static long timeBytes(long calls) {
        var start = System.nanoTime();
        for (long call = 0; call < calls; call++) {
            RANDOM.nextBytes(buffer);
        }
        return System.nanoTime() - start;
    }

    private static long timeUuids(long calls) {
        var start = System.nanoTime();
        for (long call = 0; call < calls; call++) {
            KEPT[(int) (call % KEPT.length)] = UUID.randomUUID().toString();
        }
        return System.nanoTime() - start;
    }
}
