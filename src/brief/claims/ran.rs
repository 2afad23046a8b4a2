//! Programs that the message says were run, by name. If no command of that name ran, the claim is
//! not supported.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::told::{sentences, takes_it_back};
use crate::brief::activity::Activity;

/// Programs that people mention when they report how they checked something.
const TOOLS: &str = "ab|bandit|black|clang-format|curl|eslint|flake8|gofmt|hadolint|httpie|hyperfine|isort|jq|k6|markdownlint|mypy|playwright|prettier|psql|puppeteer|pyright|ruff|rustfmt|selenium|shellcheck|strace|tsc|valgrind|wget|wrk|yamllint";

/// The programs that the message says were run and that ccc never saw run, as the message names
/// them: `bench.sh`, `cargo bench`, `black`.
pub fn never_seen(text: &str, activity: &Activity) -> Vec<String> {
    named(text).into_iter().filter(|name| !may_have_run(name, activity)).collect()
}

fn named(text: &str) -> BTreeSet<String> {
    static RAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:I|we)\b[^!?\n]{0,80}?\b(?:re-?)?(?:ran|executed)\s+(?:the\s+|it\s+with\s+)?(?:`([a-z][^`\n]{1,80})`|([\w/-]+\.(?:sh|py|js|ts|rb|pl))\b)",
        )
        .ok()
    });
    static WITH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let verbs = "tried|tested|checked|verified|formatted|reformatted|linted|measured|profiled|validated|confirmed";
        let pattern = format!(
            r"(?i)\b(?:I|we)\b[^!?\n]{{0,80}}?\b(?:{verbs})\b[^!?\n]{{0,40}}?\b(?:with|using|via)\s+`?({TOOLS})\b"
        );
        Regex::new(&pattern).ok()
    });
    let mut found = BTreeSet::new();
    // A quick test: without one of these words no pattern can match.
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let patterns =
        [(&RAN, has(&["ran ", "executed "])), (&WITH, has(&[" with ", " using ", " via "]))];
    for sentence in sentences(text).filter(|sentence| !takes_it_back(sentence)) {
        for (pattern, _) in patterns.iter().filter(|(_, may)| *may) {
            let captures = pattern.iter().flat_map(|pattern| pattern.captures_iter(sentence));
            let names = captures.filter_map(|found| found.get(1).or(found.get(2)));
            found.extend(names.map(|name| name.as_str().to_owned()));
        }
    }
    found
}

/// Whether a command contains these words, or runs something that may have run the program.
fn may_have_run(name: &str, activity: &Activity) -> bool {
    static THROUGH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(make|just|npm|pnpm|yarn|bun|npx|pre-commit|tox|nox|invoke|gradlew?|mvnw?|docker|git\s+commit)\b|\.sh\b",
        )
        .ok()
    });
    let mut words = name.split_whitespace();
    let program = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let wanted: Vec<_> =
        [Some(program), words.next().filter(is_plain)].into_iter().flatten().collect();
    let is_script = program.contains('.');
    activity.may_have(|command| {
        let command = command.to_lowercase();
        wanted.iter().all(|word| command.contains(&word.to_lowercase()))
            || !is_script && THROUGH.as_ref().is_none_or(|through| through.is_match(&command))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::activity::tests::activity;
    use super::*;

    #[test]
    fn what_is_said_to_have_been_run_is_looked_for_among_the_commands() {
        for (text, lines, missing) in [
            ("I ran bench.sh; it takes 12 ms.", &["run cat bench.sh", "run ls"][..], ""),
            ("I ran bench.sh; it takes 12 ms.", &["run ls"], "bench.sh"),
            ("I ran `cargo bench` twice.", &["run cargo test"], "cargo bench"),
            ("I ran `cargo bench` twice.", &["run cd a && cargo bench --all"], ""),
            ("I ran `pytest tests/`: 3 passed.", &["run python3 -m pytest"], ""),
            ("I added it and formatted the code with black.", &["run pytest"], "black"),
            ("I added it and formatted the code with Black.", &["run uvx black ."], ""),
            ("I formatted the code with prettier.", &["run npm run format"], ""),
            ("I tried it with curl, and it answers `ok`.", &["run python3 -m unittest"], "curl"),
            ("We verified the endpoint using `curl`.", &["run curl -s localhost"], ""),
            ("I ran `x`.", &["mcp mcp__shell__run"], ""),
            // Sentences that do not say that it was done.
            ("You can check it with curl.", &[], ""),
            ("I could not test it with curl.", &[], ""),
            ("I would have run `cargo bench`.", &[], ""),
            ("The code is formatted with black.", &[], ""),
            ("If I ran bench.sh, it would take hours.", &[], ""),
        ] {
            let found = never_seen(text, &activity(lines));
            assert_eq!(found.concat(), missing, "{text} {lines:?}");
        }
    }
}
