//! Signs that something checks less than before, or hides errors.

use std::sync::LazyLock;

use regex::Regex;

use super::{FileDiff, Language, Sign, is_test_file, sign};
use crate::brief::facts::How;

type Pattern = LazyLock<Option<Regex>>;

fn matches(pattern: &'static Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// A single line, added to an existing test, that ends it early.
pub fn ends_early(file: &FileDiff) -> Option<Sign> {
    static SHELL: Pattern =
        LazyLock::new(|| Regex::new(r"(?i)(^|/)[^/]*test[^/]*\.(sh|bats|py|js|ts)$").ok());
    static END: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(return;?|exit 0|sys\.exit\(0?\);?|process\.exit\(0?\);?|os\._exit\(0\)|os\.Exit\(0\))$").ok()
    });
    let is_test = is_test_file(&file.path) || matches(&SHELL, &file.path);
    if !is_test || file.how != Some(How::Modified) {
        return None;
    }
    let came = |number: u32| file.added.iter().find(|(other, _)| *other == number);
    // Behind a condition it only handles a case. A preceding `echo` is not a condition.
    let alone = |(at, line): &&(u32, String)| {
        let before = came(at.saturating_sub(1)).map_or("", |(_, line)| line.trim_start());
        let at_once = ["os._exit(0)", "os.Exit(0)"].contains(&line.trim());
        matches(&END, line) && (at_once || before.is_empty() || before.starts_with("echo "))
    };
    // If a similar line was there before, this is not a new end.
    let had = file
        .removed
        .iter()
        .any(|line| matches(&END, line) || line.trim_start().starts_with("return"));
    let (at, line) = file.added.iter().find(alone).filter(|_| !had)?;
    Some(sign(file, *at, "a test ends early", line))
}

/// An attribute, added alone to a test that was there, for which the test passes only if it fails.
pub fn has_to_fail(file: &FileDiff) -> Option<Sign> {
    static FAILS: Pattern = LazyLock::new(|| Regex::new(r"^\s*#\[should_panic\b").ok());
    static TEST: Pattern = LazyLock::new(|| Regex::new(r"^\s*(#\[(\w+::)?test\b|fn\s)").ok());
    let is_new = |number: u32| {
        file.added.iter().any(|(other, line)| *other == number && matches(&TEST, line))
    };
    let (at, line) = file.added.iter().find(|(at, line)| {
        matches(&FAILS, line) && !is_new(at.saturating_sub(1)) && !is_new(at + 1)
    })?;
    let had = file.removed.iter().any(|line| matches(&FAILS, line));
    (!had).then(|| sign(file, *at, "a test has to fail now", line))
}

/// An assertion about a promise that nothing waits for: the test has ended when it fails.
pub fn is_not_awaited(file: &FileDiff) -> Option<Sign> {
    static PROMISE: Pattern = LazyLock::new(|| {
        Regex::new(
            r"^\s*(assert\.(rejects|doesNotReject)\(|expect\(.+\)\.(rejects|resolves)\.).*;\s*$",
        )
        .ok()
    });
    let (at, line) = file.added.iter().find(|(_, line)| matches(&PROMISE, line))?;
    Some(sign(file, *at, "nothing waits for this assertion", line))
}

/// A condition that never holds, or a loop over nothing, put into a test.
pub fn never_runs(file: &FileDiff) -> Option<Sign> {
    static NEVER: Pattern = LazyLock::new(|| {
        Regex::new(
            r"^\s*(\}?\s*(el)?(se\s+)?if|while)\s*\(?\s*(False|false|0)\s*\)?\s*(:|\{)\s*$|^\s*for\s.+\sin\s+(\[\]|\(\)|\{\}|range\(0\))\s*:|\bfor\s*\(.+\sof\s+\[\]\s*\)|(^|\s)\[\]\.forEach\(|\.each\(\[\]\)|\bparametrize\(.+,\s*\[\]\s*\)",
        )
        .ok()
    });
    let (at, line) = file.added.iter().find(|(_, line)| matches(&NEVER, line))?;
    is_test_file(&file.path).then(|| sign(file, *at, "a part of a test never runs", line))
}

