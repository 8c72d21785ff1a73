//! Results, and how they leave: structs of the interface that own what they lead to.
//!
//! A consumer may keep a struct for as long as it likes, move it, move a child out of it, and
//! release it from any thread, also after the [`Output`] is gone. So the values live in memory with
//! a count of their holders, and each struct is one holder.

use crate::abi::{ArrowArray, ArrowSchema};
use crate::memory::Memory;
use crate::rows::Made;
use crate::{Error, rows};
use core::ffi::{CStr, c_char, c_void};
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicUsize, Ordering, fence};

/// A column that was made.
pub struct Output {
    shared: NonNull<Shared>,
}

/// The values, with the number of their holders.
struct Shared {
    holders: AtomicUsize,
    len: usize,
    nulls: usize,
    format: &'static CStr,
    /// The components of a row, if rows are lists of one length.
    list: Option<usize>,
    /// The bits of validity and the values, as a plain column has them.
    buffers: [*const c_void; 2],
    _validity: Option<Memory>,
    _data: Memory,
}

// SAFETY: after it was made, nothing of a column is written but the count, which is atomic.
unsafe impl Send for Output {}
// SAFETY: as above.
unsafe impl Sync for Output {}

/// The memory that a struct's pointers lead to: a holder of the values, the list of buffers, and
/// the child of a list. A child is a node of its own, because a consumer may move it out and keep
/// it.
struct Node {
    _values: Output,
    buffers: [*const c_void; 2],
    child: ArrowArray,
    children: [*mut ArrowArray; 1],
}

/// A schema's letters and name, and its only child.
struct Letters {
    format: [u8; 28],
    name: Memory,
    child: ArrowSchema,
    children: [*mut ArrowSchema; 1],
}

/// Moves a value into memory of malloc's.
fn boxed<T>(value: T) -> Result<NonNull<T>, Error> {
    const { assert!(align_of::<T>() <= 16) };
    let bytes = size_of::<T>();
    // SAFETY: malloc may be called with any size.
    let place = NonNull::new(unsafe { libc::malloc(bytes) }.cast::<T>());
    let place = place.ok_or(Error::Memory { bytes })?;
    // SAFETY: the memory has room for a `T`, is used by no other code, and malloc aligns to 16
    // bytes, which is enough for `T`, as was asserted.
    unsafe { place.write(value) };
    Ok(place)
}

/// Moves a value out of memory of [`boxed`], which is freed.
///
/// # Safety
///
/// `boxed` returned the pointer, and it is not used again.
unsafe fn unboxed<T>(place: *mut T) -> T {
    // SAFETY: `boxed` wrote a value there, and no code moved it out before, as `# Safety` says.
    let value = unsafe { place.read() };
    // SAFETY: the memory is of malloc, as `boxed` takes it.
    unsafe { libc::free(place.cast()) };
    value
}

impl Output {
    pub(crate) fn new(made: Made, list: Option<usize>) -> Result<Output, Error> {
        let (validity, nulls) = made.validity;
        let bits = validity.as_ref().map_or(ptr::null(), Memory::start);
        let shared = boxed(Shared {
            holders: AtomicUsize::new(1),
            len: made.len,
            nulls,
            format: made.format,
            list,
            buffers: [bits, made.data.start()],
            _validity: validity,
            _data: made.data,
        })?;
        Ok(Output { shared })
    }

