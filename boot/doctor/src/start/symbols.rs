//! The functions of a program that make or return random bytes, found by their names, and its
//! random instructions, found by their code.

use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, ReadCache, SymbolKind, elf};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;

/// A function's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The vDSO's getrandom.
    Vdso,
    /// Jitterentropy's, which times the CPU.
    Jitter,
    /// One that asks RDRAND or RDSEED.
    Instruction,
    /// A library's own, which returns bytes to programs.
    Library,
}

/// Names of jitterentropy's functions that take the time: the start with its tests, the memory, and
/// each seed. AWS-LC, libgcrypt and Linux' rngd contain copies of this library.
const JITTER: [&str; 6] = [
    "jent_entropy_init",
    "jent_entropy_init_ex",
    "jent_entropy_collector_alloc",
    "jent_read_entropy",
    "jent_read_entropy_safe",
    "jent_entropy_switch_notime_impl",
];

/// AWS-LC and BoringSSL, OpenSSL, and OpenSSL's assembly.
const INSTRUCTION: [&str; 6] = [
    "CRYPTO_rdrand",
    "CRYPTO_rdrand_multiple8",
    "rdrand_multiple8",
    "OPENSSL_ia32_rdrand_bytes",
    "OPENSSL_ia32_rdseed_bytes",
    "rdrand64",
];

/// OpenSSL and its forks, GnuTLS, libgcrypt, libsodium, and the C library.
const LIBRARY: [&str; 10] = [
    "RAND_bytes",
    "RAND_priv_bytes",
    "RAND_bytes_ex",
    "RAND_priv_bytes_ex",
    "EVP_RAND_generate",
    "gnutls_rnd",
    "gcry_randomize",
    "randombytes_buf",
    "arc4random",
    "arc4random_buf",
];

/// Returns the kind of a function's name. aws-lc-rs puts its version in front of each name.
fn kind(name: &str) -> Option<Kind> {
    let name = name.split('@').next()?;
    let is = |wanted: &str| {
        name == wanted
            || (name.starts_with("aws_lc_")
                && name.strip_suffix(wanted).is_some_and(|front| front.ends_with('_')))
    };
    match () {
        () if JITTER.iter().any(|name| is(name)) => Some(Kind::Jitter),
        () if INSTRUCTION.iter().any(|name| is(name)) => Some(Kind::Instruction),
        () if LIBRARY.iter().any(|name| is(name)) => Some(Kind::Library),
        () if name == "__vdso_getrandom" => Some(Kind::Vdso),
        () => None,
    }
}

/// Returns whether AWS-LC's own texts are among the bytes: its version, or the name of a source in
/// an error. The marks alone are not enough, because programs that only write about it, such as
/// this one, contain them.
fn is_aws_lc(bytes: &[u8]) -> bool {
    let follows = |mark: &[u8], is_own: fn(&[u8]) -> bool| {
        let mut ends = memchr::memmem::find_iter(bytes, mark).map(|at| at + mark.len());
        ends.any(|end| bytes.get(end..).is_some_and(is_own))
    };
    follows(b"AWS-LC ", |rest| {
        let number = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.');
        let number: Vec<u8> = number.copied().collect();
        number.first().is_some_and(u8::is_ascii_digit) && number.contains(&b'.')
    }) || follows(b"aws-lc/crypto/", |rest| {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-/".contains(byte);
        let name = rest.iter().take(80).take_while(is_name).count();
        name > 0 && rest[name..].starts_with(b".c\0")
    })
}

/// A function of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Function {
    /// Its first instruction, as a place in the file.
    pub(super) offset: u64,
    /// Its kind.
    pub(super) kind: Kind,
    /// Its name.
    pub(super) name: String,
}

/// The parts of a program's file that matter here.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    /// The functions, in the order of their places.
    pub(super) functions: Vec<Function>,
    /// Places of RDRAND or RDSEED.
    pub(super) instructions: usize,
    /// True if AWS-LC is inside, by its texts.
    pub(super) has_aws_lc: bool,
}

/// Reads a program or library. A file that is no ELF file of 64 bits has no functions.
pub(super) fn of_file(file: File) -> Image {
    let cache = ReadCache::new(file);
    let Ok(elf) = ElfFile64::<Endianness, _>::parse(&cache) else { return Image::default() };
    let mut image = Image { functions: functions(&elf), ..Image::default() };
    for segment in elf.elf_program_headers() {
        let Ok(bytes) = segment.data(Endianness::Little, &cache) else { continue };
        let flags = segment.p_flags(Endianness::Little);
        if segment.p_type(Endianness::Little) != elf::PT_LOAD {
            continue;
        }
        if flags & elf::PF_X == 0 {
            image.has_aws_lc |= is_aws_lc(bytes);
        } else {
            image.instructions += instructions(bytes);
        }
    }
    image
}

