//! The front matter of SUPERVISOR.md: the settings for ccc itself, above the text for the judge.
//!
//! ```yaml
//! ---
//! proof: required
//! checks:
//!   - cargo test
//!   - { name: lint, run: cargo clippy -- -D warnings, timeout: 5m, when: "*.rs" }
//! ---
//! ```

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checks::{self, Check};

/// The proof that a confirmation needs before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A yes without proof is not a verdict.
    Required,
    /// The judge is asked once for proof. A second yes without proof counts, but is shown as such.
    #[default]
    Asked,
    Off,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrontMatter {
    pub checks: Vec<Check>,
    pub proof: Option<Proof>,
}

/// A mistake, with its line in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub why: String,
}

impl Mistake {
    fn at(node: &MarkedYaml, why: impl Into<String>) -> Self {
        // The parser was given the text below the opening line, which is line 1.
        Self { line: node.span.start.line() + 1, why: why.into() }
    }
}

/// Splits a file into the front matter and the text for the judge. Markdown that merely begins with
/// a horizontal rule has no front matter, and stays as it is.
pub fn split(text: &str) -> Result<(FrontMatter, &str), Mistake> {
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begins = whole.trim_start();
    let above = whole[..whole.len() - begins.len()].matches('\n').count();
    let inside = begins
        .split_once('\n')
        .and_then(|(first, inside)| (first.trim_end() == "---").then_some(inside))
        .filter(|inside| begins_with_a_key(inside));
    let Some(inside) = inside else { return Ok((FrontMatter::default(), text)) };
    let mut end = 0;
    for line in inside.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let front = read(&inside[..end])
                .map_err(|Mistake { line, why }| Mistake { line: line + above, why })?;
            return Ok((front, &inside[end + line.len()..]));
        }
        end += line.len();
    }
    let why = "the front matter begins here, but no `---` line ends it".to_owned();
    Err(Mistake { line: 1 + above, why })
}

/// Whether the first line that is neither blank nor a comment begins with `word:`.
fn begins_with_a_key(text: &str) -> bool {
    let is_nothing = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let first = text.lines().find(|line| !is_nothing(line)).unwrap_or_default();
    let key = first.split_once(':').map(|(key, _)| key.trim_matches(['"', '\'', ' ']));
    key.is_some_and(|key| {
        !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    })
}

fn read(yaml: &str) -> Result<FrontMatter, Mistake> {
    let documents = MarkedYaml::load_from_str(yaml).map_err(|error| Mistake {
        line: error.marker().line() + 1,
        why: format!("the front matter is not valid YAML here: {}", error.info()),
    })?;
    let mut front = FrontMatter::default();
    let Some(root) = documents.first() else { return Ok(front) };
    let YamlData::Mapping(fields) = &root.data else {
        return Err(Mistake::at(
            root,
            "the front matter must be a map with the keys `checks` and \
            `proof`",
        ));
    };
    for (key, node) in fields {
        match json(key).as_str() {
            Some("proof") => front.proof = proof(node)?,
            Some("checks") => front.checks = checks_of(node)?,
            _ => {
                let why = format!(
                    "the front matter has an unknown key, {}; it can have `checks` and \
                        `proof`",
                    json(key)
                );
                return Err(Mistake::at(key, why));
            }
        }
    }
    Ok(front)
}

fn proof(node: &MarkedYaml) -> Result<Option<Proof>, Mistake> {
    let value = json(node);
    serde_json::from_value(value.clone()).map_err(|_| {
        Mistake::at(node, format!("`proof` must be `required`, `asked` or `off`, not {value}"))
    })
}

fn checks_of(node: &MarkedYaml) -> Result<Vec<Check>, Mistake> {
    let items = match &node.data {
        YamlData::Sequence(items) => items,
        YamlData::Value(Scalar::Null) => return Ok(Vec::new()),
        _ => return Err(Mistake::at(node, "`checks` must be a list of commands")),
    };
    let mut found = Vec::new();
    for item in items {
        let check = Check::try_from(json(item)).map_err(|why| Mistake::at(item, why))?;
        found.push(check);
        if let Some(name) = checks::shared_name(&found) {
            let why = format!(
                "an earlier check is already named {name:?}; give this one another \
                `name`"
            );
            return Err(Mistake::at(item, why));
        }
    }
    Ok(found)
}

