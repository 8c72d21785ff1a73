"""Renews seeded generators before their first draw in a copied process or machine.

A process that was copied (CRIU, a cloned machine) continues each generator that it holds, in every
copy alike. install() puts a comparison in front of the draws of `random` and of NumPy. In a copy,
the first draw renews all of them from the kernel. A generator that the program has seeded itself
stays as it is, unless install(seeded=True) says otherwise: a seed is a wish for the same numbers.

No signal is sent or awaited, no thread is started, and nothing is polled. docs/adapters.md says
what is seen, what a draw costs, and what stays out of reach.
"""

from __future__ import annotations

import gc
import random
import sys
import threading
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from headwater import _native
from headwater._native import copies

__all__ = ["Report", "check", "copies", "install", "keep"]

#: Values that no renewal reaches, and the reason.
_OUT_OF_REACH = {
    "hash() of str and bytes, the order of sets": "keyed before the first line of a program runs",
    "ssl, hashlib, cryptography": "OpenSSL has a generator of its own: headwater run --openssl",
    "multiprocessing's authkey": "children that run already know it; set it anew in the copy",
    "uuid.getnode()": "an address of the machine, or drawn once",
    "half of a pair that numpy.random.RandomState keeps": "a normal value drawn before the copy",
    "torch, and NumPy's generators made from a class, later, and not by default_rng()": (
        "no hook precedes their draws: renewed by the first hooked draw, or by check()"
    ),
    "C extensions with generators of their own": "its author can compare headwater::copies()",
}


class Report(NamedTuple):
    """The result of install()."""

    #: Whether a restored process is noticed: pages that the kernel may drop (Linux 6.11), and CRIU
    #: 4.2, which leaves them out.
    sees_processes: bool
    #: Whether a cloned machine is noticed: by VMClock, or by the page of `headwater clones watch`,
    #: where it may take `headwater clones repair` to count the copy.
    sees_machines: bool
    #: Values that stay as they were, each with the reason.
    unreachable: dict[str, str]


_lock = threading.RLock()
_report: Report | None = None
_seeded = False
#: Generators that keep() has exempted. The references keep their addresses theirs.
_kept: list[object] = []
#: True once the program has seeded NumPy's global generator.
_numpy_seeded = False


def install(*, seeded: bool = False) -> Report:
    """Puts the comparison in front of the draws, and returns what is seen and what is not reached.

    Call it early. Generators of `random` that exist by then count as seeded by the kernel, as the
    one of the module is; keep() exempts one. A second call changes only `seeded`.
    """
    global _report, _seeded
    with _lock:
        _seeded = seeded
        if _report is None:
            _native.clones_hook_random(random._inst)
            _precede(random.Random, "gauss")
            _precede(uuid, "uuid1")
            _report = Report(*_native.clones_begin(_renew), dict(_OUT_OF_REACH))
            if "numpy.random" in sys.modules:
                _hook_numpy()
            else:
                sys.meta_path.insert(0, _NumpyLater())
        return _report


def keep(generator: object) -> None:
    """Exempts a generator: it continues in copies, as one that was seeded after install() does."""
    _kept.append(generator)


def check() -> None:
    """Renews now, if this is a copy; for draws that no hook precedes.

    Call it where a request begins: if nothing was copied it is a comparison.
    """
    _native.clones_check()


def _precede(owner: Any, name: str) -> None:
    """Lets a function of Python check first, in each place that refers to it.

    The function object stays, and its code is exchanged: other modules and bound methods hold the
    object. gauss() needs this because it keeps the second value of a pair, uuid1() because libuuid
    keeps its clock sequence: neither draws each time.
    """
    function = getattr(owner, name)
    original = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    function.__globals__[f"_headwater_{name}"] = original
    function.__globals__["_headwater_check"] = _native.clones_check
    namespace: dict[str, Any] = {}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    source = (
        f"def {name}({', '.join(names)}):\n"
        f"    _headwater_check()\n"
        f"    return _headwater_{name}({', '.join(names)})\n"
    )
    exec(compile(source, __file__, "exec"), namespace)
    function.__code__ = namespace[name].__code__


def _renew() -> None:
    """Renews every generator but those that the program has seeded. The native half calls it."""
    with _lock:
        failed: list[str] = []
        for one in _generators():
            try:
                one()
            except Exception as error:  # the other generators must not pay for it
                failed.append(repr(error))
        if failed:
            raise RuntimeError(
                "this process was copied, and a generator could not be renewed, so that its draws "
                f"may repeat those of another copy: {'; '.join(failed)}"
            )