/// `assertEqual(a, a)`, `assert a == a`, `expect(a).toBe(a)`.
pub fn compares_with_itself(line: &str) -> bool {
    static CALL: Pattern = LazyLock::new(|| {
        Regex::new(r"\b(?:assertEquals?|assertIs|assert_eq!|assert\.(?:equal|strictEqual|deepEqual|Equal)|require\.Equal)\s*\((.*)\)\s*;?\s*$")
            .ok()
    });
    static PLAIN: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*assert\s+(.+?)\s*==\s*(.+?)\s*$").ok());
    static RUST: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*assert!\((.+?)\s*==\s*(.+?)\);?\s*$").ok());
    static EXPECT: Pattern = LazyLock::new(|| {
        Regex::new(r"\bexpect\((.+)\)\.(?:toBe|toEqual|toStrictEqual)\((.+)\)\s*;?\s*$").ok()
    });
    let same = |one: &str, other: &str| {
        let (one, other) = (one.trim(), other.trim());
        // Literals on both sides are harmless, but an expression compared with itself checks
        // nothing.
        one == other && one.contains(|c: char| c.is_alphabetic())
    };
    let pair = |pattern: &'static Pattern| {
        let found = pattern.as_ref()?.captures(line)?;
        Some(same(&found[1], &found[2]))
    };
    if let Some(found) = CALL.as_ref().and_then(|call| call.captures(line)) {
        let parts = arguments(&found[1]);
        let values: Vec<_> = parts.iter().filter(|part| **part != "t").collect();
        return matches!(values[..], [one, other, ..] if same(one, other));
    }
    pair(&EXPECT).or_else(|| pair(&PLAIN)).or_else(|| pair(&RUST)).unwrap_or(false)
}

/// Splits at commas outside brackets and quotes.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut from) = (0_i32, None, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// An assertion that compared with a value and was replaced by one that any value satisfies.
pub fn asks_for_less(file: &FileDiff) -> Option<Sign> {
    static STRICT: Pattern = LazyLock::new(|| {
        Regex::new(r"\bassert\w*Equals?\(|\bassert_eq!|\.(toBe|toEqual|toStrictEqual)\(|\b(assert|require)\.(equal|strictEqual|deepEqual|deepStrictEqual|Equal)\(|^\s*assert\b.*==|\bassert!\(.*==|\.isEqualTo\(").ok()
    });
    static WEAK: Pattern = LazyLock::new(|| {
        Regex::new(r#"\bassert(IsNotNone|True|IsInstance|NotNull)\(|\.(toBeDefined|toBeTruthy)\(|\.not\.(toBeNull|toBeUndefined|toThrow)\(|\b(assert|require)\.(ok|NotNil|NotEmpty|NoError)\(|^\s*assert\s.*\bis not None|^\s*assert\s+isinstance\(|^\s*assert\s+[\w.]+\([^=<>]*\)\s*$|^\s*assert\b.*!=\s*(''|""|None|\[\]|\{\}|0)\s*$|\b(abs|rel|delta|atol|rtol)\s*=|\.toContain\(|\bexpect\.any(thing)?\(|\bassert!\(.*\.(is_ok|is_some)\(\)|\.isNotNull\("#).ok()
    });
    static CALLED: Pattern = LazyLock::new(|| Regex::new(r"\b([a-zA-Z_]\w*)\(").ok());
    // The functions that the line calls, apart from assertions.
    let about = |line: &str| -> Vec<String> {
        let found = CALLED.iter().flat_map(|called| called.captures_iter(line));
        let names = found.map(|found| found[1].to_owned());
        let is_own = |name: &String| {
            name.starts_with("assert") || name.starts_with("to") || name == "expect"
        };
        names.filter(|name| !is_own(name)).collect()
    };
    let strict = |line: &&str| matches(&STRICT, line) && !matches(&WEAK, line);
    let added: Vec<_> = file.added.iter().map(|(_, line)| line.as_str()).filter(strict).collect();
    let lost = file.removed.iter().map(String::as_str).filter(strict).filter(|old| {
        !added.iter().any(|new| about(new).iter().any(|name| about(old).contains(name)))
    });
    let lost: Vec<_> = lost.flat_map(about).collect();
    let (at, line) = file.added.iter().find(|(_, line)| {
        matches(&WEAK, line) && about(line).iter().any(|name| lost.contains(name))
    })?;
    Some(sign(file, *at, "an assertion asks for less", line))
}

/// An assertion of the test library that is redefined, or whose failure is caught.
pub fn without_effect(file: &FileDiff) -> Option<Sign> {
    static REPLACED: Pattern = LazyLock::new(|| {
        Regex::new(r"\.assert\w*\s*=[^=]|\bassert\.\w+\s*=[^=]|^\s*def assert(Equal|True|False|In|Is|IsNone|Raises)\(").ok()
    });
    static CAUGHT: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*except\b.*\bAssertionError\b|\bcatch\s*\(\s*AssertionError\b").ok()
    });
    let found = |form: &'static Pattern, what| {
        let (at, line) = file.added.iter().find(|(_, line)| matches(form, line))?;
        Some(sign(file, *at, what, line))
    };
    found(&REPLACED, "an assertion is replaced")
        .or_else(|| found(&CAUGHT, "a failed assertion is caught"))
}

