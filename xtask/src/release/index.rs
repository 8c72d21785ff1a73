//! One archive with the images of all machines: an index names each image with its machine, and a
//! container engine takes the one of its own.

use crate::process::{output, program, run};
use crate::release::stage::VERSION;
use crate::tools;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Joins layouts with one image each, given with Debian's names of their machines, to one layout.
pub(super) fn join(layouts: &[(&str, PathBuf)], joined: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(joined);
    fs::create_dir_all(joined)?;
    let mut images = Vec::new();
    for (arch, layout) in layouts {
        run(program("cp --recursive")
            .args([layout.join("blobs"), layout.join("oci-layout")])
            .arg(joined))?;
        let text = fs::read_to_string(layout.join("index.json"))?;
        images.push(image(arch, &text).with_context(|| layout.display().to_string())?);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": images }).to_string();
    let file = joined.join("index");
    fs::write(&file, &index)?;
    let sum = output(program("sha256sum").arg(&file))?;
    let sum = sum.split(' ').next().context("sha256sum printed nothing")?;
    fs::rename(file, joined.join("blobs/sha256").join(sum))?;
    let entry = json!({
        "schemaVersion": 2,
        "manifests": [{
            "mediaType": INDEX,
            "digest": format!("sha256:{sum}"),
            "size": index.len(),
            "annotations": { "org.opencontainers.image.ref.name": VERSION },
        }],
    });
    Ok(fs::write(joined.join("index.json"), entry.to_string())?)
}

/// Returns the entry of a layout's only image, with its machine in place of its name.
fn image(arch: &str, index: &str) -> Result<Value> {
    let index: Value = serde_json::from_str(index)?;
    let images = index["manifests"].as_array().context("a layout without images")?;
    ensure!(images.len() == 1, "{} images in a layout of one", images.len());
    let mut image = images[0].clone();
    let entry = image.as_object_mut().context("an image without fields")?;
    entry.remove("annotations");
    entry.insert("platform".to_owned(), json!({ "architecture": arch, "os": "linux" }));
    Ok(image)
}

/// Checks that a container engine finds the image of each machine in the archive.
pub(super) fn check(archive: &Path, machines: &[&str]) -> Result<()> {
    tools::package("skopeo", "skopeo")?;
    for machine in machines {
        let mut inspect = program("skopeo --override-os linux --override-arch");
        let place = format!("oci-archive:{}:{VERSION}", archive.display());
        let found = output(inspect.args([machine, "inspect", &place]))?;
        let found: Value = serde_json::from_str(&found)?;
        ensure!(found["Architecture"] == **machine, "{machine}: {}", found["Architecture"]);
        println!("{machine}: the archive has its image");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_machine_in_place_of_the_name() {
        let index = r#"{"manifests":[{"digest":"sha256:1","size":2,"annotations":{"a":"b"}}]}"#;
        let expected = json!({
            "digest": "sha256:1", "size": 2,
            "platform": { "architecture": "arm64", "os": "linux" },
        });
        assert_eq!(image("arm64", index).unwrap(), expected);
        assert!(image("arm64", r#"{"manifests":[]}"#).is_err());
        assert!(image("arm64", r#"{"manifests":[{},{}]}"#).is_err());
    }
}
