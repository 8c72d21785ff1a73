package headwater.program;

import headwater.Headwater;
import java.security.SecureRandom;

/** Draws as many seeds, or as many ordinary bytes, as its arguments say. */
public final class Seeds {
    private Seeds() {}

    public static void main(String[] arguments) throws Exception {
        SecureRandom random = SecureRandom.getInstance(Headwater.NAME, new Headwater());
        int draws = Integer.parseInt(arguments[1]);
        for (int i = 0; i < draws; i++) {
            if (arguments[0].equals("seeds")) {
                random.generateSeed(16);
            } else {
                random.nextBytes(new byte[16]);
            }
        }
    }
}
