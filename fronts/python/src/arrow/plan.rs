//! Plans: what to draw, from which stream, as a value that is also bytes.

mod bytes;

use super::input::{self, Input};
use crate::streams::{self, Parameter, refused};
use headwater_arrow::{By, Column, Error, Nulls, Output, Parts, label};
use headwater_streams::kinds::{Dtype, Form, Kind, Value};
use headwater_streams::{Key, Stream};
use pyo3::Borrowed;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString, PyTuple};

/// A kind of draw and its stream: a value, which pickles as its bytes.
#[pyclass(frozen, module = "headwater._native")]
#[derive(Clone)]
pub(crate) struct Plan {
    stream: Stream,
    nulls: Nulls,
    what: What,
}

#[derive(Clone)]
enum What {
    Draw { kind: Kind, dtype: Dtype, values: Vec<Given> },
    Sample(f64),
    Equal(u64),
    Shares(Vec<f64>),
    Order,
}

/// The value of a parameter, owned.
#[derive(Clone)]
enum Given {
    Real(f64),
    Count(u64),
    Integer(i128),
    Flag(bool),
    Reals(Vec<f64>),
    /// A value for each row, from a column that is passed with the ids.
    Column,
}

impl Given {
    /// Returns the value. That of a column is not known yet, so that any number stands for it.
    fn value(&self) -> Value<'_> {
        match self {
            Given::Column => Value::Real(1.0),
            Given::Real(value) => Value::Real(*value),
            Given::Count(value) => Value::Count(*value),
            Given::Integer(value) => Value::Integer(*value),
            Given::Flag(value) => Value::Flag(*value),
            Given::Reals(list) => Value::Reals(list),
        }
    }
}

/// The argument `nulls`.
pub(super) struct IfNull(pub(super) Nulls);

impl<'py> FromPyObject<'_, 'py> for IfNull {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<IfNull> {
        match value.extract::<&str>() {
            Ok("null") => Ok(IfNull(Nulls::Kept)),
            Ok("error") => Ok(IfNull(Nulls::Refused)),
            _ => Err(PyValueError::new_err(format!(
                "nulls must be 'null' (such rows are null) or 'error', not {}",
                value.repr()?
            ))),
        }
    }
}

/// The argument `name`, if there is one. Bytes are none, because the functions' own labels are.
struct Name(String);

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Name> {
        match value.cast::<PyString>() {
            // Half of a pair of surrogates is a text of Python's that no other program can write.
            Ok(text) => match text.to_str() {
                Ok(text) => Ok(Name(text.to_owned())),
                Err(_) => Err(PyValueError::new_err(format!(
                    "name must be a text of whole characters, not {}",
                    value.repr()?
                ))),
            },
            Err(_) => Err(streams::not_a(&value, "name", "a text")),
        }
    }
}

