//! Memory of Python objects that a call writes to or reads from.
//!
//! Another thread of Python may write to an array at any time, and no lock keeps it from doing so.
//! So such memory is a pointer here, and a reference to it exists only while a call writes, when a
//! race is the program's own, as it is with NumPy.

use super::args::{Shape, not_a};
use super::array::Array;
use super::dlpack::Tensor;
use super::dtype::{Dtype, Protocols};
use headwater_streams::kinds;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Memory that one call may write to: elements of one type in C order.
///
/// The value does not own the memory, so its maker keeps the exporting object alive meanwhile.
/// Another thread that writes to the same memory mixes its values with the call's, as with any
/// array of Python.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    len: usize,
    dtype: Dtype,
}

// SAFETY: a pointer to plain numbers, which belong to no thread. The exporter keeps them in place
// while the call runs, on whatever thread.
unsafe impl Send for Memory {}

impl Memory {
    /// Describes `len` elements from `start` on. A null pointer is allowed for none.
    ///
    /// # Safety
    ///
    /// The elements exist, are aligned and may be written to for as long as the value is used.
    pub(crate) unsafe fn new(start: *mut u8, len: usize, dtype: Dtype) -> Memory {
        // An empty slice needs an aligned pointer as well.
        let empty = NonNull::<u64>::dangling().cast();
        let start = if len == 0 { empty } else { NonNull::new(start).unwrap_or(empty) };
        Memory { start, len, dtype }
    }

    pub(crate) fn dtype(self) -> Dtype {
        self.dtype
    }

    /// Describes a part: `len` elements from number `first` on, which the memory has.
    pub(crate) fn part(self, first: usize, len: usize) -> Memory {
        assert!(first <= self.len && len <= self.len - first);
        let start = self.start.as_ptr().wrapping_add(first * self.dtype.size());
        Memory { start: NonNull::new(start).unwrap_or(self.start), len, ..self }
    }

    /// Returns the number of elements.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    pub(crate) fn bytes(self) -> usize {
        self.len * self.dtype.size()
    }

    /// Describes the same memory as bytes.
    pub(crate) fn as_bytes(self) -> Memory {
        Memory { len: self.bytes(), dtype: Dtype::U8, ..self }
    }

    /// Returns one element. Reads it without a reference, because another thread may write to a
    /// shared array meanwhile.
    ///
    /// # Safety
    ///
    /// `T` has the size of the elements and takes any bits.
    pub(crate) unsafe fn read<T: Copy>(self, place: usize) -> T {
        assert!(size_of::<T>() == self.dtype.size() && place < self.len);
        // SAFETY: `place` is below `len` and `T` has the size of an element, which were both
        // checked, so the element is in the memory that `new` was given, aligned; any bits are a
        // `T`.
        unsafe { self.start.as_ptr().cast::<T>().add(place).read_volatile() }
    }

    /// Returns the elements as a place for a draw.
    ///
    /// # Safety
    ///
    /// No other reference to the elements is in use while the place is.
    pub(crate) unsafe fn out<'a>(self) -> kinds::Out<'a> {
        // SAFETY: `new` was given aligned memory of `len` elements of the type that may be written
        // to, and no other reference to them is in use, as `# Safety` asks here.
        unsafe { kinds::Out::from_raw(self.dtype, self.start, self.len) }
    }

    /// Returns the elements.
    ///
    /// # Safety
    ///
    /// `T` has the size of the elements, takes any bits, and no other reference is in use.
    pub(crate) unsafe fn elements<'a, T: Copy>(self) -> &'a mut [T] {
        assert_eq!(size_of::<T>(), self.dtype.size());
        // SAFETY: `new` was given aligned memory of `len` elements, which have the size of `T`, as
        // was checked. Any bits are a `T`, and no other reference is in use, as `# Safety` asks
        // here.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }
}

/// A buffer of a Python object, held until the value is dropped.
pub(crate) struct View(Box<ffi::Py_buffer>);

