#![cfg(target_os = "linux")]
