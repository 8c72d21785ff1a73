package headwater.spark;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * An expression with a name and arguments: what Catalyst asks of every expression, which a case
 * class of Scala would have by itself.
 */
abstract class Arguments extends Expression implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Seq<Expression> arguments;

    Arguments(Seq<Expression> arguments) {
        this.arguments = arguments;
    }

    /** Returns the same call with other arguments. */
    protected abstract Arguments with(Seq<Expression> arguments);

    int size() {
        return arguments.size();
    }

    Expression argument(int place) {
        return arguments.apply(place);
    }

    static TypeCheckResult failure(String text) {
        return new TypeCheckResult.TypeCheckFailure(text);
    }

    @Override
    public Seq<Expression> children() {
        return arguments;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> arguments) {
        return with(arguments);
    }

    @Override
    public boolean foldable() {
        for (int i = 0; i < size(); i++) {
            if (!argument(i).foldable()) {
                return false;
            }
        }
        return true;
    }

    // Catalyst copies an expression through a constructor that takes these elements.

    private boolean hasName() {
        return this instanceof RowExpression;
    }

    @Override
    public int productArity() {
        return hasName() ? 2 : 1;
    }

    @Override
    public Object productElement(int place) {
        return hasName() && place == 0 ? prettyName() : arguments;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof Arguments;
    }

    /** Compares what is computed, as Spark reuses the value of an expression that it has. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Arguments && prettyName().equals(((Arguments) other).prettyName())
                && arguments.equals(((Arguments) other).arguments);
    }

    @Override
    public int hashCode() {
        return 31 * prettyName().hashCode() + arguments.hashCode();
    }

    @Override
    public String toString() {
        return prettyName() + arguments.mkString("(", ", ", ")");
    }
}
