package headwater.program;

import headwater.Headwater;
import java.security.SecureRandom;
import java.security.Security;

/** Installs the provider, draws, and prints which provider served. */
public final class Draws {
    private Draws() {}

    public static void main(String[] arguments) {
        Security.insertProviderAt(new Headwater(), 1);
        SecureRandom random = new SecureRandom();
        random.nextBytes(new byte[4]);
        System.out.println("provider " + random.getProvider().getName());
        System.out.println("interface " + Headwater.nativeInterface());
        if (Boolean.getBoolean("program.quiesce")) {
            Headwater.quiesce();
            System.out.println("mode " + mode());
            random.nextBytes(new byte[4]);
            Headwater.resume();
            random.nextBytes(new byte[4]);
            System.out.println("again " + mode());
        }
    }

    private static String mode() {
        return Headwater.status().replaceAll(".*\"mode\":\"([a-z]+)\".*", "$1");
    }
}
