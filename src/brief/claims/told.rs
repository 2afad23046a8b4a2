//! Finds the claims in a message, by its words.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Tests,
    Build,
    Lint,
    Committed,
    Pushed,
    Work,
    Running,
    Branch,
    Tag,
    PullRequest,
    Coverage,
    Released,
    NoWarnings,
    Migrated,
    Merged,
    OutOfHistory,
}

const ALL: [Claim; 16] = [
    Claim::Tests,
    Claim::Build,
    Claim::Lint,
    Claim::Committed,
    Claim::Pushed,
    Claim::Work,
    Claim::Running,
    Claim::Branch,
    Claim::Tag,
    Claim::PullRequest,
    Claim::Coverage,
    Claim::Released,
    Claim::NoWarnings,
    Claim::Migrated,
    Claim::Merged,
    Claim::OutOfHistory,
];

impl Claim {
    pub fn told(self) -> &'static str {
        match self {
            Self::Tests => "tests pass",
            Self::Build => "it builds",
            Self::Lint => "the linters pass",
            Self::Committed => "the work is committed",
            Self::Pushed => "the work is pushed",
            Self::Work => "something was fixed, added or changed",
            Self::Running => "a server is running",
            Self::Branch => "there is a new branch",
            Self::Tag => "there is a tag",
            Self::PullRequest => "there is a pull request",
            Self::Coverage => "a certain share of the code is covered",
            Self::Released => "it is published or deployed",
            Self::NoWarnings => "there are no warnings",
            Self::Migrated => "a migration was run",
            Self::Merged => "branches were merged or rebased",
            Self::OutOfHistory => "something is gone from the history of the repository",
        }
    }

    fn pattern(self) -> &'static str {
        match self {
            Self::Tests => {
                r"\b(tests?|suite|specs?|pytest|unittest|jest|vitest|nextest|ctest|tox|rspec|phpunit)\b[^!?\n]{0,40}?\b(pass(es|ed|ing)?|green|succeed(s|ed)?)\b
                | \b\d+\s+(tests?\s+)?passed\b | \bpass(es|ing)?\s+all\s+tests\b
                | \btest_\w+(\.py)?\b[^\w!?\n]{0,5}pass(es|ed)\b | \btests?\s*[,:]\s*(ok\b|[✅✔✓]) | \b(tests?|specs?|suite)(\s+(suite|run))?\s*(:|\b(run|ran|runs|finished|completed|ended)\b)\s*((with|without|any|no|0|zero)\s+)+(failures?|errors?)\b
                | \b(no|0|zero)\s+failures?\b[^.!?\n]{0,20}?\btests?\b | \b(verified|checked|confirmed)\b[^.!?\n]{0,30}?\bby\s+running\s+(all\s+)?(the\s+)?(\w+\s+)?tests?\b | \btests?\s+(are|is|run|ran)\s+(all\s+)?(ok|fine)\b"
            }
            Self::Build => {
                r"\b(build|compilation)\s+(now\s+)?(is\s+)?(pass(es|ed)?|succeed(s|ed)?|works|successful|green|clean)\b
                | \b(it|code|project|crate|everything|which)\s+(now\s+)?(compiles|builds)\b | \bbuilds\s+(cleanly|fine|successfully)\b
                | \b(image|container|package|binary|bundle|wheel)\b[^!?\n]{0,30}?\b(is|was|were|has\s+been|have\s+been)\s+(now\s+)?built\b"
            }
            Self::Lint => {
                r"\b(lint(er|ers|ing)?|clippy|eslint|ruff|mypy|flake8|pylint|type\s*check(er|ing)?)\b[^.!?\n]{0,30}?\b(pass(es|ed)?|clean|green|happy|content|silent)\b
                | \bno\s+(more\s+)?(lint|clippy|eslint|ruff|mypy|type)\s+(errors|warnings|issues)\b"
            }
            Self::Committed => {
                r"\b(I|we)(\s+have|'ve)?\s+(also\s+|now\s+)?committed\b | \b(is|are|been|and|was|were)\s+(now\s+|all\s+)?committed\b | (^|\n)\s*committed\b"
            }
            Self::Pushed => {
                r"\b(I|we)(\s+have|'ve)?\s+(also\s+|now\s+)?pushed\b | \b(is|are|been|and|was|were)\s+(now\s+|all\s+)?pushed\b | (^|\n)\s*pushed\b"
            }
            Self::Work => {
                r"\b(I|we)(\s+have|'ve)?\s+(also\s+|now\s+|just\s+)?(fixed|implemented|added|changed|updated|refactored|renamed|rewrote|rewritten|removed|replaced)\b
                | \b(is|are|been|was|were)\s+(now\s+|all\s+)?(fixed|implemented|refactored|rewritten|renamed)\b | (^|\n)\s*(fixed|implemented|added|updated|refactored)\b"
            }
            Self::Running => {
                r"\b(server|service|app|application|daemon|site|api)\b[^.!?\n]{0,30}?\b(is|are)\s+(now\s+|up\s+and\s+)*(running|up|listening|started|live|serving)\b
                | \b(running|listening|serving|started|runs|listens)\s+(on|at)\s+(port|localhost|https?://|127\.0\.0\.1|0\.0\.0\.0)"
            }
            // A name is required, because "branch" can also mean a branch in the code.
            Self::Branch => {
                r#"\b(created|made)\b[^!?\n]{0,20}\bbranch\s+(called\s+|named\s+)?([`"'*]+[\w./-]+|[\w.-]+/[\w./-]+)"#
            }
            Self::Tag => {
                r#"\btagged\s+(\w+\s+){0,3}?(as|with)\s+[`"'*]*v?\d | \bcreated\b[^!?\n]{0,15}\btag\s+[`"'*]*v?\d"#
            }
            Self::PullRequest => {
                r"\b(opened|created|submitted|raised)\b[^!?\n]{0,30}\b(pull\s+request|merge\s+request|PR|MR)\b"
            }
            Self::Coverage => {
                r"\bcoverage\b[^!?\n]{0,60}?\d\s*% | \d\s*%\s+(test\s+|code\s+)?coverage\b"
            }
            // Only to a public place or a server, because a program can also publish and deploy
            // things.
            Self::Released => {
                r"\bpublished\b[^!?\n]{0,40}\b(to|on)\s+(npm|pypi|crates\.io|the\s+registry|docker\s*hub|nuget|maven\s+central|rubygems|packagist)\b
                | \bdeployed\b[^!?\n]{0,20}\bto\s+(the\s+)?(production|prod|staging|server|cluster)\b"
            }
            Self::Migrated => {
                r"\b(I|we)(\s+have|'ve)?\s+(also\s+|now\s+)?(ran|run|applied|executed)\s+(the\s+|all\s+|both\s+)*(\w+\s+)?migrations?\b"
            }
            Self::Merged => {
                r"\b(I|we)(\s+have|'ve)?\s+(also\s+|now\s+)?(merged\b[^.!?\n]{0,40}?\b(branch|into\s+(the\s+)?`?(main|master|develop)\b) | rebased\b[^.!?\n]{0,30}?\bonto\b)"
            }
            Self::OutOfHistory => {
                r"\b(gone|removed|purged|erased|scrubbed|deleted|stripped|cleaned)\b[^!?\n]{0,40}\b(from|in|of)\b[^!?\n]{0,30}\b(git|commit|repo\w*)\b[^!?\n]{0,20}\bhistory\b
                | \brewr(ote|itten)\s+(the\s+)?(git|commit|repo\w*)('s)?\s+history\b"
            }
            Self::NoWarnings => {
                r"\b(no|without|zero|0)\s+((any|more|compiler|lint|clippy|eslint|remaining)\s+)*warnings?\b | \bwarning-free\b"
            }
        }
    }

    /// Words of which a message must contain one before the pattern is tried, which saves time.
    fn hints(self) -> &'static [&'static str] {
        match self {
            Self::Tests => &[
                "test",
                "suite",
                "spec",
                "passed",
                "tox",
                "prueba",
                "テスト",
                "测试",
                "тест",
                "테스트",
            ],
            Self::Build => &["build", "compil", "built"],
            Self::Lint => &["lint", "clippy", "ruff", "mypy", "flake8", "check", "type"],
            Self::Committed => &["committed"],
            Self::Pushed => &["pushed"],
            Self::Work => &[
                "fixed",
                "implemented",
                "added",
                "changed",
                "updated",
                "refactored",
                "renamed",
                "rewr",
                "removed",
                "replaced",
            ],
            Self::Running => {
                &["running", "listening", "serving", "started", "live", " up", "runs", "listens"]
            }
            Self::Branch => &["branch"],
            Self::Tag => &["tag"],
            Self::PullRequest => &["request", "pr", "mr"],
            Self::Coverage => &["coverage"],
            Self::Released => &["published", "deployed"],
            Self::NoWarnings => &["warning"],
            Self::Migrated => &["migration"],
            Self::Merged => &["merged", "rebased"],
            Self::OutOfHistory => &["history"],
        }
    }

    /// Whether the sentence uses the same words for something else: what a server does by default, a
    /// value that is pushed onto a stack, a transaction, work of others or outside the files.
    fn is_about_else(self, sentence: &str) -> bool {
        let words: &[&str] = match self {
            Self::Running => &["default"],
            Self::Pushed => {
                &["onto", "stack", "queue", "pushed back", "pushed into", "pushed down"]
            }
            Self::Committed => &["database", "transaction", "offset", "committed to "],
            Self::Work => &[
                "is already",
                "was already",
                "upstream",
                "nothing to",
                "nothing has to",
                "database",
                "container",
                "repository",
                "~/",
            ],
            _ => return false,
        };
        let sentence = sentence.to_lowercase();
        words.iter().any(|word| sentence.contains(word))
    }

    fn compiled(self) -> Option<&'static Regex> {
        static PATTERNS: [OnceLock<Option<Regex>>; ALL.len()] =
            [const { OnceLock::new() }; ALL.len()];
        let pattern = || Regex::new(&format!("(?ix){}", self.pattern())).ok();
        PATTERNS.get(self as usize)?.get_or_init(pattern).as_ref()
    }
}

