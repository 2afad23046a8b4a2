//! Whether a piece of evidence exists, and is of a kind that can show anything. What is needed from the
//! world comes through [`Facts`].
//!
//! | kind | does not hold |
//! |---|---|
//! | all | a quote that is nearly everywhere: too few characters, and no whole line |
//! | `check` | not run, not green |
//! | `command` | not run, not with that output; only prints what it is given; a test that failed, ran nothing, or ran before the last edit, unless the failure is what is quoted |
//! | `file` | not in the project, no text, ccc's or git's own records, another line |
//! | `answer` | a claim about the work; or the user asked for work, and for nothing in words |
//! | `user` | not said, or not said after the task began |

mod command;
mod words;

use crate::review::commands::Commands;
use crate::review::requirement::Evidence;

/// A quote may stand a few lines from where the judge says: files are cited from memory.
const NEAR: usize = 30;

/// A quote of fewer letters and digits is found nearly everywhere, unless it is a whole line: "return"
/// and "import" stand in every file.
const SHORTEST_QUOTE: usize = 7;
/// The same for what a command prints, which is shorter.
const SHORTEST_OUTPUT: usize = 4;
/// A quote without a line number that stands in more places is nowhere in particular.
const MOST_PLACES: usize = 3;

/// What evidence is held against.
pub trait Facts {
    /// What the agent and the judge ran.
    fn commands(&self) -> Vec<&Commands>;
    /// The text of a file of the project, or why it cannot be read.
    fn file(&self, path: &str) -> Result<String, String>;
    /// Whether a check is green for the files as they are; `None` if there is no such check.
    fn check(&self, name: &str) -> Option<bool>;
    /// The agent's last message.
    fn answer(&self) -> &str;
    /// What the user said in this task.
    fn said(&self) -> Vec<&str>;
}

/// For each piece of evidence why it does not hold, or nothing.
pub fn verify(evidence: &[Evidence], facts: &dyn Facts) -> Vec<Option<String>> {
    evidence.iter().map(|one| holds(one, facts).err()).collect()
}

fn holds(evidence: &Evidence, facts: &dyn Facts) -> Result<(), String> {
    match evidence {
        Evidence::Check(name) => match facts.check(name) {
            Some(true) => Ok(()),
            Some(false) => {
                Err(format!("the check {name:?} is not green for the files as they are"))
            }
            None => Err(format!("there is no check {name:?} that ccc ran")),
        },
        Evidence::Command { command, quote } => {
            command::ran(command, quote, &facts.commands(), &facts.said())
        }
        Evidence::File { path, line, quote } => stands(path, *line, quote, &facts.file(path)?),
        Evidence::Answer(quote) => {
            found_in(quote, &[facts.answer()], "the agent's last message does not say that")?;
            words::are_asked_for(quote, &facts.said())
        }
        Evidence::User(quote) => {
            found_in(quote, &facts.said(), "the user did not say that")?;
            let later = facts.said().into_iter().skip(1).collect::<Vec<_>>();
            found_in(quote, &later, "the user said that when they asked for it, and not later")
        }
    }
}

fn found_in(quote: &str, texts: &[&str], otherwise: &str) -> Result<(), String> {
    let holds = |text: &&str| squeezed(text).contains(&squeezed(quote)) && !quote.trim().is_empty();
    let Some(text) = texts.iter().find(|text| holds(text)) else {
        return Err(if weight(quote) == 0 { TOO_SHORT } else { otherwise }.to_owned());
    };
    is_long_enough(quote, text, SHORTEST_QUOTE)
}

fn stands(path: &str, line: Option<u32>, quote: &str, text: &str) -> Result<(), String> {
    is_long_enough(quote, text, SHORTEST_QUOTE)?;
    let (quote, whole) = (squeezed(quote), squeezed(text));
    if !whole.contains(&quote) {
        return Err(format!("{path} does not have this quote"));
    }
    let Some(line) = line else {
        let places = whole.matches(&quote).count();
        return if places > MOST_PLACES {
            Err(format!("{path} has this quote in {places} places: name the line"))
        } else {
            Ok(())
        };
    };
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let height = quote.len().min(NEAR);
    let around: Vec<_> =
        text.lines().skip(line.saturating_sub(NEAR + 1)).take(2 * NEAR + height).collect();
    if squeezed(&around.join("\n")).contains(&quote) {
        return Ok(());
    }
    Err(format!("{path} has this quote, and not near line {line}"))
}

