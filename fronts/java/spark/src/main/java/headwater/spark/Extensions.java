package headwater.spark;

import org.apache.spark.sql.SparkSessionExtensions;
import scala.Tuple3;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/** headwater's functions for every session: {@code spark.sql.extensions} names this class. */
public final class Extensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        for (Functions.Entry entry : Functions.entries()) {
            extensions.injectFunction(new Tuple3<>(entry.name, entry.info, entry.builder));
        }
        return BoxedUnit.UNIT;
    }
}