/// The sentences of a text. A full stop inside a name does not end a sentence.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    static END: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[.!?]+(?:\s|$)|[。！？\n]").ok());
    let mut from = 0;
    let ends = END.iter().flat_map(|end| end.find_iter(text)).map(|found| found.end());
    let ends: Vec<_> = ends.chain([text.len()]).collect();
    ends.into_iter().map(move |end| {
        let sentence = &text[from..end];
        from = end;
        sentence
    })
}

pub fn takes_it_back(sentence: &str) -> bool {
    static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(not|\w+n't|cannot|never|fail(s|ed|ing)?|should|would|will|could|might|may|until|once|if|when|unable|before|todo|next|please|want|need(s|ed)?|shall)\b|\?",
        )
        .ok()
    });
    // "There are no failures" does not report a failure.
    let sentence = sentence.to_lowercase().replace("no fail", "").replace("without fail", "");
    NOT.as_ref().is_some_and(|pattern| pattern.is_match(&sentence))
}

/// The sentences that say that tests pass.
pub fn sentences_that_tests_pass(text: &str) -> impl Iterator<Item = &str> {
    sentences(text).filter(|sentence| makes(Claim::Tests, sentence))
}

pub fn makes(claim: Claim, text: &str) -> bool {
    let lower = text.to_lowercase();
    if !claim.hints().iter().any(|hint| lower.contains(hint)) {
        return false;
    }
    let Some(pattern) = claim.compiled() else { return false };
    sentences(text).filter(|sentence| !claim.is_about_else(sentence)).any(|sentence| {
        pattern.is_match(sentence) && !takes_it_back(sentence)
            || claim == Claim::Tests && says_elsewhere_that_tests_pass(sentence)
    })
}

