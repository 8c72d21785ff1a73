//! The frame of an HTML report: one file that needs no network and can be sent by mail.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The head of a page.
pub struct Page<'a> {
    /// Text of the browser's tab.
    pub title: &'a str,
    /// Style sheets, in order.
    pub styles: &'a [&'a str],
    /// A value that is new for each page, if styles and scripts must bear one.
    ///
    /// A page with scripts needs it. Without one, the policy allows every inline style and no
    /// script, so the same report makes the same page, even where no random bytes are available.
    pub nonce: Option<&'a str>,
}

impl Page<'_> {
    /// Returns the whole document around `body`.
    ///
    /// The content security policy forbids the page to fetch, send or frame anything. Scripts run
    /// only with the nonce, so even a mistake in escaping cannot make the words of a log run.
    pub fn document(&self, body: &Markup) -> String {
        let policy = match self.nonce {
            Some(nonce) => format!(
                "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
                 base-uri 'none'; form-action 'none'"
            ),
            None => {
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
                    .to_owned()
            }
        };
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style nonce=[self.nonce] {
                        @for style in self.styles { (PreEscaped(style)) }
                    }
                }
                body { (body) }
            }
        };
        page.into_string()
    }

    /// Returns a script element that the page's policy lets run. Without a nonce, it does not run.
    pub fn script(&self, source: &str) -> Markup {
        html! { script nonce=[self.nonce] { (PreEscaped(source)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_nonce_is_the_same_each_time() {
        let page = Page { title: "a <b>", styles: &["p { color: red }"], nonce: None };
        let text = page.document(&html! { p { "x & y" } });
        assert_eq!(text, page.document(&html! { p { "x & y" } }));
        assert!(text.contains("<title>a &lt;b&gt;</title>"), "{text}");
        assert!(text.contains("<style>p { color: red }</style>"), "{text}");
        assert!(text.contains("<body><p>x &amp; y</p></body>"), "{text}");
        assert!(!text.contains("nonce"), "{text}");
    }

    #[test]
    fn styles_and_scripts_bear_the_nonce() {
        let page = Page { title: "t", styles: &["a{}", "b{}"], nonce: Some("42") };
        let text = page.document(&html! { (page.script("run()")) });
        assert!(text.contains("script-src 'nonce-42'; style-src 'nonce-42'"), "{text}");
        assert!(text.contains("<style nonce=\"42\">a{}b{}</style>"), "{text}");
        assert!(text.contains("<script nonce=\"42\">run()</script>"), "{text}");
    }
}
