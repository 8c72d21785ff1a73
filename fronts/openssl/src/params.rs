//! Parameters (OSSL_PARAM): values by name, in the type and size that the caller asks for.

use crate::abi::{self, Param};
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::mem::size_of;
use core::ptr::{null, null_mut};

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
    // SAFETY: the list is not null and ends with a null key, at which the loop stops, so each step
    // finds a parameter. Nothing else uses the list during the call.
    while let Some(param) = unsafe { params.as_mut() }.filter(|param| !param.key.is_null()) {
        // SAFETY: a key that is not null is a C string.
        answer(unsafe { CStr::from_ptr(param.key) }, param)?;
        // SAFETY: this was not the end.
        params = unsafe { params.add(1) };
    }
    Ok(())
}

impl Param {
    /// Sets a number, as OpenSSL's own OSSL_PARAM_set_uint64 does. The parameter is an integer of
    /// any width that holds the value, signed or not, or a REAL if a double holds it exactly.
    #[inline]
    pub(crate) fn set_number(&mut self, value: u64) -> Result<(), DoesNotFit> {
        // OpenSSL asks for `max_request` before every draw, in this form.
        if self.data_type == abi::PARAM_UNSIGNED_INTEGER
            && self.data_size == size_of::<u64>()
            && !self.data.is_null()
        {
            self.return_size = size_of::<u64>();
            // SAFETY: `data` is valid for writes of `data_size` bytes.
            unsafe { self.data.cast::<u64>().write_unaligned(value) };
            return Ok(());
        }
        self.set_other_number(value)
    }

    #[cold]
    fn set_other_number(&mut self, value: u64) -> Result<(), DoesNotFit> {
        let sign_bits = match self.data_type {
            abi::PARAM_INTEGER => 1,
            abi::PARAM_UNSIGNED_INTEGER => 0,
            abi::PARAM_REAL => return self.set_real(value),
            _ => return Err(DoesNotFit),
        };
        self.return_size = size_of::<u64>();
        if self.data.is_null() {
            return Ok(()); // asks for the size
        }
        let bits = u64::BITS - value.leading_zeros() + sign_bits;
        if self.data_size < bits.div_ceil(8).max(1) as usize {
            return Err(DoesNotFit);
        }
        let to = self.data.cast::<u8>();
        for (at, byte) in value.to_le_bytes().into_iter().enumerate().take(self.data_size) {
            // SAFETY: `data` is valid for writes of `data_size` bytes, and `take` stops there. The
            // lowest byte comes first, as on x86-64 and arm64.
            unsafe { to.add(at).write(byte) };
        }
        if let Some(rest) = self.data_size.checked_sub(size_of::<u64>()) {
            // SAFETY: `rest` is the part of `data_size` after the first 8 bytes, so the zeros end
            // where `data` ends. A value that is not negative is extended with zeros.
            unsafe { to.add(size_of::<u64>()).write_bytes(0, rest) };
        }
        self.return_size = self.data_size;
        Ok(())
    }

    fn set_real(&mut self, value: u64) -> Result<(), DoesNotFit> {
        self.return_size = size_of::<f64>();
        if self.data.is_null() {
            return Ok(());
        }
        // Every whole number up to 2^53 is a double; OpenSSL refuses larger ones alike.
        if self.data_size != size_of::<f64>() || value >> 53 != 0 {
            return Err(DoesNotFit);
        }
        // SAFETY: `data` is valid for writes of `data_size` bytes.
        unsafe { self.data.cast::<f64>().write_unaligned(value as f64) };
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
        assert_eq!(asked(unsigned, &mut byte).set_number(256), Err(DoesNotFit));
        assert_eq!(asked(signed, &mut byte).set_number(128), Err(DoesNotFit));
        assert_eq!(asked(unsigned, &mut small).set_number(1 << 32), Err(DoesNotFit));
        assert_eq!(asked(signed, &mut small).set_number(1 << 31), Err(DoesNotFit));
        assert_eq!(asked(signed, &mut large).set_number(1 << 63), Err(DoesNotFit));
        assert_eq!(asked(abi::PARAM_REAL, &mut large).set_number(1 << 53), Err(DoesNotFit));
        assert_eq!(asked(abi::PARAM_REAL, &mut small).set_number(1), Err(DoesNotFit));
        assert_eq!(asked(abi::PARAM_UTF8_PTR, &mut large).set_number(1), Err(DoesNotFit));
        assert_eq!((byte, small, large), (0, 0, 0));
    }

    #[test]
    fn numbers_go_into_every_width_and_into_doubles() {
        let (mut byte, mut odd, mut wide, mut real) = (0_u8, [0xFF_u8; 3], [0xFF_u8; 16], 0.0_f64);
        let unsigned = abi::PARAM_UNSIGNED_INTEGER;
        assert_eq!(asked(unsigned, &mut byte).set_number(255), Ok(()));
        assert_eq!(asked(unsigned, &mut odd).set_number(0x0102_0304 >> 8), Ok(()));
        assert_eq!(asked(abi::PARAM_INTEGER, &mut wide).set_number(u64::MAX), Ok(()));
        assert_eq!(asked(abi::PARAM_REAL, &mut real).set_number(256), Ok(()));
        assert_eq!((byte, odd, real), (255, [3, 2, 1], 256.0));
        assert_eq!(u128::from_le_bytes(wide), u64::MAX.into());
    }

    #[test]
    fn without_room_the_size_is_returned() {
        let mut param = Param::u64(c"key");
        assert_eq!((param.set_number(1), param.return_size), (Ok(()), 8));
        let mut param = Param::text(c"key");
        assert_eq!((param.set_text(c"four"), param.return_size), (Ok(()), 4));
    }

    #[test]
    fn unknown_names_stay_unchanged() {
        let mut room = 1_u64;
        let mut list = [asked(abi::PARAM_INTEGER, &mut room), Param::END];
        // SAFETY: a list with an end.
        let answer = |list| unsafe { answer_each(list, |_, _| Ok(())) };
        assert_eq!(answer(list.as_mut_ptr()), Ok(()));
        assert_eq!(answer(null_mut()), Ok(()));
        assert_eq!(room, 1);
    }
}
