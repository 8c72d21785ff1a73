package headwater.spark;

import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Hashes of values, each with the hash of those before it as its seed. Generated code calls them.
 *
 * <p>The argument's primitive type says what is hashed. Dates are ints, as booleans are after their
 * own method, and timestamps are longs, as integers are; integers of other widths are widened.
 */
public final class Keys {
    /** The seed of Spark's {@code xxhash64}. */
    static final long SEED = 42;

    private Keys() {}

    static boolean has(DataType type) {
        return Types.isId(type) || type instanceof StringType || type instanceof BinaryType
                || type instanceof BooleanType || type instanceof DateType
                || type instanceof TimestampType || type instanceof TimestampNTZType
                || type instanceof NullType;
    }

    /** Returns the hash of a value of this type that is not null. */
    static long hash(DataType type, Object value, long seed) {
        if (value instanceof UTF8String) {
            return of((UTF8String) value, seed);
        }
        if (value instanceof byte[]) {
            return of((byte[]) value, seed);
        }
        if (value instanceof Boolean) {
            return of((boolean) (Boolean) value, seed);
        }
        if (value instanceof Decimal) {
            return of((Decimal) value, seed);
        }
        long number = ((Number) value).longValue();
        return type instanceof DateType ? ofDays((int) number, seed) : of(number, seed);
    }

    /** Returns the hash of a text. */
    public static long of(UTF8String text, long seed) {
        return XXH64.hashUnsafeBytes(
                text.getBaseObject(), text.getBaseOffset(), text.numBytes(), seed);
    }

    /** Returns the hash of bytes. */
    public static long of(byte[] bytes, long seed) {
        return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, seed);
    }

    /** Returns the hash of a whole number or of a timestamp. */
    public static long of(long number, long seed) {
        return XXH64.hashLong(number, seed);
    }

    /** Returns the hash of a boolean. */
    public static long of(boolean flag, long seed) {
        return XXH64.hashInt(flag ? 1 : 0, seed);
    }

    /** Returns the hash of a date: its days since 1970. */
    public static long ofDays(int days, long seed) {
        return XXH64.hashInt(days, seed);
    }

    /** Returns the hash of a decimal without digits. */
    public static long of(Decimal number, long seed) {
        BigInteger whole = number.toJavaBigInteger();
        boolean fits = whole.signum() < 0 ? whole.bitLength() < Types.BITS
                : whole.bitLength() <= Types.BITS;
        if (!fits) {
            throw new IllegalArgumentException("the value " + whole
                    + " in hw_key() is not an integer of 64 bits");
        }
        return XXH64.hashLong(whole.longValue(), seed);
    }
}
