//! Emulated machines: the packages they are made of, QEMU, and the conversation with a guest.

pub(crate) mod apt;
pub(crate) mod arm;
pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod debugger;
pub(crate) mod elf;
pub(crate) mod header;
pub(crate) mod initramfs;
pub(crate) mod manifest;
pub(crate) mod part;
pub(crate) mod program;
pub(crate) mod qemu;
pub(crate) mod qmp;
pub(crate) mod series;
pub(crate) mod setup;
pub(crate) mod temporary;
