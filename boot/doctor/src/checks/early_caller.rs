//! HW006: the kernel used random bytes before its generator was ready.

use super::Answer;
use super::logged::newest;
use crate::boot::Boot;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

/// Callers that are named; the rest are counted.
const NAMED: usize = 5;

pub(super) fn check(case: &Case) -> Answer {
    newest(case, |boot| by_log(case, boot).into())
}

fn by_log(case: &Case, boot: &Boot) -> Option<Finding> {
    let callers = &boot.early_callers;
    (!callers.is_empty()).then_some(())?;
    let mut names: Vec<String> =
        callers.iter().take(NAMED).map(|caller| with_meaning(&caller.caller)).collect();
    if callers.len() > NAMED {
        names.push(format!("{} more", callers.len() - NAMED));
    }
    let times: u64 = callers.iter().map(|caller| caller.times).sum();
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    Some(Finding {
        id: Id::EarlyCaller,
        severity: Severity::Note,
        title: format!("the kernel took random bytes {times} before its generator was ready: {}", names.join(", ")),
        evidence: callers.iter().take(NAMED).map(|caller| caller.moment.evidence.clone()).collect(),
        why: "The kernel uses these bytes for its own defences (stack canaries, places of memory, seeds of hash tables), and they may be \
              easier to guess at this boot. No key is made of them, and nothing waited. (crng_init=0: nothing had been gathered; 1: a little.)"
            .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "after a reboot, `dmesg | grep crng_init=` shows no line".to_owned(),
    })
}

/// Returns the name of a function of the kernel, with the use of its bytes if that is known.
fn with_meaning(caller: &str) -> String {
    let meaning = match caller {
        "start_kernel" | "boot_init_stack_canary" => "the stack canary",
        "__kmem_cache_create"
        | "kmem_cache_open"
        | "init_cache_random_seq"
        | "cache_random_seq_create" => "the order of objects in memory",
        "init_oops_id" => "the number of crash reports",
        "bcmp_hash_init" | "neigh_hash_alloc" | "rt_genid_init" | "inet_frags_init_net" => {
            "a hash table's seed"
        }
        _ => return caller.to_owned(),
    };
    format!("{caller} ({meaning})")
}
