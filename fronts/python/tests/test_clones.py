"""headwater.clones renews generators in copies, and in nothing else.

A copy is imitated here: a grandchild made past the C library's fork, which cannot show that it
descends from the process that looked last. Copies made by CRIU are those of the step "copies of
warm processes, with adapters" of `cargo xtask test`.
"""

from __future__ import annotations

import ast

import pytest
from secure_support import python

COPY = """
import ctypes, os, random, sys, tempfile, uuid
from random import random as early

CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
libc = ctypes.CDLL(None)

def copy(draw):
    read, write = os.pipe()
    if libc.syscall(CLONE, 17, 0, 0, 0, 0) == 0:
        if libc.syscall(CLONE, 17, 0, 0, 0, 0) == 0:
            os.close(read)
            try:
                text = repr(draw())
            except BaseException as error:
                text = repr(repr(error))
            os.write(write, text.encode())
            os._exit(0)
        os.wait()
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        text = file.read().decode()
    os.wait()
    return text
"""

NUMPY = """
import numpy
from numpy.random import default_rng
old_style, kept_bits = numpy.random.RandomState(), numpy.random.default_rng()
old_style.random_sample(), kept_bits.random(), numpy.random.random()
"""

INSTALL = """
import headwater.clones
headwater.clones.install()
"""


def in_copies(draw: str, before: str = "", install: str = INSTALL, first: str = "") -> list[object]:
    """Returns what three copies draw first, each."""
    code = f"{COPY}{first}{install}\n{before}\nfor _ in range(3): print(copy(lambda: {draw}))\n"
    return [ast.literal_eval(line) for line in python(code).splitlines()]


LOOK = """
import importlib.util
assert importlib.util.find_spec("numpy.random")
import numpy.random
"""

# As Python before 3.12 takes them.
OLD_FINDER = """
class Finder:
    def find_module(self, name, path=None): return None
sys.meta_path.append(Finder()), sys.meta_path.insert(0, Finder())
import numpy.random
"""

FIRST_DRAWS = [
    ("random.random()", "", ""),
    ("early()", "", ""),
    ("random.getrandbits(64)", "", ""),
    ("random.randbytes(16)", "", ""),
    ("random.shuffle(deck) or deck", "deck = list(range(20))", ""),
    # The second value of a pair is kept and needs no draw.
    ("random.gauss(0, 1)", "random.gauss(0, 1)", ""),
    ("kept.random()", "", "kept = random.Random()"),
    ("later.random()", "later = random.Random()", ""),
    ("next(tempfile._get_candidate_names())", "next(tempfile._get_candidate_names())", ""),
    ("(uuid.uuid1().clock_seq, uuid.uuid1().clock_seq)", "uuid.uuid1()", ""),
    ("float(numpy.random.random())", "", NUMPY),
    ("float(kept_bits.random())", "", NUMPY),
    ("float(kept_bits.standard_normal())", "", NUMPY),
    ("int(kept_bits.integers(1 << 62))", "", NUMPY),
    ("float(old_style.random_sample())", "", NUMPY),
    ("float(made.random())", "made = default_rng(); made.random()", NUMPY),
    # NumPy is imported after install().
    ("float(numpy.random.random())", "import numpy.random", ""),
    ("float(made.random())", "import numpy; made = numpy.random.default_rng()", ""),
    # NumPy 2.4 imports it at its first use, so a look whether it is there comes before.
    ("float(numpy.random.random())", LOOK, ""),
    ("float(numpy.random.random())", OLD_FINDER, ""),
    # No hook precedes them, so the copy checks.
    (
        "(headwater.clones.check(), float(plain.random_sample()))",
        "plain = numpy.random.RandomState()",
        NUMPY,
    ),
    (
        "(headwater.clones.check(), float(plain.random()))",
        "plain = numpy.random.Generator(numpy.random.SFC64())",
        NUMPY,
    ),
]


@pytest.mark.parametrize(("draw", "before", "first"), FIRST_DRAWS)
def test_the_first_draw_of_a_copy_is_its_own(draw: str, before: str, first: str) -> None:
    if "clock_seq" not in draw:  # 14 bits, two of them
        assert len({str(value) for value in in_copies(draw, before, first=first)}) == 3
    else:
        assert len(set(in_copies(draw, before, first=first))) > 1
    # tempfile makes a new generator where the number of the process is another one.
    if "headwater" not in draw + before and "tempfile" not in draw:
        # Without the hooks the copies agree, or this test would show nothing.
        values = in_copies(draw, before, install="", first=first)
        assert len({str(value) for value in values}) == 1


SEEDED = [
    ("random.random()", "random.seed(42)", ""),
    ("random.gauss(0, 1)", "random.seed(42)", ""),
    ("random.random()", "random.seed('text')", ""),
    ("random.random()", "random.setstate(random.getstate())", ""),
    ("own.random()", "own = random.Random(42)", ""),
    ("own.random()", "own = random.Random(); own.seed(7)", ""),
    ("float(numpy.random.random())", "numpy.random.seed(42)", NUMPY),
    ("float(own.random())", "own = default_rng(42)", NUMPY),
    ("float(own.random())", "own = default_rng(42).spawn(2)[1]", NUMPY),
    ("float(own.random_sample())", "own = numpy.random.RandomState(42)", NUMPY),
    ("own.random()", "own = random.Random(); headwater.clones.keep(own)", ""),
]


