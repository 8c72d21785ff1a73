//! Units that bring the interrupts which end a wait are not its victims.

use super::{find, of_log};
use headwater_doctor::Id;

#[test]
fn disks_and_networks_cause_readiness_and_do_not_wait() {
    for unit in [
        "growpart.service - Grow root partition",
        "Resize root filesystem to fit partition",
        "LSB: Resize the root filesystem to fill partition",
        "resize2fs_once.service",
        "Grow File System on /",
        "systemd-growfs@-.service - Grow File System on /",
        "systemd-repart.service - Repartition Root Disk",
        "Raise network interfaces",
        "networking.service - Raise network interfaces",
        "LSB: Bring up/down networking",
        "dhcpcd.service - DHCP Client Daemon",
        "dhcpcd on all interfaces",
        "ifup@eth0.service - ifup for eth0",
        "dhclient.service - DHCP client",
        "wicked managed network interfaces",
        "Network Service",
        "systemd-networkd.service - Network Configuration",
        "connman.service - Connection service",
    ] {
        let log = format!(
            "[    0.0] Linux version 4.19.0 (x) #1\n[    1.5] Run /init as init process\n\
             [    4.0] systemd[1]: Starting {unit}...\n[   34.7] random: crng init done\n\
             [   34.9] systemd[1]: Started {unit}.\n"
        );
        let report = of_log(&log);
        assert!(find(&report, Id::UnitWaited).is_none(), "{unit}");
        assert!(find(&report, Id::ReadyLate).is_some(), "{unit}: the wait itself is there");
    }
}
