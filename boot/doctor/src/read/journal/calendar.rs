//! Dates: months in the languages of many locales, and days of the calendar.

/// Returns the number of a month by its English abbreviation.
pub(super) fn english(name: &[u8]) -> Option<u8> {
    let months = b"JanFebMarAprMayJunJulAugSepOctNovDec".chunks_exact(3);
    (1..).zip(months).find(|(_, month)| *month == name).map(|(number, _)| number)
}

/// Removes the article that Catalan has before a month: `de nov.`, `d’oct.`.
pub(super) fn without_article(text: &str) -> &str {
    let articles = ["de ", "d’", "d'"];
    articles.iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text)
}

/// Reads a date such as `2026-11-22`, and returns what [`both`] returns.
pub(super) fn iso_date(text: &str) -> Option<(f64, f64)> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let whole = parts.next().is_none() && year.len() == 4;
    whole.then_some(())?;
    both(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
}

/// Returns the days of a date, and those since 1 January of a leap year.
pub(super) fn both(year: u32, month: u8, day: u8) -> Option<(f64, f64)> {
    /// Days of a leap year before each month.
    const BEFORE: [u16; 12] = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335];
    let days = date(year, month, day)?;
    let before = BEFORE.get(usize::from(month).checked_sub(1)?)?;
    Some((days, f64::from(*before) + f64::from(day) - 1.0))
}

/// Reads a month's name as strftime(3) abbreviates it in English, German, Dutch, Swedish, French,
/// Spanish, Catalan, Italian, Portuguese, Finnish, Polish, Czech, Russian, Chinese and Japanese.
/// Each row lists beginnings, because locales abbreviate one month differently.
pub(super) fn month(name: &str) -> Option<u8> {
    const MONTHS: [&[&str]; 12] = [
        &["jan", "ene", "gen", "tam", "sty", "led", "янв"],
        &["feb", "fév", "fev", "hel", "lut", "úno", "фев"],
        &["mar", "mär", "mrt", "maa", "bře", "мар"],
        &["apr", "avr", "abr", "huh", "kwi", "dub", "апр"],
        &["may", "mai", "mei", "maj", "mag", "tou", "kvě", "май", "мая"],
        &["jun", "juin", "giu", "kes", "cze", "čen", "чер", "июн"],
        &["jul", "juil", "lug", "hei", "lip", "čec", "июл"],
        &["aug", "aoû", "ago", "ag.", "elo", "sie", "srp", "авг"],
        &["sep", "set", "syy", "wrz", "zář", "сен"],
        &["oct", "okt", "out", "ott", "lok", "paź", "říj", "окт"],
        &["nov", "mar.r", "marra", "lis", "ноя"],
        &["dec", "dez", "déc", "des", "dic", "jou", "gru", "pro", "дек"],
    ];
    if let Some(number) = name.strip_suffix('月') {
        return number.parse().ok().filter(|month| (1..=12).contains(month));
    }
    let name = name.to_lowercase();
    // The longest beginning decides: Finnish "marras" is November, and German "März" is not.
    let rows = (1..).zip(MONTHS);
    let all =
        rows.flat_map(|(number, row)| row.iter().map(move |start| (start.len(), number, start)));
    all.filter(|(.., start)| name.starts_with(**start)).max().map(|(_, number, _)| number)
}

/// Returns the days since 1 March of the year 0 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms": days_from_civil).
fn date(year: u32, month: u8, day: u8) -> Option<f64> {
    ((1..=12).contains(&month) && (1..=31).contains(&day) && (1..10_000).contains(&year))
        .then_some(())?;
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let in_year = (153 * u32::from(month) + 2) / 5 + u32::from(day) - 1;
    Some(f64::from(year * 365 + year / 4 - year / 100 + year / 400 + in_year))
}
