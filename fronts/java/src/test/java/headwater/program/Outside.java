package headwater.program;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.security.Signature;
import java.security.SignedObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.KeyGenerator;
import javax.crypto.SealedObject;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.PBEKeySpec;

/**
 * A program without a line about headwater: it does with the JDK and with libraries what takes
 * random bytes, and prints a line for each case.
 */
public final class Outside {
    private static final byte[] MESSAGE = "message".getBytes(StandardCharsets.UTF_8);

    /** A use of random bytes that returns whether it did what its specification says. */
    interface Case {
        boolean run() throws Exception;
    }

    private Outside() {}

    public static void main(String[] arguments) {
        Map<String, Case> cases = new LinkedHashMap<>();
        java(cases);
        keys(cases);
        ciphers(cases);
        newer(cases);
        Libraries.add(cases);
        cases.put("TLS 1.3 by HttpsServer", () -> Https.serves("TLSv1.3", arguments[0]));
        cases.put("TLS 1.2 by HttpsServer", () -> Https.serves("TLSv1.2", arguments[0]));
        int failed = 0;
        for (Map.Entry<String, Case> one : cases.entrySet()) {
            String outcome;
            try {
                outcome = one.getValue().run() ? "ok" : "WRONG";
            } catch (Exception | LinkageError failure) {
                outcome = "FAILED: " + failure;
            }
            failed += outcome.equals("ok") ? 0 : 1;
            System.out.println(one.getKey() + ": " + outcome);
        }
        System.out.println(cases.size() + " cases, " + failed + " failed, provider "
                + new SecureRandom().getProvider().getName());
        System.exit(failed == 0 ? 0 : 1);
    }