/// Errors that are caught and ignored.
pub fn swallows(file: &FileDiff, language: Language) -> Vec<Sign> {
    static PYTHON: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*except(\s+(Base)?Exception(\s+as\s+\w+)?)?\s*:\s*(pass)?$").ok()
    });
    static BRACES: Pattern = LazyLock::new(|| {
        Regex::new(r"\bcatch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\(\w*\)\s*=>\s*\{\s*\}\)").ok()
    });
    static OPENS: Pattern = LazyLock::new(|| Regex::new(r"\bcatch\s*(\([^)]*\))?\s*\{\s*$").ok());
    static SUPPRESSED: Pattern =
        LazyLock::new(|| Regex::new(r"\bsuppress\(((Base)?Exception|AssertionError)\)").ok());
    let mut found = Vec::new();
    for (number, line) in &file.added {
        let next = file.added.iter().find(|(at, _)| *at == number + 1);
        let is = match language {
            Language::Python => {
                let passes = next.is_some_and(|(_, next)| next.trim() == "pass");
                matches(&PYTHON, line) && (passes || line.trim_end().ends_with("pass"))
                    || matches(&SUPPRESSED, line)
            }
            Language::Script | Language::Java => {
                let ends = next.is_some_and(|(_, next)| next.trim_start().starts_with('}'));
                matches(&BRACES, line) || matches(&OPENS, line) && ends
            }
            Language::Rust | Language::Go => drops_result(line, &file.removed),
            Language::Shell => false,
        };
        if is {
            found.push(sign(file, *number, "an error is swallowed", line));
        }
    }
    found.truncate(super::OF_A_KIND);
    found
}

/// Whether the line throws away the result of a call whose failure counted before: `let _ = save();`
/// instead of `save()?;`.
fn drops_result(line: &str, removed: &[String]) -> bool {
    static DROPS: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(?:let _ = (.+?\(.*\));|(.+\(.*\))\.ok\(\);|(?:_, )?_ :?= (.+\(.*\)))$")
            .ok()
    });
    let Some(found) = DROPS.as_ref().and_then(|drops| drops.captures(line)) else { return false };
    let call = (1..=3).find_map(|at| found.get(at)).map_or("", |call| call.as_str());
    let counted =
        |old: &String| ["?", ".unwrap()", ".expect(", "err"].iter().any(|w| old.contains(w));
    removed.iter().any(|old| old.contains(call) && counted(old))
}

/// Tests that are still there and no longer run: nothing compiles or finds them any more.
pub fn left_out(file: &FileDiff) -> Option<Sign> {
    static GATE: Pattern = LazyLock::new(|| Regex::new(r"^\s*#!?\[cfg\(test\)\]").ok());
    static OTHER: Pattern = LazyLock::new(|| Regex::new(r"^\s*#!?\[cfg\(").ok());
    static MODULE: Pattern = LazyLock::new(|| Regex::new(r"^\s*mod tests?;").ok());
    static TEST: Pattern = LazyLock::new(|| Regex::new(r"^\s*#\[(\w+::)?test\b").ok());
    static TAG: Pattern = LazyLock::new(|| Regex::new(r"^//\s*(go:build|\+build)\b").ok());
    static CASE: Pattern = LazyLock::new(|| Regex::new(r"^\s*class\s+(\w+)\(.*\bTestCase\)").ok());
    let what = "a test is left out";
    let lost = |form| {
        file.removed.iter().any(|line| matches(form, line))
            && !file.added.iter().any(|(_, line)| matches(form, line))
    };
    let came = |is: &dyn Fn(&str) -> bool| file.added.iter().find(|(_, line)| is(line));
    if file.path.ends_with(".rs") && lost(&GATE) && !lost(&TEST) {
        let instead = came(&|line| matches(&OTHER, line));
        if instead.is_some() || lost(&MODULE) {
            return Some(instead.map_or_else(
                || sign(file, 0, what, "mod tests;"),
                |(at, line)| sign(file, *at, what, line),
            ));
        }
    }
    let class =
        file.removed.iter().find_map(|old| Some(CASE.as_ref()?.captures(old)?[1].to_owned()));
    let (at, line) = came(&|line| {
        let is_tag = matches(&TAG, line) && file.path.ends_with("_test.go");
        let is_class = class.as_ref().is_some_and(|name| {
            line.trim_start().starts_with(&format!("class {name}")) && !line.contains("TestCase")
        });
        file.how == Some(How::Modified) && (is_tag || is_class)
    })?;
    Some(sign(file, *at, what, line))
}

