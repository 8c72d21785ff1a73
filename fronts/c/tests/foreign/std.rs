//! A Rust static library of another project, with the standard library: it allocates, panics and
//! unwinds. Compiled by tests/archives.rs, once with `--cfg second`.

#[cfg_attr(not(second), unsafe(export_name = "foreign_first"))]
#[cfg_attr(second, unsafe(export_name = "foreign_second"))]
pub extern "C" fn sum(n: u64) -> u64 {
    std::panic::set_hook(Box::new(|_| {})); // no message
    let words: Vec<String> = (1..=n).map(|number| number.to_string()).collect();
    let caught = std::panic::catch_unwind(|| words[words.len()].len());
    assert!(caught.is_err(), "the index is past the end");
    words.iter().map(|word| word.parse::<u64>().unwrap()).sum()
}
