//! Whether a piece of evidence exists. What is needed from the world comes through [`Facts`].

use crate::review::commands::Commands;
use crate::review::requirement::Evidence;

/// A quote may stand a few lines from where the judge says: files are cited from memory.
const NEAR: usize = 30;

/// A quote of fewer characters is found nearly everywhere.
const SHORTEST_QUOTE: usize = 3;

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
    /// What the user said.
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
        Evidence::Command { command, quote } => ran(command, quote, &facts.commands()),
        Evidence::File { path, line, quote } => {
            stands(path, *line, &long_enough(quote)?, &facts.file(path)?)
        }
        Evidence::Answer(quote) => {
            let found = squeezed(facts.answer()).contains(&long_enough(quote)?);
            found.then_some(()).ok_or("the agent's last message does not say that".to_owned())
        }
        Evidence::User(quote) => {
            let quote = long_enough(quote)?;
            let found = facts.said().into_iter().any(|said| squeezed(said).contains(&quote));
            found.then_some(()).ok_or("the user did not say that".to_owned())
        }
    }
}

fn ran(command: &str, quote: &str, commands: &[&Commands]) -> Result<(), String> {
    let (wanted, quote) = (squeezed(command), squeezed(quote));
    if wanted.is_empty() {
        return Err("it names no command".to_owned());
    }
    let mut ran = commands.iter().flat_map(|commands| commands.iter());
    let ran: Vec<_> = ran.by_ref().filter(|ran| squeezed(&ran.command).contains(&wanted)).collect();
    if ran.is_empty() {
        return Err(format!("no command `{command}` was run"));
    }
    let shows = |output: &str| {
        let output = squeezed(output);
        // A command that prints nothing has nothing to quote.
        if quote.is_empty() { output.is_empty() } else { output.contains(&quote) }
    };
    if ran.iter().any(|ran| shows(&ran.output)) {
        return Ok(());
    }
    Err(match quote.as_str() {
        "" => format!("nothing of the output of `{command}` is quoted"),
        _ => format!("`{command}` was run, and its output does not have this quote"),
    })
}

fn stands(path: &str, line: Option<u32>, quote: &str, text: &str) -> Result<(), String> {
    if !squeezed(text).contains(quote) {
        return Err(format!("{path} does not have this quote"));
    }
    let Some(line) = line else { return Ok(()) };
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let height = quote.len().min(NEAR);
    let around: Vec<_> =
        text.lines().skip(line.saturating_sub(NEAR + 1)).take(2 * NEAR + height).collect();
    if squeezed(&around.join("\n")).contains(quote) {
        return Ok(());
    }
    Err(format!("{path} has this quote, and not near line {line}"))
}

fn long_enough(quote: &str) -> Result<String, String> {
    let quote = squeezed(quote);
    if quote.chars().filter(|c| !c.is_whitespace()).count() < SHORTEST_QUOTE {
        return Err("its quote is missing, or too short to show anything".to_owned());
    }
    Ok(quote)
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
            vec!["Do it.", "Never mind the docs."]
        }
    }

    fn check(json: &str) -> String {
        let run = |id: &str, command: &str, output: &str| {
            let mut commands = Commands::default();
            commands.started(id, "Bash", &format!(r#"{{"command":{command:?}}}"#));
            commands.ended(id, output);
            commands
        };
        let facts = Known {
            agent: run("a", "cd x && pytest -q", "...\n3 passed in 0.02s"),
            judge: run("j", "test -f slug.py", ""),
        };
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
            r#"{"user":"never"}"#.replace("never", "Never mind").as_str(),
        ] {
            assert_eq!(check(json), "", "{json}");
        }
    }

    #[test]
    fn evidence_that_does_not_exist_says_why() {
        for (json, why) in [
            (r#"{"check":"lint"}"#, "not green"),
            (r#"{"check":"fuzz"}"#, "no check \"fuzz\""),
            (r#"{"command":"cargo test","quote":"ok"}"#, "no command `cargo test` was run"),
            (r#"{"command":"pytest -q","quote":"4 passed"}"#, "does not have this quote"),
            (r#"{"command":"pytest -q","quote":""}"#, "nothing of the output"),
            (r#"{"command":" ","quote":"3 passed"}"#, "names no command"),
            (r#"{"file":"gone.py:1","quote":"def"}"#, "there is no gone.py"),
            (r#"{"file":"slug.py:100","quote":"def test_umlauts"}"#, "does not have this quote"),
            (r#"{"file":"slug.py:5","quote":"def test_accents"}"#, "not near line 5"),
            (r#"{"file":"slug.py:100","quote":" ) "}"#, "too short"),
            (r#"{"answer":"it is fast now"}"#, "does not say that"),
            (r#"{"user":"no tests please"}"#, "did not say that"),
        ] {
            assert!(check(json).contains(why), "{json}: {}", check(json));
        }
    }
}
