package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One JVM, saved by CRIU and restored twice: its draws, and those of a generator with a state.
 * {@code cargo xtask test} names CRIU in HEADWATER_TEST_CRIU; saving needs root.
 */
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
        String named = System.getenv("HEADWATER_TEST_CRIU");
        assumeTrue(named != null, "skipped: no CRIU is named, so no image is restored twice");
        List<String> criu = List.of(named.split(" "));
        Path go = directory.resolve("go");
        Path log = directory.resolve("log");
        Path images = Files.createDirectory(directory.resolve("images"));

        Process process = start(go, log, way, mode);
        String[] ready = await(log, "ready").split(" ");
        assertEquals(2, ready.length, "ready and the number of the process");
        List<String> dump = new ArrayList<>(criu);
        dump.addAll(List.of("dump", "--tree", ready[1], "--images-dir", images.toString(),
                "-o", "dump.log", "-v2"));
        Jars.Result saved = Jars.run(dump, null);
        assertEquals(0, saved.status(), () -> saved.text() + text(images.resolve("dump.log")));
        process.waitFor(10, TimeUnit.SECONDS);

        byte[] before = Files.readAllBytes(log);
        Files.createFile(go);
        List<String> first = restore(criu, images, log, before, 1);
        List<String> second = restore(criu, images, log, before, 2);
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < DRAWS; i++) {
            String[] one = first.get(i).split(" ");
            String[] two = second.get(i).split(" ");
            // A generator with a state repeats all of it, so both are copies of one process.
            assertEquals(one[0], two[0]);
            for (String value : List.of(one[1], one[2], two[1], two[2])) {
                assertTrue(seen.add(value), "draw " + i + " repeats: " + value);
            }
        }
    }

    private static Process start(Path go, Path log, String way, String mode) throws Exception {
        // A session of its own, because CRIU cannot restore the terminal of this one. One CPU,
        // because copies on two CPUs draw from different pages and repeat nothing anyway.
        List<String> command = new ArrayList<>(List.of("taskset", "--cpu-list", firstCpu(),
                "setsid", Jars.java("java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        if (Jars.isAtLeast(22)) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", Jars.jar() + File.pathSeparator + Jars.tests(),
                "headwater.program.Restored", go.toString(), way, Integer.toString(DRAWS)));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("HEADWATER_MODE", mode);
        // Another directory than the test's, which a restore would have to find as it was.
        builder.directory(new File("/"));
        builder.redirectInput(new File("/dev/null")).redirectOutput(log.toFile());
        return builder.start();
    }

    private static String firstCpu() throws Exception {
        String name = "Cpus_allowed_list:";
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name)) {
                return line.substring(name.length()).strip().split("[-,]")[0];
            }
        }
        throw new AssertionError("/proc/self/status has no " + name);
    }

    /** Restores the image in a namespace where its number is free, and returns its draws. */
    private List<String> restore(List<String> criu, Path images, Path log, byte[] before,
            int number) throws Exception {
        // CRIU requires every open file to have its old length.
        Files.write(log, before);
        List<String> command = new ArrayList<>(
                List.of("unshare", "--pid", "--fork", "--mount-proc", "--kill-child"));
        command.addAll(criu);
        command.addAll(List.of("restore", "--images-dir", images.toString(), "-o",
                "restore-" + number + ".log", "-v2"));
        Process process = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output-" + number).toFile())
                .start();
        try {
            await(log, "end");
        } catch (AssertionError error) {
            throw new AssertionError(
                    error.getMessage() + text(images.resolve("restore-" + number + ".log")));
        } finally {
            process.destroyForcibly().waitFor();
        }
        List<String> lines = Files.readAllLines(log);
        int end = lines.indexOf("end");
        return lines.subList(end - DRAWS, end);
    }

    /** Returns the line that begins with a word, once it is there. */
    private static String await(Path log, String word) throws Exception {
        for (int i = 0; i < 1200; i++) {
            for (String line : Files.exists(log) ? Files.readAllLines(log) : List.<String>of()) {
                if (line.startsWith(word)) {
                    return line;
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError("the process did not write '" + word + "':\n" + text(log));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (java.io.IOException missing) {
            return "";
        }
    }
}
