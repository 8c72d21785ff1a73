//! Configurations of OpenSSL (config(5)), as far as headwater must extend them.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The sections of the present configuration, by name.
#[derive(Default)]
pub(super) struct Present {
    sections: HashMap<String, Vec<Value>>,
}

/// A value of a section. OpenSSL runs the values of some sections in their order.
struct Value {
    name: String,
    /// Without quotes around it.
    plain: String,
    /// As it was written.
    written: String,
}

/// Depth of inclusion at which files that include each other are refused.
const DEEPEST: u32 = 16;
/// Name of the section before the first heading.
const TOP: &str = "default";

impl Present {
    /// Reads `path` and the files that it includes. A missing file counts as empty, as in OpenSSL.
    pub(super) fn read(path: &Path) -> Result<Present, String> {
        let mut present = Present::default();
        let mut section = TOP.to_owned();
        present.add_file(path, &mut section, 0)?;
        Ok(present)
    }

    fn add_file(&mut self, path: &Path, section: &mut String, depth: u32) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!(
                "{}: configuration files include each other in a circle",
                path.display()
            ));
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
            let line = before_comment(line).trim();
            // OpenSSL drops a file with a mistake as a whole, this command's lines included, and
            // most programs then use OpenSSL's own generator without a word.
            let mistake = |what: &str| {
                Err(format!(
                    "cannot extend the present configuration of OpenSSL: '{line}' {what}, for which \
                     OpenSSL would ignore all of it"
                ))
            };
            if let Some(name) = line.strip_prefix('[') {
                let Some((name, _)) = name.split_once(']') else {
                    return mistake("has no closing bracket");
                };
                *section = name.trim().to_owned();
                self.sections.entry(section.clone()).or_default();
            } else if let Some(included) = line.strip_prefix(".include") {
                let included = included.trim_start().trim_start_matches('=').trim();
                let directory = env::var_os("OPENSSL_CONF_INCLUDE").unwrap_or_default();
                self.add_file(&Path::new(&directory).join(included), section, depth + 1)?;
            } else if line.is_empty() || line.starts_with('.') {
                // Another directive.
            } else if let Some((name, written)) = line.split_once('=') {
                let (name, written) = (name.trim(), written.trim());
                let (section, name) = name.split_once("::").unwrap_or((section, name));
                let values = self.sections.entry(section.to_owned()).or_default();
                // The last of a name counts, at the place of the last.
                values.retain(|value| value.name != name);
                values.push(Value {
                    name: name.to_owned(),
                    plain: written.trim_matches(['"', '\'']).to_owned(),
                    written: written.to_owned(),
                });
            } else {
                return mistake("has no equals sign");
            }
        }
        Ok(())
    }

    fn value(&self, section: &str, name: &str) -> Option<&str> {
        let values = self.sections.get(section)?;
        values.iter().find(|value| value.name == name).map(|value| value.plain.as_str())
    }

    /// Returns a value that names a section, or `otherwise`. Returns an error if the value contains
    /// a variable, which only OpenSSL can expand.
    fn section<'a>(
        &'a self,
        section: &str,
        name: &str,
        otherwise: &'a str,
    ) -> Result<&'a str, String> {
        match self.value(section, name) {
            Some(value) if value.contains('$') => Err(format!(
                "cannot extend the present configuration of OpenSSL: '{name} = {value}' contains a variable; include \
                 headwater-openssl.cnf there by hand"
            )),
            Some(value) if !value.is_empty() => Ok(value),
            _ => Ok(otherwise),
        }
    }

    /// Returns true if this section activates a provider. Then OpenSSL adds no default provider.
    fn activates(&self, providers: &str) -> bool {
        let off = ["0", "no", "false", "off"];
        self.sections.get(providers).into_iter().flatten().any(|provider| {
            let active = self.value(&provider.plain, "activate");
            active.is_some_and(|value| !off.contains(&value.to_ascii_lowercase().as_str()))
        })
    }

    /// Returns a configuration that includes `base` (the file of `self`) and has `module` as
    /// generator.
    pub(super) fn extended(&self, base: Option<&Path>, module: &Path) -> Result<String, String> {
        let mut text = String::from("# Made by `headwater run --openssl`.\n");
        let mut line =
            |line: String| writeln!(text, "{line}").expect("writing to a String cannot fail");
        if let Some(base) = base {
            line(format!(".include {}", plain(base)?));
        }
        // Names of no section, unless the present configuration has values for them.
        let openssl = self.section(TOP, "openssl_conf", "")?;
        // Node reads the section that this name refers to.
        let nodejs = self.section(TOP, "nodejs_conf", openssl)?;
        let is_shared = openssl == nodejs;
        let of_nodejs = if is_shared { "headwater_init" } else { "headwater_nodejs_init" };
        line(format!("[{TOP}]\nopenssl_conf = headwater_init\nnodejs_conf = {of_nodejs}"));
        let both = [(openssl, "headwater_init"), (nodejs, of_nodejs)];
        for (init, ours) in &both[..if is_shared { 1 } else { 2 }] {
            let providers = self.section(init, "providers", "headwater_providers")?;
            let random = self.section(init, "random", "headwater_random")?;
            // OpenSSL runs these in order, and stops at the first that fails: a module that is
            // missing, say, or a misspelt name. So both come before all of the present section's
            // values, or the generator would stay OpenSSL's. `random` comes before `providers`,
            // because OpenSSL 3.5 deactivates a provider that is active already when
            // `random_provider` names it.
            line(format!("[{ours}]\nrandom = {random}\nproviders = {providers}"));
            for value in self.sections.get(*init).into_iter().flatten() {
                if !matches!(value.name.as_str(), "random" | "providers") {
                    line(format!("{} = {}", value.name, value.written));
                }
            }
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

/// Returns the line up to its comment. A `#` in quotes, or after a backslash, begins none.
fn before_comment(line: &str) -> &str {
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '#' if quote.is_none() => return &line[..at],
            '"' | '\'' if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ => {}
        }
    }
    line
}

