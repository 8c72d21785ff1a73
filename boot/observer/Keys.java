import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/** A program that makes a key, and prints when it asked for bytes and when it had them. */
public class Keys {
    private static String uptime() throws Exception {
        return Files.readString(Path.of("/proc/uptime")).split(" ")[0];
    }

    public static void main(String[] arguments) throws Exception {
        SecureRandom strong = SecureRandom.getInstanceStrong();
        String from = uptime();
        strong.nextBytes(new byte[16]);
        System.out.println("java " + ProcessHandle.current().pid() + " " + from + " " + uptime());
    }
}
