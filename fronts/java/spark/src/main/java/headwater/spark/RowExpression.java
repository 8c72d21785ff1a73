package headwater.spark;

import headwater.ColumnRows;
import headwater.RowFunction;
import headwater.RowPlan;
import headwater.Rows;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.NullType;
import scala.collection.immutable.Seq;

/**
 * A function of a row's id, as an expression of Catalyst.
 *
 * <p>A user-defined function would box each id and each number, and look at the constants in every
 * row. Here the constants are read once, while Spark checks the types, and the generated code of a
 * stage calls {@link Rows} with a primitive id, or {@link ColumnRows} with the id and those
 * parameters that are columns.
 */
public final class RowExpression extends Arguments {
    private static final long serialVersionUID = 1L;
    /** Digits of numbers below 2^64. */
    private static final int DIGITS = 20;

    private final String name;
    private final RowFunction.Result result;
    private final int weight;
    /** Made when it is asked for first, because the arguments have no types before. */
    private RowPlan plan;
    /** The number of the column that each argument is, or -1, for the same reason. */
    private transient int[] columns;

    /** Makes a call of the function of this name. */
    public RowExpression(String name, Seq<Expression> arguments) {
        super(arguments);
        RowFunction function = RowFunction.of(name);
        this.name = name;
        this.result = function.result();
        this.weight = function.weight();
    }

    @Override
    public String prettyName() {
        return name;
    }

    @Override
    protected RowExpression with(Seq<Expression> arguments) {
        return new RowExpression(name, arguments);
    }

    @Override
    public DataType dataType() {
        switch (result) {
            case DOUBLE:
                return DataTypes.DoubleType;
            case LONG:
                return DataTypes.LongType;
            case UNSIGNED:
                return new DecimalType(DIGITS, 0);
            case BOOLEAN:
                return DataTypes.BooleanType;
            default:
                return DataTypes.ShortType;
        }
    }

    @Override
    public boolean nullable() {
        boolean any = argument(0).nullable();
        for (int i = 1; i < size(); i++) {
            any |= column(i) >= 0 && argument(i).nullable();
        }
        return any;
    }

    /** Returns the number of the parameter that an argument is, if it is a column, or else -1. */
    private int column(int place) {
        if (columns == null) {
            RowFunction function = RowFunction.of(name);
            int[] found = new int[size()];
            for (int i = 0; i < found.length; i++) {
                int column = function.column(i);
                found[i] = column >= 0 && Columns.isOne(argument(i)) ? column : -1;
            }
            columns = found;
        }
        return columns[place];
    }

    private boolean hasColumns() {
        boolean any = false;
        for (int i = 1; i < size(); i++) {
            any |= column(i) >= 0;
        }
        return any;
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        RowFunction function = RowFunction.of(name);
        int most = function.arguments().size();
        if (size() < function.least() || size() > most) {
            String range = function.least() == most ? "" : function.least() + " to ";
            return failure(function + " takes " + range + most + " arguments, not " + size());
        }
        if (!Types.isId(argument(0).dataType())) {
            return failure("a column of " + argument(0).dataType().catalogString()
                    + " has no ids: integers are needed, and hw_key() makes them of texts, dates"
                    + " and timestamps; cast floats to integers first");
        }
        if (weight >= 0 && !Types.isWeight(argument(weight).dataType())) {
            return failure("weights must be finite numbers from 0, not "
                    + argument(weight).dataType().catalogString());
        }
        for (int i = 1; i < size(); i++) {
            int column = column(i);
            if (column >= 0 && !Columns.fits(argument(i), function.isCount(column))) {
                String kind = function.isCount(column) ? "integers" : "numbers";
                return failure(function.arguments().get(i) + " must be a column of " + kind
                        + ", not " + argument(i).dataType().catalogString());
            }
        }
        try {
            plan = made(function);
            return TypeCheckResult.TypeCheckSuccess$.MODULE$;
        } catch (IllegalArgumentException wrong) {
            return failure(wrong.getMessage());
        }
    }

    private RowPlan made(RowFunction function) {
        List<Object> constants = new ArrayList<>();
        for (int i = 1; i < size(); i++) {
            if (column(i) >= 0) {
                constants.add(RowFunction.COLUMN);
            } else if (i != weight) {
                String what = function.arguments().get(i) + " in " + function;
                constants.add(Types.constant(what, argument(i)));
            }
        }
        return function.plan(constants.toArray());
    }

    private RowPlan plan() {
        if (plan == null) {
            plan = made(RowFunction.of(name));
        }
        return plan;
    }

    private boolean isDecimal() {
        return argument(0).dataType() instanceof DecimalType;
    }