def _generators() -> Iterator[Callable[[], object]]:
    """Yields for each generator the function that renews it."""
    kept = {id(one) for one in _kept}
    numpy: Any = sys.modules.get("numpy.random")
    if numpy is not None:
        kept.add(id(numpy.mtrand._rand._bit_generator))  # it comes below
    # Not isinstance() on all objects: that would run the code of proxies and of lazy modules.
    for one in gc.get_objects():
        kind = type(one)
        if id(one) in kept:
            continue
        if issubclass(kind, random.Random):
            if not issubclass(kind, random.SystemRandom) and _is_ours(one):
                yield lambda one=one: random.Random.seed(one)  # type: ignore[misc]
        elif numpy is not None and issubclass(kind, numpy.BitGenerator):
            if _seeded or _is_self_seeded(one):
                yield lambda one=one: _renew_bits(one)  # type: ignore[misc]
    if numpy is not None and (_seeded or not _numpy_seeded):
        yield lambda: _renew_global(numpy)
    torch: Any = sys.modules.get("torch")
    if torch is not None and (_seeded or _torch_is_self_seeded(torch)):
        yield torch.seed
    yield _renew_uuid


def _is_ours(generator: Any) -> bool:
    return _seeded or not _native.clones_is_seeded(generator)


def _renew_uuid() -> None:
    """Lets uuid1() draw a clock sequence each time, since libuuid keeps one for the process."""
    if hasattr(uuid, "_generate_time_safe"):
        uuid._generate_time_safe = None
    for name in ("_last_timestamp", "_last_timestamp_v6"):
        if hasattr(uuid, name):
            setattr(uuid, name, None)


def _torch_is_self_seeded(torch: Any) -> bool:
    # torch.seed() draws 53 bits. A seed below 2**32 is the program's, and this one is torch's own
    # for a program that has chosen none: the same in each process.
    seed = int(torch.initial_seed())
    return seed >= 1 << 32 and seed != 67280421310721


# --- NumPy --------------------------------------------------------------------------------------


def _is_self_seeded(bits: Any) -> bool:
    """Returns whether a bit generator took its seed from the kernel.

    NumPy then draws 128 bits, and a program's seed is shorter in nearly all cases; keep() is for
    the others. A generator without a seed sequence was seeded by RandomState(seed).
    """
    sequence = getattr(bits, "seed_seq", None)
    if sequence is None:  # NumPy before 1.25 has it under this name only
        sequence = getattr(bits, "_seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    return isinstance(entropy, int) and entropy.bit_length() > 64


def _renew_bits(bits: Any) -> None:
    # In place, since a Generator has the address of the state. The class draws a seed of its own.
    bits.state = type(bits)().state


def _renew_global(numpy: Any) -> None:
    _renew_bits(numpy.mtrand._rand._bit_generator)


class _NumpyLater:
    """A finder that hooks NumPy when it is imported, and leaves the finding to the others."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Returns what the others find, with a loader that calls _hook_numpy() at its end."""
        if name != "numpy.random":
            return None
        # A finder of an old form, which Python 3.11 still asks by another name, is left to it.
        others = [one for one in sys.meta_path if one is not self and hasattr(one, "find_spec")]
        for finder in others:
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                break
        else:
            return None
        load = spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            load(module)
            # Not before: importlib.util.find_spec() asks and loads nothing, and an import that
            # fails is tried again.
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            with _lock:
                _hook_numpy()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _hook_numpy() -> None:
    """Hooks NumPy's global generator, the kept ones, and those that default_rng() will make."""
    numpy: Any = sys.modules["numpy.random"]
    for one in gc.get_objects():
        if issubclass(type(one), (numpy.Generator, numpy.RandomState)):
            _hook_generator(one)
    original = numpy.default_rng

    def default_rng(seed: Any = None) -> Any:
        generator = original(seed)
        _hook_generator(generator)
        return generator

    default_rng.__doc__ = original.__doc__
    default_rng.__module__ = original.__module__
    _replace(original, default_rng)
    for name in ("seed", "set_state"):
        _note_seeds(numpy, name)


def _hook_generator(generator: Any) -> None:
    """Hooks the bit generator, and lets the generator copy the functions again."""
    if hasattr(generator, "bit_generator"):
        if _native.clones_hook_bitgen(generator.bit_generator.capsule):
            generator.__init__(generator.bit_generator)
        return
    # A RandomState keeps half of a pair, which its __init__ drops.
    if _native.clones_hook_bitgen(generator._bit_generator.capsule):
        state = generator.get_state(legacy=False)
        generator.__init__(generator._bit_generator)
        generator.set_state(state)


def _note_seeds(numpy: Any, name: str) -> None:
    """Notes a program's call of numpy.random.seed or set_state."""
    original = getattr(numpy, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        global _numpy_seeded
        result = original(*args, **kwargs)
        _numpy_seeded = any(value is not None for value in (*args, *kwargs.values()))
        return result

    noted.__name__, noted.__doc__ = name, original.__doc__
    _replace(original, noted)


def _replace(old: object, new: object) -> None:
    """Replaces a function in each module that has it."""
    for module in list(sys.modules.values()):
        if not issubclass(type(module), types.ModuleType):
            continue
        for name, value in list(vars(module).items()):
            if value is old:
                vars(module)[name] = new
