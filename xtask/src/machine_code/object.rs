//! What the compiler made, read from a static library: each function in a section of its own, and what it refers
//! to, as the linker is told.
//!
//! No disassembly is needed for that, and nothing is missed: a call, a tail call, a taken address and a table of
//! functions are all relocations. A reference that is never followed counts as one, as it does for the linker. An
//! indirect call goes where some address was taken, so that its target is reached by that reference, or to what
//! the kernel gave: the functions of the vDSO.

use anyhow::{Context, Result};
use object::read::archive::ArchiveFile;
use object::{
    Architecture, File, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex,
    SectionKind,
};
use std::collections::HashMap;

/// The sections of all objects of a static library.
pub(crate) struct Library {
    pub(crate) architecture: Architecture,
    pub(crate) sections: Vec<Section>,
    /// The sections that symbols lie in, by the names that other objects know them by.
    symbols: HashMap<String, usize>,
}

/// A function, or data.
pub(crate) struct Section {
    /// Of its first function; of the section where it has none.
    pub(crate) name: String,
    /// The instructions; empty if this is data.
    pub(crate) code: Vec<u8>,
    pub(crate) references: Vec<Reference>,
}

pub(crate) struct Reference {
    /// Where in the section.
    pub(crate) offset: u64,
    pub(crate) target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Section(usize),
    /// What the library does not define.
    Elsewhere(String),
}

impl Library {
    pub(crate) fn parse(archive: &[u8]) -> Result<Library> {
        let mut library = Library {
            architecture: Architecture::Unknown,
            sections: Vec::new(),
            symbols: HashMap::new(),
        };
        for member in ArchiveFile::parse(archive)?.members() {
            let member = member?;
            // What is no object is the compiler's own.
            if let Ok(file) = File::parse(member.data(archive)?) {
                library.architecture = file.architecture();
                library.add(&file)?;
            }
        }
        library.resolve();
        Ok(library)
    }

    /// One whose sections are all known by their names.
    #[cfg(test)]
    pub(crate) fn of(sections: Vec<Section>) -> Library {
        let symbols = sections.iter().enumerate().map(|(i, section)| (section.name.clone(), i));
        let symbols = symbols.collect();
        Library { architecture: Architecture::Unknown, sections, symbols }
    }

    fn add(&mut self, file: &File) -> Result<()> {
        let mut places = HashMap::<SectionIndex, usize>::new();
        for section in file.sections() {
            places.insert(section.index(), self.sections.len());
            let is_code = section.kind() == SectionKind::Text;
            self.sections.push(Section {
                name: section.name()?.into(),
                code: if is_code { section.data()?.into() } else { Vec::new() },
                references: Vec::new(),
            });
        }
        for symbol in file.symbols() {
            let Some(&place) = symbol.section_index().and_then(|index| places.get(&index)) else {
                continue;
            };
            let name = symbol.name()?;
            if symbol.kind() == object::SymbolKind::Text {
                self.sections[place].name = name.into();
            }
            if symbol.is_global() {
                self.symbols.entry(name.into()).or_insert(place);
            }
        }
        for section in file.sections() {
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
                let symbol = file.symbol_by_index(symbol)?;
                let place = symbol.section_index().and_then(|index| places.get(&index));
                let target = match place {
                    Some(&place) => Target::Section(place),
                    None => Target::Elsewhere(symbol.name()?.into()),
                };
                self.sections[places[&section.index()]]
                    .references
                    .push(Reference { offset, target });
            }
        }
        Ok(())
    }

    /// Finds in one object what another refers to.
    fn resolve(&mut self) {
        for section in &mut self.sections {
            for reference in &mut section.references {
                if let Target::Elsewhere(name) = &reference.target
                    && let Some(&place) = self.symbols.get(name)
                {
                    reference.target = Target::Section(place);
                }
            }
        }
    }

    /// The section in which this function lies.
    pub(crate) fn function(&self, name: &str) -> Result<usize> {
        self.symbols.get(name).copied().with_context(|| format!("there is no function {name}"))
    }
}