@pytest.mark.parametrize(("draw", "before", "first"), SEEDED)
def test_what_the_program_has_seeded_stays(draw: str, before: str, first: str) -> None:
    values = in_copies(f"(headwater.clones.check(), {draw})[1]", before, first=first)
    assert len(set(values)) == 1


@pytest.mark.parametrize(("draw", "before", "first"), SEEDED[:-1])
def test_seeded_ones_are_renewed_if_asked(draw: str, before: str, first: str) -> None:
    install = "import headwater.clones\nheadwater.clones.install(seeded=True)\n"
    # Generators that default_rng() did not make have no hook, so the copy checks.
    draw = f"(headwater.clones.check(), {draw})[1]"
    assert len(set(in_copies(draw, before, install, first))) == 3


def test_a_seed_set_in_the_copy_stays() -> None:
    values = in_copies("(random.seed(42), random.random())[1]")
    assert len(set(values)) == 1


def test_values_of_a_seed_are_pythons_own() -> None:
    draws = "random.seed(42); print([random.random() for _ in range(5)], random.getrandbits(99), "
    draws += "random.gauss(0, 1), random.gauss(0, 1), random.sample(range(99), 9), "
    draws += "random.Random(3).random())"
    assert python(COPY + INSTALL + draws) == python(COPY + draws)
    numbers = "numpy.random.seed(42); print(numpy.random.random(3), numpy.random.randn(3), "
    numbers += "default_rng(1).random(3), default_rng(1).integers(9, size=5), "
    numbers += "old_style.seed(3), old_style.rand(2))"
    assert python(COPY + NUMPY + INSTALL + numbers) == python(COPY + NUMPY + numbers)


def test_states_and_bound_methods_survive_the_installation() -> None:
    seeds = "random.seed(1); numpy.random.seed(1); old_style.seed(1); old_style.randn()\n"
    code = COPY + NUMPY + seeds
    draw = "\nprint(early(), random.random(), numpy.random.random(), old_style.randn())"
    assert python(code + INSTALL + draw) == python(code + draw)


def test_forks_are_no_copies() -> None:
    """A child continues what its parent has, as ever; Python reseeds the functions of `random`."""
    # 10,000 are in records/lab/2026-11-25-adapters.
    code = f"""{COPY}{NUMPY}{INSTALL}
import multiprocessing, subprocess
own = random.Random()
def draw():
    numbers = own.random(), numpy.random.random(), kept_bits.random(), old_style.randn()
    return repr((*numbers, headwater.clones.copies())).encode()
for _ in range(300):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.write(write, draw())
            os._exit(0)
        os.wait()
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000) == draw()
    os.close(read), os.close(write)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.apply(headwater.clones.copies) == 0
subprocess.run(["true"], check=True)
assert headwater.clones.copies() == 0
"""
    python(code)


def test_a_copy_of_a_child_is_a_copy() -> None:
    code = f"""{COPY}{INSTALL}
if os.fork() == 0:
    print(len({{copy(random.random) for _ in range(3)}}), flush=True)
    os._exit(0)
os.wait()
"""
    assert python(code) == "3\n"


def test_a_generator_that_cannot_be_renewed_raises_at_the_draw() -> None:
    before = "original = random.Random.seed\n"
    before += "def broken(self, *a): raise ValueError('no seed')\n"
    before += "random.Random.seed = broken\n"
    values = in_copies("random.random()", before)
    assert all("this process was copied" in str(value) for value in values), values


def test_a_second_installation_changes_nothing() -> None:
    code = INSTALL + "a = headwater.clones.install(); assert headwater.clones.install() is a"
    python(code)


def test_files_of_any_name_may_be_mapped() -> None:
    code = """
import mmap, os, tempfile
with tempfile.TemporaryDirectory() as folder:
    name = os.fsencode(folder) + b"/caf\\xE9"
    with open(name, "wb+") as file:
        file.write(bytes(4096))
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
"""
    python(code + INSTALL)


def test_a_seed_sequence_counts_under_both_of_its_names() -> None:
    # NumPy has `seed_seq` from 1.25 on, and had `_seed_seq` before.
    code = """
from headwater.clones import _is_self_seeded
class Sequence: pass
class Bits: pass
for name in ("seed_seq", "_seed_seq"):
    for entropy, own in ((1 << 100, True), (42, False), ([1, 2], False)):
        bits, sequence = Bits(), Sequence()
        sequence.entropy = entropy
        setattr(bits, name, sequence)
        assert _is_self_seeded(bits) is own, (name, entropy)
assert _is_self_seeded(Bits()) is False
"""
    python(code)
