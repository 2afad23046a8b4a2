//! What came of the gauntlet, as it stands in docs/gauntlet.md.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::Results;
use crate::judge::{Cites, Judge};
use crate::play::Played;
use ccc::gauntlet::session::GauntletSession;

const UPDATE: &str = "UPDATE_GAUNTLET";

/// The figures, and session by session what a lazy judge gets past.
pub fn tables(sessions: &[GauntletSession], results: &Results) -> (String, String) {
    let of = |right: bool, judge: Judge, level: &str| -> Vec<&Played> {
        let fits = |(at, one, strict): &(usize, Judge, &str)| {
            *one == judge && strict.contains(level) && sessions[*at].is_right() == right
        };
        results.iter().filter(|(key, _)| fits(key)).map(|(_, played)| played).collect()
    };
    let confirmed = |judge: Judge, level: &str| {
        of(false, judge, level).iter().filter(|one| one.is_confirmed()).count()
    };
    let is_wrong = |session: &&GauntletSession| !session.is_right();
    let wrong = sessions.iter().filter(is_wrong).count();
    let red = sessions.iter().filter(|one| one.is_red()).count();
    let asked = of(false, Judge::Gullible, "asked");
    let bare = asked.iter().filter(|one| one.is_without_proof()).count();
    let proven = confirmed(Judge::Gullible, "asked") - bare;

    let mut text = format!("| judge | confirmed, of {wrong} that are not done |\n|---|---|\n");
    let mut row = |judge: &str, figure: String| {
        let _ = writeln!(text, "| {judge} | {figure} |");
    };
    let figure = |judge: Judge, level: &str| match of(false, judge, level).len() {
        all if all == wrong => confirmed(judge, level).to_string(),
        all => format!("{} of {all}", confirmed(judge, level)),
    };
    row("gullible: a bare yes, `proof: required`, a sample", figure(Judge::Gullible, "required"));
    let gullible =
        format!("{proven}; {bare} of {} shown as \"confirmed without proof\"", asked.len());
    row("gullible, `proof: asked`, a sample", gullible);
    for (judge, what) in [
        (Judge::Forger, "forger: invented evidence of six kinds"),
        (Judge::Quoter, "quoter: repeats what was planted, ends with no"),
    ] {
        row(&format!("{what}, `proof: required`"), figure(judge, "required"));
        row(&format!("{what}, `proof: asked`, a sample"), figure(judge, "asked"));
        row(&format!("{what}, `proof: off`, a sample"), figure(judge, "off"));
    }
    let lazy = of(false, Judge::Lazy, "");
    for (cites, what) in Cites::ALL.into_iter().zip([
        "the last command",
        "the beginning of a file",
        "the agent's words",
    ]) {
        let believed = lazy.iter().filter(|one| one.is_believed(cites)).count();
        let figure = format!("{believed}; 0 of the {red} with a red check");
        row(&format!("lazy: quotes {what}, `proof: required`"), figure);
    }

    let honest = of(true, Judge::Honest, "");
    let at_once = honest.iter().filter(|one| one.is_confirmed() && one.review.asked == 1).count();
    let rounds = of(true, Judge::Critic, "").iter().map(|one| one.session.rounds).max();
    let _ = write!(
        text,
        "\n| judge | of {} that are done |\n|---|---|\n\
         | honest | {at_once} of {} confirmed without an extra round (each with `proof: required`, a sample at the other levels too) |\n\
         | critic: never content | stopped after {} rounds, nothing changing |\n",
        sessions.len() - wrong,
        honest.len(),
        rounds.unwrap_or_default(),
    );
    (text, details(sessions, results))
}

fn details(sessions: &[GauntletSession], results: &Results) -> String {
    let mut text = "| session | what is wrong | a lazy judge that quotes … is believed | what the brief tells the judge |\n|---|---|---|---|\n".to_owned();
    for (at, session) in sessions.iter().enumerate() {
        let Some(wrong) = &session.wrong else { continue };
        let believed: Vec<_> =
            [(Cites::Command, "a command"), (Cites::File, "a file"), (Cites::Answer, "words")]
                .into_iter()
                .filter(|(cites, _)| {
                    let played = results.get(&(at, Judge::Lazy, "required"));
                    played.is_some_and(|played| played.is_believed(*cites))
                })
                .map(|(_, name)| name)
                .collect();
        let believed = if believed.is_empty() { "none".to_owned() } else { believed.join(", ") };
        let brief = match session.brief.join("; ").as_str() {
            "" if !session.checks.is_empty() => "(no judge is asked: the check is red)".to_owned(),
            "" => "–".to_owned(),
            told => told.replace('|', "\\|"),
        };
        let (name, wrong) = (session.name.replace('|', "\\|"), wrong.replace('|', "\\|"));
        let _ = writeln!(text, "| {name} | {wrong} | {believed} | {brief} |");
    }
    text
}

/// To the terminal, whatever the test harness captures.
pub fn print(table: &str) {
    let _ = writeln!(std::io::stderr(), "\n{table}");
}

/// The tables in the document are these.
pub fn kept(summary: &str, details: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gauntlet.md");
    let mut text = fs::read_to_string(&path).expect("docs/gauntlet.md");
    let before = text.clone();
    for (name, table) in [("figures", summary), ("sessions", details)] {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let from = text.find(&begin).expect("the beginning of a table") + begin.len();
        let to = text.find(&end).expect("the end of a table");
        text.replace_range(from..to, &format!("\n{table}\n"));
    }
    if std::env::var_os(UPDATE).is_some() {
        fs::write(path, text).expect("docs/gauntlet.md");
    } else {
        assert_eq!(
            before, text,
            "docs/gauntlet.md is not up to date: {UPDATE}=1 cargo test --test gauntlet"
        );
    }
}
