package headwater;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;

/** The mounts of this process, as /proc/self/mountinfo lists them (proc(5)). */
final class Mounts {
    private static final Path LIST = Paths.get("/proc/self/mountinfo");

    private Mounts() {}

    /**
     * Returns the reason why code in this directory, or in this file, cannot be mapped, for the end
     * of a message: the loader's own message differs between versions of Java, and no version names
     * the mount. Returns an empty text if no reason is known.
     */
    static String reason(Path place) {
        try {
            String list = new String(Files.readAllBytes(LIST), StandardCharsets.UTF_8);
            return isWithoutCode(place.toRealPath(), list)
                    ? "; it is mounted noexec, and -Djava.io.tmpdir=DIRECTORY names another" : "";
        } catch (IOException | RuntimeException unknown) {
            return "";
        }
    }

    /** Returns true if the mount that holds a place has the option noexec in this list. */
    static boolean isWithoutCode(Path place, String list) {
        String options = "";
        int longest = -1;
        for (String line : list.split("\n")) {
            String[] fields = line.split(" ");
            if (fields.length < 6) {
                continue;
            }
            Path point = Paths.get(unescaped(fields[4]));
            // A later mount of one place lies over the earlier ones.
            if (place.startsWith(point) && point.getNameCount() >= longest) {
                longest = point.getNameCount();
                options = fields[5];
            }
        }
        return Arrays.asList(options.split(",")).contains("noexec");
    }

    /** Returns a field as it was: the list has three octal digits for a space, and for a few more. */
    static String unescaped(String field) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            if (field.charAt(i) == '\\' && i + 3 < field.length()) {
                text.append((char) Integer.parseInt(field.substring(i + 1, i + 4), 8));
                i += 3;
            } else {
                text.append(field.charAt(i));
            }
        }
        return text.toString();
    }
}
