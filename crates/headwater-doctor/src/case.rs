//! What there is to look at.

use crate::boot::Boot;
use crate::fixes::{Cause, PlatformFacts, for_cause};
use crate::host::Live;
use crate::trace::Trace;
use crate::{Fix, Host, Kernel, Platform};

/// What there is to look at: any of a machine, boots that logs tell of, and traces. What was not given is empty.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// What to call it in the report: "this machine", the folder, the files.
    pub of: String,
    /// The machine, live or recorded.
    pub host: Option<Host>,
    /// The boots that logs tell of, the last one last; the machine's own log among them.
    pub boots: Vec<Boot>,
    /// What strace timed.
    pub traces: Vec<Trace>,
    /// The kernel to judge by, in place of the one that runs.
    pub assumed: Option<Kernel>,
}

impl Case {
    /// The kernel that decides: the assumed one, else the machine's, else that of the last boot.
    pub fn kernel(&self) -> Option<Kernel> {
        let running = || self.host.as_ref().and_then(|host| host.kernel.clone());
        let logged = || Kernel::parse(self.boots.last()?.kernel.as_deref()?);
        self.assumed.clone().or_else(running).or_else(logged)
    }

    /// What only a live machine tells, where one was given.
    pub fn live(&self) -> Option<&Live> {
        self.host.as_ref()?.live.as_ref()
    }

    /// What the machine runs on, where a machine was given.
    pub fn platform(&self) -> Option<Platform> {
        self.host.as_ref().map(|host| host.platform)
    }

    /// How to mend it on this machine, or, where a log alone was given, anywhere.
    pub fn fixes(&self, cause: Cause) -> Vec<Fix> {
        let facts = match &self.host {
            Some(host) => PlatformFacts::read(&host.root, Some(host.platform)),
            None => PlatformFacts::of_platform(None),
        };
        for_cause(cause, &facts)
    }

    /// The last boot, which the machine's state now goes back to.
    pub fn boot(&self) -> Option<&Boot> {
        self.boots.last()
    }
}