/// Returns a path that config(5) reads without escapes, or a message.
fn plain(path: &Path) -> Result<&str, String> {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "/._-+@,~".contains(c));
    path.to_str().filter(|text| is_plain(text)).ok_or_else(|| {
        format!("cannot name {} in OpenSSL's configuration: the path has characters that config(5) expands", path.display())
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

    /// Returns the lines that the result adds to section `name`.
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

    /// The configuration of Debian 13 has a section of providers and activates none.
    #[test]
    fn the_default_provider_stays_where_it_was_implied() {
        let text = extended(
            "openssl_conf = openssl_init # first\n[openssl_init]\nproviders = provider_sect\n[ provider_sect ]\n\
             default = default_sect\n[default_sect]\n# activate = 1\n",
        )
        .unwrap();
        assert_eq!(
            added(&text, "headwater_init"),
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
        assert_eq!(
            added(&text, "default"),
            "openssl_conf = headwater_init\nnodejs_conf = headwater_nodejs_init"
        );
        assert!(added(&text, "headwater_init").contains("providers = headwater_providers"));
        assert!(added(&text, "headwater_nodejs_init").contains("providers = p"));
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        let text = extended(
            "openssl_conf = \\\nmine\nmine::providers = \"list\"\n[list]\ndefault = d\n[d]\nactivate = off\n",
        )
        .unwrap();
        assert_eq!(added(&text, "headwater_init"), "random = headwater_random\nproviders = list");
        assert_eq!(added(&text, "d"), "activate = 1");
    }

    /// OpenSSL stops at the first value that fails, and says nothing.
    #[test]
    fn the_generator_is_set_before_what_may_fail() {
        let text = extended(
            "openssl_conf = o\n[o]\nengines = e # one\nproviders = p\nssl_conf = \"s#1\"\nengines = f\n",
        )
        .unwrap();
        assert_eq!(
            added(&text, "headwater_init"),
            "random = headwater_random\nproviders = p\nssl_conf = \"s#1\"\nengines = f"
        );
    }

    #[test]
    fn a_file_that_openssl_drops_as_a_whole_is_refused() {
        for (text, why) in [("[section\n", "no closing bracket"), ("words\n", "no equals sign")] {
            let refused = extended(text).unwrap_err();
            assert!(refused.contains(why) && refused.contains("ignore all of it"), "{refused}");
        }
        assert!(extended(".pragma = dollarid:true\n# a comment\n\n[a] # another\n").is_ok());
    }

    #[test]
    fn what_only_openssl_can_expand_is_refused() {
        assert!(extended("openssl_conf = $name\n").unwrap_err().contains("by hand"));
        for path in ["/a b/m.so", "/a\n[x]", "/$HOME/m.so", "/a#b"] {
            let refused = Present::default().extended(None, Path::new(path)).unwrap_err();
            assert!(refused.contains("characters that config(5) expands"), "{refused}");
        }
    }

    #[test]
    fn files_that_include_each_other_are_refused() {
        let directory = env::temp_dir().join(format!("headwater-conf-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let [one, two] = ["one.cnf", "two.cnf"].map(|name| directory.join(name));
        fs::write(&one, format!(".include {}\n[a]\nb = 1\n", two.display())).unwrap();
        fs::write(&two, "[c]\nd = 2\n").unwrap();
        let present = Present::read(&one).unwrap();
        assert_eq!((present.value("a", "b"), present.value("c", "d")), (Some("1"), Some("2")));
        fs::write(&two, format!(".include = {}\n", one.display())).unwrap();
        assert!(Present::read(&one).err().unwrap().contains("in a circle"));
        fs::remove_dir_all(&directory).unwrap();
        assert!(Present::read(&one).unwrap().sections.is_empty());
    }
}