    private static void java(Map<String, Case> cases) {
        cases.put("UUID.randomUUID", () -> {
            Set<UUID> seen = new HashSet<>();
            for (int i = 0; i < 10_000; i++) {
                seen.add(UUID.randomUUID());
            }
            return seen.size() == 10_000;
        });
        cases.put("Files.createTempFile", () -> {
            Path first = Files.createTempFile("outside", ".tmp");
            Path second = Files.createTempFile("outside", ".tmp");
            Files.delete(first);
            Files.delete(second);
            return !first.equals(second);
        });
        cases.put("Files.createTempDirectory", () -> {
            Path folder = Files.createTempDirectory("outside");
            Files.delete(folder);
            return true;
        });
        cases.put("BigInteger.probablePrime",
                () -> BigInteger.probablePrime(512, new SecureRandom()).bitLength() == 512);
        cases.put("new BigInteger(bits, random)",
                () -> new BigInteger(4096, new SecureRandom()).bitLength() > 4000);
        cases.put("Collections.shuffle", () -> {
            List<Integer> list = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                list.add(i);
            }
            List<Integer> shuffled = new ArrayList<>(list);
            Collections.shuffle(shuffled, new SecureRandom());
            return !shuffled.equals(list) && new HashSet<>(shuffled).equals(new HashSet<>(list));
        });
        cases.put("SecureRandom.ints, doubles, nextGaussian", () -> {
            SecureRandom random = new SecureRandom();
            return random.ints(1000, 0, 10).distinct().count() == 10
                    && random.doubles(1000).allMatch(x -> x >= 0 && x < 1)
                    && Math.abs(random.nextGaussian()) < 20;
        });
        cases.put("SecureRandom.getSeed", () -> SecureRandom.getSeed(20).length == 20);
        cases.put("SecureRandom of a seed", () -> new SecureRandom(MESSAGE).nextLong()
                != new SecureRandom(MESSAGE).nextLong());
        cases.put("java.rmi.server.ObjID", () -> !new java.rmi.server.ObjID()
                .equals(new java.rmi.server.ObjID()));
        cases.put("parallel streams", () -> {
            SecureRandom random = new SecureRandom();
            return java.util.stream.IntStream.range(0, 20_000).parallel()
                    .mapToObj(i -> random.nextLong()).distinct().count() == 20_000;
        });
    }

    private static KeyPair pair(String algorithm, int size) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (size != 0) {
            generator.initialize(size);
        }
        return generator.generateKeyPair();
    }

    private static Case signs(String keys, int size, String algorithm) {
        return () -> {
            KeyPair pair = pair(keys, size);
            Signature signature = Signature.getInstance(algorithm);
            if (algorithm.equals("RSASSA-PSS")) {
                signature.setParameter(new java.security.spec.PSSParameterSpec("SHA-256", "MGF1",
                        java.security.spec.MGF1ParameterSpec.SHA256, 32, 1));
            }
            signature.initSign(pair.getPrivate());
            signature.update(MESSAGE);
            byte[] signed = signature.sign();
            signature.initVerify(pair.getPublic());
            signature.update(MESSAGE);
            return signature.verify(signed);
        };
    }

    private static Case agrees(String keys, int size, String algorithm) {
        return () -> {
            KeyPair one = pair(keys, size);
            KeyPair two = pair(keys, size);
            KeyAgreement first = KeyAgreement.getInstance(algorithm);
            first.init(one.getPrivate());
            first.doPhase(two.getPublic(), true);
            KeyAgreement second = KeyAgreement.getInstance(algorithm);
            second.init(two.getPrivate());
            second.doPhase(one.getPublic(), true);
            return Arrays.equals(first.generateSecret(), second.generateSecret());
        };
    }

    private static void keys(Map<String, Case> cases) {
        cases.put("RSA 2048, SHA256withRSA", signs("RSA", 2048, "SHA256withRSA"));
        cases.put("RSA 2048, RSASSA-PSS", signs("RSA", 2048, "RSASSA-PSS"));
        cases.put("EC P-256, ECDSA", signs("EC", 256, "SHA256withECDSA"));
        cases.put("EC P-521, ECDSA", signs("EC", 521, "SHA512withECDSA"));
        cases.put("Ed25519", signs("Ed25519", 0, "Ed25519"));
        cases.put("Ed448", signs("Ed448", 0, "Ed448"));
        cases.put("DSA 2048", signs("DSA", 2048, "SHA256withDSA"));
        cases.put("EC P-384, ECDH", agrees("EC", 384, "ECDH"));
        cases.put("X25519", agrees("X25519", 0, "X25519"));
        cases.put("X448", agrees("X448", 0, "X448"));
        cases.put("DH 2048", () -> {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("DH");
            generator.initialize(2048);
            KeyPair one = generator.generateKeyPair();
            KeyPair two = generator.generateKeyPair();
            return !one.getPublic().equals(two.getPublic());
        });
        cases.put("SignedObject", () -> {
            KeyPair pair = pair("EC", 256);
            SignedObject signed = new SignedObject("text", pair.getPrivate(),
                    Signature.getInstance("SHA256withECDSA"));
            return signed.verify(pair.getPublic(), Signature.getInstance("SHA256withECDSA"));
        });
        cases.put("KeyStore PKCS12", () -> {
            char[] password = "password".toCharArray();
            SecretKey key = KeyGenerator.getInstance("AES").generateKey();
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, password);
            store.setEntry("key", new KeyStore.SecretKeyEntry(key),
                    new KeyStore.PasswordProtection(password));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            store.store(bytes, password);
            KeyStore again = KeyStore.getInstance("PKCS12");
            again.load(new ByteArrayInputStream(bytes.toByteArray()), password);
            return key.equals(again.getKey("key", password));
        });
    }

    /** Encrypts twice with an IV that the JDK draws, and decrypts. */
    private static Case encrypts(String transformation, Class<? extends
            java.security.spec.AlgorithmParameterSpec> parameters) {
        return () -> {
            SecretKey key = KeyGenerator.getInstance("AES").generateKey();
            Cipher cipher = Cipher.getInstance(transformation);
            cipher.init(Cipher.ENCRYPT_MODE, key);
            byte[] iv = cipher.getIV();
            byte[] text = cipher.doFinal(MESSAGE);
            AlgorithmParameters used = cipher.getParameters();
            cipher.init(Cipher.ENCRYPT_MODE, key);
            boolean differs = !Arrays.equals(iv, cipher.getIV());
            cipher.init(Cipher.DECRYPT_MODE, key, used.getParameterSpec(parameters));
            return differs && Arrays.equals(MESSAGE, cipher.doFinal(text));
        };
    }

    private static void ciphers(Map<String, Case> cases) {
        cases.put("KeyGenerator AES 256", () -> {
            KeyGenerator generator = KeyGenerator.getInstance("AES");
            generator.init(256);
            return !generator.generateKey().equals(generator.generateKey());
        });
        cases.put("KeyGenerator HmacSHA256", () -> KeyGenerator.getInstance("HmacSHA256")
                .generateKey().getEncoded().length == 32);
        cases.put("AES/GCM with the JDK's IV",
                encrypts("AES/GCM/NoPadding", GCMParameterSpec.class));
        cases.put("AES/CBC with the JDK's IV",
                encrypts("AES/CBC/PKCS5Padding", javax.crypto.spec.IvParameterSpec.class));
        cases.put("ChaCha20-Poly1305", () -> {
            SecretKey key = KeyGenerator.getInstance("ChaCha20").generateKey();
            Cipher cipher = Cipher.getInstance("ChaCha20-Poly1305");
            cipher.init(Cipher.ENCRYPT_MODE, key);
            byte[] text = cipher.doFinal(MESSAGE);
            Cipher back = Cipher.getInstance("ChaCha20-Poly1305");
            back.init(Cipher.DECRYPT_MODE, key,
                    new javax.crypto.spec.IvParameterSpec(cipher.getIV()));
            return Arrays.equals(MESSAGE, back.doFinal(text));
        });
        cases.put("RSA/OAEP", () -> {
            KeyPair pair = pair("RSA", 2048);
            Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPWithSHA-256AndMGF1Padding");
            cipher.init(Cipher.ENCRYPT_MODE, pair.getPublic());
            byte[] text = cipher.doFinal(MESSAGE);
            cipher.init(Cipher.DECRYPT_MODE, pair.getPrivate());
            return Arrays.equals(MESSAGE, cipher.doFinal(text));
        });
        cases.put("PBKDF2 with a random salt", () -> {
            byte[] salt = new byte[16];
            new SecureRandom().nextBytes(salt);
            PBEKeySpec spec = new PBEKeySpec("password".toCharArray(), salt, 1000, 256);
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec)
                    .getEncoded().length == 32;
        });
        cases.put("PBES2 with the JDK's salt and IV", () -> {
            String name = "PBEWithHmacSHA256AndAES_256";
            SecretKey key = SecretKeyFactory.getInstance(name)
                    .generateSecret(new PBEKeySpec("password".toCharArray()));
            Cipher cipher = Cipher.getInstance(name);
            cipher.init(Cipher.ENCRYPT_MODE, key);
            byte[] text = cipher.doFinal(MESSAGE);
            Cipher back = Cipher.getInstance(name);
            back.init(Cipher.DECRYPT_MODE, key, cipher.getParameters());
            return Arrays.equals(MESSAGE, back.doFinal(text));
        });
        cases.put("SealedObject", () -> {
            SecretKey key = KeyGenerator.getInstance("AES").generateKey();
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, key);
            return "text".equals(new SealedObject("text", cipher).getObject(key));
        });
    }

    /** Algorithms of later versions, which an older JDK lacks. */
    private static void newer(Map<String, Case> cases) {
        for (Provider provider : Security.getProviders()) {
            if (provider.getService("KeyPairGenerator", "ML-DSA") != null) {
                cases.put("ML-DSA", signs("ML-DSA", 0, "ML-DSA"));
                cases.put("ML-KEM", () -> !pair("ML-KEM", 0).getPublic()
                        .equals(pair("ML-KEM", 0).getPublic()));
            }
        }
    }
}
