//! Marks of the CPU or the thread that printed a line, which some makers of kernels put after the
//! time.

use super::split::split_at;

/// Removes the marks of a CPU or a thread that makers of phones and boxes put after the time:
/// `[1:           init:    1] ` of Samsung, `[c0] ` and `c1      1 ` of Spreadtrum and Unisoc,
/// `(0)[1:swapper/0]` of MediaTek.
pub(super) fn without_thread(rest: &str) -> &str {
    let text = rest.trim_start();
    if let Some(after) = without_cpu_and_pid(text) {
        return after;
    }
    let text = match text.strip_prefix('(').and_then(|text| split_at(text, b')')) {
        Some((cpu, after)) if !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()) => {
            after
        }
        _ => text,
    };
    let Some((mark, after)) = text.strip_prefix('[').and_then(|text| split_at(text, b']')) else {
        return rest;
    };
    let cpu = mark.trim_start().strip_prefix('c').unwrap_or(mark.trim_start());
    let digits = cpu.bytes().take_while(u8::is_ascii_digit).count();
    let ends = matches!(cpu.as_bytes().get(digits), None | Some(b':' | b' '));
    if digits > 0 && digits <= 7 && ends && mark.len() <= 40 { after } else { rest }
}

/// Removes the CPU and the process's number of Unisoc's kernels: `c1      1 `.
fn without_cpu_and_pid(text: &str) -> Option<&str> {
    let (cpu, rest) = text.strip_prefix('c')?.split_once(' ')?;
    let (pid, message) = rest.trim_start().split_once(' ')?;
    let is_number = |text: &str, most: usize| {
        !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    (is_number(cpu, 2) && is_number(pid, 7)).then_some(message)
}
