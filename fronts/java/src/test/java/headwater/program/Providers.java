package headwater.program;

import java.lang.reflect.Field;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.util.UUID;

/** A program that knows nothing of headwater, and prints the provider behind each call. */
public final class Providers {
    private Providers() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            // The third way: the only line of code that a program needs.
            Security.insertProviderAt(
                    (Provider) Class.forName(arguments[0]).getConstructor().newInstance(), 1);
        }
        System.out.println("SecureRandom " + new SecureRandom().getProvider().getName());
        System.out.println("strong " + SecureRandom.getInstanceStrong().getProvider().getName());
        UUID uuid = UUID.randomUUID();
        // The holder of UUID's generator is private: --add-opens java.base/java.util=ALL-UNNAMED.
        Field generator = Class.forName("java.util.UUID$Holder").getDeclaredField("numberGenerator");
        generator.setAccessible(true);
        SecureRandom behindUuid = (SecureRandom) generator.get(null);
        System.out.println("UUID " + behindUuid.getProvider().getName() + " " + uuid.version());
        KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
        keys.initialize(256);
        keys.generateKeyPair();
        System.out.println("KeyPairGenerator " + keys.getProvider().getName());
        System.out.println(
                "MessageDigest " + MessageDigest.getInstance("SHA-256").getProvider().getName());
    }
}
