//! What ran later, and what was only tried.

use super::*;

#[test]
fn a_run_that_failed_later_refutes_an_earlier_one() {
    const PASSED: (&str, &str) = ("pytest -q", "3 passed in 0.02s");
    let quoted = r#"{"command":"pytest -q","quote":"3 passed"}"#;
    let after = |later: &[(&str, &str)]| check_after(&[&[PASSED][..], later].concat(), quoted);
    for failed in [("!pytest", "Exit code 1\n1 failed"), ("!pytest -x -v", "Exit code 1\n1 failed")]
    {
        assert!(after(&[failed]).contains("ran later and failed"), "{failed:?}");
        assert_eq!(after(&[failed, PASSED]), "");
    }
    // Other tests, and a call that was wrong.
    for other in [
        ("!pytest tests/slow", "Exit code 1\n1 failed"),
        ("!cd ../old && pytest", "Exit code 1\n1 failed"),
        ("!ruff check", "Exit code 1"),
        ("!pytest --nope", "Exit code 4\nerror: unrecognized arguments"),
    ] {
        assert_eq!(after(&[other]), "", "{other:?}");
    }
}

#[test]
fn what_was_only_tried_was_not_done() {
    let quoted = r#"{"command":"git push","quote":"main -> main"}"#;
    let after = |command: &str| check_after(&[(command, "To x\n   1..2  main -> main")], quoted);
    assert_eq!(after("git push origin main"), "");
    assert_eq!(after("git push --dry-run"), "it was a dry run, which pushes nothing");
}

#[test]
fn tests_of_what_was_there_before_prove_nothing() {
    let script = "git stash -q; pytest -q; git stash pop";
    let quoted = r#"{"command":"pytest -q","quote":"3 passed"}"#;
    let why = check_after(&[(script, "3 passed in 0.02s")], quoted);
    assert_eq!(why, "git had put the work away while it ran");
    let real = ("pytest -q", "3 passed in 0.02s");
    assert_eq!(check_after(&[real, (script, "1 failed")], quoted), "");
}
