//! Configurations of OpenSSL, as far as headwater has to add to them (config(5)).

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The sections of a configuration, by their names.
#[derive(Default)]
pub(super) struct Present {
    sections: HashMap<String, HashMap<String, String>>,
}

/// Files that include each other without end are stopped here.
const DEEPEST: u32 = 16;
/// The section of lines before any section.
const TOP: &str = "default";

impl Present {
    /// What `path` says, and the files that it includes. One that is not there says nothing, as to OpenSSL.
    pub(super) fn read(path: &Path) -> Result<Present, String> {
        let mut present = Present::default();
        let mut section = TOP.to_owned();
        present.add_file(path, &mut section, 0)?;
        Ok(present)
    }

    fn add_file(&mut self, path: &Path, section: &mut String, depth: u32) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("{}: files include each other without end", path.display()));
        }
        if path.is_dir() {
            let mut files: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().collect();
            files.sort_by_key(fs::DirEntry::file_name);
            let is_ours =
                |path: &Path| path.extension().is_some_and(|end| end == "cnf" || end == "conf");
            for file in files.iter().map(fs::DirEntry::path).filter(|path| is_ours(path)) {
                self.add_file(&file, section, depth + 1)?;
            }
            return Ok(());
        }
        match fs::read(path) {
            Ok(text) => self.add_text(&String::from_utf8_lossy(&text), section, depth),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    fn add_text(&mut self, text: &str, section: &mut String, depth: u32) -> Result<(), String> {
        let joined = text.replace("\\\r\n", "").replace("\\\n", "");
        for line in joined.lines() {
            let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
            if let Some(name) = line.strip_prefix('[') {
                *section = name.trim_end_matches(']').trim().to_owned();
                self.sections.entry(section.clone()).or_default();
            } else if let Some(included) = line.strip_prefix(".include") {
                let included = included.trim_start().trim_start_matches('=').trim();
                let folder = env::var_os("OPENSSL_CONF_INCLUDE").unwrap_or_default();
                self.add_file(&Path::new(&folder).join(included), section, depth + 1)?;
            } else if let Some((name, value)) = line.split_once('=')
                && !line.starts_with('.')
            {
                let (name, value) = (name.trim(), value.trim().trim_matches(['"', '\'']));
                let (section, name) = name.split_once("::").unwrap_or((section, name));
                let values = self.sections.entry(section.to_owned()).or_default();
                values.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    fn value(&self, section: &str, name: &str) -> Option<&str> {
        self.sections.get(section)?.get(name).map(String::as_str)
    }

    /// A value that names a section, or `otherwise`; an error if only OpenSSL can tell what it is.
    fn section<'a>(
        &'a self,
        section: &str,
        name: &str,
        otherwise: &'a str,
    ) -> Result<&'a str, String> {
        match self.value(section, name) {
            Some(value) if value.contains('$') => Err(format!(
                "the present configuration of OpenSSL says '{name} = {value}', whose value depends on others; include \
                 headwater-openssl.cnf there by hand"
            )),
            Some(value) if !value.is_empty() => Ok(value),
            _ => Ok(otherwise),
        }
    }

    /// Whether this section of providers activates one. Then OpenSSL adds no default provider by itself.
    fn activates(&self, providers: &str) -> bool {
        let off = ["0", "no", "false", "off"];
        self.sections.get(providers).into_iter().flat_map(HashMap::values).any(|section| {
            let active = self.value(section, "activate");
            active.is_some_and(|value| !off.contains(&value.to_ascii_lowercase().as_str()))
        })
    }

    /// The text of a configuration that includes `base`, which this is, and has `module` as its generator.
    pub(super) fn extended(&self, base: Option<&Path>, module: &Path) -> Result<String, String> {
        let mut text = String::from("# Made by `headwater run --openssl`.\n");
        let mut line = |line: String| writeln!(text, "{line}").expect("a String takes it");
        if let Some(base) = base {
            line(format!(".include {}", plain(base)?));
        }
        let openssl = self.section(TOP, "openssl_conf", "headwater_init")?;
        // Node looks for its settings under a name of its own.
        let nodejs = self.section(TOP, "nodejs_conf", openssl)?;
        line(format!("[{TOP}]\nopenssl_conf = {openssl}\nnodejs_conf = {nodejs}"));
        for init in if openssl == nodejs { vec![openssl] } else { vec![openssl, nodejs] } {
            let providers = self.section(init, "providers", "headwater_providers")?;
            let random = self.section(init, "random", "headwater_random")?;
            // In this order: OpenSSL 3.5 takes an activation back where `random_provider` names a provider that is active.
            line(format!("[{init}]\nrandom = {random}\nproviders = {providers}"));
            line(format!("[{random}]\nrandom = HEADWATER"));
            line(format!("[{providers}]\nheadwater = headwater_module"));
            if !self.activates(providers) {
                let default = self.section(providers, "default", "headwater_default")?;
                line(format!("default = {default}\n[{default}]\nactivate = 1"));
            }
        }
        line(format!("[headwater_module]\nmodule = {}\nactivate = 1", plain(module)?));
        Ok(text)
    }
}

/// A path that config(5) takes for itself.
fn plain(path: &Path) -> Result<&str, String> {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "/._-+@,~".contains(c));
    path.to_str().filter(|text| is_plain(text)).ok_or_else(|| {
        format!("{}: OpenSSL's configuration takes no path with such characters", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(text: &str) -> Result<String, String> {
        let mut present = Present::default();
        present.add_text(text, &mut TOP.to_owned(), 0)?;
        present.extended(Some(Path::new("/etc/ssl/openssl.cnf")), Path::new("/m/headwater.so"))
    }

    /// What the result adds to the section `name`.
    fn added<'a>(text: &'a str, name: &str) -> &'a str {
        let (_, section) = text.split_once(&format!("[{name}]\n")).expect(name);
        section.split_once("\n[").map_or(section, |(section, _)| section).trim_end()
    }

    #[test]
    fn nothing_is_there_yet() {
        let text = extended("").unwrap();
        assert!(text.contains("\n.include /etc/ssl/openssl.cnf\n[default]\n"));
        assert_eq!(
            added(&text, "headwater_providers"),
            "headwater = headwater_module\ndefault = headwater_default"
        );
        assert_eq!(added(&text, "headwater_default"), "activate = 1");
        assert_eq!(added(&text, "headwater_module"), "module = /m/headwater.so\nactivate = 1");
    }

    /// As Debian 13 has it: a section of providers, of which none is activated.
    #[test]
    fn the_default_provider_stays_where_it_was_implied() {
        let text = extended(
            "openssl_conf = openssl_init # first\n[openssl_init]\nproviders = provider_sect\n[ provider_sect ]\n\
             default = default_sect\n[default_sect]\n# activate = 1\n",
        )
        .unwrap();
        assert_eq!(
            added(&text, "openssl_init"),
            "random = headwater_random\nproviders = provider_sect"
        );
        assert_eq!(added(&text, "default_sect"), "activate = 1");
    }

    #[test]
    fn what_is_left_out_on_purpose_stays_out() {
        let text = extended(
            "openssl_conf = mine\n[mine]\nproviders = list\nrandom = r\n[list]\nfips = f\nbase = b\n[f]\nactivate = 1\n\
             [b]\nactivate = yes\n[r]\nseed = JITTER\n",
        )
        .unwrap();
        assert_eq!(added(&text, "list"), "headwater = headwater_module");
        assert!(!text.contains("default ="), "{text}");
        assert_eq!(added(&text, "r"), "random = HEADWATER");
    }

    #[test]
    fn nodes_own_section_gets_it_too() {
        let text = extended("openssl_conf = a\nnodejs_conf = b\n[b]\nproviders = p\n").unwrap();
        assert_eq!(added(&text, "default"), "openssl_conf = a\nnodejs_conf = b");
        assert!(added(&text, "a").contains("providers = headwater_providers"));
        assert!(added(&text, "b").contains("providers = p"));
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        let text = extended(
            "openssl_conf = \\\nmine\nmine::providers = \"list\"\n[list]\ndefault = d\n[d]\nactivate = off\n",
        )
        .unwrap();
        assert_eq!(added(&text, "mine"), "random = headwater_random\nproviders = list");
        assert_eq!(added(&text, "d"), "activate = 1");
    }

    #[test]
    fn what_only_openssl_can_tell_is_refused() {
        assert!(extended("openssl_conf = $name\n").unwrap_err().contains("by hand"));
        for path in ["/a b/m.so", "/a\n[x]", "/$HOME/m.so", "/a#b"] {
            let refused = Present::default().extended(None, Path::new(path)).unwrap_err();
            assert!(refused.contains("no path with such characters"), "{refused}");
        }
    }

    #[test]
    fn files_that_include_each_other_are_told() {
        let folder = env::temp_dir().join(format!("headwater-conf-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [one, two] = ["one.cnf", "two.cnf"].map(|name| folder.join(name));
        fs::write(&one, format!(".include {}\n[a]\nb = 1\n", two.display())).unwrap();
        fs::write(&two, "[c]\nd = 2\n").unwrap();
        let present = Present::read(&one).unwrap();
        assert_eq!((present.value("a", "b"), present.value("c", "d")), (Some("1"), Some("2")));
        fs::write(&two, format!(".include = {}\n", one.display())).unwrap();
        assert!(Present::read(&one).err().unwrap().contains("without end"));
        fs::remove_dir_all(&folder).unwrap();
        assert!(Present::read(&one).unwrap().sections.is_empty());
    }
}