/// The node as JSON, so that one reader of checks serves both SUPERVISOR.md and ccc.json.
pub fn json(node: &MarkedYaml) -> Value {
    match &node.data {
        YamlData::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(yes) => (*yes).into(),
            Scalar::Integer(number) => (*number).into(),
            Scalar::FloatingPoint(number) => number.into_inner().into(),
            Scalar::String(text) => text.as_ref().into(),
        },
        YamlData::Sequence(items) => items.iter().map(json).collect(),
        YamlData::Mapping(fields) => fields
            .iter()
            .map(|(key, value)| match json(key) {
                Value::String(key) => (key, json(value)),
                other => (other.to_string(), json(value)),
            })
            .collect(),
        YamlData::Tagged(_, inner) => json(inner),
        YamlData::Representation(text, ..) => text.as_ref().into(),
        YamlData::Alias(_) | YamlData::BadValue => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn checks_and_proof_stand_above_the_text() {
        let text = "---\n# what ccc runs\nproof: required\nchecks:\n  - cargo test\n  \
                    - name: lint\n    run: |\n      cargo clippy\n      cargo fmt --check\n    timeout: 90\n    when: [\"*.rs\"]\n    \
                    case: true\n---\n# Supervisor\n\n---\nBe strict.\n";
        let (front, rest) = split(text).unwrap();
        assert_eq!(rest, "# Supervisor\n\n---\nBe strict.\n");
        assert_eq!(front.proof, Some(Proof::Required));
        let lint = Check {
            name: "lint".into(),
            run: "cargo clippy\ncargo fmt --check".into(),
            timeout: Duration::from_secs(90),
            when: vec!["*.rs".into()],
            case: true,
        };
        assert_eq!(front.checks, [Check::command("cargo test"), lint]);
    }

    #[test]
    fn every_word_of_proof_is_understood() {
        for (text, proof) in [
            ("---\nproof: off\n---\n", Some(Proof::Off)),
            ("---\nproof: asked\n---\n", Some(Proof::Asked)),
            ("---\r\nproof: required\r\n---\r\n", Some(Proof::Required)),
            ("--- \nproof: required\n--- \n", Some(Proof::Required)),
            ("\u{feff}---\nproof: required\n...\n", Some(Proof::Required)),
            ("\n \r\n---\nproof: required\n---\n", Some(Proof::Required)),
            ("---\nproof:\nchecks:\n---\n", None),
        ] {
            assert_eq!(split(text).unwrap().0.proof, proof, "{text}");
        }
    }

    #[test]
    fn a_text_without_front_matter_stays_as_it_is() {
        for text in [
            "# Supervisor\n\nBe strict.\n",
            "---\n\nBe strict: always.\n\n---\n",
            "---\n# Supervisor\n---\nBe strict.\n",
            "---\n",
            "Before\n---\nproof: required\n---\n",
            "",
        ] {
            assert_eq!(split(text).unwrap(), (FrontMatter::default(), text), "{text}");
        }
    }

    #[test]
    fn a_mistake_is_named_with_its_line_in_the_file() {
        for (text, line, why) in [
            ("---\nproof: required\n# Supervisor\n", 1, "no `---` line ends it"),
            ("\n---\nproof: required\n# Supervisor\n", 2, "no `---` line ends it"),
            (
                "---\nproof: maybe\n---\n",
                2,
                "`proof` must be `required`, `asked` or `off`, not \"maybe\"",
            ),
            ("---\nproof: off\n\ncheks: []\n---\n", 4, "unknown key, \"cheks\""),
            ("---\nchecks: cargo test\n---\n", 2, "`checks` must be a list"),
            ("---\nchecks:\n  - cargo test\n  - timeout: 3\n---\n", 4, "`run` is missing"),
            ("---\nchecks:\n  - a\n  - a\n---\n", 4, "is already named \"a\""),
            ("---\nproof: off\nchecks: [a\n---\n", 4, "flow sequence"),
            ("---\nproof: off\nproof: required\n---\n", 3, ""),
            ("---\nproof: off\n\t- x\n---\n", 2, "found a tab"),
        ] {
            let mistake = split(text).unwrap_err();
            assert!(mistake.line == line && mistake.why.contains(why), "{text}\n{mistake:?}");
            assert!(!mistake.why.is_empty());
        }
    }
}