    fn shared(&self) -> &Shared {
        // SAFETY: `self` is a holder, so the memory is not freed, and it is only read.
        unsafe { self.shared.as_ref() }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.shared().len
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of rows that are null.
    pub fn null_count(&self) -> usize {
        self.shared().nulls
    }

    /// Returns the format of the values, such as `g` for float64, and the components of a row if
    /// rows are lists.
    pub fn format(&self) -> (&'static CStr, Option<usize>) {
        (self.shared().format, self.shared().list)
    }

    /// Returns the bits of validity, if a row is null, and the values: plain ones, or the
    /// components of lists, one row after the other.
    pub fn buffers(&self) -> (Option<NonNull<u8>>, NonNull<u8>) {
        let [bits, values] = self.shared().buffers;
        let values = NonNull::new(values.cast_mut().cast());
        (NonNull::new(bits.cast_mut().cast()), values.unwrap_or(NonNull::dangling()))
    }

    /// Returns a struct of the values that holds them until it is released.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`].
    pub fn array(&self) -> Result<ArrowArray, Error> {
        let Shared { len, nulls, list, buffers: [bits, values], .. } = *self.shared();
        let Some(width) = list else { return self.node([bits, values], len, nulls) };
        let components = len.checked_mul(width).ok_or(rows::SHORT)?;
        // The child has no bits of its own, because nulls are whole lists.
        let child = self.node([ptr::null(), values], components, 0)?;
        let mut list = match self.node([bits, ptr::null()], len, nulls) {
            Ok(list) => list,
            Err(error) => {
                let mut child = child;
                // SAFETY: `node` made the struct just now, and it was not released yet.
                unsafe { release_array(&mut child) };
                return Err(error);
            }
        };
        let node: *mut Node = list.private_data.cast();
        // SAFETY: `node` made the memory just now, and no other code has its address. Fields are
        // written, and the address of one is taken; no reference to the node exists.
        unsafe {
            (*node).child = child;
            (*node).children = [&raw mut (*node).child];
            list.children = (&raw mut (*node).children).cast();
        }
        (list.n_buffers, list.n_children) = (1, 1);
        Ok(list)
    }

    fn node(
        &self,
        buffers: [*const c_void; 2],
        len: usize,
        nulls: usize,
    ) -> Result<ArrowArray, Error> {
        let node = boxed(Node {
            _values: self.clone(),
            buffers,
            child: ArrowArray::empty(),
            children: [ptr::null_mut()],
        })?;
        let node = node.as_ptr();
        Ok(ArrowArray {
            length: len as i64,
            null_count: nulls as i64,
            n_buffers: 2,
            // SAFETY: `boxed` wrote the node; only the address of its field is taken.
            buffers: unsafe { (&raw mut (*node).buffers).cast() },
            release: Some(release_array),
            private_data: node.cast(),
            ..ArrowArray::empty()
        })
    }

    /// Returns a struct of the type, with this name for the column.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`], and [`Error::Parameter`] for a name with a NUL, which a C string cannot
    /// hold.
    pub fn schema(&self, name: &str) -> Result<ArrowSchema, Error> {
        let (format, list) = self.format();
        schema(format, list, name)
    }
}

/// Returns a struct of a type: of values, or of lists of so many of them.
///
/// # Errors
///
/// The errors of [`Output::schema`].
pub fn schema(
    format: &'static CStr,
    list: Option<usize>,
    name: &str,
) -> Result<ArrowSchema, Error> {
    let Some(width) = list else { return letters(plain(format), name) };
    let mut child = letters(plain(format), "item")?;
    let mut list = match letters(list_of(width), name) {
        Ok(list) => list,
        Err(error) => {
            // SAFETY: `letters` made the struct just now, and it was not released yet.
            unsafe { release_schema(&mut child) };
            return Err(error);
        }
    };
    let node: *mut Letters = list.private_data.cast();
    // SAFETY: `letters` made the memory just now, and no other code has its address. Fields are
    // written, and the address of one is taken; no reference to the node exists.
    unsafe {
        (*node).child = child;
        (*node).children = [&raw mut (*node).child];
        list.children = (&raw mut (*node).children).cast();
    }
    list.n_children = 1;
    Ok(list)
}

/// Returns the letters of a type of values, and zeros.
fn plain(format: &CStr) -> [u8; 28] {
    let mut letters = [0; 28];
    for (to, from) in letters.iter_mut().zip(format.to_bytes().iter().take(27)) {
        *to = *from;
    }
    letters
}

/// Returns the letters of a list of so many components, such as `+w:3`, and a zero. The digits are
/// written here, because `core::fmt` can panic, which the C library must not.
fn list_of(width: usize) -> [u8; 28] {
    let mut format = [0; 28];
    let (head, rest) = format.split_at_mut(3);
    head.copy_from_slice(b"+w:");
    let digits = width.checked_ilog10().map_or(1, |log| log as usize + 1);
    let mut left = width;
    for digit in rest.iter_mut().take(digits).rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    format
}

fn letters(format: [u8; 28], name: &str) -> Result<ArrowSchema, Error> {
    if name.bytes().any(|byte| byte == 0) {
        return Err(Error::Parameter { name: "name", need: "a text without a NUL" });
    }
    let mut memory = Memory::zeroed(name.len() + 1)?;
    if let Some(room) = memory.cleared(0, name.len()) {
        room.copy_from_slice(name.as_bytes());
    }
    let node = boxed(Letters {
        format,
        name: memory,
        child: ArrowSchema::empty(),
        children: [ptr::null_mut()],
    })?;
    // SAFETY: `boxed` wrote the node, and no other code has its address yet.
    let name = unsafe { node.as_ref() }.name.start().cast();
    let node = node.as_ptr();
    Ok(ArrowSchema {
        // SAFETY: only the address of a field is taken.
        format: unsafe { (&raw const (*node).format).cast::<c_char>() },
        name,
        flags: 2, // nullable
        release: Some(release_schema),
        private_data: node.cast(),
        ..ArrowSchema::empty()
    })
}

/// Releases a struct of [`Output::array`], and a child that was not moved out.
///
/// # Safety
///
/// `array` is such a struct, or a copy that took its place, and was not released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the interface passes the struct that is released, and no other code uses it
    // meanwhile.
    let Some(array) = (unsafe { array.as_mut() }) else { return };
    if array.release.take().is_none() || array.private_data.is_null() {
        return;
    }
    let node: *mut Node = core::mem::replace(&mut array.private_data, ptr::null_mut()).cast();
    // SAFETY: a struct with this function as its `release` has a node of `boxed`; `release` was set
    // and is null now, so this is the first time. The child in the node was released or moved if
    // its `release` is null, and is released here otherwise.
    unsafe {
        let child = &raw mut (*node).child;
        if let Some(release) = (*child).release {
            release(child);
        }
        drop(unboxed(node));
    }
}

/// Releases a struct of [`Output::schema`].
///
/// # Safety
///
/// `schema` is such a struct, or a copy that took its place, and was not released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface passes the struct that is released, and no other code uses it
    // meanwhile.
    let Some(schema) = (unsafe { schema.as_mut() }) else { return };
    if schema.release.take().is_none() || schema.private_data.is_null() {
        return;
    }
    let node: *mut Letters = core::mem::replace(&mut schema.private_data, ptr::null_mut()).cast();
    // SAFETY: as in `release_array`.
    unsafe {
        let child = &raw mut (*node).child;
        if let Some(release) = (*child).release {
            release(child);
        }
        drop(unboxed(node));
    }
}

impl Clone for Output {
    fn clone(&self) -> Output {
        // Relaxed, because code that has a holder can make another one without an order to
        // anything.
        self.shared().holders.fetch_add(1, Ordering::Relaxed);
        Output { shared: self.shared }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Release, so that everything that other holders read comes before the last one frees it;
        // the fence is its partner.
        if self.shared().holders.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last holder, so no code has the address any more, and `boxed`
            // made the memory.
            drop(unsafe { unboxed(self.shared.as_ptr()) });
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({} rows)", self.len())
    }
}