const TOO_SHORT: &str = "its quote is missing, or too short to show anything";

/// Letters and digits; of a script that writes in fewer characters, each counts for more.
fn weight(text: &str) -> usize {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| if c.is_ascii() { 1 } else { 3 }).sum()
}

/// Long enough to be found in one place, or a line of the text.
fn is_long_enough(quote: &str, text: &str, shortest: usize) -> Result<(), String> {
    let weight = weight(quote);
    let is_line = || text.lines().any(|line| squeezed(line) == squeezed(quote));
    let is_all = || squeezed(text) == squeezed(quote);
    if weight >= shortest || weight > 0 && (is_line() || is_all()) {
        return Ok(());
    }
    Err(TOO_SHORT.to_owned())
}

/// With every run of white space as one space: quotes are wrapped and indented anew.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known {
        agent: Commands,
        judge: Commands,
    }

    impl Facts for Known {
        fn commands(&self) -> Vec<&Commands> {
            vec![&self.agent, &self.judge]
        }

        fn file(&self, path: &str) -> Result<String, String> {
            let line = |at: usize| if at == 99 { "def test_accents():" } else { "    pass" };
            match path {
                "slug.py" => Ok((0..200).map(line).collect::<Vec<_>>().join("\n")),
                path => Err(format!("there is no {path}")),
            }
        }

        fn check(&self, name: &str) -> Option<bool> {
            [("cargo test", true), ("lint", false)]
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, green)| *green)
        }

        fn answer(&self) -> &'static str {
            "It is slow because\nthe index is missing."
        }

        fn said(&self) -> Vec<&str> {
            vec!["Why is it slow? Make it fast.", "Never mind the docs."]
        }
    }

    /// `edit FILE`, or a command and what it prints; one that fails begins with `!`.
    fn ran(lines: &[(&str, &str)]) -> Commands {
        let mut commands = Commands::default();
        for (at, (command, output)) in lines.iter().enumerate() {
            let id = at.to_string();
            let failed = command.starts_with('!');
            match command.strip_prefix("edit ") {
                Some(path) => {
                    commands.started(&id, "Edit", &format!(r#"{{"file_path":{path:?}}}"#));
                }
                None => {
                    let input = serde_json::json!({"command": command.trim_start_matches('!')});
                    commands.started(&id, "Bash", &input.to_string());
                }
            }
            commands.ended(&id, output, failed);
        }
        commands
    }

    fn check(json: &str) -> String {
        check_after(&[("cd x && pytest -q", "...\n3 passed in 0.02s")], json)
    }

    fn check_after(lines: &[(&str, &str)], json: &str) -> String {
        let facts = Known { agent: ran(lines), judge: ran(&[("test -f slug.py", "")]) };
        let evidence: Evidence = serde_json::from_str(json).unwrap();
        verify(&[evidence], &facts)[0].clone().unwrap_or_default()
    }

    #[test]
    fn evidence_that_exists_holds() {
        for json in [
            r#"{"check":"cargo test"}"#,
            r#"{"command":"pytest  -q","quote":"3 passed"}"#,
            r#"{"command":"test -f slug.py","quote":""}"#,
            r#"{"file":"slug.py:100","quote":"def test_accents():"}"#,
            r#"{"file":"slug.py:92","quote":"pass\ndef test_accents():\n pass"}"#,
            r#"{"file":"slug.py","quote":"def test_accents"}"#,
            r#"{"answer":"because the index is missing"}"#,
            r#"{"user":"Never mind"}"#,
            r#"{"file":"slug.py:7","quote":"    pass"}"#,
        ] {
            assert_eq!(check(json), "", "{json}");
        }
    }

    #[test]
    fn evidence_that_does_not_exist_says_why() {
        for (json, why) in [
            (r#"{"check":"lint"}"#, "not green"),
            (r#"{"check":"fuzz"}"#, "no check \"fuzz\""),
            (
                r#"{"command":"cargo test","quote":"test result: ok"}"#,
                "no command `cargo test` was run",
            ),
            (r#"{"command":"pytest -q","quote":"4 passed"}"#, "does not have this quote"),
            (r#"{"command":"pytest -q","quote":""}"#, "nothing of its output"),
            (r#"{"command":" ","quote":"3 passed"}"#, "names no command"),
            (r#"{"file":"gone.py:1","quote":"def gone"}"#, "there is no gone.py"),
            (r#"{"file":"slug.py:100","quote":"def test_umlauts"}"#, "does not have this quote"),
            (r#"{"file":"slug.py:5","quote":"def test_accents"}"#, "not near line 5"),
            (r#"{"file":"slug.py:100","quote":" ) "}"#, "too short"),
            (r#"{"answer":"it is fast now"}"#, "does not say that"),
            (r#"{"user":"no tests please"}"#, "did not say that"),
            (r#"{"user":"Make it fast"}"#, "and not later"),
            (r#"{"user":"mind"}"#, "too short"),
            (r#"{"file":"slug.py","quote":"    pass"}"#, "in 199 places"),
            (r#"{"file":"slug.py:100","quote":"def"}"#, "too short"),
            (r#"{"file":"slug.py:100","quote":""}"#, "too short"),
            (r#"{"answer":"the"}"#, "too short"),
            (r#"{"answer":""}"#, "too short"),
            (r#"{"command":"pytest -q","quote":"."}"#, "too short"),
            (r#"{"command":"pytest -q","quote":"in"}"#, "too short"),
        ] {
            assert!(check(json).contains(why), "{json}: {}", check(json));
        }
    }

    /// What ran, the evidence, and why it does not hold; empty: it holds.
    #[test]
    fn a_command_shows_something_only_if_it_was_run_and_did_something() {
        let passed = "Ran 3 tests in 0.1s\n\nOK";
        let pytest = r#"{"command":"pytest","quote":"3 passed"}"#;
        let unittest = r#"{"command":"python3 -m unittest","quote":"Ran 3 tests"}"#;
        for (lines, json, why) in [
            (&[("python3 -m unittest", passed)][..], unittest, ""),
            (&[("cd a && python3 -m unittest -v 2>&1 | tail -5", passed)], unittest, ""),
            (&[("uv run pytest -q", "3 passed in 1s")], pytest, ""),
            (&[("timeout 9 pytest -q", "3 passed in 1s")], pytest, ""),
            (
                &[("pytest", "1 failed, 3 passed"), ("edit a.py", ""), ("pytest", "3 passed")],
                pytest,
                "",
            ),
            (&[("pytest", "3 passed"), ("edit README.md", "")], pytest, ""),
            // Named, printed, written down, and never run.
            (&[("echo pytest", "pytest: 3 passed")], pytest, "no command `pytest` was run"),
            (&[("echo 'pytest: 3 passed'", "pytest: 3 passed")], pytest, "no command"),
            (&[("cat pytest.log", "3 passed")], pytest, "no command"),
            (&[("grep -r pytest .", "3 passed")], pytest, "no command"),
            (&[("git commit -m 'pytest: 3 passed'", "3 passed")], pytest, "no command"),
            (&[("cat > a.sh <<'E'\npytest\nE\necho 3 passed", "3 passed")], pytest, "no command"),
            (&[("edit pytest", "3 passed")], pytest, "no command"),
            (&[("ls -a", "3 passed")], r#"{"command":"s","quote":"3 passed"}"#, "no command"),
            // Prints what it was told to.
            (
                &[("echo '3 passed'", "3 passed")],
                r#"{"command":"echo '3 passed'","quote":"3 passed"}"#,
                "only prints",
            ),
            (
                &[("printf '3 passed'", "3 passed")],
                r#"{"command":"printf '3 passed'","quote":"3 passed"}"#,
                "only prints",
            ),
            (&[("true", "")], r#"{"command":"true","quote":""}"#, "only prints"),
            (&[("pytest; echo '3 passed'", "3 passed")], pytest, "stands in the command itself"),
            (
                &[("test -f a && echo there", "there")],
                r#"{"command":"test -f a","quote":"there"}"#,
                "",
            ),
            // Tests that show the contrary.
            (&[("!pytest", "Exit code 1\n1 failed, 3 passed")], pytest, "it failed"),
            (&[("pytest | tail -1", "1 failed, 3 passed")], pytest, "a test failed"),
            (&[("pytest || true", "1 failed, 3 passed")], pytest, "a test failed"),
            (
                &[("python3 -m unittest", "Ran 0 tests in 0s\n\nOK")],
                r#"{"command":"python3 -m unittest","quote":"Ran 0 tests"}"#,
                "ran no test",
            ),
            (&[("pytest", "3 passed"), ("edit a.py", "")], pytest, "before the last edit (a.py)"),
            (
                &[("pytest", "3 passed"), ("sed -i s/a/b/ a.py", "")],
                pytest,
                "before the last edit (a.py)",
            ),
            (
                &[
                    ("pytest", "3 passed"),
                    ("edit a.py", ""),
                    ("!pytest", "Exit code 1\n1 failed, 2 passed"),
                ],
                pytest,
                "does not have this quote",
            ),
            (
                &[("!pytest", "Exit code 1\n1 failed, 3 passed")],
                r#"{"command":"pytest","quote":"1 failed, 3 passed"}"#,
                "it failed",
            ),
            (
                &[("sed -i s/a/b/ a.py", "")],
                r#"{"command":"sed -i s/a/b/ a.py","quote":""}"#,
                "it changed something (a.py)",
            ),
            // A failure is what it shows.
            (
                &[("!pytest", "Exit code 1\n1 failed, 3 passed"), ("edit a.py", "")],
                r#"{"command":"pytest","quote":"1 failed, 3 passed"}"#,
                "",
            ),
            // Cut short, as the brief names it.
            (
                &[("pytest -q --some-option", "3 passed")],
                r#"{"command":"pytest -q --so…","quote":"3 passed"}"#,
                "",
            ),
        ] {
            let found = check_after(lines, json);
            assert!(
                found.contains(why) && found.is_empty() == why.is_empty(),
                "{lines:?} {json}: {found:?}"
            );
        }
    }

    #[test]
    fn other_tools_are_cited_by_their_name() {
        let mut agent = Commands::default();
        agent.started("1", "Read", r#"{"file_path":"/p/slug.py"}"#);
        agent.ended("1", "1\tdef slugify(title):", false);
        agent.started("2", "Write", r#"{"file_path":"/p/a.py","content":"pytest -q"}"#);
        agent.ended("2", "File created successfully at: /p/a.py", false);
        agent.started("3", "Task", r#"{"prompt":"run the tests"}"#);
        agent.ended("3", "All 3 tests pass.", false);
        let facts = Known { agent, judge: Commands::default() };
        for (json, why) in [
            (r#"{"command":"Read slug.py","quote":"def slugify(title)"}"#, ""),
            (r#"{"command":"Read","quote":"def slugify(title)"}"#, ""),
            (r#"{"command":"slug.py","quote":"def slugify(title)"}"#, "no command"),
            (r#"{"command":"pytest -q","quote":"created successfully"}"#, "no command"),
            (r#"{"command":"Write a.py","quote":"created successfully"}"#, "cite the file"),
            (r#"{"command":"Task","quote":"All 3 tests pass."}"#, "no command"),
        ] {
            let evidence: Evidence = serde_json::from_str(json).unwrap();
            let found = verify(&[evidence], &facts)[0].clone().unwrap_or_default();
            assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{json}: {found:?}");
        }
    }
}
