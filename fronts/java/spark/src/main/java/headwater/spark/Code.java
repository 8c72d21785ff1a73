package headwater.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.codegen.Block;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprValue;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.types.DataType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Generated code: texts, and between them the values and the code of other expressions, which Spark
 * may replace later. Scala has a form of strings for it.
 */
final class Code {
    private final List<String> texts = new ArrayList<>();
    private final List<JavaCode> parts = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();

    /** Adds a text. */
    Code put(String more) {
        text.append(more);
        return this;
    }

    /** Adds a value or code. */
    Code put(JavaCode part) {
        texts.add(text.toString());
        text.setLength(0);
        parts.add(part);
        return this;
    }

    /** Adds the declaration of a variable, with a value that a null row has. */
    void declare(CodegenContext context, DataType type, ExprValue variable) {
        put(CodeGenerator.javaType(type) + " ").put(variable)
                .put(" = " + CodeGenerator.defaultValue(type, false) + ";\n");
    }

    /** Returns the code. */
    Block block() {
        List<String> all = new ArrayList<>(texts);
        all.add(text.toString());
        return new CodeBlock(CollectionConverters.asScala(all).toSeq(),
                CollectionConverters.asScala(parts).toSeq());
    }
}