impl View {
    /// Opens the buffer that `object` has.
    fn open(object: &Bound<'_, PyAny>, flags: std::ffi::c_int) -> PyResult<View> {
        // In a box, because exporters may point from one field of the buffer to another.
        let mut raw = Box::new(ffi::Py_buffer::new());
        // SAFETY: `object` is alive, and `raw` is a fresh buffer in a box, which does not move. It
        // is released by the drop of `View`, which is made only if this call succeeds.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *raw, flags) } {
            0 => Ok(View(raw)),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    /// Opens a buffer for writing whose items lie in C order.
    pub(crate) fn writable(object: &Bound<'_, PyAny>, name: &str) -> PyResult<View> {
        if !View::is_offered(object) {
            return Err(not_a(object, name, "a writable buffer"));
        }
        let flags = ffi::PyBUF_WRITABLE | ffi::PyBUF_FORMAT | ffi::PyBUF_C_CONTIGUOUS;
        View::open(object, flags).map_err(|error| {
            // NumPy raises ValueError for its own arrays.
            let refused = PyBufferError::new_err(format!(
                "{name} must be writable and C-contiguous: {}",
                error.value(object.py())
            ));
            refused.set_cause(object.py(), Some(error));
            refused
        })
    }

    /// Opens a buffer for reading whose items may lie anywhere.
    pub(crate) fn readable(object: &Bound<'_, PyAny>) -> PyResult<View> {
        View::open(object, ffi::PyBUF_FULL_RO)
    }

    pub(crate) fn is_offered(object: &Bound<'_, PyAny>) -> bool {
        // SAFETY: `object` is alive, and the call only reads its type.
        unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) == 1 }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.0.readonly == 0
    }

    /// Returns true if the bytes follow each other, in C or in Fortran order.
    pub(crate) fn is_contiguous(&self) -> bool {
        // SAFETY: `open` has filled the view, and it is not released before the drop. `A` asks for
        // either order.
        unsafe { ffi::PyBuffer_IsContiguous(&*self.0, b'A' as std::ffi::c_char) != 0 }
    }

    /// Returns true if items are references to Python objects, or contain some. Random bytes would
    /// make them into wild pointers.
    pub(crate) fn holds_objects(&self) -> bool {
        // The format is that of `struct`, where O is a reference. Names of fields stand between
        // colons, and may contain any letter.
        self.format().split(|&letter| letter == b':').step_by(2).any(|codes| codes.contains(&b'O'))
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.len as usize
    }

    pub(crate) fn item(&self) -> usize {
        self.0.itemsize as usize
    }

    pub(crate) fn format(&self) -> &[u8] {
        match NonNull::new(self.0.format) {
            // SAFETY: the protocol says that a format is a C string that lives as long as the
            // buffer, which `self` holds.
            Some(format) => unsafe { CStr::from_ptr(format.as_ptr()) }.to_bytes(),
            // The protocol's default.
            None => b"B",
        }
    }

    pub(crate) fn dtype(&self) -> Option<Dtype> {
        Dtype::from_format(self.format(), self.item())
    }

    pub(crate) fn shape(&self) -> Shape {
        let dimensions = match NonNull::new(self.0.shape) {
            // SAFETY: the protocol says that a shape has `ndim` lengths and lives as long as the
            // buffer, which `self` holds.
            Some(shape) => unsafe {
                std::slice::from_raw_parts(shape.as_ptr(), self.0.ndim as usize)
            },
            None => &[],
        };
        Shape::new(dimensions.iter().map(|&length| length as usize).collect())
    }

    /// Copies the items in C order to `to`, which has room for all of them.
    pub(crate) fn copy_to(&self, py: Python<'_>, to: &mut [u8]) -> PyResult<()> {
        assert_eq!(to.len(), self.bytes());
        // SAFETY: `to` has room for the bytes of the buffer, as was checked, and `self` holds the
        // buffer.
        let result = unsafe {
            ffi::PyBuffer_ToContiguous(
                to.as_mut_ptr().cast(),
                &*self.0,
                self.0.len,
                b'C' as std::ffi::c_char,
            )
        };
        if result == 0 { Ok(()) } else { Err(PyErr::fetch(py)) }
    }

    /// Returns the items if they are doubles or integers of 8 bytes of this machine, one after
    /// another.
    pub(crate) fn numbers(&self) -> Option<Numbers<'_>> {
        let raw = &*self.0;
        // SAFETY: `open` has filled the view, and it is not released before the drop.
        let is_in_order = unsafe { ffi::PyBuffer_IsContiguous(raw, b'C' as std::ffi::c_char) != 0 };
        let start = NonNull::new(raw.buf.cast::<u8>())?;
        let dtype = self.dtype().filter(|_| is_in_order)?;
        let len = self.bytes() / NUMBER;
        matches!(dtype, Dtype::F64 | Dtype::I64 | Dtype::U64).then_some(Numbers {
            start,
            len,
            dtype,
            held: PhantomData,
        })
    }
}

/// Bytes of a number that [`Numbers`] has.
const NUMBER: usize = size_of::<f64>();

/// The numbers of a buffer, which a call reads piece by piece. Their address may be any.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'a> {
    start: NonNull<u8>,
    len: usize,
    dtype: Dtype,
    held: PhantomData<&'a View>,
}

// SAFETY: a pointer to plain numbers, which belong to no thread, and which the borrowed view keeps
// in place.
unsafe impl Send for Numbers<'_> {}
// SAFETY: as above; nothing is written through the pointer.
unsafe impl Sync for Numbers<'_> {}

