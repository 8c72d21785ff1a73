package headwater.clones;

import static org.objectweb.asm.Opcodes.ASM9;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles.Lookup;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/**
 * Brings the classes of {@code headwater.hooks} to where the JDK's generators see them: into their
 * own package, under names of their own.
 *
 * <p>An agent may also append a jar to the bootstrap class path. But then the JVM warns at every
 * start, and no longer shares the classes of the program, which start slower.
 */
final class Hooks {
    private static final String[] CLASSES = {"Copies", "Copies$Begun", "Copies$Salt", "Seed"};
    private static final String HERE = "headwater/hooks/";
    private static final String THERE = "java/util/Headwater";

    /** The internal name of the class that the generators call. */
    static final String COPIES = THERE + "Copies";

    private Hooks() {}

    /** Defines the classes, and returns the one that the generators call. */
    static Class<?> define(Instrumentation jvm) throws IOException, ReflectiveOperationException {
        Map<String, byte[]> codes = new LinkedHashMap<>();
        for (String name : CLASSES) {
            codes.put(name, renamed(code(HERE + name)));
        }
        Lookup lookup = lookup(jvm);
        Class<?> copies = null;
        for (Map.Entry<String, byte[]> code : codes.entrySet()) {
            Class<?> defined = lookup.defineClass(code.getValue());
            copies = code.getKey().equals("Copies") ? defined : copies;
        }
        return copies;
    }

    /**
     * Returns a lookup in the generators' package.
     *
     * <p>The package has to be open to the module that asks. If that was the agent's own, which it
     * shares with the program, the program could from then on reach into the JDK.
     */
    private static Lookup lookup(Instrumentation jvm)
            throws IOException, ReflectiveOperationException {
        Alone loader = new Alone();
        jvm.redefineModule(Random.class.getModule(), Set.of(), Map.of(),
                Map.of(Random.class.getPackageName(), Set.of(loader.getUnnamedModule())),
                Set.of(), Map.of());
        Class<?> inside = loader.define(code("headwater/clones/Inside"));
        return (Lookup) ((Supplier<?>) inside.getConstructor().newInstance()).get();
    }

    /** A loader of one class, and so a module of one class. */
    private static final class Alone extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    private static byte[] renamed(byte[] code) {
        ClassWriter writer = new ClassWriter(0);
        Remapper remapper = new Remapper(ASM9) {
            @Override
            public String map(String name) {
                return name.startsWith(HERE) ? THERE + name.substring(HERE.length()) : name;
            }
        };
        new ClassReader(code).accept(new ClassRemapper(writer, remapper), 0);
        return writer.toByteArray();
    }

    private static byte[] code(String name) throws IOException {
        try (InputStream code = Hooks.class.getResourceAsStream("/" + name + ".class")) {
            if (code == null) {
                throw new IOException("the agent's jar has no " + name);
            }
            return code.readAllBytes();
        }
    }
}
