//! The page of a report, opened in a browser. These need Chromium, so `cargo test` skips them;
//! `cargo xtask test --all` gets one and runs them. With `PAGE_IMAGES=folder` they leave there what
//! they saw.

use headwater_browser::Chromium;
use headwater_quality::{Args, run, write_html};
use serde_json::json;
use std::path::PathBuf;

/// The page of a run over `source`.
struct Page {
    file: PathBuf,
    browser: Chromium,
}

impl Page {
    fn open(source: &str) -> Page {
        let args = Args { source: source.to_owned(), fast: true, ..Args::default() };
        let page = run(&args, std::io::empty()).unwrap().html().unwrap();
        let name =
            format!("headwater-page-{}-{}.html", std::process::id(), source.trim_end_matches('+'));
        let file = std::env::temp_dir().join(name);
        write_html(&file, &page).unwrap();
        let mut browser = Chromium::open(&file);
        browser.settle();
        Page { file, browser }
    }

    fn keep_image(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("PAGE_IMAGES") {
            let image = self.browser.screenshot();
            std::fs::write(PathBuf::from(folder).join(format!("{name}.png")), image).unwrap();
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_map_shows_which_bit_is_bad_and_nothing_is_complained_of_or_fetched() {
    let mut page = Page::open("xorshift128+");
    page.keep_image("quality-light");
    // The lowest of linear complexity's 64 planes, drawn last and on the right, is dark, and no
    // other.
    let dark = page.browser.eval(
        "(() => {
           const cells = [...document.querySelectorAll('svg.planes rect')].slice(0, 64);
           const colours = cells.map(cell => getComputedStyle(cell).fill);
           return [colours[0], colours.filter(colour => colour === colours[0]).length];
         })()",
    );
    assert_eq!(dark, json!(["rgb(179, 38, 30)", 1]));
    let words = page.browser.eval("document.querySelector('.findings').innerText");
    assert!(words.as_str().unwrap().contains("linear function of earlier ones"), "{words}");
    let bars = page.browser.eval(
        "[...document.querySelectorAll('svg.histogram rect')].map(bar => bar.getBoundingClientRect().height)",
    );
    let bars: Vec<f64> = bars.as_array().unwrap().iter().map(|bar| bar.as_f64().unwrap()).collect();
    assert_eq!(bars.len(), 20);
    assert!(bars.iter().filter(|&&bar| bar > 5.0).count() >= 15, "{bars:?}");
    assert_eq!(page.browser.complaints, [""; 0]);
    assert_eq!(page.browser.requests, [format!("file://{}", page.file.display())]);
}

#[test]
#[ignore = "needs Chromium"]
fn follows_the_colours_of_the_desktop_and_fits_a_phone() {
    let mut page = Page::open("twice");
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.browser.call("Emulation.setEmulatedMedia", dark);
    assert_eq!(
        page.browser.eval("getComputedStyle(document.body).backgroundColor"),
        "rgb(22, 24, 28)"
    );
    page.keep_image("quality-dark");
    let phone = json!({"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true});
    page.browser.call("Emulation.setDeviceMetricsOverride", phone);
    page.browser.settle();
    page.keep_image("quality-phone");
    assert_eq!(page.browser.eval("document.documentElement.scrollWidth"), 360);
    assert_eq!(page.browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn no_script_runs_even_if_one_gets_in() {
    let mut page = Page::open("stuck");
    let directive = page.browser.eval(
        "new Promise(done => {
           addEventListener('securitypolicyviolation', event => done(event.effectiveDirective), {once: true});
           const script = document.createElement('script');
           script.text = 'document.title = 1';
           document.body.append(script);
         })",
    );
    assert_eq!(directive, "script-src-elem");
    assert_ne!(page.browser.eval("document.title"), "1");
}
