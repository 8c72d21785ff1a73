//! The types of an array's elements, under the names and codes of each protocol.
//!
//! NumPy, the buffer protocol and DLPack each spell a type differently, and one type is missing in
//! two of them. So all spellings are here, and the rest of the package compares `Dtype`s.

use super::args::not_a;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyString, PyType};
use std::ffi::CStr;

use Dtype::{Bf16, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
pub(crate) use headwater_streams::kinds::Dtype;

/// The names and codes that a type has in the protocols of arrays.
pub(crate) trait Protocols: Sized {
    /// Returns the format of the buffer protocol. NumPy reads `l` as `int64`, and `q` as another
    /// type of the same size. The protocol has no format for bfloat16, so its bits are exported.
    fn format(self) -> &'static CStr;

    /// Returns true if a memoryview of Python 3.11 reads elements of this type.
    fn is_readable(&self) -> bool;

    /// Returns DLPack's code of the type, and its bits. The codes: 0 for integers with a sign, 1
    /// without one, 2 for floats, 4 for bfloat16, 5 for complex numbers.
    fn dlpack(self) -> (u8, u8);

    fn from_dlpack(code: u8, bits: u8) -> Option<Self>;

    /// Reads a format of the buffer protocol in the machine's byte order.
    fn from_format(format: &[u8], size: usize) -> Option<Self>;

    /// Returns NumPy's object for the type, made once: NumPy takes 200 ns to read a name.
    fn numpy<'py>(self, py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>>;
}

impl Protocols for Dtype {
    fn format(self) -> &'static CStr {
        match self {
            F64 => c"d",
            F32 => c"f",
            I8 => c"b",
            U8 => c"B",
            I16 => c"h",
            U16 => c"H",
            I32 => c"i",
            U32 => c"I",
            I64 => c"l",
            U64 => c"L",
            F16 => c"e",
            Bf16 => c"H",
            C128 => c"Zd",
            C64 => c"Zf",
        }
    }

    fn is_readable(&self) -> bool {
        !matches!(self, F16 | Bf16 | C128 | C64)
    }

    fn dlpack(self) -> (u8, u8) {
        let code = match self {
            F64 | F32 | F16 => 2,
            Bf16 => 4,
            C128 | C64 => 5,
            I8 | I16 | I32 | I64 => 0,
            U8 | U16 | U32 | U64 => 1,
        };
        (code, 8 * self.size() as u8)
    }

    fn from_dlpack(code: u8, bits: u8) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.dlpack() == (code, bits))
    }

    fn from_format(format: &[u8], size: usize) -> Option<Dtype> {
        let little = cfg!(target_endian = "little");
        let letters = match format {
            [b'@' | b'=', letters @ ..] => letters,
            [b'<', letters @ ..] if little => letters,
            [b'>' | b'!', letters @ ..] if !little => letters,
            letters => letters,
        };
        // The size distinguishes the integers, because that of `l` depends on the prefix.
        let code = match letters {
            b"d" | b"f" | b"e" => 2,
            b"b" | b"h" | b"i" | b"l" | b"q" | b"n" => 0,
            b"B" | b"H" | b"I" | b"L" | b"Q" | b"N" => 1,
            b"Zd" | b"Zf" => 5,
            _ => return None,
        };
        Dtype::from_dlpack(code, u8::try_from(8 * size).ok()?)
    }

    fn numpy<'py>(self, py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
        static DTYPES: [PyOnceLock<Py<PyAny>>; Dtype::ALL.len()] =
            [const { PyOnceLock::new() }; Dtype::ALL.len()];
        let make = || Ok(py.import("numpy")?.call_method1("dtype", (self.name(),))?.unbind());
        Ok(DTYPES[self as usize].get_or_try_init::<_, PyErr>(py, make)?.bind(py))
    }
}

fn from_name(name: &str) -> Option<Dtype> {
    // The names and letters that NumPy has for the same types.
    let long = match name {
        "d" | "double" | "float" => Some(F64),
        "f" | "single" => Some(F32),
        "e" | "half" => Some(F16),
        "D" | "cdouble" | "complex" => Some(C128),
        "F" | "csingle" => Some(C64),
        "int" | "long" | "longlong" | "intp" | "l" | "q" => Some(I64),
        "uint" | "ulong" | "ulonglong" | "uintp" | "L" | "Q" => Some(U64),
        "intc" | "i" => Some(I32),
        "uintc" | "I" => Some(U32),
        "short" | "h" => Some(I16),
        "ushort" | "H" => Some(U16),
        "byte" | "b" => Some(I8),
        "ubyte" | "B" => Some(U8),
        name => Dtype::by_name(name),
    };
    long.or_else(|| {
        // NumPy's short names: `f8`, `<i4`.
        let native = if cfg!(target_endian = "little") { '<' } else { '>' };
        let short = name.strip_prefix([native, '=', '|']).unwrap_or(name);
        let code = match short.get(..1)? {
            "f" => 2,
            "i" => 0,
            "u" => 1,
            "c" => 5,
            _ => return None,
        };
        let bytes: u8 = short.get(1..)?.parse().ok().filter(|&bytes| bytes <= 16)?;
        Dtype::from_dlpack(code, 8 * bytes)
    })
}

/// Reads the argument `dtype`: a name, NumPy's types and dtypes, PyTorch's dtypes, `float`, `int`.
pub(crate) fn dtype(value: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    if let Ok(name) = value.cast::<PyString>() {
        let name = name.to_str()?;
        return from_name(name).ok_or_else(|| unknown(name));
    }
    let py = value.py();
    if value.is(py.get_type::<PyFloat>()) {
        return Ok(F64);
    }
    if value.is(py.get_type::<PyInt>()) {
        return Ok(I64);
    }
    if value.is(py.get_type::<PyComplex>()) {
        return Ok(C128);
    }
    // A class first: it has no byte order, and the search for one would take a microsecond.
    if let Ok(class) = value.cast::<PyType>() {
        let name = class.name()?;
        return from_name(name.to_str()?).ok_or_else(|| unknown(&name.to_string()));
    }
    // A dtype of the other byte order has the name of the native one.
    if value.getattr_opt("isnative")?.is_some_and(|native| native.is_truthy().is_ok_and(|t| !t)) {
        return Err(PyTypeError::new_err(format!(
            "dtype must have the machine's byte order, not {}",
            value.str()?
        )));
    }
    let name = match value.getattr_opt("name")? {
        Some(name) => name.str()?.to_string(),
        None => value.str()?.to_string(),
    };
    let name = name.strip_prefix("torch.").unwrap_or(&name);
    match from_name(name) {
        Some(dtype) => Ok(dtype),
        None if value.is_instance_of::<PyInt>() => Err(not_a(value, "dtype", "the name of a type")),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> PyErr {
    let names: Vec<_> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
    PyTypeError::new_err(format!("dtype must be one of {}, not {name:?}", names.join(", ")))
}

/// Returns an error that lists the types of a kind of number, unless `dtype` is one of them.
pub(crate) fn one_of(
    dtype: Dtype,
    mut types: impl Iterator<Item = Dtype> + Clone,
    name: &str,
) -> PyResult<Dtype> {
    let names = types.clone();
    if types.any(|one| one == dtype) {
        return Ok(dtype);
    }
    let names: Vec<_> = names.map(Dtype::name).collect();
    Err(PyTypeError::new_err(format!(
        "{name} must be of type {}, not {}",
        names.join(" or "),
        dtype.name()
    )))
}
