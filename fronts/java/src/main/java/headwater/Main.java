package headwater;

import java.security.Security;
import java.util.ArrayList;
import java.util.List;

/** The commands of {@code java -jar headwater.jar}. */
public final class Main {
    private Main() {}

    /** Runs a command. Exits with 2 after wrong usage. */
    public static void main(String[] arguments) {
        String command = arguments.length == 1 ? arguments[0] : "";
        switch (command) {
            case "security-properties":
                System.out.print(securityProperties());
                break;
            case "status":
                System.out.println(Headwater.status());
                break;
            case "uuid":
                System.out.println(Headwater.uuid4());
                break;
            case "version":
                System.out.println(Library.VERSION);
                break;
            default:
                System.err.println("usage: java -jar headwater.jar"
                        + " security-properties | status | uuid | version");
                System.exit(2);
        }
    }

    /**
     * Returns the list of this JDK's providers, shifted by one behind ours, for {@code
     * -Djava.security.properties=FILE}. A file that set the first provider alone would replace SUN.
     */
    static String securityProperties() {
        List<String> providers = new ArrayList<>();
        providers.add(Headwater.NAME);
        for (int i = 1;; i++) {
            String provider = Security.getProperty("security.provider." + i);
            if (provider == null) {
                break;
            }
            boolean isOurs = provider.equals(Headwater.NAME)
                    || provider.equals(Headwater.class.getName());
            if (!isOurs) {
                providers.add(provider);
            }
        }
        // Java 8 knows providers by class, later versions by name.
        if (System.getProperty("java.specification.version", "").startsWith("1.")) {
            providers.set(0, Headwater.class.getName());
        }
        StringBuilder text = new StringBuilder("# For Java ");
        text.append(System.getProperty("java.version", "?")).append(" alone.\n");
        for (int i = 0; i < providers.size(); i++) {
            text.append("security.provider.").append(i + 1).append('=').append(providers.get(i));
            text.append('\n');
        }
        String strong = Agent.strong(Security.getProperty("securerandom.strongAlgorithms"));
        return text.append("securerandom.strongAlgorithms=").append(strong).append('\n').toString();
    }
}