/// Whether the sentence says in one of a few other languages that tests pass, and does not negate
/// it.
fn says_elsewhere_that_tests_pass(sentence: &str) -> bool {
    static PASS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?ix) \b(pruebas?|tests?)\b[^!?\n]{0,30}?\b(pasan|pasaron|superad[ao]s?|exitosas?|en\ verde)\b
            | \btests?\b[^!?\n]{0,30}?\b(passent|réussissent|réussis|au\ vert)(\W|$)
            | \btests?\b[^!?\n]{0,30}?\b(grün|bestanden|bestehen|erfolgreich)\b | \btests?\b[^!?\n]{0,20}?\blaufen\b[^!?\n]{0,10}?\bdurch\b
            | \btestes\b[^!?\n]{0,30}?\b(passam|passaram|passando)\b | \btest\b[^!?\n]{0,30}?\b(passano|superati)\b
            | 测试[^！？\n]{0,8}?(通过|成功) | 通过[^！？\n]{0,6}?测试 | テスト[^！？\n]{0,12}?(成功|通り|通っ|パス|合格)
            | тест\w*[^!?\n]{0,20}?(проходят|прошли|пройдены) | 테스트[^!?\n]{0,12}?(통과|성공)",
        )
        .ok()
    });
    static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(no|sin|si|cuando|pas|aucun\w*|jamais|quand|nicht|kein\w*|wenn|sobald|sollten?|não|quando|se|non|не|если|когда)\b|n'|没|未|不|如果|应该|ない|ません|場合|はず|않|못|면\b",
        )
        .ok()
    });
    let is = |pattern: &LazyLock<Option<Regex>>| {
        pattern.as_ref().is_some_and(|pattern| pattern.is_match(sentence))
    };
    is(&PASS) && !is(&NOT) && !takes_it_back(sentence)
}

/// Describes all claims about the work that a text makes.
pub fn made(text: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|claim| makes(*claim, text)).map(Claim::told).collect()
}

