package headwater;

import java.security.Security;

/** Puts the provider first, before the program starts: {@code java -javaagent:headwater.jar}. */
public final class Agent {
    private static final String STRONG = "securerandom.strongAlgorithms";

    private Agent() {}

    /** Installs the provider before {@code main}. The JVM calls it. */
    public static void premain(String arguments) {
        install();
    }

    /** Installs the provider into a running JVM, for new instances of SecureRandom. */
    public static void agentmain(String arguments) {
        install();
    }

    /**
     * Installs the provider and makes it the strong one, both once. Throws if the native library
     * cannot be loaded, because a program must not run on weaker assumptions than it was started
     * with.
     */
    static void install() {
        if (Security.getProvider(Headwater.NAME) != null) {
            say("was installed already");
            return;
        }
        Headwater provider = new Headwater();
        if (provider.getService("SecureRandom", Headwater.NAME) == null) {
            return; // headwater.fallback, which the provider has reported
        }
        Draw.require();
        Security.insertProviderAt(provider, 1);
        Security.setProperty(STRONG, strong(Security.getProperty(STRONG)));
        say("serves SecureRandom, by " + Native.name());
    }

    /** Returns a list of strong algorithms that begins with ours. */
    static String strong(String present) {
        String ours = Headwater.NAME + ":" + Headwater.NAME;
        if (present == null || present.isEmpty()) {
            return ours;
        }
        return present.startsWith(ours) ? present : ours + "," + present;
    }

    private static void say(String text) {
        if (Boolean.getBoolean("headwater.verbose")) {
            System.err.println("headwater " + Library.VERSION + ": " + text);
        }
    }
}
