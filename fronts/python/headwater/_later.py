"""The class `headwater.Generator` before its first use, which imports NumPy."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Later:
    """NumPy's `Generator` over a headwater stream: `Generator(42)`, or `Generator(Key(42))`.

    Draws advance a cursor over the stream, with the methods, arguments and defaults of NumPy 2.
    Not for secrets: from some of the numbers an attacker may compute the others.
    """

    # A reader would expect a module's `__getattr__`. But a module that has one is looked up 20 ns
    # slower, in every `headwater.token_bytes` of a program that never draws an array. So the name
    # exists from the start, and is the class in all that programs do with a class.

    __slots__ = ()

    def _class(self) -> type[Any]:
        import headwater
        from headwater._generator import Generator

        headwater.Generator = Generator  # type: ignore[misc]
        return Generator

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._class()(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._class(), name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._class())

    def __subclasscheck__(self, other: type[Any]) -> bool:
        return issubclass(other, self._class())

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type[Any]]:
        return (self._class(),)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._class()

    def __hash__(self) -> int:
        return hash(self._class())

    def __repr__(self) -> str:
        return "<class 'headwater.Generator'>"

    def __reduce__(self) -> str:
        return "Generator"


Generator: Any = _Later()
