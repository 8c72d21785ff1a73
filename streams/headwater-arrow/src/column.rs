//! A column that was checked: everything of the C structs that a check can reach.
//!
//! The structs come from other people's programs. A mistake that shows in a length, a count of
//! buffers or a null pointer is an error here. But the lengths of buffers are not part of the
//! interface, so a producer that promises more rows than its buffers have cannot be noticed.

use crate::Error;
use crate::abi::{ArrowArray, ArrowSchema};
use crate::format::{Name, Type};
use core::ffi::{CStr, c_void};
use core::marker::PhantomData;
use core::slice;

/// A column of another program's, checked, for as long as its structs are borrowed.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    pub(crate) rows: Flat<'a>,
    /// The values of a dictionary, whose places `rows` has then.
    pub(crate) dictionary: Option<Flat<'a>>,
    pub(crate) name: Name,
}

/// A column without a dictionary.
#[derive(Clone, Copy)]
pub(crate) struct Flat<'a> {
    pub(crate) kind: Type,
    pub(crate) len: usize,
    offset: usize,
    /// The bits of validity, or null if no row is null.
    validity: *const u8,
    /// The second buffer. Valid for `len` rows from `offset` on, as the producer promised.
    data: *const u8,
    buffers: *const *const c_void,
    n_buffers: usize,
    borrowed: PhantomData<&'a ArrowArray>,
}

// SAFETY: the pointers lead to memory that the producer keeps and nothing writes to, as the caller
// of `Column::new` promised, so any thread may read it.
unsafe impl Send for Flat<'_> {}
// SAFETY: as above.
unsafe impl Sync for Flat<'_> {}

fn malformed<T>(fault: &'static str) -> Result<T, Error> {
    Err(Error::Malformed(fault))
}

impl<'a> Column<'a> {
    /// Checks a column.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] names what contradicts the specification.
    ///
    /// # Safety
    ///
    /// Pointers of the structs that are not null lead to what the Arrow C data interface says, for
    /// as long as both are borrowed: C strings, structs, and buffers of `offset + length` rows that
    /// nothing writes to meanwhile.
    pub unsafe fn new(schema: &'a ArrowSchema, array: &'a ArrowArray) -> Result<Column<'a>, Error> {
        // SAFETY: `# Safety` says the same of these structs.
        let (rows, name) = unsafe { Flat::new(schema, array)? };
        // SAFETY: a dictionary that is not null is a struct of the same interface, as `# Safety`
        // says, and lives as long as the struct that leads to it.
        let values = unsafe { (schema.dictionary.as_ref(), array.dictionary.as_ref()) };
        let dictionary = match values {
            (None, None) => None,
            (Some(schema), Some(array)) => {
                if !matches!(rows.kind, Type::Integer { .. }) {
                    return malformed("a dictionary's places are not integers");
                }
                if !schema.dictionary.is_null() {
                    return malformed("a dictionary of a dictionary: decode the column first");
                }
                // SAFETY: as above.
                Some(unsafe { Flat::new(schema, array)? })
            }
            _ => return malformed("only one of its two structs has a dictionary"),
        };
        let (dictionary, name) = match dictionary {
            Some((values, name)) => (Some(values), name),
            None => (None, name),
        };
        Ok(Column { rows, dictionary, name })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.len == 0
    }

    /// Returns false if no row can be null.
    pub(crate) fn may_be_null(&self) -> bool {
        let of = |flat: &Flat<'_>| !flat.validity.is_null() || flat.kind == Type::Null;
        of(&self.rows) || self.dictionary.as_ref().is_some_and(of)
    }

    /// Returns the bytes of a row of texts or binary values, or `None` for a null.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the value lies outside of its buffer, or the column has another
    /// type.
    pub fn bytes(&self, row: usize) -> Result<Option<&'a [u8]>, Error> {
        let kind = self.dictionary.as_ref().map_or(self.rows.kind, |values| values.kind);
        if !matches!(kind, Type::Bytes { .. } | Type::Views | Type::Fixed { .. }) {
            return malformed("another type where bytes are needed");
        }
        match self.value(row)? {
            Some((values, place)) => values.bytes(place).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the place of a row's value and the column that has it, or `None` if the row is null.
    pub(crate) fn value(&self, row: usize) -> Result<Option<(&Flat<'a>, usize)>, Error> {
        if self.rows.is_null(row) {
            return Ok(None);
        }
        let Some(values) = &self.dictionary else { return Ok(Some((&self.rows, row))) };
        let place = usize::try_from(self.rows.integer(row)).ok().filter(|&at| at < values.len);
        let Some(place) = place else { return malformed("a place outside of its dictionary") };
        Ok((!values.is_null(place)).then_some((values, place)))
    }
}

