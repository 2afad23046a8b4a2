//! Other tools than the shell, and what only tells of a test run.

use super::*;

#[test]
fn words_of_a_test_run_count_where_a_test_run_has_printed_them() {
    let log = r#"{"command":"cat out.log","quote":"3 passed"}"#;
    check_all(&[
        (&[("cat out.log", "3 passed in 1s")], log, "ccc saw no test run"),
        (&[("echo 3 passed > out.log", ""), ("cat out.log", "3 passed")], log, "no test run"),
        (&[("pytest > out.log 2>&1", ""), ("cat out.log", "3 passed in 1s")], log, ""),
        (
            &[
                (
                    "pytest",
                    "Command running in background with ID: b1. Output is being written to: out.log",
                ),
                ("cat out.log", "3 passed in 1s"),
            ],
            log,
            "",
        ),
    ]);
}

#[test]
fn other_tools_are_cited_by_their_name() {
    let mut agent = Commands::default();
    agent.started("1", "Read", r#"{"file_path":"/p/slug.py"}"#);
    agent.ended("1", "1\tdef slugify(title):", false);
    agent.started("2", "Write", r#"{"file_path":"/p/a.py","content":"pytest -q"}"#);
    agent.ended("2", "File created successfully at: /p/a.py", false);
    agent.started("3", "Task", r#"{"prompt":"run the tests"}"#);
    agent.ended("3", "All 3 tests pass.", false);
    let facts = Known { agent, ..Known::default() };
    for (json, why) in [
        (r#"{"command":"Read slug.py","quote":"def slugify(title)"}"#, ""),
        (r#"{"command":"Read","quote":"def slugify(title)"}"#, ""),
        (r#"{"command":"slug.py","quote":"def slugify(title)"}"#, "was not run"),
        (r#"{"command":"pytest -q","quote":"created successfully"}"#, "was not run"),
        (r#"{"command":"Write a.py","quote":"created successfully"}"#, "cite the file"),
        (r#"{"command":"Task","quote":"All 3 tests pass."}"#, "was not run"),
    ] {
        let evidence: Evidence = serde_json::from_str(json).unwrap();
        let found = verify(&[evidence], false, &facts)[0].clone().unwrap_or_default();
        assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{json}: {found:?}");
    }
}

/// What ran, the tool that is cited, and whether it shows that three tests passed.
#[test]
fn a_result_that_is_only_retold_is_one_of_a_test_run() {
    const STARTED: &str =
        "Command running in background with ID: bx12y. Output is being written to: /t/bx12y.output";
    const SAVED: &str = "<persisted-output>\nOutput too large (80KB). Full output saved to: /h/b1.txt\n\n\
        Preview (first 2KB):\ntest_a PASSED\n";
    const PASSED: &str = "1\t3 passed in 1s";
    const FAILED: &str = "1\t1 failed, 3 passed in 1s";
    let test = |command, output| ("Bash", "command", command, output);
    let log = |output| ("Read", "file_path", "/p/out.log", output);
    let task = |output| ("TaskOutput", "task_id", "bx12y", output);
    for (ran, cited, holds) in [
        (
            vec![("Write", "file_path", "/p/out.log", "File created successfully"), log(PASSED)],
            "Read out.log",
            false,
        ),
        (vec![test("pytest > out.log", ""), log(PASSED)], "Read out.log", true),
        (vec![test("pytest > /p/out.log", ""), log(FAILED)], "Read out.log", false),
        (vec![test("pytest", STARTED), task(PASSED)], "TaskOutput bx12y", true),
        (vec![test("pytest", STARTED), task(FAILED)], "TaskOutput bx12y", false),
        (
            vec![test("pytest", STARTED), ("Read", "file_path", "/t/bx12y.output", PASSED)],
            "Read bx12y",
            true,
        ),
        // A sub-agent's words.
        (
            vec![("TaskOutput", "task_id", "a77agent", "All tests pass: 3 passed.")],
            "TaskOutput",
            false,
        ),
        (
            vec![test("pytest -v", SAVED), test("tail -1 /h/b1.txt", PASSED)],
            "tail -1 /h/b1.txt",
            true,
        ),
        (
            vec![test("pytest -v", SAVED), ("Read", "file_path", "/h/b1.txt", PASSED)],
            "Read b1.txt",
            true,
        ),
        (vec![("Grep", "path", "notes.md", "notes.md:3:all tests pass: 3 passed")], "Grep", false),
    ] {
        let mut agent = Commands::default();
        for (at, (tool, key, value, output)) in ran.iter().enumerate() {
            let (id, input) = (at.to_string(), serde_json::json!({ *key: value }));
            agent.started(&id, tool, &input.to_string());
            agent.ended(&id, output, false);
        }
        let facts = Known { agent, ..Known::default() };
        let cites = serde_json::json!({"command": cited, "quote": "3 passed"});
        let evidence: Evidence = serde_json::from_value(cites).unwrap();
        let found = verify(&[evidence], false, &facts)[0].clone().unwrap_or_default();
        assert_eq!(found.is_empty(), holds, "{ran:?} {cited}: {found}");
    }
}
