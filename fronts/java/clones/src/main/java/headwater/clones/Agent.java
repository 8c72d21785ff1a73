package headwater.clones;

import headwater.CopiesMemory;
import headwater.Headwater;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Renews the JDK's generators in copies of the process and of its machine: {@code java
 * -javaagent:headwater-clones.jar}. See docs/adapters.md.
 */
public final class Agent {
    private static final String NAME = "headwater-clones: ";
    private static boolean isInstalled;

    private Agent() {}

    /**
     * Edits the generators before {@code main}. The JVM calls it. If it cannot be done the JVM ends
     * here: a program must not run on weaker assumptions than it was started with, and an exception
     * would end it by a core dump.
     */
    public static void premain(String arguments, Instrumentation jvm) {
        try {
            install(arguments, jvm);
        } catch (RuntimeException | LinkageError failure) {
            System.err.println(failure.getMessage());
            Runtime.getRuntime().halt(1);
        }
    }

    /** Edits the generators of a running JVM. Random objects that exist then are not renewed. */
    public static void agentmain(String arguments, Instrumentation jvm) {
        install(arguments, jvm);
    }

    /** Throws if something cannot be renewed that the page promises; nothing is changed then. */
    private static synchronized void install(String arguments, Instrumentation jvm) {
        boolean renewsSeeded = "seeded".equals(arguments);
        if (!renewsSeeded && arguments != null && !arguments.isEmpty()) {
            throw new IllegalArgumentException(NAME + "unknown argument " + arguments
                    + "; there is one, seeded: renews also what the program has seeded");
        }
        if (isInstalled) {
            return;
        }
        boolean processes = CopiesMemory.seesProcesses();
        boolean machines = CopiesMemory.seesMachines();
        try {
            Hooks.define(jvm).getMethod("begin", ByteBuffer.class, ByteBuffer.class,
                    LongSupplier.class, Consumer.class, boolean.class, boolean.class)
                    .invoke(null, CopiesMemory.word(), CopiesMemory.count(),
                            (LongSupplier) Headwater::copies,
                            (Consumer<byte[]>) Headwater::fill, machines, renewsSeeded);
        } catch (IOException | ReflectiveOperationException failure) {
            throw new IllegalStateException(NAME + "cannot define its hooks: " + failure, failure);
        }
        Edits.apply(jvm, renewsSeeded);
        isInstalled = true;
        if (!processes && !machines) {
            System.err.println(NAME + "no copy can be seen here, so nothing is renewed: copies of"
                    + " processes need Linux 6.11, those of machines VMClock or a running"
                    + " `headwater clones watch`");
        } else if (Boolean.getBoolean("headwater.verbose")) {
            String both = machines ? "processes and machines" : "processes";
            System.err.println(NAME + "renews Random, ThreadLocalRandom and SecureRandom in copies"
                    + " of " + (processes ? both : "machines"));
        }
    }
}