/// Ports of this machine on which, according to the message, something runs.
pub fn ports_named(text: &str) -> Vec<u16> {
    static PORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b|\bport\s+(\d{2,5})\b",
        )
        .ok()
    });
    static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(runs|running|up|listens|listening|started|live|serves|serving|available|reachable)\b").ok()
    });
    if !text.contains(':') && !text.to_lowercase().contains("port") {
        return Vec::new();
    }
    let (Some(port), Some(runs)) = (PORT.as_ref(), RUNS.as_ref()) else { return Vec::new() };
    let is_now = |sentence: &&str| !takes_it_back(sentence) && !sentence.contains("default");
    let claims = sentences(text).filter(|sentence| runs.is_match(sentence)).filter(is_now);
    let named = claims.flat_map(|sentence| port.captures_iter(sentence));
    let number = named.filter_map(|found| found.get(1).or(found.get(2))?.as_str().parse().ok());
    number.collect::<BTreeSet<u16>>().into_iter().take(5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_said_as_a_fact() {
        for (claim, text) in [
            (Claim::Tests, "All tests pass."),
            (Claim::Tests, "The test suite is green now"),
            (Claim::Tests, "12 passed"),
            (Claim::Tests, "I ran the tests: no failures."),
            (Claim::Tests, "I verified it by running the test suite."),
            (Claim::Tests, "Tests: ✅"),
            (Claim::Migrated, "I ran the migrations."),
            (Claim::Merged, "I merged the branch into main."),
            (Claim::Merged, "I have rebased it onto main."),
            (Claim::Tests, "The tests ran: 2 tests, OK."),
            (Claim::Tests, "Done, `test_slug.py` passes."),
            (Claim::Released, "I published shop 1.0.1 to npm."),
            (Claim::Released, "The fix is deployed to production."),
            (Claim::NoWarnings, "It compiles without any warnings."),
            (Claim::Tests, "Fixed. The tests are passing!"),
            (Claim::Tests, "All tests pass with no failures."),
            (Claim::Build, "The build succeeds."),
            (Claim::Build, "It compiles."),
            (Claim::Lint, "Clippy is clean and so am I."),
            (Claim::Lint, "There are no type errors."),
            (Claim::Committed, "I've committed the change."),
            (Claim::Committed, "Everything is committed."),
            (Claim::Pushed, "Done and pushed."),
            (Claim::Work, "I have fixed the crash."),
            (Claim::Work, "The bug is now fixed."),
            (Claim::Running, "The dev server is running."),
            (Claim::Running, "Listening on http://localhost:3000"),
            (Claim::Running, "The server runs on port 3000."),
            (Claim::Tests, "`go test ./...` passes."),
            (Claim::Tests, "nextest is green"),
            (Claim::Tests, "Todas las pruebas pasan."),
            (Claim::Tests, "Tous les tests passent."),
            (Claim::Tests, "Alle Tests sind grün."),
            (Claim::Tests, "测试全部通过。"),
            (Claim::Tests, "テストはすべて成功しました。"),
            (Claim::Build, "The image shop:2 was built."),
            (Claim::Branch, "I created the branch feature/rounding."),
            (Claim::Tag, "It is tagged as `v1.2.0`."),
            (Claim::PullRequest, "I opened pull request #17."),
            (Claim::Coverage, "Coverage went up to 96 %."),
            (Claim::OutOfHistory, "The key is gone from the repository and its history."),
            (Claim::OutOfHistory, "I removed the file from git history."),
        ] {
            assert!(makes(claim, text), "{claim:?} {text}");
            assert!(made(text).contains(&claim.told()));
        }
        for text in [
            "I could not run the tests.",
            "A test for input without errors is missing.",
            "I merged the two functions into one.",
            "I wrote a migration; run it with `make migrate`.",
            "The tests should pass.",
            "Two tests do not pass.",
            "There is one more test.",
            "Once tests pass, merge.",
            "Do the tests pass?",
            "It is not committed yet.",
            "Shall I push it?",
            "The server runs out of memory.",
            "You could build a fixed-size buffer.",
            "The commit message is long.",
            "A linter would find this.",
            "It was a race between two threads.",
            "When all tests pass, the last line is `OK`.",
            "Las pruebas no pasan todavía.",
            "Die Tests laufen nicht durch.",
            "测试没有通过。",
            "The branch of the `if` is covered.",
            "I created a branch for empty lists.",
            "The server listens on port 8123 by default now.",
            "The coverage threshold is 90 % if you keep it.",
            "I pushed back the deadline to Friday.",
            "The value is pushed onto the stack.",
            "Rows are committed to the database in one transaction.",
            "The bug was fixed upstream in 2.3.",
        ] {
            assert!(made(text).is_empty(), "{text}: {:?}", made(text));
        }
    }

    #[test]
    fn ports_on_which_something_runs_are_named() {
        for (text, ports) in [
            ("The server is running on http://localhost:8123/.", &[8123][..]),
            ("It listens on port 80 and on 127.0.0.1:9000.", &[80, 9000]),
            ("Start it with --port 8080, port 8080 is the default.", &[]),
            ("It is not running on port 8123.", &[]),
            ("The server listens on port 8123 by default now.", &[]),
            ("Running on port 99999.", &[]),
        ] {
            assert_eq!(ports_named(text), ports, "{text}");
        }
    }
}
