package headwater.clones;

import static org.objectweb.asm.Opcodes.ALOAD;
import static org.objectweb.asm.Opcodes.ASM9;
import static org.objectweb.asm.Opcodes.F_SAME;
import static org.objectweb.asm.Opcodes.GETFIELD;
import static org.objectweb.asm.Opcodes.IFNE;
import static org.objectweb.asm.Opcodes.INVOKESTATIC;
import static org.objectweb.asm.Opcodes.INVOKEVIRTUAL;
import static org.objectweb.asm.Opcodes.LRETURN;
import static org.objectweb.asm.Opcodes.PUTFIELD;
import static org.objectweb.asm.Opcodes.RETURN;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;

/**
 * Inserts the calls of {@code headwater.hooks.Copies} into one generator.
 *
 * <p>Nothing is replaced, and no member is added, which a loaded class would not allow. An edit
 * that finds no place leaves its name in {@link #requireAll}: another Java may have other code.
 */
final class GeneratorEditor extends ClassVisitor {
    private static final String ATOMIC = "java/util/concurrent/atomic/AtomicLong";
    private static final String STATE = "L" + ATOMIC + ";";
    private static final String RANDOM = "java/util/Random";
    private static final String SECURE = "java/security/SecureRandom";
    private static final String PARAMETERS = "Ljava/security/SecureRandomParameters;";

    /** The places that each class must have: fields by their types, methods by their edits. */
    private static final Map<String, Set<String>> PLACES = Map.of(
            RANDOM, Set.of("seed" + STATE, "haveNextNextGaussianZ", "<init>()V", "setSeed(J)V",
                    "next(I)I", "nextGaussian()D"),
            "java/util/concurrent/ThreadLocalRandom", Set.of("nextSeed()J"),
            "java/util/SplittableRandom", Set.of("<init>()V"),
            SECURE, Set.of("counterJ", "setSeed([B)V", "nextBytes([B)V",
                    "nextBytes([B" + PARAMETERS + ")V"));
    private static final Set<String> ALGORITHM_PLACES = Set.of("<init>()V");

    private final String name;
    private final boolean renewsSeeded;
    private final Set<String> missing;

    GeneratorEditor(ClassVisitor next, String name, boolean renewsSeeded) {
        super(ASM9, next);
        this.name = name;
        this.renewsSeeded = renewsSeeded;
        missing = new TreeSet<>(PLACES.getOrDefault(name, ALGORITHM_PLACES));
        if (renewsSeeded && name.equals(RANDOM)) {
            // It calls the one with a seed, which is edited in its place.
            missing.remove("<init>()V");
            missing.add("<init>(J)V");
        }
    }

    /** Returns true for a class of {@code RandomGenerator.of()}, by its internal name. */
    static boolean isAlgorithm(String name) {
        // Moved within the JDK by JDK-8331535 (Java 23).
        boolean isThere = name.startsWith("jdk/random/") || name.startsWith("jdk/internal/random/");
        return isThere && name.indexOf('$') < 0;
    }

    static boolean isEdited(String name) {
        return PLACES.containsKey(name) || isAlgorithm(name);
    }

    /** Throws unless every edit has found its place. */
    void requireAll() {
        if (!missing.isEmpty()) {
            throw new IllegalStateException(
                    name.replace('/', '.') + " has no place for the edits " + missing);
        }
    }

    @Override
    public FieldVisitor visitField(int access, String field, String type, String signature,
            Object value) {
        missing.remove(field + type);
        return super.visitField(access, field, type, signature, value);
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String type, String signature,
            String[] exceptions) {
        MethodVisitor next = super.visitMethod(access, method, type, signature, exceptions);
        String place = method + type;
        if (!missing.contains(place)) {
            return next;
        }
        return switch (name) {
            case RANDOM -> switch (place) {
                case "setSeed(J)V" -> new AtStart(next, place, this::noteSeed);
                case "next(I)I" -> new AtStart(next, place, this::refresh);
                case "nextGaussian()D" -> new AtStart(next, place, this::checkGaussian);
                default -> new Before(next, place, RETURN, this::ownState);
            };
            case SECURE -> place.startsWith("setSeed")
                    ? new AtStart(next, place, this::noteSecureSeed)
                    : new AtStart(next, place, this::reseed);
            case "java/util/concurrent/ThreadLocalRandom" ->
                    new Before(next, place, LRETURN, this::addSalt);
            default -> new AfterCounter(next, place);
        };
    }

    // --- the inserted code ---------------------------------------------------------------------

    /** {@code Copies.seeded(seed)}. */
    private void noteSeed(MethodVisitor code) {
        state(code);
        hook(code, "seeded", "(" + STATE + ")V");
    }

