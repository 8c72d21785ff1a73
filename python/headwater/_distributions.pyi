# The types of the distributions' methods. No module has this name at run time.
#
# `Stream` and `Elements` have these methods themselves; the classes exist for type checkers only.

from collections.abc import Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

from headwater._streams import _F32, _F64, _I64, _Out, _Shape

_U32: TypeAlias = Literal["uint32", "u4"] | type[np.uint32] | np.dtype[np.uint32]
_U64: TypeAlias = Literal["uint64", "u8"] | type[np.uint64] | np.dtype[np.uint64]
#: One number for all elements: a parameter of a distribution.
_Real: TypeAlias = float | SupportsFloat | SupportsIndex
_Reals: TypeAlias = Sequence[float] | Buffer
_Matrix: TypeAlias = Sequence[Sequence[float] | Buffer] | Buffer

@final
class Categorical:
    def __init__(self, weights: _Reals, /) -> None: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

class _Distributions:
    @overload
    def beta(
        self,
        a: _Real,
        b: _Real,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def beta(  # type: ignore[overload-overlap]
        self,
        a: _Real,
        b: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def beta(
        self,
        a: _Real,
        b: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def beta(
        self,
        a: _Real,
        b: _Real,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def binomial(
        self,
        n: SupportsIndex,
        p: _Real,
        size: None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def binomial(
        self,
        n: SupportsIndex,
        p: _Real,
        size: _Shape,
        *,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def binomial(
        self,
        n: SupportsIndex,
        p: _Real,
        size: _Shape,
        *,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def binomial(
        self,
        n: SupportsIndex,
        p: _Real,
        size: _Shape | None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def categorical(
        self,
        weights: _Reals | Categorical,
        size: None = None,
        *,
        dtype: _I64 | _U64 | _U32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def categorical(
        self,
        weights: _Reals | Categorical,
        size: _Shape,
        *,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def categorical(  # type: ignore[overload-overlap]
        self,
        weights: _Reals | Categorical,
        size: _Shape,
        *,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def categorical(
        self,
        weights: _Reals | Categorical,
        size: _Shape,
        *,
        dtype: _U32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint32]: ...
    @overload
    def categorical(
        self,
        weights: _Reals | Categorical,
        size: _Shape | None = None,
        *,
        dtype: _I64 | _U64 | _U32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def chisquare(
        self,
        df: _Real,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def chisquare(  # type: ignore[overload-overlap]
        self,
        df: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def chisquare(
        self,
        df: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def chisquare(
        self,
        df: _Real,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def dirichlet(
        self,
        alpha: _Reals,
        size: _Shape | None = None,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def dirichlet(
        self,
        alpha: _Reals,
        size: _Shape | None = None,
        *,
        dtype: _F64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def gamma(
        self,
        shape: _Real,
        scale: _Real = 1.0,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def gamma(  # type: ignore[overload-overlap]
        self,
        shape: _Real,
        scale: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def gamma(  # type: ignore[overload-overlap]
        self,
        shape: _Real,
        scale: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def gamma(
        self,
        shape: _Real,
        scale: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def gamma(
        self,
        shape: _Real,
        scale: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def gamma(
        self,
        shape: _Real,
        scale: _Real = 1.0,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def standard_gamma(
        self,
        shape: _Real,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def standard_gamma(  # type: ignore[overload-overlap]
        self,
        shape: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_gamma(
        self,
        shape: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def standard_gamma(
        self,
        shape: _Real,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def geometric(
        self,
        p: _Real,
        size: None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def geometric(
        self,
        p: _Real,
        size: _Shape,
        *,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def geometric(
        self,
        p: _Real,
        size: _Shape,
        *,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def geometric(
        self,
        p: _Real,
        size: _Shape | None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def lognormal(
        self,
        mean: _Real = 0.0,
        sigma: _Real = 1.0,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def lognormal(  # type: ignore[overload-overlap]
        self,
        mean: _Real,
        sigma: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def lognormal(  # type: ignore[overload-overlap]
        self,
        mean: _Real = 0.0,
        sigma: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def lognormal(
        self,
        mean: _Real,
        sigma: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def lognormal(
        self,
        mean: _Real = 0.0,
        sigma: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def lognormal(
        self,
        mean: _Real = 0.0,
        sigma: _Real = 1.0,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def multinomial(
        self,
        n: SupportsIndex,
        pvals: _Reals,
        size: _Shape | None = None,
        *,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def multinomial(
        self,
        n: SupportsIndex,
        pvals: _Reals,
        size: _Shape | None = None,
        *,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def multinomial(
        self,
        n: SupportsIndex,
        pvals: _Reals,
        size: _Shape | None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def multivariate_normal(
        self,
        mean: _Reals,
        cov: _Matrix,
        size: _Shape | None = None,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def multivariate_normal(
        self,
        mean: _Reals,
        cov: _Matrix,
        size: _Shape | None = None,
        *,
        dtype: _F64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def poisson(
        self,
        lam: _Real = 1.0,
        size: None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def poisson(
        self,
        lam: _Real,
        size: _Shape,
        *,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def poisson(
        self,
        lam: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _I64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def poisson(
        self,
        lam: _Real,
        size: _Shape,
        *,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def poisson(
        self,
        lam: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _U64,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def poisson(
        self,
        lam: _Real = 1.0,
        size: _Shape | None = None,
        *,
        dtype: _I64 | _U64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def standard_t(
        self,
        df: _Real,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def standard_t(  # type: ignore[overload-overlap]
        self,
        df: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_t(
        self,
        df: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def standard_t(
        self,
        df: _Real,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def truncated_normal(
        self,
        low: _Real,
        high: _Real,
        loc: _Real = 0.0,
        scale: _Real = 1.0,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def truncated_normal(  # type: ignore[overload-overlap]
        self,
        low: _Real,
        high: _Real,
        loc: _Real,
        scale: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def truncated_normal(  # type: ignore[overload-overlap]
        self,
        low: _Real,
        high: _Real,
        loc: _Real = 0.0,
        scale: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def truncated_normal(
        self,
        low: _Real,
        high: _Real,
        loc: _Real,
        scale: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def truncated_normal(
        self,
        low: _Real,
        high: _Real,
        loc: _Real = 0.0,
        scale: _Real = 1.0,
        *,
        size: _Shape,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def truncated_normal(
        self,
        low: _Real,
        high: _Real,
        loc: _Real = 0.0,
        scale: _Real = 1.0,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def vonmises(
        self,
        mu: _Real,
        kappa: _Real,
        size: None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def vonmises(  # type: ignore[overload-overlap]
        self,
        mu: _Real,
        kappa: _Real,
        size: _Shape,
        *,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def vonmises(
        self,
        mu: _Real,
        kappa: _Real,
        size: _Shape,
        *,
        dtype: _F32,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def vonmises(
        self,
        mu: _Real,
        kappa: _Real,
        size: _Shape | None = None,
        *,
        dtype: _F64 | _F32 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def sobol(
        self,
        d: SupportsIndex,
        size: _Shape | None = None,
        *,
        scramble: bool = True,
        dtype: _F64 | None = None,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def sobol(
        self,
        d: SupportsIndex,
        size: _Shape | None = None,
        *,
        scramble: bool = True,
        dtype: _F64 | None = None,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...

class _DistributionsAt:
    # One index has a number and several have an array, which the types do not tell apart.
    def beta(
        self,
        a: _Real,
        b: _Real,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def binomial(
        self,
        n: SupportsIndex,
        p: _Real,
        *,
        dtype: _I64 | _U64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def categorical(
        self,
        weights: _Reals | Categorical,
        *,
        dtype: _I64 | _U64 | _U32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def chisquare(
        self,
        df: _Real,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def dirichlet(
        self,
        alpha: _Reals,
        *,
        dtype: _F64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def gamma(
        self,
        shape: _Real,
        scale: _Real = 1.0,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def standard_gamma(
        self,
        shape: _Real,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def geometric(
        self,
        p: _Real,
        *,
        dtype: _I64 | _U64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def lognormal(
        self,
        mean: _Real = 0.0,
        sigma: _Real = 1.0,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def multinomial(
        self,
        n: SupportsIndex,
        pvals: _Reals,
        *,
        dtype: _I64 | _U64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def multivariate_normal(
        self,
        mean: _Reals,
        cov: _Matrix,
        *,
        dtype: _F64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def poisson(
        self,
        lam: _Real = 1.0,
        *,
        dtype: _I64 | _U64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def standard_t(
        self,
        df: _Real,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def truncated_normal(
        self,
        low: _Real,
        high: _Real,
        loc: _Real = 0.0,
        scale: _Real = 1.0,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def vonmises(
        self,
        mu: _Real,
        kappa: _Real,
        *,
        dtype: _F64 | _F32 | str | None = None,
        out: Any = None,
    ) -> Any: ...
    def sobol(
        self,
        d: SupportsIndex,
        *,
        scramble: bool = True,
        dtype: _F64 | str | None = None,
        out: Any = None,
    ) -> Any: ...
