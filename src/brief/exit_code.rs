//! Whether the exit code of a script comes from its test, build or check, or from something around
//! it: a pipe, `||`, `!`, `if`, `&`, another command.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::command::{CommandKind, Pattern, matches};
use super::edits::without_here_documents;

const REPLACED: &str = "what follows || replaces its exit code";
pub const OF_A_PIPE: &str = "its exit code is that of the last command in the pipe";

/// Why the exit code says nothing about the test, build or check, if so.
pub fn hides_exit_code(script: &str) -> Option<&'static str> {
    hides(script).or_else(|| inside_a_shell(script).and_then(hides))
}

/// The script in `bash -lc '…'`.
fn inside_a_shell(script: &str) -> Option<&str> {
    static INSIDE: Pattern = LazyLock::new(|| {
        Regex::new(
            r#"(?s)\b(?:ba|da|z)?sh\s+(?:-\w+\s+)*?-\w*c\s+(?:'([^']*)'|"((?:[^"\\]|\\.)*)")"#,
        )
        .ok()
    });
    let found = INSIDE.as_ref()?.captures(script)?;
    found.get(1).or(found.get(2)).map(|inside| inside.as_str())
}

fn hides(script: &str) -> Option<&'static str> {
    static IGNORED: Pattern = LazyLock::new(|| {
        Regex::new(
            r"\bmvnw?\s(.*\s)?(-Dmaven\.test\.failure\.ignore(=true)?(\s|$)|(-fn|--fail-never)\b)|\bg?make\s+(\S+\s+)*?(-i|--ignore-errors)(\s|$)",
        )
        .ok()
    });
    static QUOTED: Pattern = LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*"|'[^']*'"#).ok());
    static PIPE: Pattern = LazyLock::new(|| Regex::new(r"[^|]\|[^|]").ok());
    static OR: Pattern = LazyLock::new(|| Regex::new(r"\|\|\s*([^\s;|&]+)([^;|&\n]*)").ok());
    static TURNED: Pattern = LazyLock::new(|| Regex::new(r"(^|[;\n&]\s*)!\s").ok());
    static BRANCH: Pattern = LazyLock::new(|| Regex::new(r"(^|[;\n]\s*)(if|while|until)\s").ok());
    static BESIDE: Pattern = LazyLock::new(|| Regex::new(r"(^|[^&>|])&\s*($|[\w\n;])").ok());
    static AFTER: Pattern = LazyLock::new(|| Regex::new(r"\|\|\s*[{(]([^{}()]*)[})]").ok());
    static FAILS: Pattern =
        LazyLock::new(|| Regex::new(r"\b(exit|return)\b\s*([^0\s]|$|;)|\b(false|die|kill)\b").ok());
    // What makes something of an exit code that the script has asked for.
    static USED: Pattern = LazyLock::new(|| {
        Regex::new(r"\b(exit|return|case)\b|(^|[;&|\n]|\b(if|while)\b)\s*!?\s*(test\s|\[|\(\()")
            .ok()
    });
    // `|| [ $? -eq 124 ]`: a certain failure counts as a success.
    static EXCUSED: Pattern = LazyLock::new(|| {
        Regex::new(r#"\|\|\s*(test|\[{1,2}|\(\()\s*"?\$\?"?\s*(-eq|==?)\s*[1-9]"#).ok()
    });
    static TRAP: Pattern = LazyLock::new(|| Regex::new(r"\btrap\s[^;\n]*\bexit\s+0").ok());
    if matches(&TRAP, script) {
        return Some("a trap replaces its exit code");
    }
    if matches(&IGNORED, script) {
        return Some("it was told to ignore failures");
    }
    if matches(&EXCUSED, script) {
        return Some(REPLACED);
    }
    let asks = script.contains("$?") || script.contains("PIPESTATUS");
    if asks && (prints_exit_code(script) || matches(&USED, script)) {
        return None;
    }
    let script = without_here_documents(script);
    let bare = QUOTED.as_ref()?.replace_all(&script, "_");
    // What is done after a failure hides nothing if it ends with one.
    let bare = AFTER.as_ref()?.replace_all(&bare, |group: &Captures<'_>| {
        if matches(&FAILS, &group[1]) { String::new() } else { "|| :".to_owned() }
    });
    let replaced = OR.as_ref()?.captures_iter(&bare).any(|after| {
        let (program, rest) = (&after[1], after[2].trim());
        let fails = matches!(program, "false" | "die" | "kill")
            || matches!(program, "exit" | "return") && rest != "0";
        !fails && !runs_something_that_decides(&format!("{program} {rest}"))
    });
    if replaced {
        Some(REPLACED)
    } else if matches(&PIPE, &bare) && !script.contains("pipefail") {
        Some(OF_A_PIPE)
    } else if matches(&TURNED, &bare) {
        Some("`!` inverts its exit code")
    } else if matches(&BESIDE, &bare) {
        Some("it is left running in the background, so nobody sees its exit code")
    } else if matches(&BRANCH, &bare) && !bare.contains("exit ") && !bare.contains("false") {
        Some("its exit code only decides what the shell does next")
    } else if is_followed(&bare) {
        Some("its exit code is that of the command after it")
    } else {
        None
    }
}

