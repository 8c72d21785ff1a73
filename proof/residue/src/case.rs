//! One draw each: what is drawn, in which mode, and what came of it.

use crate::options::Options;
use crate::search::{self, Residue};
use crate::subject::{Trouble, observe};
use std::fmt;
use std::process::Command;

/// One draw.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    what: &'static str,
    mode: &'static str,
}

/// The result of the search.
pub struct Found {
    case: Case,
    label: String,
    force: String,
    status: String,
    residue: Residue,
    stack: usize,
    limit: Option<usize>,
    /// Secrets that come back, and how many there were; None but in the case of the theft.
    stolen: Option<(usize, usize)>,
}

impl Case {
    /// Lists the cases that the options ask for.
    pub fn all(options: &Options) -> Vec<Case> {
        let mut all = Vec::new();
        for mode in ["buffered", "hedged", "strict"] {
            for what in ["first", "refill", "handle", "large", "fresh"] {
                all.push(Case { what, mode });
            }
        }
        if options.force.is_none() {
            all.extend(["buffered", "auto"].map(|mode| Case { what: "steal", mode }));
        }
        all.retain(|case| options.only.as_deref().is_none_or(|only| case.what == only));
        all
    }

    /// Starts a process that draws, and searches what it left.
    pub fn run(self, options: &Options) -> Result<Found, Trouble> {
        let mut command = Command::new(&options.subject);
        // The first draw sets up by itself, in the mode that the environment names.
        command.args([self.what, self.mode]).env("HEADWATER_MODE", self.mode).args(&options.force);
        let account = observe(&mut command)?;
        let stolen = (self.what == "steal").then(|| {
            let found = search::recovered(&account.sections, &account.pages, &account.served);
            (found, account.served.len() / 16)
        });
        Ok(Found {
            case: self,
            label: options.label.clone(),
            force: options.force.clone().unwrap_or("-".into()),
            residue: search::residue(&account),
            stack: account.stack,
            limit: if self.what == "first" { options.first_limit } else { options.refill_limit },
            stolen,
            status: account.status,
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.mode, self.what)
    }
}

impl Found {
    /// The names of the columns.
    pub const HEADER: &str = "profile  forced   cipher  mode            draw      keys  key/8  \
                              round  stream   stack  verdict";

    /// Returns whether anything was left, or more stack was used than is allowed.
    pub fn is_fault(&self) -> bool {
        let Residue { keys, key_pieces, round_keys, stream, is_blind } = &self.residue;
        let left = keys.len() + key_pieces.count + round_keys.count + stream.count;
        left > 0 || *is_blind || self.is_deep() || self.stolen.is_some_and(|(found, _)| found > 0)
    }

    fn is_deep(&self) -> bool {
        self.limit.is_some_and(|limit| self.stack > limit)
    }

    /// Names the mode that was asked for, and the one that is in use where that is another.
    fn mode(&self) -> String {
        match self.status.split_once('|') {
            Some((armed, _)) if armed != self.case.mode => format!("{} ({armed})", self.case.mode),
            _ => self.case.mode.to_owned(),
        }
    }

    /// Shortens the library's name of its cipher to a word.
    fn cipher(&self) -> &str {
        match self.status.split_once('|') {
            Some((_, cipher)) if cipher.contains("VAES") => "vaes",
            Some((_, cipher)) if cipher.contains("AES") => "aes",
            Some((_, cipher)) if cipher.contains("ChaCha") => "chacha",
            _ => "?",
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Residue { keys, key_pieces, round_keys, stream, is_blind } = &self.residue;
        write!(f, "{:<8} {:<8} {:<7} ", self.label, self.force, self.cipher())?;
        write!(f, "{:<15} {:<7}", self.mode(), self.case.what)?;
        let (key_count, round_count) = (key_pieces.count, round_keys.count);
        write!(f, "{:>6} {key_count:>6} {round_count:>6} {:>7}", keys.len(), stream.count)?;
        write!(f, " {:>6}  {}", self.stack, if self.is_fault() { "LEFT BEHIND" } else { "clean" })?;
        let places = [("key", key_pieces), ("round key", round_keys), ("stream", stream)];
        for (what, copies) in places {
            if let Some(first) = &copies.first {
                write!(f, ", {what} at {first}")?;
            }
        }
        if let (true, Some(limit)) = (self.is_deep(), self.limit) {
            write!(f, ", more than {limit} bytes of stack")?;
        }
        if *is_blind {
            write!(f, ", BLIND: no reported key produces the served bytes")?;
        }
        if let Some((found, all)) = self.stolen {
            write!(f, ", {found} of {all} secrets come back")?;
        }
        Ok(())
    }
}
