"""Functions for each kind of numbers, for every engine: the table of kinds as Python has it.

An engine's module says how a plan is carried out (`evaluate`), and gets its functions from here. So
a kind that is added to the table has a function in all engines.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from headwater import _native
from headwater._native import Key, Plan, Stream

Evaluate = Callable[..., Any]
_FIXED = ("ids", "key", "dtype", "name", "nulls")
KINDS: dict[str, dict[str, Any]] = {kind["name"]: kind for kind in _native.ARROW_KINDS}


def _values(
    kind: dict[str, Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, ...]:
    """Returns the values of the kind's parameters in the table's order."""
    names = [name for name, _ in kind["parameters"]]
    given = dict(kind["parameters"])
    if len(args) > len(names):
        raise TypeError(f"{kind['name']}() takes {len(names)} parameters, not {len(args)}")
    for name, value in zip(names, args, strict=False):
        given[name] = value
    for name, value in keywords.items():
        if name not in given:
            known = ", ".join([*names, "dtype", "name", "nulls"])
            raise TypeError(f"{kind['name']}() has no parameter {name!r}; it has {known}")
        if name in names[: len(args)]:
            raise TypeError(f"{kind['name']}() got two values for {name!r}")
        given[name] = value
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise TypeError(f"{kind['name']}() needs {' and '.join(missing)}")
    return tuple(given[name] for name in kind["order"])


def plan(
    kind: dict[str, Any],
    key: Key | Stream,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    dtype: Any = None,
    name: str | None = None,
    nulls: str = "null",
) -> Plan:
    """Returns the plan of numbers of a kind."""
    has_columns = any(value is ... for value in [*args, *keywords.values()])
    if kind["name"] == "integers" and not has_columns:
        # NumPy's convention: the upper end is left out. The table's is that both ends are in.
        keywords = dict(keywords)
        endpoint = keywords.pop("endpoint", False)
        low, high = _values(kind, args, keywords)
        return Plan.draw(
            key, kind["kind"], (low, high if endpoint else high - 1), dtype, name, nulls
        )
    return Plan.draw(key, kind["kind"], _values(kind, args, keywords), dtype, name, nulls)


def function(
    kind: dict[str, Any],
    evaluate: Evaluate,
    module: str,
    is_column: Callable[[Any], bool] | None = None,
) -> Callable[..., Any]:
    """Returns the function of a kind: `gamma(ids, key, shape, scale=1.0, *, name=...)`."""

    def draw(
        ids: Any,
        key: Key | Stream,
        *args: Any,
        dtype: Any = None,
        name: str | None = None,
        nulls: str = "null",
        **keywords: Any,
    ) -> Any:
        if is_column is None:
            for value in [*args, *keywords.values()]:
                _no_column(value, kind["name"], module)
        if is_column is None or not any(map(is_column, [*args, *keywords.values()])):
            made = plan(kind, key, args, keywords, dtype, name, nulls)
            return evaluate(ids, made, name or kind["name"])
        # In a plan `...` stands for a column, and the columns follow in the table's order.
        values = _values(kind, args, keywords)
        marked = {
            parameter: ... if is_column(value) else value
            for parameter, value in zip(kind["order"], values, strict=True)
        }
        made = plan(kind, key, (), marked, dtype, name, nulls)
        return evaluate(ids, made, name or kind["name"], [*filter(is_column, values)])

    own = [
        Parameter(
            name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if value is None else value,
        )
        for name, value in kind["parameters"]
    ]
    positional = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in _FIXED[:2]]
    options: list[tuple[str, Any]] = [
        ("dtype", kind["dtypes"][0]),
        ("name", None),
        ("nulls", "null"),
    ]
    if kind["name"] == "integers":
        options.insert(0, ("endpoint", False))
    named = [Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in options]
    draw.__name__ = draw.__qualname__ = kind["name"]
    draw.__module__ = module
    draw.__signature__ = Signature([*positional, *own, *named])  # type: ignore[attr-defined]
    draw.__doc__ = (
        f"Returns in each row {kind['about']}.\n\n"
        f"Elements are {' or '.join(kind['dtypes'])}. Without a name, the kind's is the label."
    )
    return draw


def functions(
    evaluate: Evaluate, module: str, is_column: Callable[[Any], bool] | None = None
) -> dict[str, Callable[..., Any]]:
    """Returns the functions of an engine: one for each kind, and sample, split and order.

    `is_column` says of a parameter whether it has a value for each row. An engine that has it takes
    these columns as the fourth argument of `evaluate`.
    """

    def sample(
        ids: Any, key: Key | Stream, p: float, *, name: str | None = None, nulls: str = "null"
    ) -> Any:
        """Returns in each row whether it is in a sample of about `p` of the rows.

        A row that is in one sample is in every larger one of the same key and name.
        """
        return evaluate(ids, Plan.sample(key, p, name, nulls), name or "sample")

    def split(
        ids: Any, key: Key | Stream, parts: Any, *, name: str | None = None, nulls: str = "null"
    ) -> Any:
        """Returns in each row the number of its part: of `parts` equal ones, or of their shares.

        A row keeps its part when rows are added. A null id is in no part: `nulls="error"` refuses
        it.
        """
        return evaluate(ids, Plan.split(key, parts, name, nulls), name or "split")

    def order(ids: Any, key: Key | Stream, *, name: str | None = None, nulls: str = "null") -> Any:
        """Returns in each row a word of 64 bits: rows sorted by it, then by id, are a shuffle."""
        return evaluate(ids, Plan.order(key, name, nulls), name or "order")

    made: dict[str, Callable[..., Any]] = {
        name: function(kind, evaluate, module, is_column if kind["is_plain"] else None)
        for name, kind in KINDS.items()
    }
    for decision in (sample, split, order):
        decision.__module__ = module
        decision.__qualname__ = decision.__name__
        made[decision.__name__] = decision
    return made


# Libraries whose objects a user may pass as a parameter that has a value for each row.
_ENGINES = ("daft", "datafusion", "ibis", "pandas", "polars", "pyarrow", "pyspark", "ray")


def _no_column(value: Any, function: str, module: str) -> None:
    """Raises an error for a column as a parameter where there are only constants."""
    library = type(value).__module__.partition(".")[0]
    if library in _ENGINES and not hasattr(type(value), "__float__"):
        raise TypeError(
            f"parameters of {module}.{function}() are numbers, and no column such as this "
            f"{type(value).__name__}: headwater.pyarrow.{function}() takes columns, and can be "
            "called in a function of the engine's own for each batch"
        )


def is_arrow(value: Any) -> bool:
    """Returns true for columns that speak Arrow, and for NumPy's arrays of one dimension."""
    return (
        hasattr(value, "__arrow_c_array__")
        or hasattr(value, "__arrow_c_stream__")
        or (hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) == 1)
    )


def missing(module: str, name: str) -> AttributeError:
    """Returns the error for a name that an engine's module lacks."""
    if name in ("folds", "key_of", "sample_n", "weighted_order"):
        others = "pandas and polars have it"
        if name == "key_of":
            others = "arrow, pyarrow, pandas, polars, daft, ibis, ray and spark have it"
        lacks = f"module {module!r} has no attribute {name!r}"
        return AttributeError(f"{lacks}: headwater's {others}")
    return AttributeError(
        f"module {module!r} has no attribute {name!r}; kinds are {', '.join(KINDS)}"
    )


def names(functions: dict[str, Any], others: list[str]) -> list[str]:
    """Returns `__all__` of an engine's module."""
    return sorted([*functions, *others])
