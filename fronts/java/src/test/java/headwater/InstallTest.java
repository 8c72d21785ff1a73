package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ways of installation, each in a program of its own, and every way to fail. */
class InstallTest {
    private static final String OPENS = "--add-opens=java.base/java.util=ALL-UNNAMED";
    private static final String PROVIDERS = "headwater.program.Providers";
    private static final String FALLBACK = "-Dheadwater.fallback=true";

    @TempDir
    Path folder;

    private static String providers(String strong) {
        return "SecureRandom Headwater\nstrong " + strong
                + "\nUUID Headwater 4\nKeyPairGenerator SunEC\nMessageDigest SUN\n";
    }

    private static String with(Path... entries) {
        List<String> names = new ArrayList<>();
        for (Path entry : entries) {
            names.add(entry.toString());
        }
        return String.join(":", names);
    }

    @Test
    void byAgent() throws Exception {
        String agent = "-javaagent:" + Jars.jar();
        Jars.Result result =
                Jars.java(agent, OPENS, "-cp", with(Jars.tests()), PROVIDERS).succeeded();
        assertEquals(providers("Headwater"), result.text());
        List<String> plain = List.of(Jars.java("java").toString(), OPENS, "-cp",
                with(Jars.tests()), PROVIDERS);
        String options = agent + " -Dheadwater.verbose=true"
                + (Jars.isAtLeast(22) ? " --enable-native-access=ALL-UNNAMED" : "");
        String text = Jars.run(plain, options).succeeded().text();
        assertTrue(text.contains(providers("Headwater")), text);
        String name = Headwater.nativeInterface();
        assertTrue(text.contains("headwater " + Library.VERSION
                + ": serves SecureRandom, by " + name), text);
    }

    @Test
    void byProperties() throws Exception {
        Path file = folder.resolve("headwater.properties");
        String list = Jars.java("-jar", Jars.jar().toString(), "security-properties")
                .succeeded().text();
        Files.writeString(file, list);
        String[] arguments = {
            "-Djava.security.properties=" + file, OPENS, "-cp", with(Jars.tests(), Jars.jar()),
            PROVIDERS
        };
        assertEquals(providers("Headwater"), Jars.java(arguments).succeeded().text());
        // The list of a JVM that has the list already is the same one.
        String again = Jars.java("-Djava.security.properties=" + file, "-jar",
                Jars.jar().toString(), "security-properties").succeeded().text();
        assertEquals(list, again);
    }

    @Test
    void byOneLineOfCode() throws Exception {
        Jars.Result result = Jars.java(OPENS, "-cp", with(Jars.tests(), Jars.jar()), PROVIDERS,
                "headwater.Headwater").succeeded();
        // insertProviderAt leaves the strong algorithms as they are.
        assertEquals(providers("SUN"), result.text());
    }

    @Test
    void commands() throws Exception {
        String jar = Jars.jar().toString();
        assertEquals(Library.VERSION + "\n", Jars.java("-jar", jar, "version").succeeded().text());
        assertEquals(37, Jars.java("-jar", jar, "uuid").succeeded().text().length());
        String status = Jars.java("-jar", jar, "status").succeeded().text();
        assertTrue(status.startsWith("{\"schema\":\"headwater.status/1\""), status);
        assertEquals(2, Jars.java("-jar", jar).status());
        assertEquals(2, Jars.java("-jar", jar, "nonsense").status());
    }

