//! A check as the user declares it, in YAML or JSON: a command, or a map.

use std::time::Duration;

use serde::{Deserialize, Serializer};
use serde_json::Value;

use super::{Check, DEFAULT_TIMEOUT, globs};

/// Longer names are cut, because they appear in tables and in evidence.
const NAME_LENGTH: usize = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: Option<String>,
    run: String,
    timeout: Option<Value>,
    #[serde(default)]
    when: OneOrMore,
    #[serde(default)]
    case: bool,
}

#[derive(Deserialize, Default)]
#[serde(try_from = "Value")]
struct OneOrMore(Vec<String>);

impl TryFrom<Value> for OneOrMore {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(glob) => Ok(Self(vec![glob])),
            list => serde_json::from_value(list)
                .map(Self)
                .map_err(|_| "`when` must be a glob or a list of globs".to_owned()),
        }
    }
}

impl TryFrom<Value> for Check {
    type Error = String;

    fn try_from(mut value: Value) -> Result<Self, String> {
        let check = match &mut value {
            Value::String(run) => Check::command(run),
            // `true` and `false` are commands, and in YAML no texts.
            Value::Bool(run) => Check::command(&run.to_string()),
            Value::Object(fields) => {
                if let Some(run) = fields.get_mut("run").filter(|run| run.is_boolean()) {
                    *run = run.to_string().into();
                }
                Fields::read(value)?
            }
            other => {
                return Err(format!(
                    "a check must be a command, or a map with `run` and optionally `name`, \
                     `timeout`, `when` and `case`, not {other}"
                ));
            }
        };
        if check.run.is_empty() {
            return Err("the check's command is empty".to_owned());
        }
        if check.name.is_empty() {
            return Err("the check's name is empty".to_owned());
        }
        globs(&check.when).map_err(|error| format!("`when`: {error}"))?;
        Ok(check)
    }
}

impl Fields {
    fn read(value: Value) -> Result<Check, String> {
        let fields: Fields = serde_json::from_value(value).map_err(|error| {
            let error = error.to_string().replace("unknown field", "unknown key");
            error.replace("missing field `run`", "`run` is missing")
        })?;
        let timeout = fields.timeout.as_ref().map_or(Ok(DEFAULT_TIMEOUT), duration)?;
        let name = fields.name.map_or_else(|| name_of(&fields.run), |name| name.trim().to_owned());
        Ok(Check {
            name,
            run: fields.run.trim().to_owned(),
            timeout,
            when: fields.when.0,
            case: fields.case,
        })
    }
}

/// Seconds, or a number with its unit: `90`, `"90s"`, `"5m"`, `"1h 30m"`.
fn duration(value: &Value) -> Result<Duration, String> {
    let duration = match value {
        Value::Number(seconds) => {
            seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        }
        Value::String(text) => {
            text.parse::<jiff::SignedDuration>().ok().and_then(|time| time.try_into().ok())
        }
        _ => None,
    };
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        format!(
            "`timeout` must be a number of seconds above 0, or a duration such as \"5m\", not \
            {value}"
        )
    })
}

pub fn in_seconds<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(duration.as_secs_f64())
}

/// The name of a check that declares none: the first line of its command.
pub fn name_of(run: &str) -> String {
    let line = run.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(NAME_LENGTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_check_is_a_command_or_a_map() {
        let read = |value| serde_json::from_value::<Check>(value).unwrap();
        let plain = read(json!("cargo test"));
        assert_eq!(plain, Check::command("cargo test"));
        assert_eq!((plain.name.as_str(), plain.timeout), ("cargo test", DEFAULT_TIMEOUT));
        let full = read(json!({"name": "tests", "run": "cargo test\n", "timeout": "1h 30m",
            "when": ["*.rs", "Cargo.*"], "case": true}));
        assert_eq!((full.name.as_str(), full.run.as_str()), ("tests", "cargo test"));
        assert_eq!(full.timeout, Duration::from_secs(5400));
        assert_eq!((full.when.len(), full.case), (2, true));
        assert_eq!(read(json!({"run": "x", "when": "*.rs", "timeout": 1.5})).when, ["*.rs"]);
        assert_eq!(read(json!(false)), Check::command("false"));
        assert_eq!(read(json!({"run": true})), Check::command("true"));
        let long = "echo ".repeat(40);
        assert_eq!(Check::command(&long).name.chars().count(), NAME_LENGTH + 1);
    }

    #[test]
    fn a_check_survives_a_recording() {
        let check = Check { timeout: Duration::from_millis(1500), ..Check::command("make\ntest") };
        let text = serde_json::to_string(&check).unwrap();
        assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
    }

    #[test]
    fn an_invalid_check_is_refused_with_the_reason() {
        for (value, reason) in [
            (json!(3), "a check must be a command"),
            (json!(" "), "command is empty"),
            (json!({"name": "x"}), "`run` is missing"),
            (json!({"run": "x", "tiemout": 3}), "unknown key `tiemout`"),
            (json!({"run": "x", "timeout": 0}), "`timeout` must be a number of seconds above 0"),
            (json!({"run": "x", "timeout": -1}), "not -1"),
            (json!({"run": "x", "timeout": "soon"}), "\"soon\""),
            (json!({"run": "x", "when": 3}), "`when` must be a glob"),
            (json!({"run": "x", "when": "["}), "`when`: "),
            (
                json!({"run": "x", "when": ["*.rs", "!a.rs"]}),
                "`when`: \"!a.rs\" would exclude files",
            ),
            (
                json!({"run": "x", "when": "../*.rs"}),
                "`when`: \"../*.rs\" lies outside the project",
            ),
            (json!({"run": "x", "when": "/"}), "`when`: \"/\" names no file"),
            (json!({"run": "x", "name": ""}), "name is empty"),
        ] {
            let error = serde_json::from_value::<Check>(value.clone()).unwrap_err().to_string();
            assert!(error.contains(reason), "{value}: {error}");
        }
    }
}
