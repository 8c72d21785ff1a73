package headwater.program;

import com.fasterxml.uuid.Generators;
import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.util.Arrays;
import java.util.Date;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.KeyGenerator;
import javax.crypto.SecretKey;
import org.apache.commons.lang3.RandomStringUtils;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.crypto.CryptoServicesRegistrar;
import org.bouncycastle.crypto.digests.SHA512Digest;
import org.bouncycastle.crypto.generators.X25519KeyPairGenerator;
import org.bouncycastle.crypto.params.X25519KeyGenerationParameters;
import org.bouncycastle.crypto.prng.SP800SecureRandomBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.util.test.FixedSecureRandom;

/** Libraries that take random bytes from the JDK. */
final class Libraries {
    private static final BouncyCastleProvider BC = new BouncyCastleProvider();

    private Libraries() {}

    static void add(Map<String, Outside.Case> cases) {
        for (String algorithm : new String[] {"EC", "Ed25519", "RSA"}) {
            cases.put("Bouncy Castle, keys of " + algorithm, () -> {
                KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm, BC);
                KeyPair pair = generator.generateKeyPair();
                String name = algorithm.equals("EC") ? "SHA256withECDSA"
                        : algorithm.equals("RSA") ? "SHA256withRSA" : algorithm;
                Signature signature = Signature.getInstance(name, BC);
                signature.initSign(pair.getPrivate());
                byte[] signed = signature.sign();
                signature.initVerify(pair.getPublic());
                return signature.verify(signed);
            });
        }
        cases.put("Bouncy Castle, AES/GCM", () -> {
            SecretKey key = KeyGenerator.getInstance("AES", BC).generateKey();
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", BC);
            cipher.init(Cipher.ENCRYPT_MODE, key);
            byte[] iv = cipher.getIV();
            cipher.init(Cipher.ENCRYPT_MODE, key);
            return iv != null && !Arrays.equals(iv, cipher.getIV());
        });
        cases.put("Bouncy Castle, lightweight X25519", () -> {
            X25519KeyPairGenerator generator = new X25519KeyPairGenerator();
            generator.init(new X25519KeyGenerationParameters(new SecureRandom()));
            return !generator.generateKeyPair().equals(generator.generateKeyPair());
        });
        cases.put("Bouncy Castle, SP 800-90A generator seeded by ours", () -> {
            SecureRandom drbg = new SP800SecureRandomBuilder(new SecureRandom(), true)
                    .buildHash(new SHA512Digest(), null, false);
            byte[] bytes = new byte[32_768]; // the most of one request
            drbg.nextBytes(bytes);
            return drbg.nextLong() != drbg.nextLong();
        });
        cases.put("Bouncy Castle, the registrar's generator",
                () -> CryptoServicesRegistrar.getSecureRandom().nextLong()
                        != CryptoServicesRegistrar.getSecureRandom().nextLong());
        // Its static part checks the JDK's use of SecureRandom in BigInteger.
        cases.put("Bouncy Castle, FixedSecureRandom's checks",
                () -> new FixedSecureRandom(new byte[16]).nextLong() == 0);
        cases.put("Bouncy Castle, a certificate", () -> {
            KeyPair pair = KeyPairGenerator.getInstance("EC", BC).generateKeyPair();
            X500Name name = new X500Name("CN=test");
            X509CertificateHolder certificate = new JcaX509v3CertificateBuilder(name,
                    new BigInteger(64, new SecureRandom()), new Date(),
                    new Date(System.currentTimeMillis() + 1000_000), name, pair.getPublic())
                    .build(new JcaContentSignerBuilder("SHA256withECDSA").setProvider(BC)
                            .build(pair.getPrivate()));
            return certificate.isSignatureValid(new JcaContentVerifierProviderBuilder()
                    .setProvider(BC).build(pair.getPublic()));
        });
        cases.put("Commons Lang, RandomStringUtils.secure",
                () -> RandomStringUtils.secure().nextAlphanumeric(40).length() == 40);
        cases.put("java-uuid-generator, random", () -> {
            SecureRandom random = new SecureRandom();
            return Generators.randomBasedGenerator(random).generate().version() == 4;
        });
        cases.put("java-uuid-generator, version 7",
                () -> Generators.timeBasedEpochGenerator(new SecureRandom()).generate()
                        .version() == 7);
    }
}
