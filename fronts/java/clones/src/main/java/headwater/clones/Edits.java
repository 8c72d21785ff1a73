package headwater.clones;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/** Edits the JDK's generators, all of them or none. */
final class Edits implements ClassFileTransformer {
    private static final Class<?>[] ALWAYS = {
        Random.class, ThreadLocalRandom.class, SecureRandom.class, SplittableRandom.class,
    };

    /** The modules of the generators; the algorithms of RandomGenerator had one until Java 22. */
    private static final Set<String> MODULES = Set.of("java.base", "jdk.random");

    private final boolean renewsSeeded;
    /** The last failure; the JVM itself drops what a transformer throws. */
    private volatile Throwable failure;
    private volatile boolean isApplied;

    private Edits(boolean renewsSeeded) {
        this.renewsSeeded = renewsSeeded;
    }

    static void apply(Instrumentation jvm, boolean renewsSeeded) {
        if (!jvm.isRetransformClassesSupported()) {
            throw new IllegalStateException("headwater-clones: this JVM lets no agent edit loaded classes");
        }
        Edits edits = new Edits(renewsSeeded);
        List<Class<?>> loaded = new ArrayList<>(List.of(ALWAYS));
        for (Class<?> one : jvm.getAllLoadedClasses()) {
            if (GeneratorEditor.isAlgorithm(one.getName().replace('.', '/'))) {
                loaded.add(one);
            }
        }
        jvm.addTransformer(edits, true);
        Throwable failure = edits.run(jvm, loaded);
        if (failure == null) {
            edits.isApplied = true;
            return;
        }
        // What was edited loses its edits by another pass without this transformer.
        jvm.removeTransformer(edits);
        Throwable second = edits.run(jvm, loaded);
        String also = second == null ? "" : "; and the edits cannot be taken back: " + second;
        throw new IllegalStateException("headwater-clones: cannot edit the generators of Java "
                + Runtime.version() + ": " + failure.getMessage() + also, failure);
    }

    private Throwable run(Instrumentation jvm, List<Class<?>> loaded) {
        failure = null;
        try {
            jvm.retransformClasses(loaded.toArray(new Class<?>[0]));
        } catch (UnmodifiableClassException | LinkageError refused) {
            return refused;
        }
        return failure;
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> present,
            ProtectionDomain domain, byte[] code) {
        // A program may have a package of such a name outside the JDK's modules.
        boolean isOfJdk = module.isNamed() && MODULES.contains(module.getName());
        if (!isOfJdk || name == null || !GeneratorEditor.isEdited(name)) {
            return null;
        }
        try {
            ClassReader reader = new ClassReader(code);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            GeneratorEditor editor = new GeneratorEditor(writer, name, renewsSeeded);
            reader.accept(editor, 0);
            editor.requireAll();
            return writer.toByteArray();
        } catch (RuntimeException | LinkageError refused) {
            failure = refused;
            if (isApplied) {
                // The program runs already, and this class is loaded only now.
                System.err.println("headwater-clones: " + name.replace('/', '.')
                        + " is not renewed in copies: " + refused.getMessage());
            }
            return null;
        }
    }
}
