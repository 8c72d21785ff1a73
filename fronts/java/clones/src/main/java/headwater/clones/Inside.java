package headwater.clones;

import java.lang.invoke.MethodHandles;
import java.util.Random;
import java.util.function.Supplier;

/** Asks for a lookup in java.util, from a module to which {@link Hooks} has opened it. */
public final class Inside implements Supplier<MethodHandles.Lookup> {
    @Override
    public MethodHandles.Lookup get() {
        try {
            return MethodHandles.privateLookupIn(Random.class, MethodHandles.lookup());
        } catch (IllegalAccessException refused) {
            throw new IllegalStateException("java.util stays closed", refused);
        }
    }
}
