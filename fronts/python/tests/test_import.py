"""The cost of `import headwater`, its names, and subinterpreters."""

from __future__ import annotations

import json
import sys

import pytest
from secure_support import ROOT, find_python, python

import headwater
from headwater import _native

IMPORT = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
before = set(sys.modules)
import headwater
"""


def test_the_import_brings_no_expensive_module() -> None:
    # The names are taken before the import of json.
    code = IMPORT + "new = sorted(set(sys.modules) - before); import json; print(json.dumps(new))"
    new = set(json.loads(python(code, "-S", "-E")))
    costly = {"collections", "enum", "hashlib", "json", "numpy", "random", "re", "secrets"}
    assert not new & (costly | {"typing", "uuid"}), new
    ours = {name for name in new if name.startswith("headwater")}
    assert ours == {"headwater", "headwater._later", "headwater._native"}


def test_uuid_is_imported_at_the_first_uuid() -> None:
    python(
        IMPORT
        + """
headwater.uuid4_str(), headwater.uuid4_bytes(), headwater.uuid4_batch(3, as_str=True)
assert "uuid" not in sys.modules
headwater.uuid4()
assert "uuid" in sys.modules
""",
        "-S",
        "-E",
    )


def test_random_is_imported_at_the_first_system_random() -> None:
    python(
        IMPORT
        + """
assert "SystemRandom" in dir(headwater)
assert "random" not in sys.modules
class Mine(headwater.SystemRandom): pass
import random
assert isinstance(Mine(), random.Random)
# Each attribute of a module that defines __getattr__ is looked up 20 ns slower.
assert "__getattr__" not in vars(headwater)
assert headwater.SystemRandom is Mine.__base__
""",
        "-S",
        "-E",
    )
    python("import random, headwater; assert '__getattr__' not in vars(headwater)")


def test_star_import_brings_every_name() -> None:
    python("""
from headwater import *
import headwater
for name in headwater.__all__:
    assert globals()[name] is getattr(headwater, name), name
    assert getattr(headwater, name).__doc__, name
""")


def test_an_unknown_name_raises_attribute_error() -> None:
    python("""
import headwater
for _ in range(2):
    try:
        headwater.nonsense
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise SystemExit("no error")
    headwater.SystemRandom
""")


SUBINTERPRETER = """
import sys
code = '''
import sys
sys.path.insert(0, %r)
try:
    import headwater
except ImportError as error:
    assert "subinterpreters" in str(error), error
else:
    raise SystemExit("imported")
''' % sys.path[0]
import headwater
if sys.version_info >= (3, 14):
    from concurrent import interpreters
    interpreters.create().exec(code)
else:
    import importlib
    old = sys.version_info < (3, 13)
    interpreters = importlib.import_module("_xxsubinterpreters" if old else "_interpreters")
    failure = interpreters.run_string(interpreters.create(), code)
    assert failure is None, failure
"""


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_a_subinterpreter_refuses_the_import(minor: int) -> None:
    exe = find_python(minor)
    if exe is None:
        pytest.skip(f"no Python 3.{minor} is found, so its subinterpreters stay untried")
    if exe != sys.executable and not _native.__file__.endswith(".abi3.so"):
        pytest.skip(f"the wheel is this Python's alone: 3.{minor}'s subinterpreters stay untried")
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    python(path + SUBINTERPRETER, exe=exe)


def test_the_package_knows_its_names() -> None:
    assert set(headwater.__all__) <= set(dir(headwater))
    with pytest.raises(ImportError):
        exec("from headwater import nonsense")
