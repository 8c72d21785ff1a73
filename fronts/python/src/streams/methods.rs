//! The methods of `Stream` and `Elements` for distributions with parameters.
//!
//! Each distribution has two methods, the numbers of a range and those at indices, which must not
//! differ in their arguments. So it is one entry of a macro that makes both, and `generated.rs` has
//! the entries. Names and the order of arguments are those of NumPy's `Generator`, so that a
//! program can change from one to the other.

use super::args::Shape;
use super::distribution::{Argument, Owned, refused};
use super::output::{Place, Wanted};
use headwater_streams::kinds::{Elements, Kind, Made, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The arguments that say where the numbers go.
pub(crate) struct To<'a, 'py> {
    pub(crate) size: Option<Shape>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
}

/// Returns elements of a kind. There is one argument for each parameter, in the order of the table.
pub(crate) fn drawn<'py, const N: usize>(
    py: Python<'py>,
    stream: &headwater_streams::Stream,
    elements: Elements<'_>,
    (kind, arguments): (Kind, [Argument<'_, 'py>; N]),
    to: To<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let owned = Owned::read(kind, &arguments)?;
    let values: [Value<'_>; N] = owned.each_ref().map(Owned::value);
    let (mut to, mut result) = (Some(to), None);
    // Lent, because a kind that is kept would be allocated in each call.
    let mut draw = |made: &Made<'_>| {
        result = to.take().map(|to| {
            let place = place_of(made, to)?;
            made.fits(place.dtype()).map_err(|error| refused(error, kind, &values))?;
            place.draw(py, |out| made.draw(stream, elements, out))
        });
    };
    kind.with(&values, &mut draw).map_err(|error| refused(error, kind, &values))?;
    result.unwrap_or_else(|| unreachable!("`with` lends the kind once, or returns an error"))
}

fn place_of<'a, 'py>(made: &Made<'_>, to: To<'a, 'py>) -> PyResult<Place<'a, 'py>> {
    place(made, to.size, to.dtype, to.out)
}

/// Finds the place for elements of a kind.
pub(crate) fn place<'a, 'py>(
    made: &Made<'_>,
    size: Option<Shape>,
    dtype: Option<&'a Bound<'py, PyAny>>,
    out: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Place<'a, 'py>> {
    let dimension = made.dimension().map(std::num::NonZero::get);
    let mut shape = size;
    if let Some(dimension) = dimension {
        // Without a size the result is one vector.
        if shape.is_some() || out.is_none() {
            let mut lengths = shape.map_or(Vec::new(), |shape| shape.dimensions().to_vec());
            lengths.push(dimension);
            shape = Some(Shape::new(lengths));
        }
    }
    let place = Place::of(Wanted { shape, dtype, out }, made.kind())?;
    if let Some((dimension, held)) = dimension.zip(place.shape())
        && held.dimensions().last() != Some(&dimension)
    {
        return Err(PyValueError::new_err(format!(
            "out must have vectors of {dimension} components in its last dimension, not shape \
             {held}"
        )));
    }
    Ok(place)
}

/// Makes both methods of each distribution. The texts are what `help` shows for them.
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $kind:ident: $name:ident($($arg:ident $(= $default:tt)?),+ $(; $flag:ident = $on:tt)?)
            [$($given:ident),+] $stream_text:tt $at_text:tt;
    )*) => {$(
        #[pymethods]
        impl Stream {
            $(#[$doc])*
            #[pyo3(
                signature = (
                    $($arg $(= Parameter::Default($default))?,)+ size=None, *, $($flag=$on,)?
                    dtype=None, out=None, start=Start(0), threads=Threads(1)
                ),
                text_signature = $stream_text
            )]
            #[allow(clippy::too_many_arguments)] // NumPy's, and those that all methods have
            fn $name<'py>(
                &self,
                py: Python<'py>,
                $($arg: Parameter<'py>,)+
                size: Option<Size>,
                $($flag: bool,)?
                dtype: Option<&Bound<'py, PyAny>>,
                out: Option<&Bound<'py, PyAny>>,
                start: Start,
                threads: Threads,
            ) -> PyResult<Bound<'py, PyAny>> {
                shared::note(py, &self.0, Kind::$kind)?;
                let kind = (Kind::$kind, [$(Argument::from(&$given)),+]);
                let elements = Elements::Shared { start: start.0, threads: threads.0 };
                let size = size.map(|size| size.0);
                drawn(py, &self.0, elements, kind, To { size, dtype, out })
            }
        }

        #[pymethods]
        impl At {
            #[doc = concat!("Returns these elements of `Stream.", stringify!($name), "`.")]
            #[pyo3(
                signature = (
                    $($arg $(= Parameter::Default($default))?,)+ *, $($flag=$on,)? dtype=None,
                    out=None
                ),
                text_signature = $at_text
            )]
            #[allow(clippy::too_many_arguments)] // those of NumPy's method
            fn $name<'py>(
                &self,
                py: Python<'py>,
                $($arg: Parameter<'py>,)+
                $($flag: bool,)?
                dtype: Option<&Bound<'py, PyAny>>,
                out: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let kind = (Kind::$kind, [$(Argument::from(&$given)),+]);
                let (stream, indices) = self.parts();
                let to = To { size: indices.shape.clone(), dtype, out };
                drawn(py, stream, Elements::At(&indices.list), kind, to)
            }
        }
    )*};
}

pub(crate) use methods;