    /** Runs a program that draws 4 bytes, with options for a library that cannot be loaded. */
    private Jars.Result draw(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("-cp", with(Jars.tests(), Jars.jar()), "headwater.program.Draws"));
        return Jars.java(arguments.toArray(new String[0]));
    }

    @Test
    void anAbsentLibraryIsNamed() throws Exception {
        String path = "-Dheadwater.library.path=" + folder;
        Jars.Result result = draw(path);
        assertTrue(result.text().contains("ProviderException: headwater " + Library.VERSION
                + ": the native library cannot be loaded; tried: " + folder
                + "/libheadwater_java.so (no such file)"), result.text());
        assertEquals(1, result.status());
        Jars.Result fallback = draw(path, FALLBACK);
        assertTrue(fallback.text().contains("SecureRandom is the JDK's own"), fallback.text());
        assertTrue(fallback.succeeded().text().contains("provider SUN"), fallback.text());
    }

    @Test
    void anAgentWithoutALibraryStopsTheJvm() throws Exception {
        String path = "-Dheadwater.library.path=" + folder.resolve("absent.so");
        String agent = "-javaagent:" + Jars.jar();
        Jars.Result result = Jars.java(path, agent, "-cp", with(Jars.tests()), PROVIDERS);
        assertNotEquals(0, result.status());
        assertTrue(result.text().contains("absent.so (no such file)"), result.text());
        String text = Jars.java(path, agent, FALLBACK, OPENS, "-cp", with(Jars.tests()), PROVIDERS)
                .succeeded().text();
        assertTrue(text.contains("SecureRandom SUN\nstrong SUN\n"), text);
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws Exception {
        Path file = folder.resolve("libheadwater_java.so");
        Files.writeString(file, "no library");
        String text = draw("-Dheadwater.library.path=" + folder).text();
        assertTrue(text.contains("tried: " + file + " ("), text);
        assertTrue(text.contains("Caused by:"), text);
    }

    @Test
    void aLibraryOfAnotherVersionIsRefused() throws Exception {
        Path file = unpack();
        byte[] library = Files.readAllBytes(file);
        String latin = new String(library, java.nio.charset.StandardCharsets.ISO_8859_1);
        // Of the same length, because the bytes of a library cannot move.
        String changed = "9" + Library.VERSION.substring(1);
        String other = latin.replace(Library.VERSION, changed);
        assertNotEquals(latin, other);
        Files.write(file, other.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
        String text = draw("-Dheadwater.library.path=" + file).text();
        assertTrue(text.contains("it has version " + changed + ", and the jar has "
                + Library.VERSION), text);
    }

    @Test
    void aLibraryWithoutTheFunctionsIsRefused() throws Exception {
        Path other = Jars.java("java").resolveSibling("../lib/libjimage.so").normalize();
        assumeTrue(Files.isRegularFile(other), "this JDK has no libjimage.so");
        Jars.Result result = draw("-Dheadwater.library.path=" + other);
        assertEquals(1, result.status());
        assertTrue(result.text().contains("tried: " + other), result.text());
    }

    @Test
    void aLibraryOutsideTheJarServes() throws Exception {
        Path file = unpack();
        for (Path path : List.of(file, folder)) {
            String text = draw("-Dheadwater.library.path=" + path).succeeded().text();
            assertTrue(text.contains("provider Headwater"), text);
        }
    }

    @Test
    void deniedNativeAccessIsNamed() throws Exception {
        assumeTrue(Jars.isAtLeast(24), "--illegal-native-access needs Java 24");
        Jars.Result result = draw("--illegal-native-access=deny");
        assertEquals(1, result.status());
        assertTrue(result.text().contains("--enable-native-access=ALL-UNNAMED"), result.text());
        Jars.Result fallback = draw("--illegal-native-access=deny", FALLBACK).succeeded();
        assertTrue(fallback.text().contains("provider SUN"), fallback.text());
    }

    /** Java 8 to 16 are not here; their classes are those that remain without the later ones. */
    @Test
    void theClassesForJava8Serve() throws Exception {
        String text = draw("-Djdk.util.jar.enableMultiRelease=false").succeeded().text();
        assertTrue(text.contains("provider Headwater\ninterface JNI\n"), text);
    }

    @Test
    void nothingIsLeftBehind() throws Exception {
        String temporary = "-Djava.io.tmpdir=" + folder;
        assertTrue(draw(temporary).succeeded().text().contains("provider Headwater"));
        try (java.util.stream.Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void anUnusableTemporaryDirectoryHasAReplacement() throws Exception {
        Path absent = folder.resolve("absent");
        String text = draw("-Djava.io.tmpdir=" + absent).succeeded().text();
        assertTrue(text.contains("provider Headwater"), text);
        assertFalse(Files.exists(absent));
    }

    @Test
    void aQuiescedProcessStillDraws() throws Exception {
        String text = draw("-Dprogram.quiesce=true").succeeded().text();
        assertTrue(text.contains("mode strict") && text.contains("again "), text);
        assertFalse(text.contains("again strict"), text);
    }

    private Path unpack() throws Exception {
        String arch = System.getProperty("os.arch").replace("amd64", "x86_64");
        Path file = folder.resolve("libheadwater_java.so");
        try (JarFile jar = new JarFile(Jars.jar().toFile())) {
            Files.copy(jar.getInputStream(jar.getEntry(
                    "headwater/native/linux-" + arch + "/libheadwater_java.so")), file);
        }
        return file;
    }
}
