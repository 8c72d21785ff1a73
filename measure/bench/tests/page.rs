//! The page of a report, opened in a browser. The tests need Chromium, so `cargo test` passes them
//! over; `cargo xtask test --all` installs Chromium and runs them. With `PAGE_IMAGES=DIRECTORY`
//! they leave images there.

use headwater_browser::Chromium;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Text that an attacker could put into the version or the path of a library.
const HOSTILE: &str = "</script><!--<script><img src=x onerror=\"document.title='owned'\">&amp;";

fn row(case: &str, name: &str, len: usize, threads: usize, ns: f64) -> Value {
    json!({
        "case": case, "impl": name, "mode": null, "len": len, "threads": threads, "ns_per_call": ns,
        "gb_per_s": len as f64 * threads as f64 / ns, "mad": 0.01 * ns, "version": HOSTILE,
    })
}

/// Fills on one and two threads, and one latency.
fn record() -> Value {
    let mut rows = Vec::new();
    for (place, name) in
        ["headwater", "getrandom-vdso", "libc-getentropy", HOSTILE].iter().enumerate()
    {
        let slower = 3_f64.powi(place as i32);
        for (len, ns) in [(16, 7.0), (1024, 160.0), (65_536, 4000.0)] {
            rows.extend([1, 2].map(|threads| row("fill", name, len, threads, ns * slower)));
        }
        let mut latency = row("latency", name, 16, 1, 27.0 * slower);
        latency["percentiles"] = json!({
            "p50": 27.0 * slower, "p90": 30.0 * slower, "p99": 40.0 * slower, "p99_9": 900.0,
            "max": 50_000.0 * slower, "calls": 100_000, "clock": "rdtsc", "clock_ns": 20.0,
        });
        rows.push(latency);
    }
    json!({
        "schema": "headwater.bench/1",
        "machine": {"cpu": HOSTILE, "cores": 2, "date": 1_795_302_867},
        "rows": rows,
        "ratios": [{
            "case": "fill", "len": 16, "threads": 1, "procs": 1, "pin": "none", "impl": "headwater",
            "against": HOSTILE, "ratio": 27.0, "low": 26.0, "high": 28.0,
        }],
        "skipped": [{"impl": "rdrand", "reason": HOSTILE}],
        "warnings": [HOSTILE],
    })
}

/// The page of [`record`] in a file of its own.
struct Page {
    file: PathBuf,
    browser: Chromium,
}

impl Page {
    fn open(name: &str) -> Page {
        let name = format!("headwater-page-{}-{name}.html", std::process::id());
        let file = std::env::temp_dir().join(name);
        let page = headwater_bench::html_page(&record().to_string()).unwrap();
        headwater_bench::write_html(&file, &page).unwrap();
        let mut browser = Chromium::open(&file);
        browser.settle();
        Page { file, browser }
    }

    /// Opens the page and unfolds its charts.
    fn unfolded(name: &str) -> Page {
        let mut page = Page::open(name);
        page.browser
            .eval("document.querySelectorAll('details').forEach(part => { part.open = true })");
        page.browser.settle();
        page
    }

    /// Returns the pixels of a chart's canvas, as text that differs after any change.
    fn picture(&mut self, chart: usize) -> Value {
        self.browser.settle();
        self.browser.eval(&format!("document.querySelectorAll('canvas')[{chart}].toDataURL()"))
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
fn every_chart_is_drawn_and_nothing_is_complained_of_or_fetched() {
    let mut page = Page::unfolded("drawn");
    page.keep_image("light");
    // For each load time and bandwidth, throughput for each length, and the latency.
    let titles = page.browser.eval(
        "[...document.querySelectorAll('figure')].map(f => f.querySelector('canvas') && f.innerText)",
    );
    assert_eq!(titles.as_array().unwrap().len(), 2 * 2 + 3 + 1, "{titles}");
    assert!(titles.as_array().unwrap().iter().all(Value::is_string), "{titles}");
    // Pixels in the colour of the second line, of which axes and grid have none.
    let coloured = page.browser.eval(
        "[...document.querySelectorAll('canvas')].map(canvas => {
           const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
           let n = 0;
           for (let i = 0; i < data.length; i += 4)
             if (data[i] === 0xe6 && data[i + 1] === 0x9f && data[i + 2] === 0 && data[i + 3] === 255) n += 1;
           return n;
         })",
    );
    for pixels in coloured.as_array().unwrap() {
        assert!(pixels.as_u64().unwrap() > 200, "{coloured}");
    }
    assert_eq!(page.browser.complaints, [""; 0]);
    assert_eq!(page.browser.requests, [format!("file://{}", page.file.display())]);
}