fn runs_something_that_decides(script: &str) -> bool {
    [CommandKind::Test, CommandKind::Build, CommandKind::Lint].iter().any(|kind| kind.is(script))
}

/// Whether another command follows the test, build or check, and determines the exit code.
fn is_followed(script: &str) -> bool {
    let parts = script.split([';', '\n']).map(str::trim);
    let mut parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    // The end of a loop or group has no exit code of its own.
    while parts.last().is_some_and(|part| ["done", "fi", "}", ")", "esac"].contains(part)) {
        parts.pop();
    }
    let Some((last, before)) = parts.split_last() else { return false };
    let mut ends_at_failure = false;
    let is_ignored = |part: &&str| {
        if let Some(options) = part.strip_prefix("set ") {
            let errexit = |sign| {
                options.split(' ').any(|word| {
                    word.strip_prefix(sign).is_some_and(|letters| letters.contains('e'))
                })
            };
            ends_at_failure = (ends_at_failure || errexit('-')) && !errexit('+');
        }
        !ends_at_failure && runs_something_that_decides(part)
    };
    !runs_something_that_decides(last) && before.iter().any(is_ignored)
}

/// Whether the exit code is only printed: `pytest; echo $?`.
pub fn prints_exit_code(script: &str) -> bool {
    static PRINTED: Pattern = LazyLock::new(|| {
        Regex::new(r"\b(echo|printf)\b[^;\n|&]*\$(\?|\{?(rc|code|status|ret|exit)\b)").ok()
    });
    static OWN: Pattern = LazyLock::new(|| Regex::new(r#"\bexit\s+"?\$"#).ok());
    matches(&PRINTED, script) && !matches(&OWN, script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_that_is_only_printed_is_seen() {
        for script in ["pytest; echo $?", "pytest; rc=$?; echo \"rc=$rc\""] {
            assert!(prints_exit_code(script), "{script}");
        }
        for script in ["pytest", "./t; code=$?; rm t; exit $code", "test $? -eq 0"] {
            assert!(!prints_exit_code(script), "{script}");
        }
    }

    #[test]
    fn an_exit_code_that_is_not_the_tests_own_is_seen() {
        for (script, hidden) in [
            ("pytest", false),
            ("pytest -k 'a|b'", false),
            ("pytest && echo ok", false),
            ("set -o pipefail; pytest | tail", false),
            ("pytest; echo $?", false),
            ("pytest | tail -3", true),
            ("pytest || true", true),
            ("pytest; echo done", true),
            ("pytest || echo failed", true),
            ("pytest || ls", true),
            ("pytest || exit 1", false),
            ("pytest || python3 -m pytest", false),
            ("pytest; ls", true),
            ("pytest\ncat log", true),
            ("cd x; pytest", false),
            ("set -e; pytest; ls", false),
            ("for x in a b; do pytest $x; done", false),
            ("! pytest", true),
            ("trap 'exit 0' EXIT; pytest", true),
            ("trap 'rm -f x' EXIT; pytest", false),
            ("pytest > log 2>&1 &", true),
            ("mvn -B test -Dmaven.test.failure.ignore=true", true),
            ("mvn -fn verify", true),
            ("mvn -B test -Dmaven.test.failure.ignore=false", false),
            ("make -i test", true),
            ("make -C x test", false),
            ("bash -lc 'pytest -q; tail log'", true),
            ("bash -c \"pytest | tee log\"", true),
            ("bash -c 'set -o pipefail; pytest | tee log'", false),
            ("cd x && sh -c 'cd y && pytest'", false),
            ("pytest 2>&1", false),
            ("pytest &> log", false),
            ("if pytest; then echo ok; fi", true),
            ("make a && pytest && ls", false),
            ("pytest; set -e; ls", true),
            ("timeout 9 pytest || [ $? -eq 124 ]", true),
            ("pytest || [ $? -ne 0 ]", false),
            ("set -euo pipefail; pytest | tail; ls", false),
            ("set -e; ls; set +e; pytest; ls", true),
            ("set -o pipefail; pytest | tail; ls", true),
            ("pytest; rc=$?; ls", true),
            ("pytest; rc=$?; rm t; exit $rc", false),
            ("pytest; test $? -eq 0", false),
            ("pytest || return 0", true),
            ("pytest || { echo failed; true; }", true),
            ("pytest || { echo failed; exit 1; }", false),
            ("pytest || (cat log; false)", false),
            ("pytest || { cat log; exit 0; }", true),
        ] {
            assert_eq!(hides_exit_code(script).is_some(), hidden, "{script}");
        }
    }
}
