//! Finding a function in the vDSO, the small ELF library that the kernel maps into each process.
//!
//! Written from the ELF specification (System V gABI, chapters 4 and 5, and the GNU hash section).
//! The image is the kernel's own, so its offsets are trusted to lie inside it; what may be absent
//! is still checked, since kernels differ in which hash table they ship.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Force, forced};
use crate::linux::sys;
use core::ffi::{CStr, c_char, c_void};
use core::mem::size_of;
use core::ptr::{self, NonNull};

use libc::{Elf64_Ehdr, Elf64_Phdr, Elf64_Sym};

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// The vDSO's dynamic symbols.
#[derive(Clone, Copy)]
pub(crate) struct Vdso {
    image: *const u8,
    /// The offset from a virtual address of the image to a pointer.
    bias: usize,
    symbols: *const Elf64_Sym,
    count: usize,
    names: *const c_char,
}

impl Vdso {
    /// Returns the vDSO of this process; None with `vdso=0` or a stripped auxiliary vector.
    pub(crate) fn find() -> Option<Vdso> {
        if forced(Force::NoVdso) || cfg!(any(miri, not(target_pointer_width = "64"))) {
            return None;
        }
        let image = sys::auxiliary(libc::AT_SYSINFO_EHDR);
        if image == 0 {
            return None;
        }
        // SAFETY: AT_SYSINFO_EHDR is the address of the mapped vDSO image.
        unsafe { Vdso::parse(ptr::with_exposed_provenance(image)) }
    }

    /// # Safety
    ///
    /// `image` points to a well-formed ELF64 image, mapped as its PT_LOAD header says, for ever.
    unsafe fn parse(image: *const u8) -> Option<Vdso> {
        // SAFETY: all reads are at offsets in the headers of a well-formed image.
        unsafe {
            let header = image.cast::<Elf64_Ehdr>().read_unaligned();
            if header.e_ident[..4] != *b"\x7fELF" || header.e_ident[4] != 2 {
                return None;
            }
            let mut bias = None;
            let mut dynamic = None;
            for i in 0..usize::from(header.e_phnum) {
                let at = header.e_phoff as usize + i * usize::from(header.e_phentsize);
                let segment = image.add(at).cast::<Elf64_Phdr>().read_unaligned();
                match segment.p_type {
                    PT_LOAD if bias.is_none() => {
                        let first = segment.p_offset.wrapping_sub(segment.p_vaddr) as usize;
                        bias = Some(image.addr().wrapping_add(first));
                    }
                    PT_DYNAMIC => dynamic = Some(image.add(segment.p_offset as usize)),
                    _ => {}
                }
            }
            let (bias, mut entry) = (bias?, dynamic?.cast::<[u64; 2]>());
            let (mut names, mut symbols, mut hash, mut gnu_hash) = (None, None, None, None);
            loop {
                let [tag, value] = entry.read_unaligned();
                let at = image.with_addr(bias.wrapping_add(value as usize));
                match tag {
                    0 => break,
                    DT_STRTAB => names = Some(at.cast::<c_char>()),
                    DT_SYMTAB => symbols = Some(at.cast::<Elf64_Sym>()),
                    DT_HASH => hash = Some(at.cast::<u32>()),
                    DT_GNU_HASH => gnu_hash = Some(at.cast::<u32>()),
                    _ => {}
                }
                entry = entry.add(1);
            }
            let count = match (hash, gnu_hash) {
                // The second word of DT_HASH is the number of symbols.
                (Some(hash), _) => hash.add(1).read_unaligned() as usize,
                (None, Some(gnu_hash)) => gnu_hash_symbols(gnu_hash),
                (None, None) => return None,
            };
            Some(Vdso { image, bias, symbols: symbols?, count, names: names? })
        }
    }

    /// Returns the start of the image in memory; the kernel's data pages lie just below.
    pub(crate) fn base(&self) -> *const u8 {
        self.image
    }

    /// Returns the function of this name.
    pub(crate) fn function(&self, name: &CStr) -> Option<NonNull<c_void>> {
        const FUNCTION: u8 = 2;
        (0..self.count).find_map(|i| {
            // SAFETY: `i` is below the image's own count of symbols, and names are C strings in its
            // string table.
            unsafe {
                let symbol = self.symbols.add(i).read_unaligned();
                let defined = symbol.st_shndx != 0 && symbol.st_info & 0xF == FUNCTION;
                if !defined || CStr::from_ptr(self.names.add(symbol.st_name as usize)) != name {
                    return None;
                }
                let at = self.bias.wrapping_add(symbol.st_value as usize);
                NonNull::new(self.image.with_addr(at).cast_mut().cast())
            }
        })
    }
}

/// Returns the number of symbols that a GNU hash table covers: one more than the last member of its
/// last chain.
///
/// # Safety
///
/// `table` points to a well-formed DT_GNU_HASH table.
unsafe fn gnu_hash_symbols(table: *const u32) -> usize {
    // SAFETY: header, bloom filter, buckets, chains, in this order and of the sizes in the header.
    unsafe {
        let [buckets, first, bloom_words, _] = table.cast::<[u32; 4]>().read_unaligned();
        let bucket = table.add(4 + bloom_words as usize * (size_of::<u64>() / size_of::<u32>()));
        let chain = bucket.add(buckets as usize);
        let last = (0..buckets as usize).map(|i| bucket.add(i).read_unaligned()).max().unwrap_or(0);
        if last < first {
            return first as usize;
        }
        let mut symbol = last;
        // The lowest bit of a chain's word marks its end.
        while chain.add((symbol - first) as usize).read_unaligned() & 1 == 0 {
            symbol += 1;
        }
        symbol as usize + 1
    }
}
