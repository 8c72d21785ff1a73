package headwater;

/**
 * The values of a {@link RowPlan}, asked for one row after the other by one thread.
 *
 * <p>A value depends on the plan and the id alone. But ids that come one after the other are
 * computed in blocks, so that most calls read an array: tables are usually read in the order of
 * their ids, and a call of the native library costs more than a number.
 */
public final class Rows {
    /** Elements of the first block of a run of ids, and of the longest one. */
    private static final int FIRST = 8;
    private static final int LONGEST = 512;
    /** The ids that a run may leave out between two, as one partition of a few does. */
    private static final long NEAR = 4;
    /** The bits that {@link Native#one} returns if there is no element, or if it has these bits. */
    static final long NONE = 0x7ff8_6865_6164_7761L;

    private final RowPlan plan;
    private final boolean isUnsigned;
    /** The last id, as an unsigned number. */
    private final long last;
    /** Made with the first block, as single calls need no array. */
    private double[] reals;
    private long[] words;
    /**
     * The elements in the array: from {@code start} on, so many doubles or longs. Of the other type
     * there are none, so that a method of the wrong type reads no array and is refused.
     */
    private long start;
    private int filledReals;
    private int filledWords;
    /** The id after the last one that was computed, and the length of the next block. */
    private long next;
    private int length = FIRST;

    Rows(RowPlan plan, boolean isUnsigned) {
        Draw.require();
        this.plan = plan;
        this.isUnsigned = isUnsigned;
        // A block that went on past 2^63 - 1 would have elements at negative ids.
        this.last = isUnsigned || plan.last >= 0 ? plan.last : Long.MAX_VALUE;
    }

    /**
     * Returns the double of a row.
     *
     * @throws IllegalStateException if the plan's numbers are longs
     */
    public double real(long id) {
        long at = id - start;
        if (at >= 0 && at < filledReals) {
            return reals[(int) at];
        }
        if (!plan.kind.isReal) {
            throw wrongType("longs: whole(id)");
        }
        return Double.longBitsToDouble(missed(id));
    }

    /**
     * Returns the long of a row; for {@code hw_order} the word less 2^63, which keeps the order.
     *
     * @throws IllegalStateException if the plan's numbers are doubles
     */
    public long whole(long id) {
        long word = word(id);
        return plan.way == RowFunction.Way.ORDER ? word ^ Long.MIN_VALUE : word;
    }

    /**
     * Returns true if a row is in the sample.
     *
     * @throws IllegalStateException unless the plan is one of {@code hw_sample}
     */
    public boolean isIn(long id) {
        require(RowFunction.Way.SAMPLE);
        return word(id) + Long.MIN_VALUE < plan.below + Long.MIN_VALUE || plan.isWhole;
    }

    /**
     * Returns the number of a row's part.
     *
     * @throws IllegalStateException unless the plan is one of {@code hw_split}
     */
    public short part(long id) {
        require(RowFunction.Way.SPLIT);
        long word = word(id);
        if (plan.borders == null) {
            // The upper half of the product of 128 bits, from its halves of 32.
            long low = (word & 0xffff_ffffL) * plan.parts;
            return (short) ((word >>> 32) * plan.parts + (low >>> 32) >>> 32);
        }
        int part = 0;
        for (long border : plan.borders) {
            part += word + Long.MIN_VALUE >= border + Long.MIN_VALUE ? 1 : 0;
        }
        return (short) part;
    }

    /**
     * Returns the number by which a row is sorted in a weighted sample.
     *
     * @throws IllegalArgumentException unless the weight is 0 or a finite number from 1e-306 on
     */
    public double weighted(long id, double weight) {
        checkWeight(weight);
        double number = real(id);
        return weight == 0.0 ? Double.POSITIVE_INFINITY : number / weight;
    }

