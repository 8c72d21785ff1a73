package headwater;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The JDK's own programs, and users of random bytes that know nothing of headwater. */
class OutsideTest {
    /** The class behind the JDK's generators, which is loaded by the first draw from one. */
    private static final String JDKS_OWN = "sun.security.provider.SecureRandom ";

    @TempDir
    Path folder;

    private String agent() {
        return "-javaagent:" + Jars.jar()
                + (Jars.isAtLeast(22) ? " --enable-native-access=ALL-UNNAMED" : "");
    }

    /** Runs a program of the JDK under the agent, and checks that ours alone was drawn from. */
    private String tool(String... words) throws Exception {
        Path log = folder.resolve("classes.log");
        List<String> command = new ArrayList<>(List.of(words));
        command.set(0, Jars.java(words[0]).toString());
        String text = Jars.run(command, agent() + " -Xlog:class+load:file=" + log)
                .succeeded().text();
        String classes = Files.readString(log);
        assertTrue(classes.contains("headwater.RandomSpi "), "headwater was not asked");
        assertFalse(classes.contains(JDKS_OWN), "the JDK's own generator was asked");
        return text;
    }

    private String keytool(String name, String... words) throws Exception {
        String store = folder.resolve(name).toString();
        List<String> command = new ArrayList<>(List.of("keytool", "-genkeypair", "-alias", "key",
                "-dname", "CN=localhost", "-ext", "san=dns:localhost", "-storetype", "PKCS12",
                "-keystore", store, "-storepass", "password"));
        command.addAll(List.of(words));
        tool(command.toArray(new String[0]));
        return store;
    }

    @Test
    void programsOfTheJdk() throws Exception {
        String rsa = keytool("rsa.p12", "-keyalg", "RSA", "-keysize", "2048");
        keytool("ec.p12", "-keyalg", "EC", "-groupname", "secp256r1");
        keytool("ed.p12", "-keyalg", "Ed25519");
        tool("keytool", "-genseckey", "-alias", "secret", "-keyalg", "AES", "-keysize", "256",
                "-storetype", "PKCS12", "-keystore", rsa, "-storepass", "password");
        Path jar = folder.resolve("signed.jar");
        Files.copy(Jars.jar(), jar);
        tool("jarsigner", "-keystore", rsa, "-storepass", "password", "-sigalg", "RSASSA-PSS",
                jar.toString(), "key");
        List<String> verify = List.of(Jars.java("jarsigner").toString(), "-verify",
                jar.toString());
        assertTrue(Jars.run(verify, null).succeeded().text().contains("jar verified"));
        // The provider of a signed jar loads its library while the JDK verifies its signature.
        String[] signed = {"-jar", jar.toString(), "uuid"};
        assertEquals(37, Jars.java(signed).succeeded().text().length());
    }

    private Jars.Result outside(String store, Path log, List<String> options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add("-Xlog:class+load:file=" + log);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                "headwater.program.Outside", store));
        return Jars.java(command.toArray(new String[0]));
    }

    @Test
    void programsThatKnowNothing() throws Exception {
        String store = keytool("store.p12", "-keyalg", "EC", "-groupname", "secp256r1");
        Path log = folder.resolve("outside.log");
        String text = outside(store, log, List.of("-javaagent:" + Jars.jar())).succeeded().text();
        assertTrue(text.contains("failed, provider Headwater\n"), text);
        assertFalse(text.contains("WRONG") || text.contains("FAILED"), text);
        System.out.println(text.substring(text.lastIndexOf("\n", text.length() - 2) + 1).trim());
        assertFalse(Files.readString(log).contains(JDKS_OWN), "the JDK's generator was asked");
        // The control: without the agent it is asked, so that the check above can fail.
        String plain = outside(store, log, List.of()).succeeded().text();
        assertFalse(plain.contains("provider Headwater"), plain);
        assertTrue(Files.readString(log).contains(JDKS_OWN), "the control was not seen");
    }
}