impl Numbers<'_> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn are_doubles(&self) -> bool {
        self.dtype == Dtype::F64
    }

    /// Copies the numbers from number `first` on, which exist, as doubles. Returns false if one is
    /// an integer outside of 0 to 2^53, which are those that doubles have.
    pub(crate) fn copy(&self, first: usize, to: &mut [f64]) -> bool {
        self.copy_bits(first, to);
        if self.are_doubles() {
            return true;
        }
        let are_counts = are_counts(to);
        to.iter_mut().for_each(|number| *number = number.to_bits() as f64);
        are_counts
    }

    /// Copies the bits of the numbers from number `first` on, which exist. Copies without a
    /// reference to the numbers, because another thread of Python may write to a shared array
    /// meanwhile: so a copied number is any, and the caller checks the copies.
    fn copy_bits(&self, first: usize, to: &mut [f64]) {
        assert!(first <= self.len && to.len() <= self.len - first);
        // SAFETY: the view holds `len` numbers from `start` on, and those that are copied are among
        // them, as was checked. `to` is ours alone, so the two do not overlap. Bytes have no
        // alignment, and any bits are a double.
        unsafe {
            let from = self.start.as_ptr().add(first * NUMBER);
            std::ptr::copy_nonoverlapping(from, to.as_mut_ptr().cast::<u8>(), size_of_val(to));
        }
    }

    /// Returns true if all are counts that doubles have.
    pub(crate) fn are_counts(&self) -> bool {
        let mut some = [0.0; 512];
        (0..self.len).step_by(some.len()).all(|first| {
            let many = (self.len - first).min(some.len());
            self.copy_bits(first, &mut some[..many]);
            self.are_doubles() || are_counts(&some[..many])
        })
    }
}

/// Returns true if the bits of all are integers from 0 to 2^53. A negative integer is a large one
/// without a sign.
fn are_counts(bits: &[f64]) -> bool {
    const EXACT: u64 = 1 << 53;
    let mut counts = bits.iter().map(|number| number.to_bits());
    // All bits together decide unless a count is 2^53, and their loop is vector code on any CPU.
    counts.clone().fold(0, |any, count| any | count) < EXACT || counts.all(|count| count <= EXACT)
}

impl Drop for View {
    fn drop(&mut self) {
        // A view lives in a call from Python, whose thread is attached already, so this costs
        // little.
        Python::attach(|_| {
            // SAFETY: `open` makes a `View` only of a buffer that was opened, and a drop runs once.
            unsafe { ffi::PyBuffer_Release(&mut *self.0) }
        });
    }
}

/// The argument `out` while a call writes to it.
pub(crate) struct Out {
    memory: Memory,
    shape: Shape,
    /// Keeps the memory in place.
    _held: Held,
}

enum Held {
    Buffer(#[expect(dead_code)] View),
    Tensor(#[expect(dead_code)] Tensor),
}

impl Out {
    /// Opens `object` for writing: a buffer, or a tensor that offers DLPack alone, as PyTorch's do.
    pub(crate) fn open(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Out> {
        if View::is_offered(object) {
            let view = View::writable(object, name)?;
            // Our own arrays export bfloat16 under the format of its bits, so ask them instead.
            let own = object.cast::<Array>().ok().map(|array| array.get().dtype());
            let dtype = own.or_else(|| view.dtype()).ok_or_else(|| {
                let format = String::from_utf8_lossy(view.format());
                PyTypeError::new_err(format!(
                    "{name} must hold numbers in the machine's byte order, not items of format \
                     {format:?}"
                ))
            })?;
            let (shape, start) = (view.shape(), view.start());
            let len = view.bytes() / dtype.size();
            Out::new(start, len, dtype, shape, Held::Buffer(view), name)
        } else if Tensor::is_offered(object)? {
            let tensor = Tensor::open(object, name)?;
            let dtype = tensor.dtype(name)?;
            Out::tensor(tensor, dtype, name)
        } else {
            Err(not_a(object, name, "a writable buffer or a DLPack tensor"))
        }
    }

    /// Opens a tensor whose items will be moved and not read, so they may be booleans, too.
    pub(crate) fn of_any(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Out> {
        let tensor = Tensor::open(object, name)?;
        let dtype = if tensor.is_bool() { Dtype::U8 } else { tensor.dtype(name)? };
        Out::tensor(tensor, dtype, name)
    }

    fn tensor(tensor: Tensor, dtype: Dtype, name: &str) -> PyResult<Out> {
        let shape = tensor.shape()?;
        let (start, len) = (tensor.writable(name)?, shape.len(dtype.size())?);
        Out::new(start, len, dtype, shape, Held::Tensor(tensor), name)
    }

    fn new(
        start: *mut u8,
        len: usize,
        dtype: Dtype,
        shape: Shape,
        held: Held,
        name: &str,
    ) -> PyResult<Out> {
        // A memoryview may begin anywhere, and Rust's slices may not.
        if len > 0 && !start.addr().is_multiple_of(dtype.size()) {
            let size = dtype.size();
            return Err(PyBufferError::new_err(format!(
                "{name} must begin at a multiple of {size} bytes"
            )));
        }
        // SAFETY: `open` asked the exporter for writable memory in C order, which has `len`
        // elements and stays in place until `held` is dropped, after the value; the address was
        // checked above.
        let memory = unsafe { Memory::new(start, len, dtype) };
        Ok(Out { memory, shape, _held: held })
    }

    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }
}
