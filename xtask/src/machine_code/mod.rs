//! `cargo xtask machine-code`
pub(crate) mod object;
pub(crate) mod reach;
use anyhow::Result;
use std::process::ExitCode;
pub(crate) fn check() -> Result<ExitCode> {
    for path in std::env::var("LIBS").unwrap().split(' ') {
        let library = object::Library::parse(&std::fs::read(path)?)?;
        for root in ["probe_fill", "probe_u64", "probe_u32", "probe_rng_u64", "probe_rng_fill"] {
            match reach::walk(&library, root) {
                Ok(reached) => {
                    println!("{root}: {}", reached.len());
                    for r in reached { let s = &library.sections[r]; println!("   {} {}", s.code.len(), s.name);
                    #[cfg(target_arch = "x86_64")]
                    if library.architecture == ::object::Architecture::X86_64 {
                        for i in iced_x86::Decoder::new(64, &s.code, 0).iter() {
                            use iced_x86::FlowControl::*;
                            if matches!(i.flow_control(), IndirectBranch | IndirectCall) && !s.references.iter().any(|r| (i.ip()..i.next_ip()).contains(&r.offset)) { println!("      {:?} {:?}", i.code(), i.op0_register()); }
                        }
                    } else { for w in s.code.chunks_exact(4) { let w = u32::from_le_bytes(w.try_into()?); if matches!(w & 0xffff_fc1f, 0xd63f_0000 | 0xd61f_0000) { println!("      {w:x}"); } } }
                    }
                }
                Err(error) => println!("{root}: {error}"),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
