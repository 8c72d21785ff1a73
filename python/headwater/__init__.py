"""Secure random bytes at memory speed, and random arrays for any partition of the work."""

from headwater._native import ENGINES, Array, Elements, Key, Permutation, Stream

__all__ = ["ENGINES", "Array", "Elements", "Key", "Permutation", "Stream"]
