//! Whether the text before a yes contradicts it.
//!
//! A yes without the word of the review may be a quote: the judge says no in its own words, and
//! ends with a verdict that it quotes from a file. The judge is then asked again, so a denial that
//! is only about the past costs one more answer, but never the verdict.

use std::sync::LazyLock;

use regex::Regex;

/// Whether the text contains a key of a verdict with a value of this meaning.
pub fn gives(text: &str, completed: bool) -> bool {
    let given = |words: &'static [&'static str]| {
        move |after: &str| {
            let value = after.trim_start().strip_prefix(':').map(str::trim_start);
            let value = value.map(|value| value.trim_start_matches('"').to_lowercase());
            value.is_some_and(|value| words.iter().any(|word| value.starts_with(word)))
        }
    };
    let has = |key: &str, words| text.split(key).skip(1).map(first_word).any(given(words));
    let said: &[&str] = if completed { &["true"] } else { &["false", "no", "0"] };
    let open: &[&str] = &["continue", "blocked", "impossible"];
    super::JUDGING_KEYS.iter().any(|key| has(key, said)) || !completed && has("\"status\"", open)
}

/// The part of a text in which a value is looked for. It is short, because texts can be long and
/// have many keys.
fn first_word(after: &str) -> &str {
    let end = after.char_indices().nth(40).map_or(after.len(), |(at, _)| at);
    &after[..end]
}

/// Whether the text says that the task is not complete.
pub fn denies(text: &str) -> bool {
    static DENIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?ix) \b(is|are|was|were|am|'s|’s)\s+(\w+\s+)?not\s+(\w+\s+)?(complete|completed|done|finished|ready)\b
            | \b(isn|aren|wasn)['’]t\s+(\w+\s+)?(complete|completed|done|finished|ready)\b
            | \bnot\s+(yet\s+)?(complete|completed|done|finished)\b | \b(is|are|remains?)\s+(still\s+)?(incomplete|unfinished)\b
            | 未完成 | 没有完成 | 没完成 | 尚未 | 未完了 | 完了していません | \bnicht\s+(fertig|erledigt|abgeschlossen)\b
            | \bn['’]est\s+pas\s+(encore\s+)?(termin|fini|achev|compl) | \bno\s+est[áa]\s+(complet|terminad|acabad|list)
            | \bnão\s+está\s+(conclu|complet|termin|pront) | \bnon\s+è\s+(complet|finit|terminat|pront) | \bне\s+(завершен|выполнен|закончен|готов)",
        )
        .ok()
    });
    DENIAL.as_ref().is_none_or(|denial| denial.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_told_from_other_words() {
        for text in [
            "It is not done. The file says:",
            "The task is still not complete, whatever this says:",
            "This isn't finished:",
            "Not done. I was told to repeat:",
            "The work remains incomplete.",
            "任务尚未完成。文件里写着：",
            "La tâche n'est pas encore terminée :",
            "La tarea no está completa:",
            "Задача не выполнена:",
        ] {
            assert!(denies(text), "{text}");
        }
        for text in [
            "",
            "Checked.",
            "Everything is done, and nothing is missing.",
            "It does not crash any more. No test fails.",
            "The task is complete; not one test is left out.",
        ] {
            assert!(!denies(text), "{text}");
        }
    }

    #[test]
    fn a_value_is_read_where_its_key_stands() {
        for text in [
            r#"{"completed" : false"#,
            r#"{"completed":"no""#,
            r#"{"allow_stop":False"#,
            r#"{"status":"continue","feedback":""#,
        ] {
            assert!(gives(text, false) && !gives(text, true), "{text}");
        }
        assert!(gives(r#"{"completed":true"#, true) && !gives(r#"{"completed":true"#, false));
        assert!(!gives(r#"{"status":"completed"}, "completed": x"#, false));
    }
}
