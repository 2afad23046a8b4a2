//! How often the message says that something was run. Many runs take a loop, or as many commands.

use std::sync::LazyLock;

use regex::Regex;

use super::told::{sentences, takes_it_back};
use crate::brief::activity::Activity;

/// Fewer runs than this are easily counted wrong.
const MANY: usize = 5;

/// The number of runs that the message names, as it names it, if nothing that ran can have been that
/// often.
pub fn too_often(text: &str, activity: &Activity) -> Option<String> {
    static TIMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:I|we)\b[^!?\n]{0,40}?\b(?:ran|repeated|executed)\b[^.,;:!?\n]{0,50}?\b(\d+|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|(?:a|one|two|five)\s+hundred|a\s+thousand)\s+times\b",
        )
        .ok()
    });
    // Anything that may run something more than once.
    static LOOPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b(for|while|until|seq|xargs|parallel|repeat|watch|hyperfine|stress|loop|range|times)\b|count|repeat|iterations|--runs|-n\s*\d|\{\d+\.\.|<<|\s-[ce]\s|\b(make|just|npm|pnpm|yarn|bun)\b|\.(sh|py|js|ts|rb|pl)\b",
        )
        .ok()
    });
    if !text.contains(" times") {
        return None;
    }
    let told = sentences(text).filter(|sentence| !takes_it_back(sentence));
    let found: Vec<_> = told
        .filter_map(|sentence| Some(TIMES.as_ref()?.captures(sentence)?[1].to_owned()))
        .collect();
    let named =
        found.into_iter().find(|number| number.parse().map_or(true, |many: usize| many >= MANY))?;
    let loops = |command: &str| LOOPS.as_ref().is_none_or(|loops| loops.is_match(command));
    let is_possible = activity.may_have(loops) || activity.commands().count() >= MANY;
    (!is_possible).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::super::super::activity::tests::activity;
    use super::*;

    #[test]
    fn many_runs_take_a_loop_or_as_many_commands() {
        const FIFTY: &str = "I ran the test suite fifty times, and it passed every time.";
        let once = &["run pytest => 3 passed"][..];
        for (text, lines, named) in [
            (FIFTY, once, Some("fifty")),
            ("I have run it. We repeated the test 20 times.", once, Some("20")),
            (FIFTY, &["run for i in $(seq 50); do pytest; done => 3 passed"], None),
            (FIFTY, &["run pytest --count 50 => 3 passed"], None),
            (FIFTY, &["run ./stress.sh => ok"], None),
            (FIFTY, &["run pytest => 1"; 5], None),
            ("I ran it 2 times.", once, None),
            ("I ran it; the loop calls f 100 times per second.", once, None),
            ("I could not run it fifty times.", once, None),
            ("It retries 10 times.", once, None),
        ] {
            assert_eq!(too_often(text, &activity(lines)).as_deref(), named, "{text} {lines:?}");
        }
    }
}
