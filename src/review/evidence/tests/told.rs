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

#[test]
fn a_result_that_is_only_retold_is_one_of_a_test_run() {
    const BACKGROUND: &str =
        "Command running in background with ID: bx12y. Output is being written to: /t/bx12y.output";
    const SAVED: &str = "<persisted-output>\nOutput too large (80KB). Full output saved to: /h/p/tool-results/b1.txt\n\nPreview (first 2KB):\ntest_a PASSED\n";
    for (tools, json, holds) in [
        (
            vec![
                (
                    "Write",
                    r#"{"file_path":"/p/out.log","content":"3 passed"}"#,
                    "File created successfully at: /p/out.log",
                ),
                ("Read", r#"{"file_path":"/p/out.log"}"#, "1\t3 passed"),
            ],
            r#"{"command":"Read out.log","quote":"3 passed"}"#,
            false,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest > out.log"}"#, ""),
                ("Read", r#"{"file_path":"/p/out.log"}"#, "1\t3 passed"),
            ],
            r#"{"command":"Read out.log","quote":"3 passed"}"#,
            true,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest > /p/out.log"}"#, ""),
                ("Read", r#"{"file_path":"/p/out.log"}"#, "1\t1 failed, 3 passed"),
            ],
            r#"{"command":"Read out.log","quote":"3 passed"}"#,
            false,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest","run_in_background":true}"#, BACKGROUND),
                (
                    "TaskOutput",
                    r#"{"task_id":"bx12y"}"#,
                    "<status>completed</status>\n<exit_code>0</exit_code>\n<output>\n3 passed in 1s\n</output>",
                ),
            ],
            r#"{"command":"TaskOutput bx12y","quote":"3 passed"}"#,
            true,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest","run_in_background":true}"#, BACKGROUND),
                ("Read", r#"{"file_path":"/t/bx12y.output"}"#, "1\t3 passed in 1s"),
            ],
            r#"{"command":"Read bx12y.output","quote":"3 passed"}"#,
            true,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest","run_in_background":true}"#, BACKGROUND),
                (
                    "TaskOutput",
                    r#"{"task_id":"bx12y"}"#,
                    "<status>failed</status>\n<exit_code>1</exit_code>\n<output>\n1 failed, 3 passed in 1s\n</output>",
                ),
            ],
            r#"{"command":"TaskOutput bx12y","quote":"3 passed"}"#,
            false,
        ),
        (
            vec![("TaskOutput", r#"{"task_id":"a77agent"}"#, "All 3 tests pass, 3 passed.")],
            r#"{"command":"TaskOutput","quote":"3 passed"}"#,
            false,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest -v"}"#, SAVED),
                ("Bash", r#"{"command":"tail -1 /h/p/tool-results/b1.txt"}"#, "900 passed in 3s"),
            ],
            r#"{"command":"tail -1 /h/p/tool-results/b1.txt","quote":"900 passed in 3s"}"#,
            true,
        ),
        (
            vec![
                ("Bash", r#"{"command":"pytest -v"}"#, SAVED),
                ("Read", r#"{"file_path":"/h/p/tool-results/b1.txt"}"#, "900 passed in 3s"),
            ],
            r#"{"command":"Read b1.txt","quote":"900 passed in 3s"}"#,
            true,
        ),
        (
            vec![(
                "Grep",
                r#"{"pattern":"passed","path":"notes.md"}"#,
                "notes.md:3:all tests pass: 3 passed",
            )],
            r#"{"command":"Grep","quote":"3 passed"}"#,
            false,
        ),
    ] {
        let mut agent = Commands::default();
        for (at, (tool, input, output)) in tools.iter().enumerate() {
            agent.started(&at.to_string(), tool, input);
            agent.ended(&at.to_string(), output, false);
        }
        let facts = Known { agent, ..Known::default() };
        let evidence: Evidence = serde_json::from_str(json).unwrap();
        let found = verify(&[evidence], false, &facts)[0].clone().unwrap_or_default();
        assert_eq!(found.is_empty(), holds, "{tools:?} {json}: {found}");
    }
}
