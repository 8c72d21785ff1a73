package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that CRIU saves once and restores twice. It prints {@code ready} and its number, waits for
 * a file, and then prints lines that end with {@code end}.
 *
 * <p>{@code cargo xtask test} names two CRIUs in the environment; saving needs root.
 */
final class Images {
    /** The variable of a CRIU before 4.2, after which a process cannot see that it is a copy. */
    static final String OLD = "HEADWATER_TEST_CRIU";
    /** The variable of one that leaves out the pages which tell it. */
    static final String NEWEST = "HEADWATER_TEST_NEWEST_CRIU";

    private final Path directory;
    private final List<String> criu;
    /** The file that ends the wait: an argument of the program. */
    final Path go;

    Images(Path directory, String variable) {
        String named = System.getenv(variable);
        assumeTrue(named != null, "skipped: no CRIU is named, so no image is restored twice");
        this.directory = directory;
        criu = List.of(named.split(" "));
        go = directory.resolve("go");
    }

    /** Saves a program while it waits, and returns what each of two copies printed afterwards. */
    List<List<String>> restoreTwice(String mode, List<String> arguments) throws Exception {
        Path log = directory.resolve("log");
        Path images = Files.createDirectory(directory.resolve("images"));
        Process process = start(log, mode, arguments);
        try {
            String[] ready = await(log, "ready").split(" ");
            assertEquals(2, ready.length, "ready and the number of the process");
            List<String> dump = new ArrayList<>(criu);
            // The unpacked library is removed, and larger than what CRIU saves without a word.
            dump.addAll(List.of("dump", "--tree", ready[1], "--images-dir", images.toString(),
                    "-o", "dump.log", "-v2", "--ghost-limit", "8M"));
            Jars.Result saved = Jars.run(dump, null);
            assertEquals(0, saved.status(), () -> saved.text() + text(images.resolve("dump.log")));
        } finally {
            // CRIU ends what it has saved. If it could not, the threads of the program would go on.
            process.destroyForcibly();
        }
        process.waitFor(10, TimeUnit.SECONDS);

        byte[] before = Files.readAllBytes(log);
        Files.createFile(go);
        return List.of(restore(images, log, before, 1), restore(images, log, before, 2));
    }

    private static Process start(Path log, String mode, List<String> arguments)
            throws Exception {
        // A session of its own, because CRIU cannot restore the terminal of this one. One CPU,
        // because copies on two CPUs draw from different pages and repeat nothing anyway.
        List<String> command = new ArrayList<>(List.of("taskset", "--cpu-list", firstCpu(),
                "setsid", Jars.java("java").toString(),
                "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        if (Jars.isAtLeast(22)) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(arguments);
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
    private List<String> restore(Path images, Path log, byte[] before, int number)
            throws Exception {
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
        int ready = new String(before, StandardCharsets.UTF_8).split("\n").length;
        return lines.subList(ready, lines.indexOf("end"));
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
