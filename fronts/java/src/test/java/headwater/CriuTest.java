package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One JVM, saved by CRIU and restored twice: its draws, and those of a generator with a state. */
class CriuTest {
    private static final int DRAWS = 1000;

    @TempDir
    Path directory;

    @Test
    void aQuiescedImageRepeatsNothing() throws Exception {
        restoreTwice("quiesce", "auto");
    }

    @Test
    void anImageInModeHedgedRepeatsNothing() throws Exception {
        restoreTwice("go-on", "hedged");
    }

    private void restoreTwice(String way, String mode) throws Exception {
        Images images = new Images(directory, Images.OLD);
        List<List<String>> copies = images.restoreTwice(mode, List.of("-XX:TieredStopAtLevel=1",
                "-cp", Jars.jar() + File.pathSeparator + Jars.tests(),
                "headwater.program.Restored", images.go.toString(), way, Integer.toString(DRAWS)));
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < DRAWS; i++) {
            String[] one = copies.get(0).get(i).split(" ");
            String[] two = copies.get(1).get(i).split(" ");
            // A generator with a state repeats all of it, so both are copies of one process.
            assertEquals(one[0], two[0]);
            for (String value : List.of(one[1], one[2], two[1], two[2])) {
                assertTrue(seen.add(value), "draw " + i + " repeats: " + value);
            }
        }
    }
}
