//! headwater itself, in one mode: it has to be in the table in which it judges others.

use super::{Sources, hex};
use anyhow::{Context, Result, bail};
use headwater::{Config, Freshness, Mode, Rng, Stamp};

/// The first part of the witnesses' names.
pub(crate) const PREFIX: &str = "headwater-";

/// The number of times that a stamp was stale, which moves when a user would hear of a copy.
#[derive(Default)]
pub(super) struct Stamps {
    stamp: Stamp,
    stale: u64,
}

impl Stamps {
    /// Checks the stamp, and returns the number; None where a stamp cannot see a copy.
    pub(super) fn stale(&mut self) -> Option<u64> {
        match self.stamp.check() {
            Freshness::Unknown => return None,
            Freshness::Stale => self.stale += 1,
            _ => {}
        }
        Some(self.stale)
    }
}

pub(super) fn sources(name: &str) -> Result<Sources> {
    let mode = match name {
        "auto" => Mode::Auto,
        "buffered" => Mode::Buffered,
        "hedged" => Mode::Hedged,
        "strict" => Mode::Strict,
        "kernel" => Mode::Kernel,
        _ => bail!("headwater has no mode '{name}'"),
    };
    headwater::init_with(Config::new().mode(mode)).context("headwater cannot draw")?;
    let served = headwater::status().mode.name();
    let stamps = if headwater::generation().is_none() { ", stamps unknown" } else { "" };
    let mut sources =
        Sources::new(format!("headwater {}, {served}{stamps}", env!("CARGO_PKG_VERSION")));
    sources.draw(format!("headwater-{name}/fill"), || Ok(hex(&headwater::array::<16>()?)));
    let mut rng = Rng::new().context("headwater has no page for a handle")?;
    sources.draw(format!("headwater-{name}/Rng"), move || {
        let mut bytes = [0; 16];
        rng.fill(&mut bytes)?;
        Ok(hex(&bytes))
    });
    Ok(sources)
}
