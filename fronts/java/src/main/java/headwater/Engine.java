package headwater;

/** The functions that make a stream's numbers from its key. Their order is part of the library. */
public enum Engine {
    /** AES rounds, the default, and the fastest where the CPU has AES. */
    ARS7("ars7"),
    /** Five rounds instead of seven, bit-compatible with Intel's MKL. */
    ARS5("ars5"),
    /** Philox4x32-10, the fastest where the CPU has no AES. */
    PHILOX4X32("philox4x32");

    private final String label;

    Engine(String label) {
        this.label = label;
    }

    /** Returns the name that STREAMS.md and the command {@code headwater stream} use. */
    @Override
    public String toString() {
        return label;
    }
}
