"""headwater.dask: the same array for any chunks, in one lazy layer."""

from __future__ import annotations

import importlib.util
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="numpy is missing: no Dask array is tested")
da = pytest.importorskip("dask.array", reason="dask is missing: its arrays are not tested")

import headwater  # noqa: E402
import headwater.dask as hd  # noqa: E402
from headwater.numpy import ARS7, Xoshiro256pp  # noqa: E402

KEY = headwater.Key(42).child("noise")
STREAM = KEY.stream(3)
INTEGERS = ("int64", "uint64", "int32", "uint32", "int16", "uint16", "int8", "uint8")

#: For each kind its Dask array, and the array of one process.
KINDS = {
    "random": (hd.random, lambda s, shape: s.random(shape)),
    "random32": (
        lambda key, shape, **kw: hd.random(key, shape, dtype="float32", **kw),
        lambda s, shape: s.random(shape, dtype="float32"),
    ),
    "normal": (hd.normal, lambda s, shape: s.standard_normal(shape)),
    "normal32": (
        lambda key, shape, **kw: hd.normal(key, shape, dtype=np.float32, **kw),
        lambda s, shape: s.standard_normal(shape, dtype="float32"),
    ),
    "exponential": (hd.exponential, lambda s, shape: s.standard_exponential(shape)),
    "integers": (
        lambda key, shape, **kw: hd.integers(key, shape, -5, 1000, **kw),
        lambda s, shape: s.integers(-5, 1000, shape),
    ),
    # Half of the words are rejected, and drawn again.
    "rejected": (
        lambda key, shape, **kw: hd.integers(key, shape, 2**63 + 1, dtype="uint64", **kw),
        lambda s, shape: s.integers(2**63 + 1, shape=shape, dtype="uint64"),
    ),
}


@st.composite
def chunked(draw):
    """Draws a shape, and chunks that add up to it."""
    shape, chunks = [], []
    for _ in range(draw(st.integers(0, 4))):
        sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5))
        if draw(st.booleans()):
            sizes = [max(sizes)] * len(sizes) + [min(sizes)]
        chunks.append(tuple(sizes))
        shape.append(sum(sizes))
    return tuple(shape), tuple(chunks)


def same(array, expected):
    """Compares bits, dtype and shape."""
    expected = np.asarray(expected)
    computed = np.asarray(array.compute(scheduler="synchronous"))
    assert array.dtype == computed.dtype == expected.dtype
    assert array.shape == computed.shape == expected.shape
    assert computed.tobytes() == expected.tobytes()


@settings(max_examples=80, deadline=None)
@given(kind=st.sampled_from(sorted(KINDS)), place=chunked())
def test_any_chunks_make_the_array_of_one_process(kind, place):
    shape, chunks = place
    lazy, whole = KINDS[kind]
    same(lazy(STREAM, shape, chunks=chunks), whole(STREAM, shape))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_long_runs_and_columns(kind):
    lazy, whole = KINDS[kind]
    shape = (301, 170)
    expected = np.asarray(whole(STREAM, shape))
    # Rows are long runs; columns of up to 19 elements are drawn by their indices.
    for chunks in (-1, "auto", (7, 170), (301, 1), (100, 3), (299, 19), (299, 20), (1, 170)):
        same(lazy(STREAM, shape, chunks=chunks), expected)
    assert (lazy(STREAM, shape, chunks=(50, 60)).compute(scheduler="threads") == expected).all()