/// Turns an error of the kernel into Python's.
pub(super) fn raised(error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::NotIds(_) | Error::NoKey(_) | Error::NoType(_) => PyTypeError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the stream of a call: of a child of the key that `derive` makes of the name, or exactly
/// the stream that was passed.
fn stream_of(
    key: &Bound<'_, PyAny>,
    name: Option<Name>,
    derive: impl FnOnce(&Key, Option<&str>) -> Key,
) -> PyResult<Stream> {
    if let Ok(stream) = key.cast::<streams::Stream>() {
        return match name {
            None => Ok(stream.get().0),
            Some(_) => Err(PyValueError::new_err(
                "a name makes a child of a key, and a stream has none: pass the key, or no name",
            )),
        };
    }
    let Ok(key) = key.cast::<streams::Key>() else {
        return Err(PyTypeError::new_err(format!(
            "key must be a headwater.Key or a headwater.Stream, not {}",
            key.get_type().qualname()?
        )));
    };
    let child = derive(&key.get().0, name.as_ref().map(|name| name.0.as_str()));
    child.stream(0).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads the value of a parameter. `dimension` is the length of the list before it.
fn given(
    parameter: &headwater_streams::kinds::Parameter,
    value: Bound<'_, PyAny>,
    dimension: usize,
) -> PyResult<Given> {
    let name = parameter.numpy;
    if value.is(value.py().Ellipsis()) {
        return match parameter.form {
            Form::Real | Form::Count => Ok(Given::Column),
            _ => Err(PyTypeError::new_err(format!("{name} must be one value for all rows"))),
        };
    }
    if parameter.form == Form::Integer {
        return Ok(Given::Integer(streams::signed(&value, name)?));
    }
    if parameter.form == Form::Flag {
        return Ok(Given::Flag(value.is_truthy()?));
    }
    let value = Parameter::Given(value);
    Ok(match parameter.form {
        Form::Count => Given::Count(value.count(name)?),
        Form::Reals | Form::Shares | Form::Buckets => Given::Reals(value.list(name)?),
        Form::Factor => Given::Reals(value.square(name, dimension)?),
        _ => Given::Real(value.real(name)?),
    })
}

#[pymethods]
impl Plan {
    /// Returns the plan of numbers of a kind, with a value for each parameter.
    #[staticmethod]
    #[pyo3(signature = (key, kind, values, dtype, name, nulls, /))]
    fn draw(
        key: &Bound<'_, PyAny>,
        kind: &str,
        values: &Bound<'_, PyTuple>,
        dtype: Option<&Bound<'_, PyAny>>,
        name: Option<Name>,
        nulls: IfNull,
    ) -> PyResult<Plan> {
        let kind = Kind::by_name(kind)
            .ok_or_else(|| PyValueError::new_err(format!("no kind is called {kind:?}")))?;
        let mut read = Vec::new();
        let mut dimension = 0;
        for (parameter, value) in kind.parameters().iter().zip(values.iter()) {
            let one = given(parameter, value, dimension)?;
            dimension = if let Given::Reals(list) = &one { list.len() } else { 0 };
            read.push(one);
        }
        let dtype = match dtype {
            Some(dtype) => streams::one_of_types(dtype, kind)?,
            None => kind.types().first().map_or(Dtype::F64, |one| one.dtype),
        };
        headwater_arrow::format_of(dtype).map_err(|error| raised(&error))?;
        let derive = |key: &Key, name: Option<&str>| label::drawn(key, kind, name);
        let stream = stream_of(key, name, derive)?;
        let plan = Plan { stream, nulls: nulls.0, what: What::Draw { kind, dtype, values: read } };
        plan.checked()
    }

    /// Returns the plan of a sample.
    #[staticmethod]
    #[pyo3(signature = (key, p, name, nulls, /))]
    fn sample(
        key: &Bound<'_, PyAny>,
        p: Bound<'_, PyAny>,
        name: Option<Name>,
        nulls: IfNull,
    ) -> PyResult<Plan> {
        let p = Parameter::Given(p).real("p")?;
        if !(0.0..=1.0).contains(&p) {
            return Err(PyValueError::new_err(format!(
                "p must be a number from 0 to 1, not {p:?}"
            )));
        }
        Plan::purpose(key, name, nulls, "sample", What::Sample(p))
    }

    /// Returns the plan of a split: into so many equal parts, or into parts of these shares.
    #[staticmethod]
    #[pyo3(signature = (key, parts, name, nulls, /))]
    fn split(
        key: &Bound<'_, PyAny>,
        parts: Bound<'_, PyAny>,
        name: Option<Name>,
        nulls: IfNull,
    ) -> PyResult<Plan> {
        const NEED: &str = "from 1 to 256 of them, or a list of shares that add up to 1";
        let what = if let Ok(number) = streams::integer(&parts, "parts") {
            let equal = number.extract::<u64>().ok().filter(|parts| (1..=256).contains(parts));
            What::Equal(equal.ok_or_else(|| streams::outside(&number, "parts", NEED))?)
        } else if parts.is_instance_of::<PyFloat>() || parts.is_instance_of::<PyString>() {
            return Err(streams::not_a(&parts, "parts", "an integer or a list of shares"));
        } else {
            What::Shares(Parameter::Given(parts).list("parts")?)
        };
        Plan::purpose(key, name, nulls, "split", what)?.checked()
    }

    /// Returns the plan of an order.
    #[staticmethod]
    #[pyo3(signature = (key, name, nulls, /))]
    fn order(key: &Bound<'_, PyAny>, name: Option<Name>, nulls: IfNull) -> PyResult<Plan> {
        Plan::purpose(key, name, nulls, "order", What::Order)
    }

    /// Returns the plan of these bytes.
    #[staticmethod]
    #[pyo3(signature = (raw, /))]
    fn from_bytes(raw: &[u8]) -> PyResult<Plan> {
        Plan::decode(raw).ok_or_else(|| PyValueError::new_err(NOT_A_PLAN))
    }

    /// Returns the bytes, from which `from_bytes` makes the plan again.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.encode())
    }

    /// Returns Arrow's format of the values, and the components of a row if rows are lists.
    #[getter]
    fn format(&self) -> PyResult<(&'static str, Option<usize>)> {
        let (format, list) = self.kind_of_column().map_err(|error| raised(&error))?;
        Ok((format.to_str().unwrap_or_default(), list))
    }

    /// Returns false if a null id is an error.
    #[getter]
    fn keeps_nulls(&self) -> bool {
        self.nulls == Nulls::Kept
    }

    /// Returns the names of the parameters that are columns.
    #[getter]
    fn parameters(&self) -> Vec<&'static str> {
        self.columns().collect()
    }

    /// Returns the column for a column of ids, and a column for each parameter that is one.
    /// `valid` has the bits of ids that are a buffer, whose rows are null where the bit is 0.
    #[pyo3(signature = (ids, name="", columns=Vec::new(), valid=None, /))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        name: &str,
        columns: Vec<Bound<'py, PyAny>>,
        valid: Option<Vec<u8>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if columns.len() != self.columns().count() {
            return Err(PyTypeError::new_err(
                "a plan takes a column for each parameter that is one",
            ));
        }
        let ids = Input::read(ids, "ids")?;
        let mut inputs = vec![match valid {
            Some(bits) => ids.with_validity(bits)?,
            None => ids,
        }];
        for (column, parameter) in columns.iter().zip(self.columns()) {
            inputs.push(Input::numbers(column, parameter)?);
        }
        input::each(py, &inputs, name, |columns| {
            columns.split_first().map_or(Err(EMPTY), |(ids, by)| self.column(ids, by))
        })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = slf.get_type().getattr("from_bytes")?;
        Ok((make, (slf.get().to_bytes(slf.py()),).into_pyobject(slf.py())?))
    }
}

