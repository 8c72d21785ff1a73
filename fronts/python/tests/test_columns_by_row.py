"""Parameters that are columns: each row's number is the one that its own values make alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headwater
import headwater.arrow as ha
from headwater import _kinds

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: no columns were exchanged")

KEY = headwater.Key("by row")
N = 3000
IDS = np.random.default_rng(1).permutation(N)
MU = np.random.default_rng(2).normal(size=N).round(2)
SIGMA = np.repeat(np.arange(1, N // 100 + 1), 100) / 4


def alone(kind: str, ids: Any, *parameters: Any) -> list[Any]:
    """Draws each row by itself, with numbers as its parameters."""
    rows = zip(ids, *parameters, strict=True)
    one = getattr(ha, kind)
    return [
        pa.array(one(np.array([row[0]]), KEY, *(value.item() for value in row[1:]))).to_pylist()[0]
        for row in rows
    ]


def normals() -> list[float]:
    return alone("normal", IDS, MU, SIGMA)


def test_arrow_arrays_of_every_sort() -> None:
    expected = normals()
    table = pa.table({"id": IDS, "mu": MU, "sigma": SIGMA})
    assert pa.array(ha.normal(IDS, KEY, MU, SIGMA)).to_pylist() == expected
    made = ha.normal(pa.array(IDS), KEY, scale=pa.array(SIGMA), loc=pa.array(MU))
    assert pa.array(made).to_pylist() == expected
    made = ha.normal(table["id"], KEY, table["mu"], table["sigma"])
    assert pa.chunked_array(made).to_pylist() == expected
    parts = pa.concat_tables([table[:7], table[7:2000], table[2000:]])
    made = ha.normal(parts["id"], KEY, parts["mu"], parts["sigma"])
    assert pa.chunked_array(made).to_pylist() == expected and made.num_chunks == 3
    # A constant beside a column, floats of 4 bytes, integers, and a dictionary.
    made = pa.array(ha.normal(IDS, KEY, 2.5, SIGMA)).to_pylist()
    assert made == alone("normal", IDS, np.full(N, 2.5), SIGMA)
    single = MU.astype("f4")
    made = pa.array(ha.normal(IDS, KEY, single, 2)).to_pylist()
    assert made == alone("normal", IDS, single.astype("f8"), np.full(N, 2))
    whole = pa.array((SIGMA * 4).astype("i2")).dictionary_encode()
    made = pa.array(ha.exponential(pa.array(IDS), KEY, whole)).to_pylist()
    assert made == alone("exponential", IDS, SIGMA * 4)


def test_counts_are_columns_of_integers() -> None:
    n = np.arange(N) % 40
    made = pa.array(ha.binomial(IDS, KEY, n, 0.3)).to_pylist()
    assert made == alone("binomial", IDS, n, np.full(N, 0.3))
    with pytest.raises(ValueError, match="n must be a column of integers"):
        ha.binomial(IDS, KEY, n.astype("f8"), 0.3)
    with pytest.raises(ValueError, match=r"n in row 5 of the batch must be a whole number from 0"):
        ha.binomial(IDS, KEY, np.where(n == 5, -1, n), 0.3)


def test_integers_take_numpys_end_and_no_columns() -> None:
    made = pa.array(ha.integers(IDS, KEY, 0, 9, endpoint=True)).to_pylist()
    assert made == pa.array(ha.integers(IDS, KEY, 0, 10)).to_pylist()
    with pytest.raises(TypeError, match="low must be"):
        headwater._native.Plan.draw(KEY, "integers", (..., 9), None, None, "null")


def test_nulls_are_null_or_refused() -> None:
    ids = pa.array([0, None, 2, 3])
    scale = pa.array([1.0, 2.0, None, 4.0])
    made = pa.array(ha.normal(ids, KEY, 0, scale))
    assert made.is_null().to_pylist() == [False, True, True, False]
    assert made[3].as_py() == alone("normal", [3], np.zeros(1), np.array([4.0]))[0]
    with pytest.raises(ValueError, match=r"scale in row 2 of the batch must be a number, and not"):
        ha.normal(pa.array([0, 1, 2, 3]), KEY, 0, scale, nulls="error")


def chunked(column: Any, border: int) -> Any:
    """Returns a column in two chunks."""
    return pa.chunked_array([column[:border], column[border:]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ha.normal(IDS, KEY, 0, -SIGMA), ValueError, r"scale in row 0 of the batch must"),
        (lambda: ha.normal(IDS, KEY, 0, np.full(N, np.nan)), ValueError, r"scale in row 0 of the"),
        (lambda: ha.normal(IDS, KEY, MU[:5], 1), ValueError, "columns of 3000 and of 5 rows"),
        (lambda: ha.normal(IDS, KEY, pa.array(["a"] * N)), ValueError, "loc must be a column of"),
        (lambda: ha.permutation(IDS, KEY, np.full(N, N)), ValueError, "n must be one value for"),
        (lambda: ha.integers(IDS, KEY, MU, 9), TypeError, "low must be one value for all rows"),
        (lambda: ha.normal(IDS, KEY, np.zeros((N, 1))), TypeError, ""),
        (lambda: ha.dirichlet(IDS, KEY, np.ones(N)).num_chunks, AttributeError, ""),
        (
            lambda: ha.normal(chunked(IDS, 5), KEY, 0, SIGMA),
            ValueError,
            "columns must have chunks of the same lengths",
        ),
        (
            lambda: ha.normal(chunked(IDS, 5), KEY, 0, chunked(SIGMA, 7)),
            ValueError,
            "columns must have chunks of the same lengths: make one chunk of each",
        ),
        (lambda: ha.normal(chunked(IDS, 5), KEY, MU[:5]), ValueError, "of 3000 and of 5 rows"),
        (lambda: ha.key_of(chunked(IDS, 5), chunked(MU, 7)), ValueError, "chunks of the same len"),
    ],
)
def test_wrong_columns_are_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text or None):
        call()


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "decimal"])
def test_numbers_of_every_type_are_the_same_parameters(dtype: str) -> None:
    """Decimals without digits and booleans are numbers in SQL, so they are here, too."""
    flags = IDS % 2 == 0
    plain = ha.normal(IDS, KEY, flags.astype("f8"), 2).to_numpy()[0].tolist()
    counts = ha.binomial(IDS, KEY, flags.astype("i8"), 0.5).to_numpy()[0].tolist()
    if dtype == "decimal":
        column = pa.array(flags.astype("i8")).cast(pa.decimal128(20, 0))
    else:
        column = flags.astype(dtype)
        assert ha.normal(IDS, KEY, column, 2).to_numpy()[0].tolist() == plain
    assert pa.array(ha.normal(IDS, KEY, pa.array(column), 2)).to_pylist() == plain
    if dtype == "bool":  # a byte of another program's, which NumPy counts as 1, too
        odd = np.where(flags, 2, 0).astype("u1").view(bool)
        assert ha.normal(IDS, KEY, odd, 2).to_numpy()[0].tolist() == plain
    if dtype != "float64":
        assert pa.array(ha.binomial(IDS, KEY, pa.array(column), 0.5)).to_pylist() == counts
    pl = pytest.importorskip("polars", reason="Polars is not installed: it was not compared")
    import headwater.polars as hp

    frame = pl.DataFrame({"id": IDS, "x": pl.Series(pa.array(column))})
    assert frame.select(hp.normal("id", KEY, pl.col("x"), 2)).to_series().to_list() == plain
    pd = pytest.importorskip("pandas", reason="pandas is not installed: it was not compared")
    import headwater.pandas as hpd

    ids, kinds = pd.Series(IDS), {"bool": ["bool", "boolean"], "int64": ["int64", "Int64"]}
    if dtype == "decimal":
        for wrong in (pd.Series(column, dtype=object), pd.Series(column, dtype=pd.ArrowDtype(column.type))):
            with pytest.raises(TypeError, match="must be a column of numbers, not of Python's obj"):
                hpd.normal(ids, KEY, wrong, 2)
        return
    masked = np.ma.array(flags.astype("f8"), mask=IDS == 7)
    for call in (lambda: hpd.normal(ids, KEY, masked, 2), lambda: ha.normal(IDS, KEY, masked, 2)):
        with pytest.raises(TypeError, match="are a masked array, whose mask is not part of it"):
            call()
    with pytest.raises(TypeError, match="must be a column of numbers, not of datetime64"):
        hpd.normal(ids, KEY, pd.Series(IDS.astype("datetime64[s]")), 2)
    for kind in kinds.get(dtype, [dtype]):
        assert hpd.normal(ids, KEY, pd.Series(flags).astype(kind), 2).tolist() == plain


def test_the_row_of_an_error_is_that_of_the_whole_column() -> None:
    ids = pa.chunked_array([np.arange(1000), np.arange(0), np.arange(1000), [5, -7]])
    with pytest.raises(ValueError, match="id -7 in row 2001 of the batch is negative"):
        ha.normal(ids, KEY)
    scale = pa.chunked_array([np.ones(1000), np.ones(0), np.ones(1000), [-1.0, 1.0]])
    with pytest.raises(ValueError, match="scale in row 2000 of the batch must be"):
        ha.normal(pa.chunked_array([ids.chunk(0), ids.chunk(1), ids.chunk(2), [5, 7]]), KEY, 0, scale)
    with pytest.raises(ValueError, match="the id in row 3 of the batch is null"):
        ha.order(pa.chunked_array([[0, 1], [2, None]]), KEY, nulls="error")
    times = pa.array([1_000, 1_001], pa.int64()).cast(pa.timestamp("ns"))
    with pytest.raises(ValueError, match="the value in row 3 of the batch is not a whole number"):
        ha.key_of(pa.chunked_array([times.slice(0, 1), times.slice(0, 1), times]))


def test_a_type_that_is_refused_is_called_by_its_name() -> None:
    wide = pa.array([1, 2]).cast(pa.decimal256(40, 0))
    for call in (lambda: ha.normal(wide, KEY), lambda: ha.key_of(wide)):
        with pytest.raises(TypeError, match=r"decimals of 256 bits \(cast them to 128 first\)"):
            call()
    with pytest.raises(ValueError, match="loc must be a column of numbers: cast it to float64"):
        ha.normal(pa.array([0, 1]), KEY, wide)
    for array, name in ((np.ones(3, bool), "booleans"), (np.ones(3, object), "objects of Python's")):
        with pytest.raises(TypeError, match=f"ids must hold integers, not {name}"):
            ha.normal(array, KEY)


def test_a_plan_takes_its_columns_and_is_bytes() -> None:
    plan = _kinds.plan(_kinds.KINDS["normal"], KEY, (..., 2.0), {})
    same = headwater._native.Plan.from_bytes(plan.to_bytes())
    assert pa.array(same.run(IDS, "", [MU])).to_pylist() == pa.array(
        ha.normal(IDS, KEY, MU, 2.0)
    ).to_pylist()
    for columns in ([], [MU, SIGMA]):
        with pytest.raises(TypeError, match="a column for each parameter that is one"):
            plan.run(IDS, "", columns)
    assert plan.format == ("g", None)


def test_other_engines_have_the_same_rows() -> None:
    expected = normals()
    pl = pytest.importorskip("polars", reason="Polars is not installed: its columns were not drawn")
    import headwater.polars as hp

    frame = pl.DataFrame({"id": IDS, "mu": MU, "sigma": SIGMA})
    drawn = hp.normal("id", KEY, pl.col("mu"), scale=pl.col("sigma"))
    assert frame.select(drawn)["normal"].to_list() == expected
    lazy = frame.lazy().select(drawn.alias("z"))
    assert lazy.collect(engine="streaming")["z"].to_list() == expected
    assert frame.select(hp.normal("id", KEY, frame["mu"], 2.0)).to_series().to_list() == alone(
        "normal", IDS, MU, np.full(N, 2.0)
    )
    grouped = pl.concat([frame[:10], frame[10:]], rechunk=False)
    assert grouped.select(drawn).to_series().to_list() == expected

    pd = pytest.importorskip("pandas", reason="pandas is not installed: its columns were not drawn")
    import headwater.pandas as hpd
    import headwater.pyarrow as hpa

    table = pd.DataFrame({"id": IDS, "mu": MU, "sigma": SIGMA})
    made = hpd.normal(table["id"], KEY, table["mu"], table["sigma"])
    assert made.tolist() == expected and made.index.equals(table.index)
    assert hpd.normal(table["id"], KEY, MU, SIGMA).tolist() == expected
    with pytest.raises(ValueError, match="must have the same index"):
        hpd.normal(table["id"], KEY, table["mu"][::-1])
    with pytest.raises(ValueError, match="scale in row 1 is missing"):
        hpd.normal(table["id"][:2], KEY, 0, pd.Series([1, None], dtype="Int64"))
    with pytest.raises(TypeError, match="scale must be a column of numbers, not of"):
        hpd.normal(table["id"], KEY, table["mu"], table["mu"].astype(str).astype("category"))
    with pytest.raises(ValueError, match="ids and scale must have the same index"):
        hpd.normal(table["id"], KEY, table["mu"], table["sigma"][::-1])
    arrow = pa.table({"id": IDS, "mu": MU, "sigma": SIGMA})
    made = hpa.normal(arrow["id"], KEY, arrow["mu"], arrow["sigma"])
    assert made.to_pylist() == expected
