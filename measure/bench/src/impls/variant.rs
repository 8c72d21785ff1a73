//! An implementation as a run names it: with or without one of headwater's modes.

use crate::case::Case;
use crate::draw::upper_halves;
use crate::draw::verify::Fault;
use crate::draw::work::Declined;
use crate::error::Error;
use crate::impls;
use crate::impls::implementation::{Absent, Implementation, Opened};
use crate::impls::names::is_headwater;
use headwater::{Config, Mode};

/// One participant of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) implementation: &'static Implementation,
    /// The mode that headwater is put into for it; `None` leaves the default.
    pub(crate) mode: Option<Mode>,
}

impl Variant {
    /// Reads `getrandom-vdso` or `headwater[hedged]`.
    pub(crate) fn parse(text: &str) -> Result<Variant, Error> {
        // Its brackets hold no mode, but are a part of its name.
        if let Some(implementation) = impls::find(text) {
            return Ok(Variant::from(implementation));
        }
        let (name, mode) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((name, mode)) => (name, Some(mode)),
            None => (text, None),
        };
        let implementation = impls::find(name).ok_or_else(|| Error::UnknownImpl {
            name: text.to_owned(),
            known: impls::names().join(", "),
        })?;
        let Some(mode) = mode else {
            return Ok(Variant::from(implementation));
        };
        match mode.parse() {
            Ok(mode) if implementation.has_modes && mode != Mode::Auto => {
                Ok(Variant { implementation, mode: Some(mode) })
            }
            _ => Err(Error::UnknownMode(text.to_owned())),
        }
    }

    /// Returns the variants that are measured by default, of every implementation that this host
    /// may have. headwater is there also in each mode that it does not choose by itself.
    pub(crate) fn usual() -> Vec<Variant> {
        let mut usual = Vec::new();
        for implementation in impls::usual() {
            let plain = Variant::from(implementation);
            usual.push(plain);
            if implementation.name == impls::HEADWATER.name && plain.set_mode().is_ok() {
                let chosen = headwater::status().mode;
                let others =
                    Mode::ALL.into_iter().filter(|&mode| mode != Mode::Auto && mode != chosen);
                usual.extend(others.map(|mode| Variant { mode: Some(mode), ..plain }));
            }
        }
        usual
    }

    /// Returns the name that [`parse`](Variant::parse) reads.
    pub(crate) fn name(&self) -> String {
        match self.mode {
            Some(mode) => format!("{}[{mode}]", self.implementation.name),
            None => self.implementation.name.to_owned(),
        }
    }

    /// Puts headwater into the mode of this variant, if it is one that has modes.
    pub(crate) fn set_mode(&self) -> Result<(), headwater::Error> {
        if !self.implementation.has_modes {
            return Ok(());
        }
        let config = Config::new();
        headwater::init_with(match self.mode {
            Some(mode) => config.mode(mode),
            None => config,
        })
    }

    /// Returns the mode that headwater is in now, if this variant obeys headwater's modes.
    pub(crate) fn mode_now(&self) -> Option<&'static str> {
        self.implementation.has_modes.then(|| headwater::status().mode.name())
    }

    /// Reports whether headwater counts what happens at its pools while this variant draws.
    pub(crate) fn counts_events(&self) -> bool {
        self.implementation.has_modes || self.implementation.name == impls::LOCKED
    }

    /// Returns the error that this variant could not be measured.
    pub(crate) fn refused(&self, reason: String) -> Error {
        Error::Refused { implementation: self.name(), reason }
    }

    /// Returns the error that the generator stopped returning random bytes.
    pub(crate) fn gave_out(&self) -> Error {
        self.refused("it returns no random bytes".to_owned())
    }

    /// Returns the error that the check found its output wrong.
    pub(crate) fn faulty(&self, fault: Fault) -> Error {
        match fault {
            Fault::Refused => self.gave_out(),
            Fault::Defect(defect) => Error::WrongOutput { implementation: self.name(), defect },
        }
    }

    pub(crate) fn open(&self) -> Opened {
        (self.implementation.open)()
    }

    /// Returns the reason why the variant takes no part in this case on so many threads. Returns
    /// `None` if the variant takes part, or if this host does not have the variant. In the case of
    /// upper halves, a CPU without them is a reason even for an absent variant.
    pub(crate) fn declines(&self, case: Case, threads: usize) -> Option<Declined> {
        if case == Case::UpperHalves && !upper_halves::exist() {
            return Some(Declined::Cpu);
        }
        self.open().ok()?.declines(case, threads)
    }

    /// Reports whether this case is about the variant: one case is about headwater alone.
    pub(crate) fn is_meant_by(&self, case: Case) -> bool {
        case != Case::UpperHalves || is_headwater(self.implementation.name)
    }

    /// Checks that the variant can be measured here. If this machine replaces a mode by a stricter
    /// one, the figure would have the wrong name, so the mode cannot be measured.
    pub(crate) fn probe(&self) -> Result<(), Absent> {
        if let Some(mode) = self.mode {
            self.set_mode()?;
            let status = headwater::status();
            if status.mode != mode {
                return Err(Absent(format!(
                    "this machine serves {} instead: {}",
                    status.mode, status.reason
                )));
            }
        }
        self.open().map(drop)
    }
}

impl PartialEq for Variant {
    fn eq(&self, other: &Variant) -> bool {
        self.implementation.name == other.implementation.name && self.mode == other.mode
    }
}

impl From<&'static Implementation> for Variant {
    fn from(implementation: &'static Implementation) -> Variant {
        Variant { implementation, mode: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in ["headwater", "headwater[hedged]", "headwater-rng[kernel]", "headwater[locked]"]
        {
            assert_eq!(Variant::parse(name).unwrap().name(), name);
        }
    }

    #[test]
    fn errors_list_what_is_known() {
        let error = |name| Variant::parse(name).err().unwrap().to_string();
        let unknown = error("openssl");
        assert!(
            unknown.starts_with("unknown implementation 'openssl': use headwater, headwater-rng, ")
        );
        assert!(unknown.contains("openssl-RAND_bytes"));
        for name in ["headwater[fast]", "headwater[auto]", "headwater[]", "urandom-read[hedged]"] {
            assert_eq!(
                error(name),
                format!(
                    "unknown mode in '{name}': headwater and headwater-rng take [buffered], [hedged], [strict] or [kernel]"
                )
            );
        }
    }
}
