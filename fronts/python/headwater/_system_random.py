"""The class SystemRandom, apart from the package because `import random` takes 10 ms."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from headwater import _native


class SystemRandom(random.SystemRandom):
    """A random.Random whose values come from headwater; it has no state, and seed() does nothing.

    All methods of random.Random work: shuffle(), sample(), gauss() and the rest draw by those that
    this class replaces. getstate() and setstate() raise NotImplementedError.
    """

    if not TYPE_CHECKING:
        # Functions of an extension are no descriptors, so that `self.random` is the function itself
        # and the call takes no `self`. A method would pass through a Python frame.
        random = _native.random_float
        getrandbits = _native.randbits
        randbytes = _native.randbytes
        # Set here, because random.Random would otherwise choose the one that calls getrandbits().
        _randbelow = _native.randbelow_or_zero
