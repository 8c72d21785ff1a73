package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Provider;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar as a module, in programs whose names meet the JDK's, and where no directory serves. */
class ModuleTest {
    private static final String PROGRAM = """
            package program;

            import headwater.*;
            import headwater.Key;
            import headwater.Stream;
            import java.security.*;
            import java.util.stream.*;

            public class Main {
                public static void main(String[] arguments) {
                    Key key = Key.of(42);
                    Stream stream = key.stream(0);
                    long[] word = new long[1];
                    stream.fill(0, word);
                    SecureRandom random = new SecureRandom();
                    System.out.println(Long.toHexString(word[0]) + " "
                            + Main.class.getModule().isNamed() + " "
                            + Security.getProvider("Headwater"));
                }
            }
            """;

    @TempDir
    Path folder;

    private static String natives() {
        return Jars.isAtLeast(22) ? "--enable-native-access=headwater" : "-Dheadwater.none=";
    }

    private static Jars.Result tool(String name, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Jars.java(name).toString()));
        command.addAll(List.of(arguments));
        return Jars.run(command, null).succeeded();
    }

    /** Compiles a module of a program, and returns its directory. */
    private Path compiled() throws Exception {
        assumeTrue(Files.isExecutable(Jars.java("javac")), "no javac: not a JDK");
        Path sources = Files.createDirectories(folder.resolve("sources/program"));
        Files.writeString(sources.resolve("Main.java"), PROGRAM);
        Path module = Files.writeString(folder.resolve("sources/module-info.java"),
                "module program { requires headwater; }");
        Path classes = folder.resolve("classes");
        tool("javac", "-d", classes.toString(), "--module-path", Jars.jar().toString(),
                module.toString(), sources.resolve("Main.java").toString());
        return classes;
    }

    /** Single imports win over those of a whole package, so Key and Stream are not ambiguous. */
    @Test
    void aProgramImportsTheJdksPackagesToo() throws Exception {
        Path classes = compiled();
        String text = Jars.java(natives(), "--module-path", classes + ":" + Jars.jar(), "--module",
                "program/program.Main").succeeded().text();
        assertTrue(text.contains(" true "), text);
    }

    @Test
    void jlinkTakesTheModule() throws Exception {
        assumeTrue(Files.isExecutable(Jars.java("jlink")), "no jlink: not a JDK");
        assumeTrue(Files.isDirectory(Jars.java("java").resolveSibling("../jmods").normalize())
                || Jars.isAtLeast(24), "a JDK without the modules that jlink reads");
        Path classes = compiled();
        Path image = folder.resolve("image");
        tool("jlink", "--module-path", classes + ":" + Jars.jar(), "--add-modules", "program",
                "--strip-debug", "--output", image.toString());
        List<String> command = List.of(image.resolve("bin/java").toString(), natives(),
                "--module", "program/program.Main");
        String text = Jars.run(command, null).succeeded().text();
        long[] word = new long[1];
        Key.of(42).stream(0).fill(0, word);
        assertEquals(Long.toHexString(word[0]) + " true null\n", text);
        // The image finds the provider as a service, by its name.
        Path list = folder.resolve("list");
        Files.writeString(list, "security.provider.1=Headwater\nsecurity.provider.2=SUN\n"
                + "security.provider.3=\n");
        text = Jars.run(List.of(image.resolve("bin/java").toString(), natives(),
                "-Djava.security.properties=" + list, "--module", "program/program.Main"), null)
                .succeeded().text();
        assertTrue(text.contains("Headwater version"), text);
    }

    @Test
    void theProviderHasTheJarsVersion() {
        Provider provider = new Headwater();
        assertTrue(Library.VERSION.startsWith(provider.getVersionStr() + "."),
                provider.toString());
        assertTrue(provider.toString().startsWith("Headwater version " + provider.getVersionStr()));
    }

    @Test
    void theJarHasTheLicencesOfItsCrates() throws Exception {
        try (JarFile jar = new JarFile(Jars.jar().toFile())) {
            String text = new String(
                    jar.getInputStream(jar.getEntry("META-INF/NOTICES")).readAllBytes());
            assertTrue(text.contains("\nblake2 ") && text.contains("Text 1"));
        }
    }

    @Test
    void theMountOfAPlaceIsTheLongestAndTheLast() {
        assertEquals("/a b\\c", Mounts.unescaped("/a\\040b\\134c"));
        assertEquals("", Mounts.reason(folder.resolve("absent")));
        String list = """
                25 1 0:23 / / rw,relatime shared:1 - ext4 /dev/vda rw
                30 25 0:26 / /tmp rw,nosuid,noexec shared:2 - tmpfs tmpfs rw
                31 30 0:27 / /tmp/my\\040files rw,relatime shared:3 - tmpfs tmpfs rw
                32 25 0:28 / /run rw shared:4 - tmpfs tmpfs rw
                33 32 0:29 / /run rw,noexec shared:5 - tmpfs tmpfs rw
                """;
        assertTrue(Mounts.isWithoutCode(Path.of("/tmp"), list));
        assertTrue(Mounts.isWithoutCode(Path.of("/tmp/x/y"), list));
        assertTrue(Mounts.isWithoutCode(Path.of("/run/user"), list));
        assertFalse(Mounts.isWithoutCode(Path.of("/tmp/my files/x"), list));
        assertFalse(Mounts.isWithoutCode(Path.of("/tmpfiles"), list));
    }

    @Test
    void directoriesWithoutCodeAreNamedOnceWithTheReason() throws Exception {
        Path mount = Files.createDirectories(folder.resolve("without code"));
        String java = Jars.java("java").toString();
        String script = "mount -t tmpfs -o noexec none '" + mount + "' && mount -t tmpfs -o noexec"
                + " none /dev/shm && ln -s '" + mount + "' '" + folder + "/link' && exec \"$@\"";
        List<String> command = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", script,
                "sh", "env", "XDG_RUNTIME_DIR=" + folder + "/link", java));
        if (Jars.isAtLeast(22)) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-Djava.io.tmpdir=" + mount, "-cp",
                Jars.tests() + ":" + Jars.jar(), "headwater.program.Draws"));
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/unshare")), "no unshare");
        assumeTrue(Jars.run(List.of("unshare", "--mount", "true"), null).status() == 0,
                "no right to mount: the reasons of directories without code are not tested");
        Jars.Result result = Jars.run(command, null);
        String text = result.text();
        assertEquals(1, result.status(), text);
        String tried = text.substring(text.indexOf("tried: "));
        tried = tried.substring(0, tried.indexOf('\n'));
        assertTrue(tried.contains("failed to map segment"), tried);
        assertEquals(3, tried.split("mounted noexec", -1).length, tried);
        assertFalse(tried.contains("link ("), tried);
    }
}
