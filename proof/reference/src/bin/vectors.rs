//! Writes the files of `streams/vectors/` anew: `cargo run -p reference --bin vectors`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../streams/vectors");
    for (name, text) in reference::vectors::files() {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