impl<'a> Flat<'a> {
    /// Checks a column apart from its dictionary.
    ///
    /// # Safety
    ///
    /// The promise of [`Column::new`].
    unsafe fn new(
        schema: &'a ArrowSchema,
        array: &'a ArrowArray,
    ) -> Result<(Flat<'a>, Name), Error> {
        if schema.release.is_none() || array.release.is_none() {
            return malformed("a struct that was released or moved");
        }
        if schema.format.is_null() {
            return malformed("no format");
        }
        // SAFETY: the format is not null, and so a C string, as `# Safety` says.
        let format = unsafe { CStr::from_ptr(schema.format) }.to_bytes();
        let kind = Type::parse(format);
        let (Ok(len), Ok(offset)) = (usize::try_from(array.length), usize::try_from(array.offset))
        else {
            return malformed("a negative length or offset");
        };
        let end = len.checked_add(offset);
        let bytes = end.and_then(|end| end.checked_add(1)?.checked_mul(kind.width().max(1)));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return malformed("more rows than fit in memory");
        }
        let (least, or_more) = kind.buffers();
        if array.n_buffers < least || (array.n_buffers > least && !or_more) {
            return malformed("another number of buffers than its type has");
        }
        let n_buffers = usize::try_from(array.n_buffers).unwrap_or(0);
        if n_buffers > 0 && array.buffers.is_null() {
            return malformed("no list of buffers");
        }
        if kind != Type::Other && (schema.n_children != 0 || array.n_children != 0) {
            return malformed("children of a type that has none");
        }
        if array.null_count < -1 || array.null_count > array.length {
            return malformed("more nulls than rows, or fewer than none");
        }
        let mut flat = Flat {
            kind,
            len,
            offset,
            validity: core::ptr::null(),
            data: core::ptr::null(),
            buffers: array.buffers,
            n_buffers,
            borrowed: PhantomData,
        };
        if matches!(kind, Type::Null | Type::Other) {
            return Ok((flat, Name::new(format)));
        }
        flat.data = flat.buffer(1).cast();
        let needs_data = kind.width() > 0 || kind == Type::Bool;
        if len > 0 && flat.data.is_null() && needs_data {
            return malformed("rows, and no buffer of their values");
        }
        if array.null_count != 0 {
            flat.validity = flat.buffer(0).cast();
            if flat.validity.is_null() && array.null_count > 0 {
                return malformed("nulls, and no buffer that says which");
            }
        }
        Ok((flat, Name::new(format)))
    }

    /// Returns a buffer's address, or null if there is no such buffer.
    fn buffer(&self, number: usize) -> *const c_void {
        if number >= self.n_buffers {
            return core::ptr::null();
        }
        // SAFETY: the list is not null if it has buffers, as `new` checked, and has `n_buffers` of
        // them, as the caller of `Column::new` promised; `number` is below.
        unsafe { *self.buffers.add(number) }
    }

    /// Returns whether a row is null. One that does not exist is.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        if row >= self.len || self.kind == Type::Null {
            return true;
        }
        if self.validity.is_null() {
            return false;
        }
        let bit = self.offset + row;
        // SAFETY: `row` is below `len`, so the producer promised a bit for it.
        let byte = unsafe { *self.validity.add(bit / 8) };
        byte >> (bit % 8) & 1 == 0
    }

    /// Reads bytes of the second buffer. Unaligned, because Arrow recommends alignment and does not
    /// demand it.
    #[inline]
    fn read<T: Copy + Default>(&self, row: usize) -> T {
        if row > self.len || self.data.is_null() || self.kind.width() != size_of::<T>() {
            return T::default();
        }
        // SAFETY: `T` is an integer of the type's width, as was checked; `row` is below `len`, or
        // equal to it, which only `bytes` asks for, of ends, of which there is one more than rows.
        // So the producer promised these bytes, and the sum cannot overflow: `new` checked it.
        unsafe { self.data.cast::<T>().add(self.offset + row).read_unaligned() }
    }

    /// Returns an integer, a decimal's digits, or a boolean as 0 or 1. 0 for other types and for
    /// rows that do not exist.
    pub(crate) fn integer(&self, row: usize) -> i128 {
        if row >= self.len {
            return 0;
        }
        match self.kind {
            Type::Integer { bytes: 1, signed: true } => self.read::<i8>(row).into(),
            Type::Integer { bytes: 1, .. } => self.read::<u8>(row).into(),
            Type::Integer { bytes: 2, signed: true } => self.read::<i16>(row).into(),
            Type::Integer { bytes: 2, .. } => self.read::<u16>(row).into(),
            Type::Integer { bytes: 4, signed: false } => self.read::<u32>(row).into(),
            Type::Integer { bytes: 8, signed: false } => self.read::<u64>(row).into(),
            Type::Integer { bytes: 4, .. } | Type::Days | Type::Decimal { bytes: 4, .. } => {
                self.read::<i32>(row).into()
            }
            Type::Integer { .. }
            | Type::DayMillis
            | Type::Timestamp { .. }
            | Type::Decimal { bytes: 8, .. } => self.read::<i64>(row).into(),
            Type::Decimal { .. } => self.read::<i128>(row),
            Type::Bool => self.bit(row).into(),
            _ => 0,
        }
    }

    /// Returns a floating-point number, or `None` for other types and for rows that do not exist.
    pub(crate) fn real(&self, row: usize) -> Option<f64> {
        if row >= self.len {
            return None;
        }
        match self.kind {
            Type::Float { bytes: 4 } => Some(f32::from_bits(self.read::<u32>(row)).into()),
            Type::Float { .. } => Some(f64::from_bits(self.read::<u64>(row))),
            _ => None,
        }
    }

    /// Copies integers from row `start` on, widened to 64 bits. Returns false, and copies nothing,
    /// unless the type is one of integers and all rows exist.
    pub(crate) fn widen(&self, start: usize, out: &mut [u64]) -> bool {
        let Some(end) = start.checked_add(out.len()) else { return false };
        if end > self.len || self.data.is_null() {
            return out.is_empty();
        }
        macro_rules! widen {
            ($type:ty) => {{
                // SAFETY: rows up to `end` exist, as was checked, so the producer promised them.
                let rows = unsafe { self.data.cast::<$type>().add(self.offset + start) };
                for (i, out) in out.iter_mut().enumerate() {
                    // SAFETY: `i` is below the length of `out`, so the row is one of these.
                    // Unaligned, as in `read`.
                    *out = unsafe { rows.add(i).read_unaligned() } as i64 as u64;
                }
            }};
        }
        match self.kind {
            Type::Integer { bytes: 1, signed: true } => widen!(i8),
            Type::Integer { bytes: 1, signed: false } => widen!(u8),
            Type::Integer { bytes: 2, signed: true } => widen!(i16),
            Type::Integer { bytes: 2, signed: false } => widen!(u16),
            Type::Integer { bytes: 4, signed: true } => widen!(i32),
            Type::Integer { bytes: 4, signed: false } => widen!(u32),
            Type::Integer { bytes: 8, .. } => widen!(i64),
            _ => return false,
        }
        true
    }

    /// Returns integers of 64 bits where they lie, from row `start` on, or `None` if the type is
    /// another one, a row does not exist, or the producer did not align them.
    pub(crate) fn words(&self, start: usize, len: usize) -> Option<&'a [u64]> {
        let is_word = matches!(self.kind, Type::Integer { bytes: 8, .. });
        // SAFETY: the rows are words, as was checked.
        is_word.then(|| unsafe { self.slice(start, len) })?
    }

    /// Returns floats of 64 bits where they lie, as `words` does integers.
    pub(crate) fn reals(&self, start: usize, len: usize) -> Option<&'a [f64]> {
        let is_real = self.kind == Type::Float { bytes: 8 };
        // SAFETY: the rows are floats of this width, as was checked.
        is_real.then(|| unsafe { self.slice(start, len) })?
    }

    /// Returns rows where they lie, or `None` if one does not exist or they are not aligned.
    ///
    /// # Safety
    ///
    /// The second buffer has a `T` for each row, and any bits are a `T`.
    unsafe fn slice<T>(&self, start: usize, len: usize) -> Option<&'a [T]> {
        let end = start.checked_add(len)?;
        if end > self.len || self.data.is_null() {
            return None;
        }
        // SAFETY: rows up to `end` exist, as was checked, so the producer promised them.
        let rows = unsafe { self.data.cast::<T>().add(self.offset + start) };
        // SAFETY: the rows are aligned values of the type, as `# Safety` says, and the interface
        // forbids a producer to change them until the column is released, which outlives `'a`.
        rows.is_aligned().then(|| unsafe { core::slice::from_raw_parts(rows, len) })
    }

    /// Returns a bit of the second buffer.
    pub(crate) fn bit(&self, row: usize) -> bool {
        if row >= self.len || self.data.is_null() || self.kind != Type::Bool {
            return false;
        }
        let bit = self.offset + row;
        // SAFETY: `row` is below `len`, so the producer promised a bit for it.
        let byte = unsafe { *self.data.add(bit / 8) };
        byte >> (bit % 8) & 1 == 1
    }

    /// Returns the bytes of a text or of a binary value.
    pub(crate) fn bytes(&self, row: usize) -> Result<&'a [u8], Error> {
        if row >= self.len {
            return Ok(&[]);
        }
        let (start, len): (*const u8, usize) = match self.kind {
            Type::Bytes { large } => {
                let ends = match large {
                    true => (self.read::<i64>(row), self.read::<i64>(row + 1)),
                    false => (self.read::<i32>(row).into(), self.read::<i32>(row + 1).into()),
                };
                let start = usize::try_from(ends.0);
                let len = ends.1.checked_sub(ends.0).and_then(|len| usize::try_from(len).ok());
                let (Ok(start), Some(len)) = (start, len) else {
                    return malformed("a text that ends before it begins");
                };
                (self.buffer(2).cast::<u8>().wrapping_add(start), len)
            }
            Type::Views => return self.view(row),
            Type::Fixed { width } => {
                let width = width as usize;
                (self.data.wrapping_add((self.offset + row).wrapping_mul(width)), width)
            }
            _ => return Ok(&[]),
        };
        if len == 0 {
            return Ok(&[]);
        }
        let has_buffer = match self.kind {
            Type::Bytes { .. } => !self.buffer(2).is_null(),
            _ => !self.data.is_null(),
        };
        if !has_buffer {
            return malformed("texts, and no buffer of their bytes");
        }
        // SAFETY: the buffer is not null, and the producer's own ends say that these bytes of it
        // exist, which is all that the interface has of its length; `len` is at most isize::MAX,
        // because it is the difference of two numbers from 0 of an i64.
        Ok(unsafe { slice::from_raw_parts(start, len) })
    }

    /// Returns the bytes of a view: in the view itself up to 12, else in one of the buffers, whose
    /// lengths the last buffer has.
    fn view(&self, row: usize) -> Result<&'a [u8], Error> {
        let at = self.data.wrapping_add((self.offset + row) * 16);
        // SAFETY: `row` is below `len`, as `bytes` checked, so the producer promised 16 bytes.
        let view: &'a [u8; 16] = unsafe { &*at.cast() };
        let [len, _, buffer, start] = [0, 4, 8, 12].map(|at| {
            let word = view.get(at..).and_then(|rest| rest.first_chunk::<4>());
            i32::from_le_bytes(word.copied().unwrap_or_default())
        });
        let outside = Error::Malformed("a view outside of its buffer");
        let (Ok(len), Ok(start)) = (usize::try_from(len), usize::try_from(start)) else {
            return Err(outside);
        };
        if len <= 12 {
            return view.get(4..4 + len).ok_or(outside);
        }
        let buffers = self.n_buffers - 3;
        let sizes: *const i64 = self.buffer(self.n_buffers - 1).cast();
        let buffer = usize::try_from(buffer).ok().filter(|&buffer| buffer < buffers);
        let Some(buffer) = buffer.filter(|_| !sizes.is_null()) else { return Err(outside) };
        // SAFETY: the last buffer has a length for each buffer of bytes, and `buffer` is one.
        let size = unsafe { sizes.add(buffer).read_unaligned() };
        let bytes: *const u8 = self.buffer(buffer + 2).cast();
        if bytes.is_null() || usize::try_from(size).is_ok_and(|size| start + len > size) || size < 0
        {
            return Err(outside);
        }
        // SAFETY: the buffer is not null and has `size` bytes, in which the view ends, as was
        // checked.
        Ok(unsafe { slice::from_raw_parts(bytes.add(start), len) })
    }
}
