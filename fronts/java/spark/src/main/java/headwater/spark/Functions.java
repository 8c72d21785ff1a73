package headwater.spark;

import headwater.RowFunction;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistryBase;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import scala.Function1;
import scala.collection.immutable.Seq;

/**
 * headwater's functions in Spark: random columns that depend on a seed and each row's id alone.
 * <b>Not for secrets.</b>
 *
 * <pre>{@code
 * headwater.spark.Functions.register(spark);
 * spark.sql("select id, hw_normal(id, 42, 'noise') from range(10)");
 * frame.withColumn("noise", call_function("hw_normal", col("id"), lit(42), lit("noise")));
 * }</pre>
 *
 * <p>A session that starts with {@code spark.sql.extensions=headwater.spark.Extensions} has them
 * without the call.
 */
public final class Functions {
    /** The name of the function that makes ids. */
    static final String KEY = "hw_key";

    private Functions() {}

    /** Makes the functions known to a session. A second call changes nothing. */
    public static void register(SparkSession spark) {
        FunctionRegistryBase<Expression> registry = spark.sessionState().functionRegistry();
        for (Entry entry : entries()) {
            // By this method, because Spark 4.3 wants names of three parts elsewhere.
            registry.createOrReplaceTempFunction(
                    entry.name.funcName(), entry.builder, entry.info.getSource());
        }
    }

    /** A function as Spark's registries take it. */
    static final class Entry {
        final FunctionIdentifier name;
        final ExpressionInfo info;
        final Function1<Seq<Expression>, Expression> builder;

        private Entry(String name, String usage, Class<?> expression,
                Function1<Seq<Expression>, Expression> builder) {
            this.name = new FunctionIdentifier(name);
            this.info = new ExpressionInfo(expression.getName(), null, name, usage, "", "", "",
                    "", "", "", "java_udf");
            this.builder = builder;
        }
    }

    /** Returns all functions. */
    static List<Entry> entries() {
        List<Entry> entries = new ArrayList<>();
        for (RowFunction function : RowFunction.all()) {
            String name = function.name();
            entries.add(new Entry(name, function + " - Returns a value that depends on the id,"
                    + " the seed, the name and the row's parameters alone.", RowExpression.class,
                    arguments -> new RowExpression(name, arguments)));
        }
        entries.add(new Entry(KEY, KEY + "(value, ...) - Returns an id from 0 to 2^63 - 1, made of"
                + " the values.", KeyExpression.class, KeyExpression::new));
        return entries;
    }
}
