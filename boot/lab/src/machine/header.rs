//! The header of a kernel image, which says whose machine it is for and how long the file is.
//!
//! QEMU takes a file of any content for a very old kernel, and a truncated one runs into nothing.
//! Neither has a message, so the lab looks first.

use crate::machine::elf;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes that are looked at. They contain every header but those of an ELF file's segments.
const HEAD: u64 = 4096;
/// The machine of arm64 (the PE format, "Machine types").
const ARM64: u16 = 0xaa64;

/// Returns the architecture of a kernel image, after a check that the file is whole.
///
/// # Errors
///
/// If the file cannot be read, is no kernel image, or is shorter than its header says.
pub(crate) fn architecture(image: &Path) -> Result<&'static str> {
    let shown = image.display();
    let cannot = || format!("cannot read {shown}");
    let metadata = image.metadata().with_context(cannot)?;
    ensure!(metadata.is_file(), "{shown} is no file");
    let file = File::open(image).with_context(cannot)?;
    let length = metadata.len();
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).with_context(cannot)?;
    let found = match bzimage(&head).or_else(|| portable(&head)) {
        None => vmlinux(image)?,
        found => found,
    };
    let Some((architecture, needed)) = found else {
        let hint = if head.starts_with(&[0x1f, 0x8b]) { "; unpack it with gunzip" } else { "" };
        bail!(
            "{shown} is not a kernel image: no bzImage, Image of arm64, or vmlinux of x86-64{hint}"
        )
    };
    ensure!(architecture != "x86", "{shown} is a kernel for 32-bit x86, and guests are x86-64");
    ensure!(
        length >= needed,
        "{shown} is truncated: it has {length} bytes, and its header says {needed}"
    );
    Ok(architecture)
}

/// Reads the header of a bzImage (Documentation/arch/x86/boot.rst). A signature may follow.
fn bzimage(head: &[u8]) -> Option<(&'static str, u64)> {
    if bytes::<4>(head, 0x202)? != *b"HdrS" {
        return None;
    }
    let sectors = match head[0x1f1] {
        0 => 4,
        sectors => u64::from(sectors),
    };
    let paragraphs = u64::from(u32::from_le_bytes(bytes(head, 0x1f4)?));
    // Since version 2.12 of the protocol, a bit says whether the kernel has an entry for 64 bits.
    let (version, flags) = (bytes(head, 0x206)?, bytes(head, 0x236)?);
    let is_narrow = u16::from_le_bytes(version) >= 0x20c && u16::from_le_bytes(flags) & 1 == 0;
    let architecture = if is_narrow { "x86" } else { "x86_64" };
    Some((architecture, (sectors + 1) * 512 + paragraphs * 16))
}

/// Reads the header of an `Image` of arm64 (Documentation/arch/arm64/booting.rst). Its own
/// `image_size` counts the memory that is zeroed, so the length is that of the sections which a
/// kernel that is also a program of UEFI lists; other images have at least their header.
fn portable(head: &[u8]) -> Option<(&'static str, u64)> {
    let plain = bytes(head, 0x38)? == *b"ARM\x64";
    let length = sections(head).or(plain.then_some(64))?;
    Some(("aarch64", length))
}

/// Returns the length of a program of UEFI for arm64.
fn sections(head: &[u8]) -> Option<u64> {
    let at = u32::from_le_bytes(bytes(head, 0x3c)?) as usize;
    let half = |at: usize| Some(u16::from_le_bytes(bytes(head, at)?));
    let word = |at: usize| Some(u64::from(u32::from_le_bytes(bytes(head, at)?)));
    if !head.starts_with(b"MZ") || bytes(head, at)? != *b"PE\0\0" {
        return None;
    }
    if half(at + 4)? != ARM64 {
        return None;
    }
    let first = at + 24 + usize::from(half(at + 20)?);
    let mut length = 0;
    for section in 0..usize::from(half(at + 6)?) {
        let entry = first + 40 * section;
        length = length.max(word(entry + 16)? + word(entry + 20)?);
    }
    Some(length)
}

/// Reads the header of an uncompressed kernel of x86-64. That of arm64 has the same form, but QEMU
/// starts an ELF file of arm64 as a bare program, without the registers and the device tree that
/// Linux begins with, so the guest would say nothing at all.
///
/// # Errors
///
/// If the file is an ELF file that QEMU would start, but not as a kernel.
fn vmlinux(image: &Path) -> Result<Option<(&'static str, u64)>> {
    let shown = image.display();
    let Some(found) = elf::kernel(image) else { return Ok(None) };
    ensure!(
        found.architecture == "x86_64",
        "{shown} is an ELF file of arm64, which QEMU does not start as Linux; name the Image"
    );
    ensure!(found.is_fixed, "{shown} is a program or a library, and not a kernel image");
    Ok(Some((found.architecture, found.extent)))
}

