//! The present configuration of OpenSSL (config(5)), and the text that extends it.

use super::parse::{self, Sections, Value};
use std::fmt::Write;
use std::path::Path;
use std::str;

/// Has no meaning to config(5), and may be part of a name.
const PUNCTUATION: &str = "/._-+@,~";

/// The sections of the present configuration, by name.
#[derive(Default)]
pub(super) struct Present {
    sections: Sections,
}

impl Present {
    /// Reads `path` and the files that it includes. A missing file counts as empty, as in OpenSSL.
    pub(super) fn read(path: &Path) -> Result<Present, String> {
        Ok(Present { sections: parse::read(path)? })
    }

    /// Reads a text and the files that it includes.
    pub(super) fn of(text: &str) -> Result<Present, String> {
        Ok(Present { sections: parse::read_text(text.as_bytes())? })
    }

    fn values(&self, section: &str) -> &[Value] {
        self.sections.get(section.as_bytes()).map(Vec::as_slice).unwrap_or_default()
    }

    fn value(&self, section: &str, name: &str) -> Option<&[u8]> {
        let value = self.values(section).iter().find(|value| value.name == name.as_bytes())?;
        Some(&value.value)
    }

    /// Returns a value that names a section, or `otherwise`. Returns an error if the name cannot
    /// stand in a heading.
    fn section<'a>(
        &'a self,
        section: &str,
        name: &str,
        otherwise: &'a str,
    ) -> Result<&'a str, String> {
        let Some(value) = self.value(section, name).filter(|value| !value.is_empty()) else {
            return Ok(otherwise);
        };
        str::from_utf8(value).ok().filter(|value| is_plain(value)).ok_or_else(|| {
            format!(
                "cannot extend the present configuration of OpenSSL: '{name}' names the section \
                 '{}', and no heading can; include headwater-openssl.cnf there by hand",
                value.escape_ascii()
            )
        })
    }

    /// Returns true if this section activates a provider. Then OpenSSL adds no default provider.
    fn activates(&self, providers: &str) -> bool {
        let off = ["0", "no", "false", "off"];
        self.values(providers).iter().any(|provider| {
            let active = str::from_utf8(&provider.value).ok().and_then(|provider| {
                let active = self.value(provider, "activate")?;
                Some(active.to_ascii_lowercase())
            });
            active.is_some_and(|value| !off.iter().any(|off| off.as_bytes() == value))
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
        let openssl = self.section("default", "openssl_conf", "")?;
        // Node reads the section that this name refers to.
        let nodejs = self.section("default", "nodejs_conf", openssl)?;
        let is_shared = openssl == nodejs;
        let of_nodejs = if is_shared { "headwater_init" } else { "headwater_nodejs_init" };
        line(format!("[default]\nopenssl_conf = headwater_init\nnodejs_conf = {of_nodejs}"));
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
            for value in self.values(init) {
                if matches!(value.name.as_slice(), b"random" | b"providers") {
                    continue;
                }
                line(repeated(value)?);
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

    /// Returns an error unless OpenSSL, with this as its whole configuration, draws from headwater:
    /// lines that are sound in their place may be a mistake in another one, or come before ours.
    pub(super) fn check(&self) -> Result<(), String> {
        let draws = |init: &str| {
            let random = self.values(init).first().filter(|first| first.name == b"random")?;
            let random = self.value(str::from_utf8(&random.value).ok()?, "random")?;
            Some(random == b"HEADWATER")
        };
        for name in ["openssl_conf", "nodejs_conf"] {
            let init = self.value("default", name).and_then(|init| str::from_utf8(init).ok());
            if init.and_then(draws) != Some(true) {
                return Err(format!(
                    "cannot extend the present configuration of OpenSSL: '{name}' would not lead to \
                     headwater; include headwater-openssl.cnf there by hand"
                ));
            }
        }
        Ok(())
    }
}

/// Returns the line of a value that is set once more. Its variables are expanded already: a name
/// that it refers to may have another value where the line stands now.
fn repeated(value: &Value) -> Result<String, String> {
    let refused = |why: &str| {
        let name = value.name.escape_ascii();
        format!("cannot extend the present configuration of OpenSSL: '{name}' {why}")
    };
    // OpenSSL looks at a name up to its last dot, and the last generator that is set counts.
    let module = value.name.rsplitn(2, |&byte| byte == b'.').last().unwrap_or_default();
    if module == b"random" {
        return Err(refused("would set another generator after headwater's; take the line out"));
    }
    let (Ok(name), Ok(text)) = (str::from_utf8(&value.name), str::from_utf8(&value.value)) else {
        return Err(refused("is not UTF-8, or has a value that is not"));
    };
    Ok(format!("{name} = {}", quoted(text)))
}

/// Returns a value as config(5) reads it, in quotes if it contains anything that has a meaning.
fn quoted(text: &str) -> String {
    if text.split(' ').all(is_plain) && !text.starts_with(' ') && !text.ends_with(' ') {
        return text.to_owned();
    }
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            // In quotes, a backslash and `n` are an `n`.
            '\n' => quoted.push_str("'\\n'"),
            '\r' => quoted.push_str("'\\r'"),
            _ => quoted.push(c),
        }
    }
    quoted + "'"
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || PUNCTUATION.contains(c))
}

/// Returns a path that config(5) reads without escapes, or a message. Unlike the name of a section,
/// it may have letters of any script.
fn plain(path: &Path) -> Result<&str, String> {
    let is_plain = |c: char| c.is_alphanumeric() || PUNCTUATION.contains(c);
    path.to_str().filter(|text| text.chars().all(is_plain)).ok_or_else(|| {
        format!("cannot name {} in OpenSSL's configuration: the path has characters that config(5) expands", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs};

    fn extended(text: &str) -> Result<String, String> {
        let present = Present::of(text)?;
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
            "random = headwater_random\nproviders = p\nssl_conf = 's#1'\nengines = f"
        );
    }

    /// Where a line stands now, a variable may have another value, or none.
    #[test]
    fn values_are_repeated_as_openssl_has_read_them() {
        let text = extended(
            "openssl_conf = o\n[o]\nx = s\nssl_conf = $x\nx = t\ny = a\\ \nz = \"a # ' b\" \\#\nw = a\\nb\n",
        )
        .unwrap();
        assert_eq!(
            added(&text, "headwater_init"),
            "random = headwater_random\nproviders = headwater_providers\nssl_conf = s\nx = t\ny = a\n\
             z = 'a # \\' b #'\nw = 'a'\\n'b'"
        );
        let refused = extended("openssl_conf = o\n[o]\nrandom.two = r\n").unwrap_err();
        assert!(refused.contains("another generator"), "{refused}");
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
    fn what_cannot_be_named_is_refused() {
        let refused = extended("openssl_conf = a:b\n[c]\n").unwrap_err();
        assert!(refused.contains("by hand"), "{refused}");
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
        assert_eq!(
            (present.value("a", "b"), present.value("c", "d")),
            (Some(&b"1"[..]), Some(&b"2"[..]))
        );
        fs::write(&two, format!(".include = {}\n", one.display())).unwrap();
        assert!(Present::read(&one).err().unwrap().contains("in a circle"));
        fs::remove_dir_all(&directory).unwrap();
        assert!(Present::read(&one).unwrap().values("a").is_empty());
    }
}
