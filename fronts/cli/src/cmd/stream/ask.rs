//! The question before data is overwritten.

use crate::failure::Failure;
use std::io::{self, IsTerminal, Write};

/// Shows what will be overwritten and asks on a terminal. Elsewhere `--yes` is the answer.
pub(super) fn overwrite(losses: &[String], yes: bool) -> Result<(), Failure> {
    if losses.is_empty() {
        return Ok(());
    }
    let mut stderr = io::stderr();
    // Also with --yes: a log then shows what was overwritten.
    for loss in losses {
        let _ = writeln!(stderr, "overwrites {loss}");
    }
    if yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && stderr.is_terminal()) {
        return Err(Failure::Usage(
            "without a terminal there is no one to ask: confirm with --yes".to_owned(),
        ));
    }
    let _ = write!(stderr, "Type yes to overwrite: ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    if read.is_ok() && answer.trim() == "yes" {
        return Ok(());
    }
    Err(Failure::Usage("not confirmed; nothing was written".to_owned()))
}