    /** Computes one value without the state of a run of ids, as threads may share an expression. */
    @Override
    public Object eval(InternalRow input) {
        double number = 0;
        if (weight >= 0) {
            number = Types.weight(argument(weight).eval(input));
            Rows.checkWeight(number);
        }
        Object id = argument(0).eval(input);
        if (id == null) {
            return null;
        }
        long row = isDecimal() ? Types.id(plan(), (Decimal) id) : ((Number) id).longValue();
        if (hasColumns()) {
            return ofColumns(input, row);
        }
        Rows rows = isDecimal() ? plan().unsignedRows() : plan().rows();
        switch (result) {
            case DOUBLE:
                return weight >= 0 ? rows.weighted(row, number) : rows.real(row);
            case LONG:
                return rows.whole(row);
            case UNSIGNED:
                return Types.unsigned(rows.whole(row));
            case BOOLEAN:
                return rows.isIn(row);
            default:
                return rows.part(row);
        }
    }

    private Object ofColumns(InternalRow input, long id) {
        RowFunction function = RowFunction.of(name);
        ColumnRows rows = isDecimal() ? plan().unsignedColumnRows() : plan().columnRows();
        for (int i = 1; i < size(); i++) {
            int column = column(i);
            Object value = column >= 0 ? argument(i).eval(input) : id;
            if (value == null) {
                return null;
            }
            if (column >= 0) {
                Columns.set(rows, column, function.isCount(column), value);
            }
        }
        if (result == RowFunction.Result.DOUBLE) {
            return rows.real(id);
        }
        return rows.whole(id);
    }

    /** Returns the code of a function with columns, after that of the id and of each column. */
    private ExprCode codeOfColumns(CodegenContext context, ExprCode made) {
        RowFunction function = RowFunction.of(name);
        String plan = context.addReferenceObj("plan", plan(), RowPlan.class.getName());
        String start = isDecimal() ? ".unsignedColumnRows();" : ".columnRows();";
        String rows = context.addMutableState(ColumnRows.class.getName(), "rows",
                variable -> variable + " = " + plan + start, false, true);
        ExprCode id = argument(0).genCode(context);
        Code code = new Code();
        code.put(id.code()).put("\nboolean ").put(made.isNull()).put(" = ").put(id.isNull())
                .put(";\n");
        for (int i = 1; i < size(); i++) {
            int column = column(i);
            if (column >= 0) {
                ExprCode given = argument(i).genCode(context);
                code.put(given.code()).put("\n").put(made.isNull()).put(" |= ")
                        .put(given.isNull()).put(";\nif (!").put(made.isNull()).put(") {\n");
                Columns.put(code, rows, column, function.isCount(column), argument(i), given);
                code.put("}\n");
            }
        }
        code.declare(context, dataType(), made.value());
        code.put("if (!").put(made.isNull()).put(") {\n").put(made.value())
                .put(" = " + rows + "." + method() + "(");
        putId(code, plan, id);
        code.put(");\n}");
        return made.copy(code.block(), made.isNull(), made.value());
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode made) {
        if (hasColumns()) {
            return codeOfColumns(context, made);
        }
        String plan = context.addReferenceObj("plan", plan(), RowPlan.class.getName());
        String start = isDecimal() ? ".unsignedRows();" : ".rows();";
        String rows = context.addMutableState(Rows.class.getName(), "rows",
                variable -> variable + " = " + plan + start, false, true);
        ExprCode id = argument(0).genCode(context);
        Code code = new Code();
        code.put(id.code()).put("\n");
        String number = context.freshName("weight");
        if (weight >= 0) {
            ExprCode given = argument(weight).genCode(context);
            DataType type = argument(weight).dataType();
            boolean isFlag = type instanceof BooleanType;
            String end = isFlag ? " ? 1 : 0)" : type instanceof DecimalType ? ".toDouble()" : "";
            code.put(given.code()).put("\ndouble " + number + " = ").put(given.isNull())
                    .put(" ? Double.NaN : (double) " + (isFlag ? "(" : "")).put(given.value())
                    .put(end + ";\n")
                    .put(Rows.class.getName() + ".checkWeight(" + number + ");\n");
        }
        code.put("boolean ").put(made.isNull()).put(" = ").put(id.isNull()).put(";\n");
        code.declare(context, dataType(), made.value());
        code.put("if (!").put(made.isNull()).put(") {\n").put(made.value()).put(" = ");
        String call = rows + "." + method() + "(";
        boolean isUnsigned = result == RowFunction.Result.UNSIGNED;
        code.put(isUnsigned ? Types.class.getName() + ".unsigned(" + call : call);
        putId(code, plan, id);
        code.put((weight >= 0 ? ", " + number : "") + (isUnsigned ? "))" : ")") + ";\n}");
        return made.copy(code.block(), made.isNull(), made.value());
    }

    private void putId(Code code, String plan, ExprCode id) {
        if (isDecimal()) {
            code.put(Types.class.getName() + ".id(" + plan + ", ").put(id.value()).put(")");
        } else if (argument(0).dataType() instanceof NullType) {
            // Never reached, because each id is null. Its value is an Object there.
            code.put("0L");
        } else {
            code.put(id.value());
        }
    }

    /** Returns the method of {@link Rows} that has the values. */
    private String method() {
        switch (result) {
            case DOUBLE:
                return weight >= 0 ? "weighted" : "real";
            case BOOLEAN:
                return "isIn";
            case PART:
                return "part";
            default:
                return "whole";
        }
    }
}
