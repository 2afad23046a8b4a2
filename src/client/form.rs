//! The client's `AskUserQuestion` tool: questions with options, which come as a permission request;
//! the answers go back in the allowed input.

use serde::Deserialize;

use crate::client::stream::PermissionRequest;

pub const TOOL: &str = "AskUserQuestion";

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FormQuestion {
    pub question: String,
    #[serde(default)]
    pub options: Vec<FormOption>,
    #[serde(rename = "multiSelect", default)]
    pub several: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FormOption {
    pub label: String,
    #[serde(default)]
    pub description: String,
}

pub fn questions(asked: &PermissionRequest) -> Option<Vec<FormQuestion>> {
    #[derive(Deserialize)]
    struct Form {
        questions: Vec<FormQuestion>,
    }
    let form = (asked.tool == TOOL).then(|| serde_json::from_str::<Form>(&asked.input).ok());
    form.flatten().map(|form| form.questions).filter(|questions| !questions.is_empty())
}

impl FormQuestion {
    /// Reads a number as an option, or several numbers if several are allowed; anything else is an
    /// answer in the person's own words.
    pub fn answer(&self, typed: &str) -> String {
        let words: Vec<_> = typed
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .collect();
        let label = |word: &&str| {
            let at = word.parse::<usize>().ok()?.checked_sub(1)?;
            self.options.get(at).map(|option| option.label.as_str())
        };
        let labels: Option<Vec<_>> = words.iter().map(label).collect();
        match labels {
            Some(labels) if labels.len() == 1 || (self.several && !labels.is_empty()) => {
                labels.join(", ")
            }
            _ => typed.trim().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(several: bool) -> FormQuestion {
        let input = format!(
            r#"{{"questions":[{{"question":"Which?","header":"C","multiSelect":{several},"options":[{{"label":"Red","description":"warm"}},{{"label":"Blue"}}]}}]}}"#
        );
        let asked =
            PermissionRequest { tool: "AskUserQuestion".into(), input, ..Default::default() };
        questions(&asked).unwrap().remove(0)
    }

    #[test]
    fn numbers_are_options_and_other_text_is_an_answer() {
        for (several, typed, answer) in [
            (false, "2", "Blue"),
            (false, " 1 ", "Red"),
            (false, "3", "3"),
            (false, "0", "0"),
            (false, "green, please", "green, please"),
            (false, "1 2", "1 2"),
            (true, "1, 2", "Red, Blue"),
            (true, "2", "Blue"),
            (true, "", ""),
        ] {
            assert_eq!(form(several).answer(typed), answer, "{typed:?}");
        }
    }

    #[test]
    fn other_tools_have_no_questions() {
        let asked =
            PermissionRequest { tool: "Bash".into(), input: "{}".into(), ..Default::default() };
        assert_eq!(questions(&asked), None);
        let broken =
            PermissionRequest { tool: "AskUserQuestion".into(), input: "{}".into(), ..asked };
        assert_eq!(questions(&broken), None);
    }
}
