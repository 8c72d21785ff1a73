package headwater;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;

/** The jar under test, and child JVMs that run it. */
final class Jars {
    private Jars() {}

    static Path jar() {
        return Path.of(System.getProperty("headwater.jar"));
    }

    static Path vectors() {
        return Path.of(System.getProperty("headwater.vectors"));
    }

    /** Returns the directory of the test classes. */
    static Path tests() throws Exception {
        return Path.of(Jars.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    static String text(Path file) throws IOException {
        return Files.readString(file);
    }

    static boolean hasFfm() throws IOException {
        try (JarFile jar = new JarFile(jar().toFile())) {
            return jar.getEntry("META-INF/versions/22/headwater/Native.class") != null;
        }
    }

    static boolean isAtLeast(int version) {
        return Runtime.version().feature() >= version;
    }

    static Path java(String program) {
        return Path.of(System.getProperty("java.home"), "bin", program);
    }

    /** The exit status and everything that a program printed. */
    record Result(int status, String text) {
        Result succeeded() {
            if (status != 0) {
                throw new AssertionError("status " + status + ":\n" + text);
            }
            return this;
        }
    }

    /** Runs java with these arguments, and native access where the version asks for it. */
    static Result java(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(java("java").toString());
        // The compiler that starts fastest: these programs are short.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        boolean isChosen = Arrays.stream(arguments).anyMatch(a -> a.contains("native-access"));
        if (isAtLeast(22) && !isChosen) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(Arrays.asList(arguments));
        return run(command, null);
    }

    /** Runs a program. The options reach each JVM that it starts. */
    static Result run(List<String> command, String options) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        if (options != null) {
            builder.environment().put("JAVA_TOOL_OPTIONS", options);
        }
        Process process = builder.start();
        process.getOutputStream().close();
        String text;
        try (InputStream output = process.getInputStream()) {
            text = new String(output.readAllBytes(), StandardCharsets.UTF_8);
        }
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("still running: " + command);
        }
        return new Result(process.exitValue(), text);
    }
}
