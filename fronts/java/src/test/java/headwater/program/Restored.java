package headwater.program;

import headwater.Headwater;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.SplittableRandom;

/**
 * Draws, waits until a file appears, and draws again. A test saves the process between both and
 * restores it twice.
 *
 * <p>Its arguments: the file, whether to quiesce before the wait, and how many draws follow.
 */
public final class Restored {
    private Restored() {}

    public static void main(String[] arguments) throws Exception {
        SecureRandom random = SecureRandom.getInstance(Headwater.NAME, new Headwater());
        boolean quiesces = arguments[1].equals("quiesce");
        int draws = Integer.parseInt(arguments[2]);
        Path go = Path.of(arguments[0]);
        SplittableRandom control = new SplittableRandom();
        // The pages are full of bytes that a restored copy must not return.
        for (int i = 0; i < 100; i++) {
            random.nextLong();
            Headwater.uuid4();
        }
        if (quiesces) {
            Headwater.quiesce();
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        while (!Files.exists(go)) {
            Thread.sleep(20);
        }
        if (quiesces) {
            Headwater.resume();
        }
        for (int i = 0; i < draws; i++) {
            System.out.println(Long.toHexString(control.nextLong()) + " "
                    + Long.toHexString(random.nextLong()) + " " + Headwater.uuid4());
        }
        System.out.println("end");
        // The test ends the process, once it has read the last line.
        Thread.sleep(60_000);
    }
}
