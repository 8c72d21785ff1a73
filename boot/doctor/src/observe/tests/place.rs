//! The places in the kernel that are waits for the generator, and those that are not.

use super::*;

#[test]
fn the_jitter_loop_is_part_of_a_wait() {
    const STACK: &str = "[<0>] try_to_generate_entropy+0x1a1/0x260\n[<0>] x+0x1/0x2\n";
    let in_loop = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", "running", 6.0);
        put(root, "80/task/80/stack", STACK);
    };
    let record = Script::new("jitter", 5.0, 7.0).at(6.0, in_loop).observe(600.0);
    assert_eq!(record.victims.len(), 1);
    assert_eq!(record.ready_by.as_deref(), Some("timing jitter"));
    assert!(near(record.victims[0].exact().unwrap(), 1.0));
    // A program that only runs does not wait.
    let runs = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", "running", 6.0);
        put(root, "80/task/80/stack", "[<0>] do_syscall_64+0x1/0x2\n");
    };
    assert!(Script::new("runs", 5.0, 7.0).at(6.0, runs).observe(600.0).victims.is_empty());
}

#[test]
fn a_kernel_that_hides_the_place_shows_the_call() {
    if !IS_X86 {
        return;
    }
    let hidden = |root: &Path| {
        thread(root, 80, 80, "sshd", "0", GETRANDOM, 6.0);
        thread(root, 81, 81, "cron", "0", NANOSLEEP, 6.0);
    };
    let record = Script::new("hidden", 5.0, 9.0).at(6.0, hidden).observe(600.0);
    let names: Vec<&str> = record.victims.iter().map(|victim| victim.process.as_str()).collect();
    assert_eq!(names, ["sshd"]);
}

#[test]
fn a_poll_of_the_device_is_a_wait_unless_it_is_for_writing() {
    if !IS_X86 {
        return;
    }
    let polls = |pid: u32, device: &'static str, events: u16| {
        move |root: &Path| {
            let call = "7 0x10 0x1 0xffffffffffffffff 0x0 0x0 0x0 0x7ffe 0x7f61";
            thread(root, pid, pid, "poller", "poll_schedule_timeout.constprop.0", call, 6.0);
            let mut memory = vec![0; 16];
            memory.extend(3_u32.to_ne_bytes());
            memory.extend(events.to_ne_bytes());
            memory.extend([0, 0]);
            fs::write(root.join(format!("{pid}/mem")), memory).unwrap();
            fs::create_dir_all(root.join(format!("{pid}/fd"))).unwrap();
            let _ = std::os::unix::fs::symlink(device, root.join(format!("{pid}/fd/3")));
        }
    };
    let (reading, writing) = (1, 4);
    let record = Script::new("poll", 5.0, 9.0)
        .at(6.0, polls(80, "/dev/random", reading))
        .at(6.0, polls(81, "/dev/random", writing))
        .at(6.0, polls(82, "/dev/urandom", reading))
        .at(6.0, polls(83, "socket:[77]", reading))
        .observe(600.0);
    let found: Vec<_> =
        record.victims.iter().map(|victim| (victim.pid, victim.call.as_str())).collect();
    assert_eq!(found, [(80, "poll of /dev/random")]);
    assert!(near(record.victims[0].exact().unwrap(), 3.0));
}

/// The kernel counts how often a thread ran. Until the count changes, the thread is where it was,
/// and its place is not read again.
#[test]
fn a_thread_that_has_not_run_is_where_it_was() {
    let count = |text: &'static str| move |root: &Path| put(root, "70/task/70/schedstat", text);
    let sleeps = |root: &Path| thread(root, 70, 70, "d", "do_epoll_wait", "232", 5.0);
    let waits = |root: &Path| thread(root, 70, 70, "d", "wait_for_random_bytes", GETRANDOM, 5.0);
    let works = |root: &Path| thread(root, 70, 70, "d", "do_epoll_wait", "232", 5.0);
    let record = Script::new("count", 5.0, 20.0)
        .at(5.0, sleeps)
        .at(5.0, count("800 90 4\n"))
        // A tree in a test can lie: the place changes and the count does not.
        .at(7.0, waits)
        .at(8.0, count("900 90 5\n"))
        .at(11.0, works)
        .at(12.0, count("990 95 6\n"))
        .observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert!((8.0..8.3).contains(&victim.from), "{victim:?}");
    let bounds = victim.seconds;
    assert!(bounds.at_least > 3.65 && bounds.at_most.unwrap() < 4.35, "{victim:?}");
    assert_eq!(victim.ending, Ending::GaveUp);
}

/// The CPU time of a process is the same until one of its threads has run. Until then, only threads
/// that wait are read.
#[test]
fn threads_of_a_process_that_has_not_run_are_where_they_were() {
    let time = |text: &'static str| move |root: &Path| put(root, "70/time", text);
    let both = |wchan: &'static str, call: &'static str| {
        move |root: &Path| {
            for tid in [70, 71] {
                thread(root, 70, tid, "d", wchan, call, 5.0);
            }
        }
    };
    let record = Script::new("time", 5.0, 20.0)
        .at(5.0, both("do_epoll_wait", "232"))
        .at(5.0, time("100"))
        // A tree in a test can lie: the place changes and the time does not.
        .at(7.0, both("wait_for_random_bytes", GETRANDOM))
        .at(12.0, time("101"))
        // A thread that waits is read at every look, whatever the time says.
        .at(15.0, both("do_epoll_wait", "232"))
        .observe(600.0);
    assert_eq!(record.victims.len(), 2);
    for victim in record.victims {
        assert!((12.0..12.3).contains(&victim.from), "{victim:?}");
        assert!((15.0..15.2).contains(&victim.until), "{victim:?}");
        assert!(near((victim.seconds.at_least + victim.seconds.at_most.unwrap()) / 2.0, 3.0));
    }
}

/// Without its statistics, the kernel's count is always 0, and says nothing.
#[test]
fn a_kernel_that_does_not_count_shows_the_place() {
    let uncounted = |root: &Path| {
        sshd(root);
        put(root, "312/task/312/schedstat", "0 0 0\n");
    };
    let begins = |root: &Path| {
        cron(root);
        put(root, "400/task/400/schedstat", "0 0 0\n");
    };
    let waits =
        |root: &Path| thread(root, 400, 400, "cron", "wait_for_random_bytes", GETRANDOM, 6.0);
    let record = Script::new("uncounted", 5.0, 20.0)
        .at(6.0, uncounted)
        .at(6.0, begins)
        .at(10.0, waits)
        .observe(600.0);
    let seconds: Vec<f64> =
        record.victims.iter().map(|victim| victim.exact().unwrap().round()).collect();
    assert_eq!(seconds, [14.0, 10.0]);
}