    /** Throws unless a weight is one. */
    public static void checkWeight(double weight) {
        if (!(weight >= 0.0 && weight < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("weights must be finite numbers from 0, not "
                    + weight + ": leave such rows out, or give them the weight 0");
        }
        // An exponential number is at most 45. Over a weight below this one it may be infinity,
        // which is what the weight 0 has, and a row that may be drawn would never be.
        if (weight > 0.0 && weight < 1e-306) {
            throw new IllegalArgumentException("weights above 0 must be from 1e-306 on, not "
                    + weight + ": multiply all of them by the same power of 2, such as 2^100,"
                    + " which changes no order");
        }
    }

    /** Returns the bits of a row's element. */
    long bits(long id) {
        return plan.kind.isReal ? Double.doubleToRawLongBits(real(id)) : word(id);
    }

    private long word(long id) {
        long at = id - start;
        if (at >= 0 && at < filledWords) {
            return words[(int) at];
        }
        if (plan.kind.isReal) {
            throw wrongType("doubles: real(id)");
        }
        return missed(id);
    }

    private void require(RowFunction.Way way) {
        if (plan.way != way) {
            throw wrongType(plan.kind.isReal ? "doubles: real(id)" : "longs: whole(id)");
        }
    }

    private IllegalStateException wrongType(String right) {
        return new IllegalStateException(plan + " has " + right + " returns them");
    }

    /** Returns the bits of an element that is not in the array. */
    private long missed(long id) {
        check(id);
        long gap = id - next;
        if (gap < 0 || gap >= NEAR) {
            length = FIRST;
            next = id + 1;
            return single(id);
        }
        long left = last - id; // as unsigned numbers
        int many = left >= 0 && left < length ? (int) left + 1 : length;
        // Nothing is in the array if the call throws.
        filledReals = 0;
        filledWords = 0;
        if (plan.kind.isReal && reals == null) {
            reals = new double[LONGEST];
        } else if (!plan.kind.isReal && words == null) {
            words = new long[LONGEST];
        }
        Object out = plan.kind.isReal ? reals : words;
        int result = Native.draw(plan.kind.number, plan.kind.dtype, plan.engine, plan.low,
                plan.high, 0, id, plan.parameters, out, 0, many);
        if (result != 0) {
            throw refused(id, result);
        }
        start = id;
        filledReals = plan.kind.isReal ? many : 0;
        filledWords = plan.kind.isReal ? 0 : many;
        next = id + many;
        length = Math.min(LONGEST, 2 * length);
        return plan.kind.isReal ? Double.doubleToRawLongBits(reals[0]) : words[0];
    }

    /** Returns the bits of one element, without a block. */
    private long single(long id) {
        long bits = Native.one(plan.kind.number, plan.kind.dtype, plan.engine, plan.low, plan.high,
                0, plan.first, plan.second, plan.third, plan.fourth, id);
        if (bits != NONE) {
            return bits;
        }
        long[] ids = {id};
        Object out = plan.kind.isReal ? new double[1] : new long[1];
        int result = Native.drawAt(plan.kind.number, plan.kind.dtype, plan.engine, plan.low,
                plan.high, 0, plan.parameters, ids, 0, 1, out, 0, 1);
        if (result != 0) {
            throw refused(id, result);
        }
        return plan.kind.isReal ? Double.doubleToRawLongBits(((double[]) out)[0])
                : ((long[]) out)[0];
    }

    /** Throws unless a row has an element. */
    void check(long id) {
        if (id < 0 && !isUnsigned) {
            throw negative(plan, Long.toString(id));
        }
        if (plan.isEmpty || Long.compareUnsigned(id, plan.last) > 0) {
            throw past(plan, Long.toUnsignedString(id));
        }
    }

    static IllegalArgumentException negative(RowPlan plan, String id) {
        return new IllegalArgumentException("id " + id + " in " + plan + " is negative: ids count"
                + " from 0, and hw_key() makes one of any integer");
    }

    static IllegalArgumentException past(RowPlan plan, String id) {
        if (plan.isEmpty) {
            return new IllegalArgumentException("id " + id + " in " + plan
                    + " is more than a permutation of 0 has");
        }
        // Not of a permutation, whose ids are places.
        boolean isOfAll = Long.compareUnsigned(plan.last, Long.MAX_VALUE) >= 0;
        return new IllegalArgumentException("id " + id + " in " + plan + " is past the end: the"
                + " last id is " + Long.toUnsignedString(plan.last)
                + (isOfAll ? ", and hw_key() makes a smaller one" : ""));
    }

    private IllegalStateException refused(long id, int result) {
        return new IllegalStateException("headwater: " + plan + " was refused for id "
                + Long.toUnsignedString(id) + ": " + result);
    }
}