/// A function that a test replaces, and whose result the same test then asserts.
pub fn replaces_the_tested(file: &FileDiff, assertion: &Regex) -> Option<Sign> {
    static REPLACED: Pattern = LazyLock::new(|| {
        Regex::new(
            r#"\bpatch\(\s*["'](?:[\w.]+\.)?(\w+)["']|\bpatch\.object\(\s*[\w.]+,\s*["'](\w+)["']|\bspyOn\(\s*[\w.]+,\s*["'](\w+)["']\)\.mock|\.(\w+)\s*=\s*(?:lambda\b|\w*Mock\(|jest\.fn|vi\.fn)"#,
        )
        .ok()
    });
    static NAMESAKE: Pattern = LazyLock::new(|| {
        Regex::new(r#"\b(?:jest|vi)\.mock\(\s*["'](?:[^"']*/)?([\w-]+)(?:\.\w+)?["']\s*\)"#).ok()
    });
    let replaced = |line: &str| {
        let found = REPLACED.as_ref()?.captures(line)?;
        Some((1..=4).find_map(|at| found.get(at))?.as_str().to_owned())
    };
    let asserts = |name: &str| {
        let call = format!("{name}(");
        let calls = |line: &str| {
            let before = line.find(&call).map(|at| &line[..at]);
            before
                .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        file.added.iter().any(|(_, line)| assertion.is_match(line) && calls(line))
    };
    // `jest.mock('./cart')` in `cart.test.js`.
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let is_namesake = |line: &str| {
        let found = NAMESAKE.as_ref().and_then(|mock| mock.captures(line));
        found.is_some_and(|found| name.starts_with(&format!("{}.", &found[1])))
    };
    let (at, line) = file
        .added
        .iter()
        .find(|(_, line)| replaced(line).is_some_and(|name| asserts(&name)) || is_namesake(line))?;
    Some(sign(file, *at, "a test replaces what it tests", line))
}

/// A function that a test imported before and now defines itself, so that it tests a copy.
pub fn tests_a_copy(file: &FileDiff) -> Option<Sign> {
    static IMPORTS: Pattern =
        LazyLock::new(|| Regex::new(r"^\s*(from\s.*\simport|import|use)\s|\brequire\(").ok());
    static DEFINES: Pattern = LazyLock::new(|| {
        Regex::new(r"^\s*(?:async\s+)?(?:def|class|function|fn|func)\s+(\w{3,})|^\s*(?:const|let|var)\s+(\w{3,})\s*=\s*(?:async\b|\(|function\b)").ok()
    });
    let imports = |line: &str, name: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        matches(&IMPORTS, line) && words.any(|word| word == name)
    };
    let (at, line) = file.added.iter().find(|(_, line)| {
        let found = DEFINES.as_ref().and_then(|defines| defines.captures(line));
        let name = found.and_then(|found| found.get(1).or(found.get(2)).map(|name| name.as_str()));
        name.is_some_and(|name| {
            file.removed.iter().any(|line| imports(line, name))
                && !file.added.iter().any(|(_, line)| imports(line, name))
        })
    })?;
    Some(sign(file, *at, "a test defines what it imported before", line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_with_itself_cannot_fail() {
        for line in [
            "self.assertEqual(slugify('a, b'), slugify('a, b'))",
            "    assert f(x) == f(x)",
            "assert_eq!(total(&[1, 2]), total(&[1, 2]));",
            "  expect(add(1, 2)).toBe(add(1, 2));",
            "\tassert.Equal(t, Add(1, 2), Add(1, 2))",
            "assertEquals(x, x);",
        ] {
            assert!(compares_with_itself(line), "{line}");
        }
        for line in [
            "self.assertEqual(slugify('a'), 'a')",
            "    assert f(x) == f(y)",
            "assert_eq!(1, 1);",
            "expect(add(1, 2)).toBe(3)",
            "assert.Equal(t, 3, Add(1, 2))",
            "assert a",
            "assert a == b, 'a == b'",
        ] {
            assert!(!compares_with_itself(line), "{line}");
        }
    }
}
