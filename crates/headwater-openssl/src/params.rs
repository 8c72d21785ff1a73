//! Parameters (OSSL_PARAM): values by name, in the type and size that the caller asks for.

use crate::abi::{self, Param};
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// Error: the value does not fit the requested type or size.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DoesNotFit;

/// Calls `answer` for each parameter of the list. OpenSSL requires that unknown names stay
/// unchanged.
///
/// # Safety
///
/// `params` is null or a list that ends with a null key; keys are C strings, and `data` is null or
/// valid for writes of `data_size` bytes.
#[inline]
pub(crate) unsafe fn answer_each(
    mut params: *mut Param,
    mut answer: impl FnMut(&CStr, &mut Param) -> Result<(), DoesNotFit>,
) -> Result<(), DoesNotFit> {
    if params.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; nothing else uses the list during the call.
    while let Some(param) = unsafe { params.as_mut() }.filter(|param| !param.key.is_null()) {
        // SAFETY: as above.
        answer(unsafe { CStr::from_ptr(param.key) }, param)?;
        // SAFETY: this was not the end.
        params = unsafe { params.add(1) };
    }
    Ok(())
}

impl Param {
    /// Answers with a number, in a signed or unsigned integer of 4 or 8 bytes.
    #[inline]
    pub(crate) fn set_number(&mut self, value: u64) -> Result<(), DoesNotFit> {
        let signed = self.data_type == abi::PARAM_INTEGER;
        if !signed && self.data_type != abi::PARAM_UNSIGNED_INTEGER {
            return Err(DoesNotFit);
        }
        self.return_size = size_of::<u64>();
        if self.data.is_null() {
            return Ok(()); // asks for the size
        }
        let sign = u32::from(signed);
        match self.data_size {
            8 if value <= u64::MAX >> sign => {
                // SAFETY: `data` is valid for writes of `data_size` bytes.
                unsafe { self.data.cast::<u64>().write_unaligned(value) };
            }
            4 if value <= u64::from(u32::MAX >> sign) => {
                // SAFETY: as above; the value fits.
                unsafe { self.data.cast::<u32>().write_unaligned(value as u32) };
            }
            _ => return Err(DoesNotFit),
        }
        self.return_size = self.data_size;
        Ok(())
    }

    /// Sets a constant text, by its address.
    pub(crate) fn set_text(&mut self, text: &'static CStr) -> Result<(), DoesNotFit> {
        if self.data_type != abi::PARAM_UTF8_PTR {
            return Err(DoesNotFit);
        }
        self.return_size = text.count_bytes();
        if !self.data.is_null() {
            // SAFETY: a parameter of this type points to a pointer.
            unsafe { self.data.cast::<*const c_char>().write_unaligned(text.as_ptr()) };
        }
        Ok(())
    }

    /// Makes an entry of a table of known parameters.
    pub(crate) const fn describe(key: &'static CStr, data_type: c_uint, size: usize) -> Param {
        Param {
            key: key.as_ptr(),
            data_type,
            data: null_mut(),
            data_size: size,
            return_size: abi::PARAM_UNMODIFIED,
        }
    }

    pub(crate) const fn int(key: &'static CStr) -> Param {
        Param::describe(key, abi::PARAM_INTEGER, size_of::<c_int>())
    }

    pub(crate) const fn uint(key: &'static CStr) -> Param {
        Param::describe(key, abi::PARAM_UNSIGNED_INTEGER, size_of::<c_uint>())
    }

    pub(crate) const fn u64(key: &'static CStr) -> Param {
        Param::describe(key, abi::PARAM_UNSIGNED_INTEGER, size_of::<u64>())
    }

    pub(crate) const fn text(key: &'static CStr) -> Param {
        Param::describe(key, abi::PARAM_UTF8_PTR, 0)
    }

    pub(crate) const END: Param =
        Param { key: null(), data_type: 0, data: null_mut(), data_size: 0, return_size: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<T>(data_type: c_uint, room: &mut T) -> Param {
        let mut param = Param::describe(c"key", data_type, size_of::<T>());
        param.data = std::ptr::from_mut(room).cast();
        param
    }

    #[test]
    fn numbers_go_into_every_integer_that_holds_them() {
        for data_type in [abi::PARAM_INTEGER, abi::PARAM_UNSIGNED_INTEGER] {
            let (mut small, mut large) = (0_u32, 0_u64);
            let mut param = asked(data_type, &mut small);
            assert_eq!((param.set_number(7), param.return_size), (Ok(()), 4));
            let mut param = asked(data_type, &mut large);
            assert_eq!((param.set_number(1 << 40), param.return_size), (Ok(()), 8));
            assert_eq!((small, large), (7, 1 << 40));
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let (mut byte, mut small, mut large) = (0_u8, 0_u32, 0_u64);
        let [signed, unsigned] = [abi::PARAM_INTEGER, abi::PARAM_UNSIGNED_INTEGER];
        assert_eq!(asked(unsigned, &mut byte).set_number(1), Err(DoesNotFit));
        assert_eq!(asked(unsigned, &mut small).set_number(1 << 32), Err(DoesNotFit));
        assert_eq!(asked(signed, &mut small).set_number(1 << 31), Err(DoesNotFit));
        assert_eq!(asked(signed, &mut large).set_number(1 << 63), Err(DoesNotFit));
        assert_eq!(asked(abi::PARAM_UTF8_PTR, &mut large).set_number(1), Err(DoesNotFit));
        assert_eq!((byte, small, large), (0, 0, 0));
    }

    #[test]
    fn who_has_no_room_is_told_the_size() {
        let mut param = Param::u64(c"key");
        assert_eq!((param.set_number(1), param.return_size), (Ok(()), 8));
        let mut param = Param::text(c"key");
        assert_eq!((param.set_text(c"four"), param.return_size), (Ok(()), 4));
    }

    #[test]
    fn what_is_not_known_is_left_alone() {
        let mut room = 1_u64;
        let mut list = [asked(abi::PARAM_INTEGER, &mut room), Param::END];
        // SAFETY: a list with an end.
        let answer = |list| unsafe { answer_each(list, |_, _| Ok(())) };
        assert_eq!(answer(list.as_mut_ptr()), Ok(()));
        assert_eq!(answer(null_mut()), Ok(()));
        assert_eq!(room, 1);
    }
}
