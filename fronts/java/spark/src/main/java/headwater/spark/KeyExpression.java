package headwater.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.NullType;
import scala.collection.immutable.Seq;

/**
 * An id made of a row's values: half of Spark's own {@code xxhash64}, with integers of every width
 * as {@code bigint}, and null if all values are.
 */
public final class KeyExpression extends Arguments {
    private static final long serialVersionUID = 1L;

    /** Makes a call of the function. */
    public KeyExpression(Seq<Expression> arguments) {
        super(arguments);
    }

    @Override
    public String prettyName() {
        return Functions.KEY;
    }

    @Override
    protected KeyExpression with(Seq<Expression> arguments) {
        return new KeyExpression(arguments);
    }

    @Override
    public DataType dataType() {
        return DataTypes.LongType;
    }

    @Override
    public boolean nullable() {
        for (int i = 0; i < size(); i++) {
            if (!argument(i).nullable()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        if (size() == 0) {
            return failure("hw_key(value, ...) takes one value or more");
        }
        for (int i = 0; i < size(); i++) {
            DataType type = argument(i).dataType();
            if (!Keys.has(type)) {
                return failure("hw_key() takes no " + type.catalogString() + ": give integers,"
                        + " text, binary, booleans, dates or timestamps, or cast the column to one"
                        + " of them");
            }
        }
        return TypeCheckResult.TypeCheckSuccess$.MODULE$;
    }

    @Override
    public Object eval(InternalRow input) {
        long hash = Keys.SEED;
        boolean isNull = true;
        for (int i = 0; i < size(); i++) {
            Object value = argument(i).eval(input);
            if (value != null) {
                isNull = false;
                hash = Keys.hash(argument(i).dataType(), value, hash);
            }
        }
        return isNull ? null : (Object) (hash >>> 1);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode made) {
        String hash = context.freshName("hash");
        Code code = new Code();
        code.put("boolean ").put(made.isNull()).put(" = true;\nlong " + hash + " = " + Keys.SEED
                + "L;\n");
        for (int i = 0; i < size(); i++) {
            ExprCode value = argument(i).genCode(context);
            code.put(value.code());
            DataType type = argument(i).dataType();
            if (!(type instanceof NullType)) {
                String call = Keys.class.getName() + (type instanceof DateType ? ".ofDays(" : ".of(");
                code.put("\nif (!").put(value.isNull()).put(") {\n").put(made.isNull())
                        .put(" = false;\n" + hash + " = " + call).put(value.value())
                        .put(", " + hash + ");\n}\n");
            }
        }
        code.declare(context, dataType(), made.value());
        code.put(made.value()).put(" = " + hash + " >>> 1;");
        return made.copy(code.block(), made.isNull(), made.value());
    }
}
