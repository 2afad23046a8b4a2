use super::*;
use crate::client::stream::{Init, Message, SlashCommand};

fn files() -> ProjectFiles {
    let paths = [
        "src/",
        "src/main.rs",
        "src/surface/",
        "src/surface/main_view.rs",
        "README.md",
        "my notes/",
        "my notes/to do.txt",
        "tests/",
        "tests/domain.rs",
    ];
    (Arc::new(paths.iter().map(ToString::to_string).collect()), true)
}

fn command(name: &str, description: &str) -> SlashCommand {
    SlashCommand { name: name.into(), description: description.into(), aliases: Vec::new() }
}

fn typed(before: &str) -> Completion {
    let mut completion = Completion::default();
    let commands = [
        ("compact", ""),
        ("clear", ""),
        ("__x", ""),
        ("code-review", "Review the diff.\n\nAll of it."),
    ];
    completion.commands.learn(&Message::CommandsChanged(
        (commands.map(|(name, description)| command(name, description))).to_vec(),
    ));
    completion.typed(before, files);
    completion
}

fn offered(before: &str) -> Vec<String> {
    let rows = typed(before).rows(80, ROWS, Glyphs::unicode());
    rows.iter().map(|row| row.text().trim_start_matches(['❯', ' ']).to_owned()).collect()
}

#[test]
fn commands_at_the_start_of_the_text() {
    assert_eq!(
        offered("/"),
        [
            "/supervisor     review the work each time the agent stops",
            "/supervisoroff  turn reviews off",
            "/background     send the running command to the background",
            "/clear",
            "/code-review    Review the diff. All of it.",
            "/compact",
        ]
    );
    let review = "/code-review  Review the diff. All of it.";
    assert_eq!(offered("/c")[..3], ["/clear", review, "/compact"]);
    assert_eq!(offered("/REV"), [review]);
    for none in ["", "x", "/zz", "/clear ", " /cl", "/usr/c", "see /cl"] {
        assert_eq!(offered(none), [""; 0], "{none:?}");
    }
}

#[test]
fn a_commands_description_uses_the_remaining_room() {
    let row = |columns| typed("/REV").rows(columns, ROWS, Glyphs::unicode())[0].text();
    assert_eq!(row(43), "❯ /code-review  Review the diff. All of it.");
    assert_eq!(row(42), "❯ /code-review  Review the diff. All of i…");
    assert_eq!(row(28), "❯ /code-review  Review the …");
    assert_eq!(row(27), "❯ /code-review");
    assert_eq!(row(8), "❯ /code…");
}

#[test]
fn a_description_is_kept_when_only_the_names_arrive() {
    let mut completion = typed("/");
    let commands = vec!["code-review".into(), "new".into()];
    completion.commands.learn(&Message::Init(Init { commands, ..Init::default() }));
    completion.typed("/", files);
    let rows = completion.rows(80, 100, Glyphs::unicode());
    assert_eq!(rows[3].text(), "  /code-review    Review the diff. All of it.");
    completion.typed("/n", files);
    assert_eq!(completion.rows(80, ROWS, Glyphs::unicode())[0].text(), "❯ /new");
}

#[test]
fn more_commands_are_useful_only_while_one_is_typed() {
    for (before, welcome) in [("/", true), ("/nothing-like-it", true), ("/a b", false), ("", false)]
    {
        assert_eq!(typed(before).is_at_command(), welcome, "{before:?}");
    }
    let mut completion = typed("/");
    completion.dismiss();
    assert!(!completion.is_at_command());
    completion.typed("/", files);
    assert!(!completion.is_at_command());
}

#[test]
fn no_space_is_needed_after_chinese() {
    assert!(typed("看看@sr").is_open());
    assert!(!typed("somebody@sr").is_open(), "an address");
}