    /** {@code Copies.random(seed)}. */
    private void refresh(MethodVisitor code) {
        state(code);
        hook(code, "random", "(" + STATE + ")V");
    }

    /** {@code haveNextNextGaussian = Copies.gaussian(this, seed, haveNextNextGaussian)}. */
    private void checkGaussian(MethodVisitor code) {
        code.visitVarInsn(ALOAD, 0);
        code.visitVarInsn(ALOAD, 0);
        state(code);
        code.visitVarInsn(ALOAD, 0);
        code.visitFieldInsn(GETFIELD, RANDOM, "haveNextNextGaussian", "Z");
        hook(code, "gaussian", "(L" + RANDOM + ";" + STATE + "Z)Z");
        code.visitFieldInsn(PUTFIELD, RANDOM, "haveNextNextGaussian", "Z");
    }

    /** {@code seed = Copies.own(seed)}, in a constructor, which alone may set the final field. */
    private void ownState(MethodVisitor code) {
        code.visitVarInsn(ALOAD, 0);
        state(code);
        hook(code, "own", "(" + STATE + ")" + STATE);
        code.visitFieldInsn(PUTFIELD, RANDOM, "seed", STATE);
    }

    /** {@code Copies.salted(...)} of the long on the stack. */
    private void addSalt(MethodVisitor code) {
        hook(code, "salted", "(J)J");
    }

    /** {@code counter = Copies.seeded(this, counter)}. */
    private void noteSecureSeed(MethodVisitor code) {
        setCounter(code, "seeded");
    }

    /**
     * {@code if (!Copies.isCurrent(counter)) counter = Copies.reseed(this, counter)}. The condition
     * spares a store into an object that many threads share.
     */
    private void reseed(MethodVisitor code) {
        Label draw = new Label();
        code.visitVarInsn(ALOAD, 0);
        code.visitFieldInsn(GETFIELD, SECURE, "counter", "J");
        hook(code, "isCurrent", "(J)Z");
        code.visitJumpInsn(IFNE, draw);
        setCounter(code, "reseed");
        code.visitLabel(draw);
        // As at the method's start, so the frames after it, which build on this one, stay right.
        code.visitFrame(F_SAME, 0, null, 0, null);
    }

    private void setCounter(MethodVisitor code, String hook) {
        code.visitVarInsn(ALOAD, 0);
        code.visitVarInsn(ALOAD, 0);
        code.visitVarInsn(ALOAD, 0);
        code.visitFieldInsn(GETFIELD, SECURE, "counter", "J");
        hook(code, hook, "(L" + SECURE + ";J)J");
        code.visitFieldInsn(PUTFIELD, SECURE, "counter", "J");
    }

    private static void state(MethodVisitor code) {
        code.visitVarInsn(ALOAD, 0);
        code.visitFieldInsn(GETFIELD, RANDOM, "seed", STATE);
    }

    private static void hook(MethodVisitor code, String method, String type) {
        code.visitMethodInsn(INVOKESTATIC, Hooks.COPIES, method, type, false);
    }

    // --- places --------------------------------------------------------------------------------

    private interface Code {
        void write(MethodVisitor code);
    }

    /** Inserts code at the start of a method. */
    private final class AtStart extends MethodVisitor {
        private final String place;
        private final Code inserted;

        AtStart(MethodVisitor next, String place, Code inserted) {
            super(ASM9, next);
            this.place = place;
            this.inserted = inserted;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            inserted.write(mv);
            missing.remove(place);
        }
    }

    /** Inserts code before each instruction that returns. */
    private final class Before extends MethodVisitor {
        private final String place;
        private final int end;
        private final Code inserted;

        Before(MethodVisitor next, String place, int end, Code inserted) {
            super(ASM9, next);
            this.place = place;
            this.end = end;
            this.inserted = inserted;
        }

        @Override
        public void visitInsn(int instruction) {
            if (instruction == end) {
                inserted.write(mv);
                missing.remove(place);
            }
            super.visitInsn(instruction);
        }
    }

    /** Inserts the salt after a constructor has taken its seed from the class's own counter. */
    private final class AfterCounter extends MethodVisitor {
        private final String place;

        AfterCounter(MethodVisitor next, String place) {
            super(ASM9, next);
            this.place = place;
        }

        @Override
        public void visitMethodInsn(int instruction, String owner, String method, String type,
                boolean isInterface) {
            super.visitMethodInsn(instruction, owner, method, type, isInterface);
            if (instruction == INVOKEVIRTUAL && owner.equals(ATOMIC)
                    && method.equals("getAndAdd")) {
                addSalt(mv);
                missing.remove(place);
            }
        }
    }
}