fn bytes<const N: usize>(head: &[u8], at: usize) -> Option<[u8; N]> {
    head.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;
    use object::elf::{EM_AARCH64, EM_RISCV, EM_X86_64, ET_DYN, ET_EXEC};
    use std::fs;

    /// Makes a bzImage of one sector and `paragraphs` of 16 bytes.
    pub(crate) fn bzimage_of(paragraphs: u32) -> Vec<u8> {
        let mut image = vec![0; 1024 + 16 * paragraphs as usize];
        image[0x1f1] = 1;
        image[0x1f4..0x1f8].copy_from_slice(&paragraphs.to_le_bytes());
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image
    }

    /// Makes an `Image` with one section of 1000 bytes at 512.
    fn image_of_arm64() -> Vec<u8> {
        let mut image = vec![0; 1512];
        let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"MZ");
        put(0x38, b"ARM\x64");
        put(0x3c, &64u32.to_le_bytes());
        put(64, b"PE\0\0");
        put(68, &ARM64.to_le_bytes());
        put(70, &1u16.to_le_bytes());
        put(84, &16u16.to_le_bytes()); // the optional header
        put(64 + 24 + 16 + 16, &1000u32.to_le_bytes());
        put(64 + 24 + 16 + 20, &512u32.to_le_bytes());
        image
    }

    #[test]
    fn a_header_names_the_machine_and_the_length() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("image");
        let of = |image: &[u8]| {
            fs::write(&file, image).unwrap();
            architecture(&file).map_err(|error| error.to_string())
        };
        let (intel, arm) = (bzimage_of(100), image_of_arm64());
        assert_eq!(of(&intel), Ok("x86_64"));
        assert_eq!(of(&[&intel[..], b"a signature"].concat()), Ok("x86_64"));
        assert_eq!(of(&arm), Ok("aarch64"));
        // Version 2.15 without the entry for 64 bits, and with it.
        let mut narrow = intel.clone();
        narrow[0x206..0x208].copy_from_slice(&[0x0f, 2]);
        assert!(of(&narrow).unwrap_err().contains("is a kernel for 32-bit x86"));
        narrow[0x236] = 1;
        assert_eq!(of(&narrow), Ok("x86_64"));
        for image in [intel, arm] {
            let error = of(&image[..image.len() - 1]).unwrap_err();
            assert!(error.contains("is truncated: it has"), "{error}");
        }
        for other in [b"".as_slice(), b"a text", &[0; 5000], &[0x1f, 0x8b, 8, 0]] {
            let error = of(other).unwrap_err();
            assert!(error.contains("is not a kernel image"), "{error}");
        }
    }

    /// Makes an ELF file with one segment, which is the whole file.
    fn elf_of(kind: u16, machine: u16) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        let length = file.len() as u64;
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01\x01"); // of 64 bits, little-endian
        put(16, &kind.to_le_bytes());
        put(18, &machine.to_le_bytes());
        put(20, &1u32.to_le_bytes());
        put(32, &64u64.to_le_bytes()); // the table of segments
        put(52, &64u16.to_le_bytes());
        put(54, &56u16.to_le_bytes());
        put(56, &1u16.to_le_bytes());
        put(64, &1u32.to_le_bytes());
        put(64 + 32, &length.to_le_bytes());
        file
    }

    /// /bin/ls was once a kernel, and a vmlinux of arm64 a guest that said nothing.
    #[test]
    fn an_elf_file_is_a_kernel_if_qemu_starts_it_as_one() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("vmlinux");
        let of = |image: &[u8]| {
            fs::write(&file, image).unwrap();
            architecture(&file).map_err(|error| error.to_string())
        };
        let intel = elf_of(ET_EXEC, EM_X86_64);
        assert_eq!(of(&intel), Ok("x86_64"));
        let error = of(&intel[..119]).unwrap_err();
        assert!(error.contains("is not a kernel image"), "{error}");
        let mut truncated = intel;
        truncated[64 + 32] += 1;
        let error = of(&truncated).unwrap_err();
        assert!(error.contains("it has 120 bytes, and its header says 121"), "{error}");
        let error = of(&elf_of(ET_DYN, EM_X86_64)).unwrap_err();
        assert!(error.contains("is a program or a library, and not a kernel"), "{error}");
        for kind in [ET_EXEC, ET_DYN] {
            let error = of(&elf_of(kind, EM_AARCH64)).unwrap_err();
            assert!(error.ends_with("; name the Image"), "{error}");
        }
        let error = of(&elf_of(ET_EXEC, EM_RISCV)).unwrap_err();
        assert!(error.contains("is not a kernel image: no bzImage"), "{error}");
    }
}
