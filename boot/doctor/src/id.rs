//! The names of the checks. They are promised: an operator's monitoring ignores them by name.

use std::fmt;

macro_rules! ids {
    ($($variant:ident = $number:literal, $about:literal;)+) => {
        /// A check. Its name, such as HW001, never changes its meaning and is never used again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Id {
            $(#[doc = $about] $variant = $number,)+
        }

        impl Id {
            /// Every check, in the order of their numbers.
            pub const ALL: &'static [Id] = &[$(Id::$variant),+];

            /// Returns the subject of the check in a few words.
            pub const fn about(self) -> &'static str {
                match self { $(Id::$variant => $about,)+ }
            }
        }
    };
}

ids! {
    // Waiting: now, and at the last boot.
    NotReady = 1, "the kernel's generator is not ready";
    ReadyLate = 2, "the kernel's generator was ready late";
    Blocked = 3, "a process is waiting for the kernel's generator";
    UnitWaited = 4, "a service waited for the kernel's generator";
    TraceWaited = 5, "a traced program spent its time in getrandom";
    EarlyCaller = 6, "the kernel used random bytes before its generator was ready";
    EarlyRead = 7, "a program read /dev/urandom before the generator was ready";
    // The kernel.
    NoJitter = 10, "a kernel that cannot gather entropy by itself";
    OneLock = 11, "a kernel whose generator has one lock for all CPUs";
    NoVdso = 12, "random bytes cost a system call here";
    NoReseedWord = 13, "no reseed of the kernel can be seen from user space";
    // Where entropy comes from.
    NoCpuRng = 20, "the CPU has no random instruction";
    CpuRngUntrusted = 21, "the CPU's random instruction is not trusted";
    CpuRngBroken = 22, "the CPU's random instruction is broken or has an erratum";
    NoCycleCounter = 23, "no cycle counter to gather jitter with";
    NoHwrng = 24, "a VM without a random device";
    HwrngNoDriver = 25, "a random device without its driver";
    HwrngLate = 26, "the driver of the random device came late";
    HwrngUnhealthy = 27, "the random device fails its health tests";
    BootSeedUnused = 28, "the firmware's seed is not used";
    SavedSeed = 29, "the saved seed is missing, old or not credited";
    HypervisorSeed = 30, "a confidential guest that relies on its hypervisor's random bytes";
    // Repeats.
    NoVmgenid = 40, "a VM without a clone signal";
    VmgenidNoDriver = 41, "a clone signal that the kernel does not listen to";
    VmclockUnreadable = 42, "a VMClock that programs cannot read";
    Cloned = 43, "this VM was cloned or rolled back while running";
    Checkpointing = 44, "process images are restored here";
    BlindGenerators = 45, "programs whose generators do not notice a clone";
    // Programs and settings of the machine.
    Sandbox = 50, "a sandbox that kills or fails random system calls";
    NeedlessDaemon = 51, "an entropy daemon without a use";
    SwappedPages = 52, "secure bytes may reach swap";
    TwoVersions = 53, "several versions of headwater on one machine";
}

impl Id {
    /// Returns the number: 1 for HW001.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// Returns the check with this name, in upper or lower case.
    pub fn parse(name: &str) -> Option<Id> {
        Id::ALL.iter().copied().find(|id| id.to_string().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HW{:03}", self.number())
    }
}

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Id {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "The name of a check, which never changes its meaning.",
            "type": "string",
            "pattern": "^HW[0-9]{3}$",
        })
    }
}