/// The error of an engine that passes bytes of another version of headwater.
pub(super) const NOT_A_PLAN: &str = "these bytes are no plan of this version of headwater: use the \
                                     same version in all processes, and make the plan anew";
const EMPTY: Error = Error::Malformed("a call without a column");

impl Plan {
    fn purpose(
        key: &Bound<'_, PyAny>,
        name: Option<Name>,
        nulls: IfNull,
        purpose: &str,
        what: What,
    ) -> PyResult<Plan> {
        let derive = |key: &Key, name: Option<&str>| label::purpose(key, purpose, name);
        Ok(Plan { stream: stream_of(key, name, derive)?, nulls: nulls.0, what })
    }

    /// Returns the names of the parameters that are columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static str> {
        let (kind, values): (_, &[Given]) = match &self.what {
            What::Draw { kind, values, .. } => (kind.parameters(), values),
            _ => (&[], &[]),
        };
        let is_column = |(_, given): &(_, &Given)| matches!(given, Given::Column);
        kind.iter().zip(values).filter(is_column).map(|(parameter, _)| parameter.numpy)
    }

    /// Returns the plan, unless it cannot be carried out: errors come before the first row.
    fn checked(self) -> PyResult<Plan> {
        let no_ids: &[u64] = &[];
        if self.columns().next().is_some() {
            // The values are checked row by row, and everything else here.
            let mut ids = headwater_arrow::Ids::from_u64(no_ids);
            let mut none: Vec<_> =
                self.columns().map(|_| headwater_arrow::Ids::from_u64(no_ids)).collect();
            let by: Result<Vec<Column<'_>>, Error> =
                none.iter_mut().map(|ids| ids.column()).collect();
            let column = ids.column().and_then(|ids| self.column(&ids, &by?));
            column.map_err(|error| raised(&error))?;
        } else if let What::Draw { kind, dtype, values } = &self.what {
            let values: Vec<Value<'_>> = values.iter().map(Given::value).collect();
            let mut fits = Ok(());
            let made = kind.with(&values, &mut |made| fits = made.fits(*dtype));
            made.and(fits).map_err(|error| refused(error, *kind, &values))?;
        } else {
            let mut ids = headwater_arrow::Ids::from_u64(no_ids);
            let column = ids.column().map_err(|error| raised(&error))?;
            self.column(&column, &[]).map_err(|error| raised(&error))?;
        }
        Ok(self)
    }

    /// Returns the format of the column, and the components of a row if rows are lists.
    pub(super) fn kind_of_column(&self) -> Result<(&'static std::ffi::CStr, Option<usize>), Error> {
        match &self.what {
            What::Draw { dtype, .. } if self.columns().next().is_some() => {
                headwater_arrow::format_of(*dtype)
            }
            What::Draw { kind, dtype, values } => {
                let values: Vec<Value<'_>> = values.iter().map(Given::value).collect();
                let mut dimension = None;
                kind.with(&values, &mut |made| dimension = made.dimension())?;
                let (format, parts) = headwater_arrow::format_of(*dtype)?;
                Ok((format, dimension.map(std::num::NonZero::get).or(parts)))
            }
            What::Sample(_) => Ok((c"b", None)),
            What::Equal(_) | What::Shares(_) => Ok((c"C", None)),
            What::Order => Ok((c"L", None)),
        }
    }

    /// Returns the column for a column of ids, and one for each parameter that is a column.
    pub(super) fn column(&self, ids: &Column<'_>, by: &[Column<'_>]) -> Result<Output, Error> {
        let (stream, nulls) = (&self.stream, self.nulls);
        match &self.what {
            What::Draw { kind, dtype, values } if self.columns().next().is_some() => {
                let mut columns = by.iter();
                let by = values.iter().map(|given| match given {
                    Given::Column => columns.next().map(By::Column).ok_or(EMPTY),
                    given => Ok(By::Value(given.value())),
                });
                let by: Vec<By<'_>> = by.collect::<Result<_, Error>>()?;
                headwater_arrow::draw_by_row(ids, stream, (*kind, *dtype), &by, nulls)
            }
            What::Draw { kind, dtype, values } => {
                let values: Vec<Value<'_>> = values.iter().map(Given::value).collect();
                let mut column = Err(EMPTY);
                kind.with(&values, &mut |made| {
                    column = headwater_arrow::draw(ids, stream, made, *dtype, nulls);
                })?;
                column
            }
            What::Sample(p) => headwater_arrow::sample(ids, stream, *p, nulls),
            What::Equal(parts) => headwater_arrow::split(ids, stream, Parts::Equal(*parts), nulls),
            What::Shares(shares) => {
                headwater_arrow::split(ids, stream, Parts::Shares(shares), nulls)
            }
            What::Order => headwater_arrow::order(ids, stream, nulls),
        }
    }
}
