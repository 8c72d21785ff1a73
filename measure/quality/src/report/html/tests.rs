use crate::args::Args;
use crate::effort::Effort;

fn page(bytes: &[u8]) -> String {
    let args = Args { source: "-".to_owned(), fast: true, ..Args::default() };
    let report = crate::run(&args, bytes).unwrap();
    assert_eq!(report.effort, Effort::Fast);
    report.html().unwrap()
}

#[test]
fn a_page_has_no_script_and_its_colours_are_its_own() {
    let mut rng = fastrand::Rng::with_seed(1);
    let page = page(&(0..1 << 16).map(|_| rng.u8(..)).collect::<Vec<u8>>());
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
    assert!(page.contains("default-src 'none'") && page.contains("clean: no figure is suspicious"));
    assert_eq!(page.matches("<svg").count(), 2);
}

#[test]
fn failures_are_reported_in_plain_words() {
    let page = page(&[0; 1 << 16]);
    assert!(page.contains("cannot be chance") && page.contains("Eight bytes repeat"));
    assert!(page.contains("class=\"p4\""), "planes that failed are dark");
}
