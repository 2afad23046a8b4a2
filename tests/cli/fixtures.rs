//! Every fixture, on the real loop and on the machine alone. Both must agree with the script, and
//! with each other.

use std::path::{Path, PathBuf};
use std::process::Command;

use ccc::fixture::{Script, run_on_machine};

fn fixtures() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .expect("the fixtures")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert!(files.len() > 25, "{files:?}");
    files
}

#[test]
fn every_fixture_holds_on_the_machine_alone() {
    let mut failures = Vec::new();
    for file in fixtures() {
        if let Err(error) = Script::load(&file).and_then(|script| run_on_machine(&script)) {
            failures.push(format!("{}: {error:#}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_fixture_holds_on_a_real_pty_and_ends_with_the_same_code() {
    let mut failures = Vec::new();
    for file in fixtures() {
        let output = Command::new(env!("CARGO_BIN_EXE_ccc"))
            .args(["replay", "--instant"])
            .arg(&file)
            .output()
            .expect("ccc runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        let rehearsed = Script::load(&file).and_then(|script| run_on_machine(&script));
        let wanted = rehearsed.map_or(-1, |outcome| outcome.exit_code());
        if !errors.is_empty() || output.status.code() != Some(wanted) {
            failures.push(format!(
                "{}: {} (wanted {wanted})\n{errors}",
                file.display(),
                output.status
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn an_expectation_that_fails_is_named_with_its_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let begin = r#"{"fixture":1,"title":"t","prompt":"do it"}
{"agent_takes":"do it"}
{"agent_done":"Done."}
{"review_starts":["do it"]}
{"supervisor_verdict":{"completed":true,"feedback":""}}
"#;
    for (step, part) in [
        (r#"{"expect_outcome":"limit"}"#, "line 6: expected \"limit\""),
        (r#"{"expect_phase":"reviewing"}"#, "line 6: expected the phase \"reviewing\""),
        (r#"{"expect_screen":"nonsense"}"#, "line 6: the screen does not show \"nonsense\""),
        (r#"{"agent_takes":"more"}"#, "line 6: "),
    ] {
        let file = dir.path().join("wrong.jsonl");
        std::fs::write(&file, format!("{begin}{step}\n")).expect("a file");
        let error = Script::load(&file).and_then(|script| run_on_machine(&script)).expect_err(step);
        assert!(format!("{error:#}").contains(part), "{step}: {error:#}");
        let mut replay = Command::new(env!("CARGO_BIN_EXE_ccc"));
        let output = replay.args(["replay", "--instant"]).arg(&file).output().expect("ccc runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{step}: {errors}");
        assert!(errors.contains(part), "{step}: {errors}");
    }
}
