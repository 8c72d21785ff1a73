//! headwater itself, in one mode: it has to be in the table in which it judges others.

use super::{Sources, hex};
use anyhow::{Context, Result, bail};
use headwater::{Config, Mode, Rng};

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
    let mut sources = Sources::new(format!("headwater {}, {served}", env!("CARGO_PKG_VERSION")));
    sources.draw(format!("headwater-{name}/fill"), || Ok(hex(&headwater::array::<16>()?)));
    let mut rng = Rng::new().context("headwater has no page for a handle")?;
    sources.draw(format!("headwater-{name}/Rng"), move || {
        let mut bytes = [0; 16];
        rng.fill(&mut bytes)?;
        Ok(hex(&bytes))
    });
    Ok(sources)
}
