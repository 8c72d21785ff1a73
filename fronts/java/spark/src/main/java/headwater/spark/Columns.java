package headwater.spark;

import headwater.ColumnRows;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.NullType;

/** Parameters whose values differ from row to row: their types, and how a row's value is set. */
public final class Columns {
    private Columns() {}

    /**
     * Returns true if an argument has no one value for all rows. A constant that is null is such a
     * column too, as a column of nulls is.
     */
    static boolean isOne(Expression argument) {
        if (!argument.foldable()) {
            return true;
        }
        try {
            return argument.eval(null) == null;
        } catch (RuntimeException failure) {
            // The constant's own error says more.
            return false;
        }
    }

    /** Returns true if a parameter takes a column of this type. */
    static boolean fits(Expression argument, boolean isCount) {
        DataType type = argument.dataType();
        return type instanceof BooleanType || type instanceof NullType
                || (isCount ? Types.isId(type) : Types.isNumber(type));
    }

    /** Sets a parameter of a row to a value as Spark has it, which is not null. */
    static void set(ColumnRows rows, int column, boolean isCount, Object value) {
        if (value instanceof Boolean) {
            set(rows, column, isCount, (Boolean) value ? 1L : 0L);
        } else if (!isCount) {
            rows.set(column, value instanceof Decimal ? real((Decimal) value)
                    : ((Number) value).doubleValue());
        } else if (value instanceof Decimal) {
            rows.setCount(column, ((Decimal) value).toJavaBigInteger());
        } else {
            rows.setCount(column, ((Number) value).longValue());
        }
    }

    /** Adds the code that sets a parameter of a row. */
    static void put(Code code, String rows, int column, boolean isCount, Expression argument,
            ExprCode given) {
        DataType type = argument.dataType();
        if (type instanceof NullType) {
            return; // no row has a value
        }
        code.put(rows + (isCount ? ".setCount(" : ".set(") + column + ", ");
        if (type instanceof BooleanType) {
            code.put(given.value()).put(" ? 1 : 0);\n");
        } else if (type instanceof DecimalType) {
            String start = isCount ? "" : Columns.class.getName() + ".real(";
            code.put(start).put(given.value()).put(isCount ? ".toJavaBigInteger());\n" : "));\n");
        } else {
            code.put(isCount ? "(long) " : "(double) ").put(given.value()).put(");\n");
        }
    }

    /** Returns the double next to a decimal, for generated code. */
    public static double real(Decimal value) {
        return value.toJavaBigDecimal().doubleValue();
    }
}