#[test]
fn files_after_an_at_sign() {
    for (before, expected) in [
        ("@", &["src/", "tests/", "README.md", "my notes/", "src/main.rs", "src/surface/"][..]),
        ("see @mai", &["src/main.rs", "src/surface/main_view.rs", "tests/domain.rs"]),
        ("a\n@src/", &["src/main.rs", "src/surface/", "src/surface/main_view.rs"]),
        ("@readme", &["README.md"]),
        ("@smrs", &["src/main.rs", "tests/domain.rs", "src/surface/main_view.rs"]),
        ("@\"my notes/t", &["my notes/to do.txt"]),
        ("@my ", &[]),
        ("me@mai", &[]),
        ("@\"README.md\"", &[]),
    ] {
        assert_eq!(offered(before), expected, "{before:?}");
    }
}

#[test]
fn a_completion_is_written_as_the_client_reads_it() {
    let take = |before: &str| typed(before).take().map(|taken| (taken.from, taken.text));
    assert_eq!(take("/cle"), Some((0, "/clear ".into())));
    assert_eq!(take("see @mai"), Some((4, "@src/main.rs ".into())));
    assert_eq!(take("@sr"), Some((0, "@src/".into())));
    assert_eq!(take("@my"), Some((0, "@\"my notes/".into())));
    assert_eq!(take("@\"my notes/t"), Some((0, "@\"my notes/to do.txt\" ".into())));
    assert_eq!(take("@nowhere"), None);
    assert!(typed("@sr").take().unwrap().goes_on);
}

#[test]
fn moving_wraps_around_and_scrolls() {
    let mut completion = typed("@");
    let selected = |completion: &Completion| {
        let rows = completion.rows(80, ROWS, Glyphs::unicode());
        assert_eq!(rows.len(), ROWS);
        rows.iter().find(|row| row.text().starts_with('❯')).unwrap().text()
    };
    assert_eq!(selected(&completion), "❯ src/");
    completion.step(false);
    assert_eq!(selected(&completion), "❯ src/surface/main_view.rs");
    completion.step(true);
    completion.step(true);
    assert_eq!(selected(&completion), "❯ tests/");
    completion.typed("@", files);
    assert_eq!(selected(&completion), "❯ tests/");
    // Also with room for only a few.
    let rows = completion.rows(80, 1, Glyphs::unicode());
    assert_eq!(rows.iter().map(Styled::text).collect::<Vec<_>>(), ["❯ tests/"]);
    assert_eq!(completion.rows(80, 0, Glyphs::unicode()), []);
}

#[test]
fn a_complete_word_is_done() {
    assert!(typed("/supervisor").is_done() && typed("@src/main.rs").is_done());
    assert!(!typed("/sup").is_done() && !typed("@src").is_done() && !typed("@src/").is_done());
}

#[test]
fn a_dismissed_popup_stays_closed_until_more_is_typed() {
    for (word, longer) in [("@s", "@sr"), ("/", "/s")] {
        let mut completion = typed(word);
        completion.dismiss();
        // As when the files or the commands arrive late.
        completion.typed(word, files);
        assert!(!completion.is_open(), "{word}");
        completion.typed(longer, files);
        assert!(completion.is_open(), "{longer}");
    }
}

#[test]
fn the_popup_waits_for_the_files() {
    let mut completion = Completion::default();
    completion.typed("@s", || (Arc::default(), false));
    assert!(completion.is_waiting() && !completion.is_open());
    completion.typed("@s", files);
    assert!(!completion.is_waiting() && completion.is_open());
}

#[test]
fn names_are_stripped_of_escapes_and_cut() {
    let mut completion = Completion::default();
    completion.typed("@", || (Arc::new(vec!["a\x1b[2Jbcdefghijkl".into()]), true));
    assert_eq!(completion.rows(8, ROWS, Glyphs::unicode())[0].text(), "❯ abcde…");
    assert_eq!(completion.rows(0, ROWS, Glyphs::unicode())[0].text(), "");
    completion.commands.learn(&Message::CommandsChanged(
        ([command("a\x1b[2Jb", "red: \x1b[31mred\x07")]).to_vec(),
    ));
    completion.typed("/a", files);
    assert_eq!(completion.rows(40, ROWS, Glyphs::unicode())[0].text(), "❯ /ab          red: red");
}
