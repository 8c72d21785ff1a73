package headwater;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.ProviderException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Finds the native library, and reports every place that was tried if there is none. */
final class Library {
    /** The version of this jar, which the native library must share. */
    static final String VERSION = "0.2.0";

    private static final String NAME = "libheadwater_java.so";
    private static final int ATTEMPTS = 100;

    private Library() {}

    /**
     * Loads the library by {@code bind}, which returns the version that the library reports.
     *
     * <p>Returns null, or the exception that every later call must throw.
     */
    static ProviderException load(Function<Path, String> bind) {
        List<String> tried = new ArrayList<>();
        Throwable cause = null;
        String chosen = System.getProperty("headwater.library.path", "");
        for (Path folder : folders(chosen)) {
            try {
                if (chosen.isEmpty()) {
                    loadUnpacked(folder, bind);
                } else {
                    load(folder, bind);
                }
                return null;
            } catch (IOException | RuntimeException | LinkageError failure) {
                tried.add(folder + " (" + failure.getMessage() + Mounts.reason(folder) + ")");
                cause = failure;
            }
        }
        return new ProviderException(message(tried, cause), cause);
    }

    private static String message(List<String> tried, Throwable cause) {
        String message = "headwater " + VERSION + ": the native library cannot be loaded; tried: "
                + String.join("; ", tried) + ".";
        // The class exists since Java 9.
        if (cause != null && cause.getClass().getSimpleName().equals("IllegalCallerException")) {
            message += " Start java with --enable-native-access=ALL-UNNAMED, or =headwater if the"
                    + " jar is on the module path.";
        }
        return message + " -Dheadwater.library.path=FILE names another library;"
                + " -Dheadwater.fallback=true leaves SecureRandom to the JDK.";
    }

    /** Returns the places to load from. Directories for temporary files may forbid to map code. */
    private static List<Path> folders(String chosen) {
        List<Path> folders = new ArrayList<>();
        if (!chosen.isEmpty()) {
            Path path = Paths.get(chosen).toAbsolutePath();
            folders.add(Files.isDirectory(path) ? path.resolve(NAME) : path);
            return folders;
        }
        folders.add(Paths.get(System.getProperty("java.io.tmpdir", "/tmp")).toAbsolutePath());
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            folders.add(Paths.get(runtime).toAbsolutePath());
        }
        folders.add(Paths.get("/dev/shm"));
        return each(folders);
    }

    /** Returns each directory once, although two settings or a link name it. */
    private static List<Path> each(List<Path> folders) {
        Map<Path, Path> each = new LinkedHashMap<>();
        for (Path folder : folders) {
            Path real;
            try {
                real = folder.toRealPath();
            } catch (IOException absent) {
                real = folder.normalize();
            }
            each.putIfAbsent(real, folder);
        }
        return new ArrayList<>(each.values());
    }

    private static void load(Path file, Function<Path, String> bind) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("no such file");
        }
        String version = bind.apply(file);
        if (!version.equals(VERSION)) {
            throw new IOException("it has version " + version + ", and the jar has " + VERSION);
        }
    }

    /** Unpacks the library into a directory that only this user can enter, and erases both. */
    private static void loadUnpacked(Path folder, Function<Path, String> bind)
            throws IOException {
        String resource = "/headwater/native/" + system() + "/" + NAME;
        try (InputStream library = Library.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new IOException("the jar has no " + resource);
            }
            Path directory = privateDirectory(folder);
            Path file = directory.resolve(NAME);
            try {
                Files.copy(library, file);
                load(file, bind);
            } finally {
                // A loaded library needs its file no longer, and no crash can leave it behind.
                Files.deleteIfExists(file);
                Files.delete(directory);
            }
        }
    }

    /**
     * Makes a directory of a new name.
     *
     * <p>Files.createTempDirectory would draw the name from SecureRandom, which is what is being
     * set up here. Creation is atomic, so the name need not be secret.
     */
    private static Path privateDirectory(Path folder) throws IOException {
        for (int attempt = 0;; attempt++) {
            String name = "headwater-" + Long.toHexString(System.nanoTime()) + "-" + attempt;
            try {
                return Files.createDirectory(folder.resolve(name),
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException exists) {
                if (attempt == ATTEMPTS) {
                    throw exists;
                }
            }
        }
    }

    private static String system() {
        String os = System.getProperty("os.name", "").toLowerCase(java.util.Locale.ROOT);
        String arch = System.getProperty("os.arch", "");
        return os + "-" + (arch.equals("amd64") ? "x86_64" : arch);
    }
}