#[test]
#[ignore = "needs Chromium"]
fn a_name_in_the_legend_hides_its_line_and_shows_it_again() {
    const NAME: &str = "figure .u-legend .u-series:nth-child(3) th";
    let off = format!("document.querySelector('{NAME}').parentNode.classList.contains('u-off')");
    let mut page = Page::unfolded("legend");
    assert_eq!(
        page.browser.eval(&format!("document.querySelector('{NAME}').innerText.trim()")),
        "getrandom-vdso"
    );
    let before = page.picture(0);
    page.browser.click(NAME);
    assert_eq!(page.browser.eval(&off), true);
    assert_eq!(
        page.browser.eval(&format!("document.querySelector('{NAME}').ariaPressed")),
        "false"
    );
    assert_ne!(page.picture(0), before, "the line is gone");
    // By keyboard, for those who have no mouse.
    page.browser.eval(&format!(
        "document.querySelector('{NAME}').dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter'}}))"
    ));
    assert_eq!(page.browser.eval(&off), false);
    assert_eq!(page.browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn pointing_at_a_chart_tells_its_values() {
    let mut page = Page::unfolded("values");
    page.browser.click("figure .u-over");
    let values = page.browser.eval("document.querySelector('.u-legend').innerText");
    let values = values.as_str().unwrap();
    assert!(
        values.contains("1 KiB") && values.contains("160 ns") && values.contains("1.44 µs"),
        "{values}"
    );
}

#[test]
#[ignore = "needs Chromium"]
fn follows_the_colours_of_the_desktop() {
    let mut page = Page::unfolded("dark");
    let light = page.picture(0);
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.browser.call("Emulation.setEmulatedMedia", dark);
    assert_eq!(
        page.browser.eval("getComputedStyle(document.body).backgroundColor"),
        "rgb(22, 24, 28)"
    );
    assert_ne!(page.picture(0), light, "the chart is drawn again");
    page.keep_image("dark");
    assert_eq!(page.browser.complaints, [""; 0]);
}

#[test]
#[ignore = "needs Chromium"]
fn fits_a_phone() {
    let mut page = Page::unfolded("phone");
    let phone = json!({"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true});
    page.browser.call("Emulation.setDeviceMetricsOverride", phone);
    page.browser.settle();
    page.keep_image("phone");
    assert_eq!(page.browser.eval("document.documentElement.scrollWidth"), 360);
    let widest = page.browser.eval(
        "Math.max(...[...document.querySelectorAll('canvas')].map(canvas => canvas.clientWidth))",
    );
    assert!((300..=360).contains(&widest.as_u64().unwrap()), "{widest}");
}

#[test]
#[ignore = "needs Chromium"]
fn prints_in_light_colours_however_the_screen_is() {
    let mut page = Page::open("print");
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    page.browser.call("Emulation.setEmulatedMedia", dark);
    page.browser.eval(
        "addEventListener('beforeprint', () => queueMicrotask(() => {
           const canvas = document.querySelector('canvas');
           globalThis.printed = {text: getComputedStyle(document.body).color, width: canvas.clientWidth};
         }))",
    );
    let pdf = page.browser.pdf();
    if let Some(folder) = std::env::var_os("PAGE_IMAGES") {
        std::fs::write(PathBuf::from(folder).join("print.pdf"), &pdf).unwrap();
    }
    assert!(pdf.starts_with(b"%PDF"));
    assert_eq!(
        page.browser.eval("globalThis.printed"),
        json!({"text": "rgb(17, 17, 17)", "width": 640})
    );
    page.browser.settle();
    let width = page.browser.eval("document.querySelector('canvas').clientWidth");
    assert_ne!(width, 640, "the screen has its own width again");
}

#[test]
#[ignore = "needs Chromium"]
fn words_of_a_record_are_shown_and_never_run() {
    let mut page = Page::unfolded("hostile");
    assert_eq!(page.browser.eval("document.images.length"), 0);
    assert_eq!(page.browser.eval("document.scripts.length"), 3);
    let title = page.browser.eval("document.title");
    assert!(title.as_str().unwrap().contains(HOSTILE), "{title}");
    let legend = page.browser.eval(
        "[...document.querySelectorAll('.u-label')].some(label => label.textContent === document.querySelector('tbody tr:nth-child(4) th').textContent)",
    );
    assert_eq!(legend, true, "the name is the same in charts and tables");
}

#[test]
#[ignore = "needs Chromium"]
fn forbids_itself_the_network_and_scripts_that_are_not_its_own() {
    let mut page = Page::open("policy");
    let refused = |page: &mut Page, action: &str| {
        page.browser.eval(&format!(
            "new Promise(done => {{
               addEventListener('securitypolicyviolation', event => done(event.effectiveDirective), {{once: true}});
               {action};
             }})"
        ))
    };
    assert_eq!(
        refused(&mut page, "fetch('https://headwater.invalid/').catch(() => 0)"),
        "connect-src"
    );
    assert_eq!(refused(&mut page, "new Image().src = 'https://headwater.invalid/'"), "img-src");
    let inject = "const script = document.createElement('script'); script.text = 'document.title = 1'; document.body.append(script)";
    assert_eq!(refused(&mut page, inject), "script-src-elem");
    assert_ne!(page.browser.eval("document.title"), "1");
}