/// Reads the vDSO, which is a whole file in memory.
pub(super) fn of_memory(bytes: &[u8]) -> io::Result<Image> {
    let elf = ElfFile64::<Endianness, _>::parse(bytes).map_err(io::Error::other)?;
    Ok(Image { functions: functions(&elf), ..Image::default() })
}

fn functions<'data, R: object::ReadRef<'data>>(
    file: &ElfFile64<'data, Endianness, R>,
) -> Vec<Function> {
    let segments: Vec<(u64, u64, u64)> = file
        .elf_program_headers()
        .iter()
        .filter(|segment| segment.p_type(Endianness::Little) == elf::PT_LOAD)
        .map(|segment| {
            let of = |part: fn(&_, _) -> u64| part(segment, Endianness::Little);
            (of(ProgramHeader::p_vaddr), of(ProgramHeader::p_filesz), of(ProgramHeader::p_offset))
        })
        .collect();
    let place = |address: u64| {
        let inside =
            |(start, size, _): &&(u64, u64, u64)| (*start..start + size).contains(&address);
        segments.iter().find(inside).map(|(start, _, offset)| address - start + offset)
    };
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let found =
        symbols.filter(|symbol| symbol.kind() == SymbolKind::Text && !symbol.is_undefined());
    let found: BTreeSet<Function> = found
        .filter_map(|symbol| {
            let name = symbol.name().ok()?;
            let function =
                Function { kind: kind(name)?, offset: place(symbol.address())?, name: name.into() };
            Some(function)
        })
        .collect();
    let mut found: Vec<Function> = found.into_iter().collect();
    // One function with two names is one function.
    found.dedup_by_key(|function| function.offset);
    found
}

/// Counts RDRAND and RDSEED: 0F C7 with a register (mod 3) and the digit 6 or 7. The carry decides
/// whether they had a number, so an instruction that uses it follows soon; without this condition
/// every fifth megabyte of code would have one by chance.
fn instructions(code: &[u8]) -> usize {
    let uses_carry = |after: &[u8]| {
        let short = |window: &[u8]| {
            matches!(window, [0x72 | 0x73, _] | [0x0f, 0x42 | 0x43 | 0x82 | 0x83 | 0x92 | 0x93])
        };
        after.windows(2).take(8).any(short)
    };
    memchr::memmem::find_iter(code, &[0x0f, 0xc7])
        .filter(|at| code.get(at + 2).is_some_and(|operand| *operand >= 0xf0))
        .filter(|at| uses_carry(&code[at + 3..]))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_under_the_names_of_each_build() {
        for (name, expected) in [
            ("jent_read_entropy", Some(Kind::Jitter)),
            ("aws_lc_0_47_0_jent_read_entropy", Some(Kind::Jitter)),
            ("aws_lc_fips_0_13_0_jent_entropy_collector_alloc", Some(Kind::Jitter)),
            ("RAND_bytes@@OPENSSL_3.0.0", Some(Kind::Library)),
            ("aws_lc_0_47_0_RAND_bytes", Some(Kind::Library)),
            ("my_jent_read_entropy", None),
            ("aws_lc_0_47_0_NRAND_bytes", None),
            ("RAND_bytes_seed", None),
            ("__vdso_getrandom", Some(Kind::Vdso)),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }

    #[test]
    fn a_program_that_writes_about_aws_lc_has_none() {
        assert!(is_aws_lc(b"\0AWS-LC 1.62.0\0") && is_aws_lc(b"x/aws-lc/crypto/ube/ube.c\0y"));
        for text in ["AWS-LC in FILE", "AWS-LC 2", "aws-lc/crypto/", "aws-lc/crypto/mem.c and more"]
        {
            assert!(!is_aws_lc(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn instructions_are_counted_with_the_carry_that_they_set() {
        let rdrand = [0x48, 0x0f, 0xc7, 0xf0, 0x73, 0x02];
        let rdseed = [0x0f, 0xc7, 0xf9, 0x0f, 0x92, 0xc0];
        let cmpxchg8b = [0x0f, 0xc7, 0x0f, 0x72, 0x01];
        let by_chance = [0x0f, 0xc7, 0xf0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90];
        assert_eq!(instructions(&[&rdrand[..], &rdseed, &cmpxchg8b, &by_chance].concat()), 2);
    }
}
