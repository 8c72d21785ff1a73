package headwater.spark;

import headwater.RowPlan;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;

/** Spark's types: which are ids and numbers, and which values they have as constants. */
public final class Types {
    /** The largest number of 64 bits without a sign. */
    static final int BITS = 64;

    private Types() {}

    static boolean isWhole(DataType type) {
        return type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType
                || type instanceof LongType;
    }

    static boolean isId(DataType type) {
        return isWhole(type) || type instanceof NullType
                || type instanceof DecimalType && ((DecimalType) type).scale() == 0;
    }

    static boolean isNumber(DataType type) {
        return isWhole(type) || type instanceof FloatType || type instanceof DoubleType
                || type instanceof DecimalType;
    }

    /** Returns the id in a decimal, for generated code. */
    public static long id(RowPlan plan, Decimal id) {
        return plan.id(id.toJavaBigInteger());
    }

    /** Returns a long without a sign as a decimal, for generated code. */
    public static Decimal unsigned(long word) {
        BigInteger number = new BigInteger(Long.toUnsignedString(word));
        return Decimal.apply(new BigDecimal(number), 20, 0);
    }

    /** Returns a weight, and NaN for a null, which is none. */
    static double weight(Object value) {
        if (value == null) {
            return Double.NaN;
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? 1 : 0;
        }
        return value instanceof Decimal ? ((Decimal) value).toDouble()
                : ((Number) value).doubleValue();
    }

    /** Returns true for the types of weights: numbers, and booleans as 0 and 1. */
    static boolean isWeight(DataType type) {
        return isNumber(type) || type instanceof BooleanType;
    }

    /** Returns the value of an argument that is one for all rows. */
    static Object constant(String what, Expression argument) {
        String need = what + " must be one value for all rows, and not null: write a constant";
        if (!argument.foldable()) {
            throw new IllegalArgumentException(need);
        }
        Object value;
        try {
            value = argument.eval(null);
        } catch (RuntimeException failure) {
            throw new IllegalArgumentException(need + " (" + failure.getMessage() + ")", failure);
        }
        if (value == null) {
            throw new IllegalArgumentException(need);
        }
        return read(what, argument.dataType(), value);
    }

    private static Object read(String what, DataType type, Object value) {
        if (isWhole(type) || type instanceof BooleanType || type instanceof BinaryType
                || type instanceof DoubleType || type instanceof FloatType) {
            return value;
        }
        if (type instanceof StringType) {
            return value.toString();
        }
        if (type instanceof DecimalType) {
            Decimal decimal = (Decimal) value;
            return ((DecimalType) type).scale() == 0 ? decimal.toJavaBigInteger()
                    : decimal.toJavaBigDecimal();
        }
        if (type instanceof ArrayType) {
            return shares(what, ((ArrayType) type).elementType(), (ArrayData) value);
        }
        return new Other(type.catalogString());
    }

    private static Object shares(String what, DataType type, ArrayData list) {
        if (!isNumber(type)) {
            return new Other("a list of other things than numbers");
        }
        double[] shares = new double[list.numElements()];
        for (int i = 0; i < shares.length; i++) {
            if (list.isNullAt(i)) {
                throw new IllegalArgumentException(what + " must have no null in its list");
            }
            Object value = list.get(i, type);
            shares[i] = value instanceof Decimal
                    ? ((Decimal) value).toJavaBigDecimal().doubleValue()
                    : ((Number) value).doubleValue();
        }
        return shares;
    }

    /** A value of a type that no function takes, by its type's name. */
    private static final class Other {
        private final String type;

        private Other(String type) {
            this.type = type;
        }

        @Override
        public String toString() {
            return type;
        }
    }
}
