//! Names that systemd shortened in the middle, as journalctl, systemctl and the console do where a
//! line is wider than the terminal: `systemd-ra…eed.service`.

/// The unit that saves the seed, by its name and by its descriptions.
const SEED: [&str; 3] =
    ["systemd-random-seed.service", "Load/Save Random Seed", "Load/Save OS Random Seed"];

/// The name of the seed's unit.
pub(super) const SEEDS_UNIT: &str = SEED[0];

/// The fewest letters before the ellipsis. Fewer would be those of any unit: nearly all of
/// systemd's own begin with `systemd-`.
const LEAST: usize = 8;

/// Returns whether a name or a description is that of the seed's unit, in whole or shortened.
pub(super) fn is_seeds_unit(text: &str) -> bool {
    SEED.iter().any(|whole| is_short_for(text, whole))
}

/// Returns whether a text is another one, or what is left of it around an ellipsis.
fn is_short_for(text: &str, whole: &str) -> bool {
    let Some((begin, end)) = text.split_once('…').or_else(|| text.split_once("...")) else {
        return text == whole;
    };
    begin.len() >= LEAST
        && !end.is_empty()
        && begin.len() + end.len() < whole.len()
        && begin != "systemd-"
        && whole.starts_with(begin)
        && whole.ends_with(end)
}

/// Returns whether a message ends the start of systemd-random-seed, which it names by unit or by
/// description.
pub(super) fn ends_random_seed(message: &str) -> bool {
    let ends = ["Started ", "Finished ", "Failed to start "];
    let label = ends.iter().find_map(|end| message.strip_prefix(end));
    label.is_some_and(|label| {
        let name = label.split_once(" - ").map_or(label, |(name, _)| name);
        ["Random Seed", SEEDS_UNIT].iter().any(|known| label.contains(known))
            || is_seeds_unit(name.trim_end_matches('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_seeds_unit_is_the_seeds_unit() {
        for text in [
            "systemd-random-seed.service",
            "systemd-ra…eed.service",
            "systemd-ra...rvice",
            "systemd-random-s…service",
            "Load/Sav…andom Seed",
            "Load/Save OS Random Seed",
        ] {
            assert!(is_seeds_unit(text), "{text}");
        }
        for text in [
            "systemd-…service",
            "systemd-re…eed.service",
            "systemd-ra…",
            "Load/Sav…RF Kill Switch",
            "systemd-random-seed.service.d",
        ] {
            assert!(!is_seeds_unit(text), "{text}");
        }
    }
}
