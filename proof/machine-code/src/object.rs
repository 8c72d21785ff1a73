//! The functions of a static library and their references, as the linker sees them.
//!
//! Each function has a section of its own. A disassembler is not needed, because a call, a tail
//! call, a taken address and a table of functions are all relocations. So a reference that never
//! runs counts too, as it does for the linker. An indirect call has no relocation, but its target
//! is reached by the reference that took its address, or it is a function of the vDSO.

use anyhow::{Context, Result};
pub use object::Architecture;
use object::read::archive::ArchiveFile;
use object::{
    File, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex, SectionKind,
};
use std::collections::HashMap;

/// The sections of all objects of a static library.
pub struct Library {
    /// The CPU architecture of the objects.
    pub architecture: Architecture,
    /// Code and data of all objects.
    pub sections: Vec<Section>,
    /// The section of each global symbol, by the name that other objects use.
    symbols: HashMap<String, usize>,
}

/// A function, or data.
pub struct Section {
    /// The name of its first function, or of the section if it holds none.
    pub name: String,
    /// The instructions; empty if this is data.
    pub code: Vec<u8>,
    /// The relocations of this section.
    pub references: Vec<Reference>,
}

/// A relocation: a place in a section that refers to another section or symbol.
pub struct Reference {
    /// Its offset in the section.
    pub offset: u64,
    /// The place that it refers to.
    pub target: Target,
}

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The index of a section of the library.
    Section(usize),
    /// A symbol that the library does not define.
    Elsewhere(String),
}

impl Library {
    /// Reads all objects of a static library.
    pub fn parse(archive: &[u8]) -> Result<Library> {
        let mut library = Library {
            architecture: Architecture::Unknown,
            sections: Vec::new(),
            symbols: HashMap::new(),
        };
        for member in ArchiveFile::parse(archive)?.members() {
            let member = member?;
            // Other members are metadata of the compiler.
            if let Ok(file) = File::parse(member.data(archive)?) {
                library.architecture = file.architecture();
                library.add(&file)?;
            }
        }
        library.resolve();
        Ok(library)
    }

    /// Returns a library of sections whose names are their symbols.
    #[cfg(test)]
    pub fn of(sections: Vec<Section>) -> Library {
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

    /// Connects references from one object to symbols of another.
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

    /// Returns the section that holds this function.
    pub fn function(&self, name: &str) -> Result<usize> {
        self.symbols.get(name).copied().with_context(|| format!("there is no function {name}"))
    }
}
