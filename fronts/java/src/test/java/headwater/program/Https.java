package headwater.program;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The JDK's web server and client, over the loopback interface. */
final class Https {
    private Https() {}

    /** Serves and fetches a page. {@code store} is a key store that keytool has made. */
    static boolean serves(String protocol, String store) throws Exception {
        char[] password = "password".toCharArray();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream file = Files.newInputStream(Path.of(store))) {
            keys.load(file, password);
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
        own.init(keys, password);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(keys);
        SSLContext context = SSLContext.getInstance(protocol);
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        HttpsServer server = HttpsServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            byte[] page = "page".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
        try {
            boolean isServed = true;
            for (int i = 0; i < 10; i++) {
                URL url = new URL("https://localhost:" + server.getAddress().getPort() + "/");
                HttpsURLConnection connection = (HttpsURLConnection) url.openConnection();
                connection.setSSLSocketFactory(context.getSocketFactory());
                connection.setRequestProperty("Connection", "close");
                try (InputStream page = connection.getInputStream()) {
                    isServed &= page.readAllBytes().length == 4;
                }
            }
            return isServed;
        } finally {
            server.stop(0);
        }
    }
}