def test_values_are_those_of_the_specification():
    path = Path(__file__).parents[3] / "streams" / "vectors" / "streams.py"
    spec = importlib.util.spec_from_file_location("streams_specification", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stream = module.Stream(KEY.engine, KEY.raw, 3)
    for lazy, element in (
        (hd.random, stream.f64), (hd.normal, stream.normal_f64),
        (hd.exponential, stream.exponential_f64),
    ):  # fmt: skip
        expected = np.array([element(e) for e in range(60)]).reshape(5, 12)
        same(lazy(STREAM, (5, 12), chunks=(2, 5)), expected)
    bounded = np.array([stream.bounded(64, 9, e) for e in range(60)])
    same(hd.integers(STREAM, 60, 1, 10, chunks=7), bounded + 1)


def test_a_key_is_its_stream_0():
    same(hd.random(KEY, 100, chunks=7), KEY.stream(0).random(100))
    of_philox = headwater.Key(42, engine="philox4x32")
    same(hd.normal(of_philox, (9, 9), chunks=4), of_philox.stream(0).standard_normal((9, 9)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_type(dtype):
    limits = np.iinfo(dtype)
    same(
        hd.integers(STREAM, (20, 30), limits.min, limits.max, endpoint=True, dtype=dtype, chunks=7),
        STREAM.integers(limits.min, limits.max, (20, 30), endpoint=True, dtype=dtype),
    )
    same(
        hd.integers(STREAM, 500, 100, dtype=dtype, chunks=33),
        STREAM.integers(100, shape=500, dtype=dtype),
    )


@pytest.mark.parametrize("n", [0, 1, 2, 5, 256, 257, 1000, 100_003])
def test_a_permutation_over_chunks(n):
    expected = np.asarray(STREAM.permutation(n)[:])
    for chunks in (-1, 100, max(1, n // 3)) if n > 10_000 else (-1, 7, max(1, n // 3)):
        array = hd.permutation(STREAM, n, chunks=chunks)
        assert array.dtype == np.int64
        assert (array.compute(scheduler="sync") == expected).all()
    assert sorted(expected) == list(range(n))
    same(hd.sample(STREAM, n, n // 2, chunks=9), expected[: n // 2].astype(np.int64))


def test_a_sample_of_far_more_than_fits():
    sample = hd.sample(STREAM, 10**18, 5000, chunks=999).compute()
    assert len(set(sample.tolist())) == 5000 and sample.max() < 10**18
    assert sample.min() >= 0 and sample.max() > 9 * 10**17


def test_dasks_own_arrays_depend_on_the_chunks():
    # The control: without a place in the whole array, a chunk is numbered instead.
    one, two = (
        da.random.default_rng(1).random(1000, chunks=chunks).compute() for chunks in (100, 125)
    )
    assert (one == two).mean() < 0.2


# The graph.


def grids():
    return {
        "1": lambda: hd.normal(KEY, 16_384 * 10**6, chunks=10**6),
        "1, a smaller last chunk": lambda: hd.normal(KEY, 16_384 * 10**6 - 3, chunks=10**6),
        "2": lambda: hd.normal(KEY, (128_000, 128_000), chunks=(1000, 1000)),
        "3": lambda: hd.normal(KEY, (1600, 3200, 3200), chunks=(100, 100, 100)),
        "permutation": lambda: hd.permutation(KEY, 16_384 * 10**6, chunks=10**6),
    }


@pytest.mark.parametrize("grid", sorted(grids()))
def test_the_graph_is_one_small_layer(grid):
    array = grids()[grid]()
    assert array.npartitions == 16_384
    assert len(array.dask.layers) == 1
    (layer,) = array.dask.layers.values()
    assert type(layer).__name__ == "Blockwise"
    assert len(pickle.dumps(array.dask)) <= 4096  # the issue: 64 KiB
    assert len(array.dask) == 16_384  # made now, one by one


def test_irregular_chunks_carry_their_list():
    sizes = tuple(range(1, 1001))
    array = hd.random(KEY, sum(sizes), chunks=(sizes,))
    assert 2000 < len(pickle.dumps(array.dask)) < 10_000
    same(array[5:700], np.asarray(KEY.stream(0).random(700))[5:])


def test_the_graph_is_built_quickly():
    least = 1.0
    for _ in range(5):
        begin = time.perf_counter()
        hd.normal(KEY, (128_000, 128_000), chunks=(1000, 1000))
        least = min(least, time.perf_counter() - begin)
    assert least < 0.05  # Dask's own: 1.8 s


def test_names_are_those_of_the_arguments():
    def name(**change):
        arguments = {"key": STREAM, "shape": (30, 20), "chunks": 10} | change
        return hd.random(**arguments).name

    assert name() == name() == name(shape=[30, 20], chunks=((10,) * 3, (10,) * 2))
    others = [
        name(key=KEY), name(shape=(20, 30)), name(chunks=15), name(dtype="float32"),
        name(key=headwater.Key(42, engine="philox4x32")),
        hd.normal(STREAM, (30, 20), chunks=10).name,
        *(hd.integers(STREAM, (30, 20), high, chunks=10).name for high in (5, 6)),
        *(hd.integers(STREAM, (30, 20), 5, dtype=t, chunks=10).name for t in ("int8", "uint8")),
    ]  # fmt: skip
    assert len({name(), *others}) == len(others) + 1


def test_what_programs_do_with_an_array():
    array = hd.normal(STREAM, (60, 50), chunks=(7, 11))
    whole = np.asarray(STREAM.standard_normal((60, 50)))
    same(array[3:40:2, 7], whole[3:40:2, 7])
    same(array[[5, 1, 44]], whole[[5, 1, 44]])
    same(array.rechunk((60, 3)), whole)
    same(array.T, whole.T)
    same(array.reshape(3000), whole.reshape(3000))
    same(array.persist(), whole)
    same(pickle.loads(pickle.dumps(array)), whole)
    same(array.map_blocks(np.negative), -whole)
    same(da.concatenate([array, array]), np.concatenate([whole, whole]))
    same(array + array, whole + whole)
    np.testing.assert_allclose(array.sum().compute(), whole.sum())
    np.testing.assert_allclose((array @ array.T).compute(), whole @ whole.T)
    np.testing.assert_allclose(array.std(axis=0).compute(), whole.std(axis=0))
    block = array.blocks[1, 2].compute()
    assert (block == whole[7:14, 22:33]).all()
    stored = np.empty_like(whole)
    array.store(stored)
    assert (stored == whole).all()
    assert "normal" in repr(array) and "svg" in array._repr_html_()
    assert array.dask._repr_html_()
    delayed = array.to_delayed()
    assert (delayed[0, 0].compute() == whole[:7, :11]).all()
    overlapped = array.map_overlap(lambda x: x * 1, depth=1, boundary="periodic")
    same(overlapped, whole)


def test_an_xarray_over_the_array():
    xarray = pytest.importorskip("xarray", reason="xarray is missing: no array is labelled")
    noise = xarray.DataArray(
        hd.normal(STREAM, (365, 20, 30), chunks=(100, 20, 7)), dims=("day", "lat", "lon")
    )
    whole = np.asarray(STREAM.standard_normal((365, 20, 30)))
    assert (noise.isel(day=slice(90, 110)).values == whole[90:110]).all()
    np.testing.assert_allclose(noise.mean("day").values, whole.mean(0))
    np.testing.assert_allclose(float(noise.chunk(day=-1, lon=1).std()), whole.std())


# Dask's own generator over our bit generators.


def test_processes_compute_the_same():
    ours = hd.normal(STREAM, (301, 170), chunks=(150, 60))
    dasks = da.random.default_rng(ARS7(1)).standard_normal((40, 40), chunks=20)
    both = da.compute(ours, dasks, scheduler="processes", num_workers=2)
    for lazy, computed in zip((ours, dasks), both, strict=True):
        assert (computed == lazy.compute(scheduler="threads")).all()


@pytest.mark.parametrize("cls", [ARS7, Xoshiro256pp])
def test_dasks_generator_takes_ours(cls):
    one, two = (
        da.random.default_rng(cls(1)).standard_normal((40, 40), chunks=10) for _ in range(2)
    )
    assert one.std().compute() == pytest.approx(1, abs=0.15)
    assert (one.compute() == two.compute()).all()
    keyed = da.random.default_rng(cls(key=KEY, stream=4)).integers(0, 9, 100, chunks=30)
    assert set(keyed.compute().tolist()) <= set(range(9))


def test_default_rng_of_the_package():
    import headwater.random

    assert type(headwater.random.default_rng(1).bit_generator) is ARS7
    assert headwater.random.default_rng(1).random() == np.random.Generator(ARS7(1)).random()
    rng = np.random.Generator(Xoshiro256pp(1))
    assert headwater.random.default_rng(rng) is rng
    assert headwater.random.default_rng(rng.bit_generator).bit_generator is rng.bit_generator
    assert headwater.random.default_rng().random() != headwater.random.default_rng().random()


# Errors.


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda: hd.random(42, 10), TypeError, "key"),
        (lambda: hd.random(bytes(16), 10), TypeError, "key"),
        (lambda: hd.random("seed", 10), TypeError, "key"),
        (lambda: hd.random(None, 10), TypeError, "key"),
        (lambda: hd.random(KEY, -1), ValueError, "shape"),
        (lambda: hd.random(KEY, (3, -1)), ValueError, "shape"),
        (lambda: hd.random(KEY, 3.0), TypeError, "shape"),
        (lambda: hd.random(KEY, "33"), TypeError, "shape"),
        (lambda: hd.random(KEY, (2**32, 2**32)), OverflowError, "shape"),
        (lambda: hd.random(KEY, 10, chunks=(3, 3)), ValueError, "chunks"),
        (lambda: hd.random(KEY, 10, chunks=((3, 3),)), ValueError, "chunks"),
        (lambda: hd.random(KEY, (10, 10), chunks=((10,),)), ValueError, "chunks"),
        (lambda: hd.random(KEY, 10, chunks=((12, -2),)), ValueError, "chunks"),
        (lambda: hd.random(KEY, 10, chunks=0), ValueError, "chunks"),
        (lambda: hd.random(KEY, 10, dtype="int64"), TypeError, "dtype"),
        (lambda: hd.random(KEY, 10, dtype=">f8"), TypeError, "dtype"),
        (lambda: hd.normal(KEY, 10, dtype="float16"), TypeError, "dtype"),
        (lambda: hd.integers(KEY, 10, 5, dtype="float64"), TypeError, "dtype"),
        (lambda: hd.integers(KEY, 10, 5, 5), ValueError, "high"),
        (lambda: hd.integers(KEY, 10, 0), ValueError, "high"),
        (lambda: hd.integers(KEY, 10, 1.5), TypeError, "low"),
        (lambda: hd.integers(KEY, 10, 0, 2.5), TypeError, "high"),
        (lambda: hd.integers(KEY, 10, 300, dtype="uint8"), ValueError, "uint8"),
        (lambda: hd.integers(KEY, 10, -1, 5, dtype="uint8"), ValueError, "uint8"),
        (lambda: hd.normal(KEY, 10, np.arange(10.0)), TypeError, "loc"),
        (lambda: hd.normal(KEY, 10, 0, da.ones(10)), TypeError, "scale"),
        (lambda: hd.exponential(KEY, 10, np.ones(10)), TypeError, "scale"),
        (lambda: hd.permutation(KEY, -1), ValueError, "n"),
        (lambda: hd.permutation(KEY, 2.0), TypeError, "n"),
        (lambda: hd.sample(KEY, 10, 11), ValueError, "size"),
        (lambda: hd.sample(KEY, 2**63, 1), ValueError, "n"),
        (lambda: KEY.stream(2**48), (OverflowError, ValueError), "id"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, error, named):
    with pytest.raises(error, match=rf"\b{named}"):
        call()


#: For each distribution its Dask array, and the array of one process.
DISTRIBUTIONS = {
    "beta": (0.5, 3),
    "binomial": (1000, 0.25),
    "categorical": ([3, 0, 1],),
    "chisquare": (3,),
    "complex_normal": (),
    "dirichlet": ([1, 2, 0.5],),
    "gamma": (0.7, 2.5),
    "geometric": (0.2,),
    "lognormal": (0.5, 2),
    "multinomial": (20, [1, 2, 5]),
    "multivariate_normal": ([1, 2], [[2, 1], [1, 2]]),
    "poisson": (12.5,),
    "sobol": (3,),
    "standard_gamma": (4,),
    "standard_t": (3,),
    "truncated_normal": (-1, 0.5, 0.25, 2),
    "vonmises": (1, 4),
    "hypergeometric": (20, 30, 10),
    "loggamma": (0.5,),
    "maxwell": (2,),
    "multivariate_hypergeometric": ([5, 6, 7], 9),
    "negative_binomial": (2.5, 0.3),
    "noncentral_chisquare": (3, 2),
    "noncentral_f": (3, 5, 2),
}


@given(chunked(), st.sampled_from(sorted(DISTRIBUTIONS)))
@settings(deadline=None, max_examples=40)
def test_distributions_do_not_depend_on_chunks(case, kind):
    shape, chunks = case
    parameters = DISTRIBUTIONS[kind]
    array = getattr(hd, kind)(STREAM, shape, *parameters, chunks=chunks)
    expected = np.asarray(getattr(STREAM, kind)(*parameters, shape))
    assert array.chunks[: len(shape)] == chunks and array.shape == expected.shape
    assert array.dtype == expected.dtype
    made = array.compute(scheduler="sync")
    assert made.dtype == expected.dtype and (made == expected).all()


@pytest.mark.parametrize("kind", ["gamma", "multinomial", "sobol"])
def test_long_and_short_runs_make_one_array(kind):
    """Chunks of runs below and above the length from which on runs are drawn one by one."""
    shape = (6, 5, 700)
    expected = getattr(STREAM, kind)(*DISTRIBUTIONS[kind], shape)
    for chunks in [(6, 5, 700), (2, 2, 300), (3, 5, 100), (1, 5, 700), (6, 1, 1), (4, 3, 255)]:
        if chunks == (6, 1, 1):
            shape, expected = (6, 5, 30), getattr(STREAM, kind)(*DISTRIBUTIONS[kind], (6, 5, 30))
        array = getattr(hd, kind)(STREAM, shape, *DISTRIBUTIONS[kind], chunks=chunks)
        assert (array.compute(scheduler="threads") == expected[: shape[0]]).all(), chunks
        shape, expected = (6, 5, 700), getattr(STREAM, kind)(*DISTRIBUTIONS[kind], (6, 5, 700))


def test_distributions_are_one_layer_with_errors_at_once():
    large = hd.binomial(KEY, (128_000, 128_000), 10, 0.5, chunks=(1_000, 1_000))
    assert len(pickle.dumps(large.dask)) < 4096
    assert hd.poisson(KEY, 5, 3.5).name == hd.poisson(KEY, 5, 3.5).name
    assert hd.poisson(KEY, 5, 3.5).name != hd.poisson(KEY, 5, 3.25).name
    assert hd.sobol(KEY, 5, 2).name != hd.sobol(KEY, 5, 2, scramble=False).name
    assert (hd.sobol(KEY, 1, 2, scramble=False).compute() == 0).all()
    assert hd.gamma(KEY, 5, 2, dtype="float32").compute().dtype == np.float32
    assert hd.categorical(KEY, 5, np.ones(3)).compute().max() < 3
    kept = [headwater.Categorical([3, 0, 1]) for _ in range(2)]
    table, same = (hd.categorical(KEY, 99, weights, chunks=10) for weights in kept)
    assert table.name == same.name
    assert (table.compute() == hd.categorical(KEY, 99, [3, 0, 1]).compute()).all()
    for call, exception, message in [
        (lambda: hd.poisson(KEY, 5, -1), ValueError, "lam must"),
        (lambda: hd.poisson(KEY, 5, 1, dtype="float64"), TypeError, "dtype must"),
        (lambda: hd.gamma(KEY, 5, np.ones(5)), TypeError, "^a must be one number"),
        (lambda: hd.dirichlet(KEY, -5, [1, 2]), ValueError, "shape must"),
        (lambda: hd.dirichlet(KEY, 5, [1, 2], chunks=3.5), ValueError, "chunks"),
        (lambda: hd.poisson(42, 5), TypeError, "key must"),
    ]:
        with pytest.raises(exception, match=message):
            call()
