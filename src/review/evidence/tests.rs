mod disguised;
mod judge;
mod later;
mod old;
mod told;

use super::*;

#[derive(Default)]
struct Known {
    agent: Commands,
    earlier: Commands,
    judge: Commands,
}

impl Facts for Known {
    fn record(&self) -> Record<'_> {
        Record { agent: &self.agent, earlier: Some(&self.earlier), judge: &self.judge }
    }

    fn has_file(&self, path: &str) -> bool {
        path == "slug.py"
    }

    fn file(&self, path: &str) -> Result<String, String> {
        let line = |at: usize| if at == 99 { "def test_accents():" } else { "    pass" };
        match path {
            "slug.py" => Ok((0..200).map(line).collect::<Vec<_>>().join("\n")),
            "log.txt" => Ok("3 passed in 0.02s\n48 passed in 0.31s\n".to_owned()),
            "ci.yml" => Ok("python: ['3.11', '3.13']\n".to_owned()),
            path => Err(format!("there is no {path}")),
        }
    }

    fn is_old(&self, path: &str, _text: &str, quote: &str) -> bool {
        path == "slug.py" && quote.contains("def test_accents")
    }

    fn check(&self, name: &str) -> Option<bool> {
        [("cargo test", true), ("lint", false)]
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, green)| *green)
    }

    fn answer(&self) -> &'static str {
        "It is slow because\nthe index is missing."
    }

    fn said(&self) -> Vec<&str> {
        vec!["Why is it slow? Make it fast.", "Never mind the docs."]
    }
}

/// Each entry is `edit FILE`, or a command with its output; `!` marks a command that fails.
fn ran(lines: &[(&str, &str)]) -> Commands {
    let mut commands = Commands::default();
    for (at, (command, output)) in lines.iter().enumerate() {
        let id = at.to_string();
        let failed = command.starts_with('!');
        match command.strip_prefix("edit ") {
            Some(path) => {
                commands.started(&id, "Edit", &format!(r#"{{"file_path":{path:?}}}"#));
            }
            None => {
                let input = serde_json::json!({"command": command.trim_start_matches('!')});
                commands.started(&id, "Bash", &input.to_string());
            }
        }
        commands.ended(&id, output, failed);
    }
    commands
}

fn check(json: &str) -> String {
    check_after(&[("cd x && pytest -q", "...\n3 passed in 0.02s")], json)
}

fn check_after(lines: &[(&str, &str)], json: &str) -> String {
    let judge = ran(&[("test -f slug.py", "")]);
    let facts = Known { agent: ran(lines), judge, ..Known::default() };
    let evidence: Evidence = serde_json::from_str(json).unwrap();
    verify(&[evidence], false, &facts)[0].clone().unwrap_or_default()
}

#[test]
fn evidence_that_exists_holds() {
    for json in [
        r#"{"check":"cargo test"}"#,
        r#"{"command":"pytest  -q","quote":"3 passed"}"#,
        r#"{"command":"test -f slug.py","quote":""}"#,
        r#"{"file":"slug.py:100","quote":"def test_accents():"}"#,
        r#"{"file":"slug.py:92","quote":"pass\ndef test_accents():\n pass"}"#,
        r#"{"file":"slug.py","quote":"def test_accents"}"#,
        // A very short quote, in exactly the line that is named.
        r#"{"file":"slug.py:100","quote":"s():"}"#,
        r#"{"file":"slug.py:100","quote":"accents"}"#,
        r#"{"file":"slug.py:100","quote":"cents"}"#,
        r#"{"file":"ci.yml","quote":"['3.11', '3.13']"}"#,
        // A test run printed the same.
        r#"{"file":"log.txt","quote":"3 passed in 0.02s"}"#,
        r#"{"answer":"because the index is missing"}"#,
        r#"{"user":"Never mind"}"#,
        // As judges write: other fields are there and empty, the quote is marked or shortened.
        r#"{"check":"","command":"$ pytest -q","file":"","answer":"","quote":"3 passed"}"#,
        r#"{"command":"`pytest -q`","quote":"`3 passed in 0.02s`"}"#,
        r#"{"command":"pytest -q","quote":"... 3 passed [...] 0.02s"}"#,
        r#"{"file":"slug.py, line 100","quote":"100→def test_accents():"}"#,
        r#"{"file":"slug.py::test_accents","quote":"def test_accents(): …"}"#,
    ] {
        assert_eq!(check(json), "", "{json}");
    }
}

#[test]
fn evidence_that_does_not_exist_says_why() {
    for (json, why) in [
        (r#"{"check":"lint"}"#, "has not passed"),
        (r#"{"check":"fuzz"}"#, "no check named \"fuzz\""),
        (r#"{"command":"cargo test","quote":"test result: ok"}"#, "the command was not run"),
        (r#"{"command":"pytest -q","quote":"4 passed"}"#, "does not contain \""),
        (r#"{"command":"pytest -q","quote":""}"#, "none of its output"),
        (r#"{"command":" ","quote":"3 passed"}"#, "no command is named"),
        (r#"{"file":"gone.py:1","quote":"def gone"}"#, "there is no gone.py"),
        (r#"{"file":"slug.py:100","quote":"def test_umlauts"}"#, "does not contain \""),
        (r#"{"file":"slug.py:5","quote":"def test_accents"}"#, "not near line 5"),
        (r#"{"file":"slug.py:100","quote":" ) "}"#, "too short"),
        (r#"{"file":"log.txt","quote":"48 passed in 0.31s"}"#, "no test run that wrote it"),
        (r#"{"file":"slug.py:99999999999","quote":"def test_accents"}"#, "there is no slug.py:9"),
        (r#"{"answer":"it is fast now"}"#, "does not say that"),
        (r#"{"user":"no tests please"}"#, "did not say that"),
        (r#"{"user":"Make it fast"}"#, "not later"),
        (r#"{"user":"mind"}"#, "too short"),
        // A whole line, but one that occurs too often.
        (r#"{"file":"slug.py","quote":"    pass"}"#, "too short"),
        (r#"{"file":"slug.py:7","quote":"    pass"}"#, "too short"),
        (r#"{"file":"slug.py","quote":"pass pass pass"}"#, "places"),
        (r#"{"file":"slug.py:7","quote":"}"}"#, "too short"),
        (r#"{"file":"slug.py:100","quote":"def"}"#, "too short"),
        (r#"{"file":"slug.py:100","quote":""}"#, "too short"),
        (r#"{"answer":"the"}"#, "too short"),
        (r#"{"answer":""}"#, "too short"),
        (r#"{"command":"pytest -q","quote":"."}"#, "too short"),
        (r#"{"command":"pytest -q","quote":"in"}"#, "too short"),
    ] {
        assert!(check(json).contains(why), "{json}: {}", check(json));
    }
}

#[test]
fn a_shortened_quote_is_there_in_its_order_and_says_enough() {
    const RUN: (&str, &str) =
        ("pytest -v", "test_a PASSED\ntest_b PASSED\n\x1b[32m2 passed\x1b[0m in 0.1s");
    let of = |quote: &str| {
        check_after(&[RUN], &serde_json::json!({"command": "pytest", "quote": quote}).to_string())
    };
    for quote in
        ["test_a PASSED … 2 passed in 0.1s", "test_a [...] test_b PASSED ...", "2 passed in"]
    {
        assert_eq!(of(quote), "", "{quote}");
    }
    for quote in ["test_b PASSED … test_a PASSED", "test_a … in", "test_a … 3 passed", "…"]
    {
        assert_ne!(of(quote), "", "{quote}");
    }
    let own = [("pytest; echo deployed; echo all well", "1 failed\ndeployed\nall well")];
    let why = check_after(&own, r#"{"command":"pytest","quote":"deployed … all well"}"#);
    assert!(why.contains("prints these words itself"), "{why}");
}

#[test]
fn a_search_without_a_hit_shows_that_nothing_is_left() {
    let of = |command: &str, output| {
        let quoted = serde_json::json!({"command": command.trim_start_matches('!'), "quote": ""});
        check_after(&[(command, output)], &quoted.to_string())
    };
    assert_eq!(of("!grep -rn old .", "Exit code 1"), "");
    assert_eq!(of("!git grep old", "Exit code 1\n"), "");
    assert_ne!(of("!grep -rn old gone", "Exit code 2\ngrep: gone: No such file"), "");
    assert_ne!(of("!test -f gone.py", "Exit code 1"), "");
}

#[test]
fn what_a_script_says_itself_and_what_only_lists_shows_nothing() {
    let pytest = r#"{"command":"pytest","quote":"3 passed"}"#;
    check_all(&[
        (
            &[("ls; echo deployed well", "a\ndeployed well")],
            r#"{"command":"ls","quote":"deployed well"}"#,
            "prints these words itself",
        ),
        (
            &[("test -f a && echo it is there", "it is there")],
            r#"{"command":"test -f a","quote":"it is there"}"#,
            "",
        ),
        (
            &[("pytest --collect-only", "3 tests collected")],
            r#"{"command":"pytest","quote":"3 tests collected"}"#,
            "only tells what it would run",
        ),
        (&[("pytest() { cat log; }; pytest", "3 passed")], pytest, "defines what it runs"),
        (
            &[("if pytest; then echo OK; else echo OK; fi", "OK")],
            r#"{"command":"pytest","quote":"OK"}"#,
            "does not say that a test passed",
        ),
        (
            &[("npm test", "✓ shows 2 errors\n3 passed")],
            r#"{"command":"npm test","quote":"3 passed"}"#,
            "",
        ),
        (
            &[("ls && echo '3 passed'", "3 passed")],
            r#"{"command":"ls","quote":"3 passed"}"#,
            "part of the command itself",
        ),
        (
            &[("cd x && go test ./...", "ok  \tx/y\t0.01s")],
            r#"{"command":"go test ./...","quote":"x/y\t0.01s"}"#,
            "",
        ),
        (
            &[("!python3 -c 'f()'", "Exit code 1\nTraceback (most recent call last):\nshop.Empty")],
            r#"{"command":"python3 -c 'f()'","quote":"shop.Empty"}"#,
            "",
        ),
    ]);
}

/// What ran, the evidence, and why it does not hold (empty if it does).
#[test]
fn a_command_shows_something_only_if_it_was_run_and_did_something() {
    let passed = "Ran 3 tests in 0.1s\n\nOK";
    let pytest = r#"{"command":"pytest","quote":"3 passed"}"#;
    let unittest = r#"{"command":"python3 -m unittest","quote":"Ran 3 tests"}"#;
    for (lines, json, why) in [
        (&[("python3 -m unittest", passed)][..], unittest, ""),
        (&[("cd a && python3 -m unittest -v 2>&1 | tail -5", passed)], unittest, ""),
        (&[("uv run pytest -q", "3 passed in 1s")], pytest, ""),
        (&[("timeout 9 pytest -q", "3 passed in 1s")], pytest, ""),
        (
            &[("pytest", "1 failed, 3 passed"), ("edit a.py", ""), ("pytest", "3 passed")],
            pytest,
            "",
        ),
        (&[("pytest", "3 passed"), ("edit README.md", "")], pytest, ""),
        // Named, printed or written to a file, but never run.
        (&[("echo pytest", "pytest: 3 passed")], pytest, "the command was not run"),
        (&[("echo 'pytest: 3 passed'", "pytest: 3 passed")], pytest, "was not run"),
        (&[("cat pytest.log", "3 passed")], pytest, "was not run"),
        (&[("grep -r pytest .", "3 passed")], pytest, "was not run"),
        (&[("git commit -m 'pytest: 3 passed'", "3 passed")], pytest, "was not run"),
        (&[("cat > a.sh <<'E'\npytest\nE\necho 3 passed", "3 passed")], pytest, "was not run"),
        (&[("edit pytest", "3 passed")], pytest, "was not run"),
        (&[("ls -a", "3 passed")], r#"{"command":"s","quote":"3 passed"}"#, "was not run"),
        // Only prints its arguments.
        (
            &[("echo '3 passed'", "3 passed")],
            r#"{"command":"echo '3 passed'","quote":"3 passed"}"#,
            "only prints",
        ),
        (
            &[("printf '3 passed'", "3 passed")],
            r#"{"command":"printf '3 passed'","quote":"3 passed"}"#,
            "only prints",
        ),
        (&[("true", "")], r#"{"command":"true","quote":""}"#, "only prints"),
        (&[("pytest; echo '3 passed'", "3 passed")], pytest, "prints these words itself"),
        (&[("test -f a && echo there", "there")], r#"{"command":"test -f a","quote":"there"}"#, ""),
        // Tests whose result shows the opposite.
        (&[("!pytest", "Exit code 1\n1 failed, 3 passed")], pytest, "it failed"),
        (&[("pytest | tail -1", "1 failed, 3 passed")], pytest, "a test failed"),
        (&[("pytest || true", "1 failed, 3 passed")], pytest, "a test failed"),
        (
            &[("python3 -m unittest", "Ran 0 tests in 0s\n\nOK")],
            r#"{"command":"python3 -m unittest","quote":"Ran 0 tests"}"#,
            "no test ran",
        ),
        (&[("pytest", "3 passed"), ("edit a.py", "")], pytest, "before the last edit (a.py)"),
        (
            &[("pytest", "3 passed"), ("sed -i s/a/b/ a.py", "")],
            pytest,
            "before the last edit (a.py)",
        ),
        (
            &[
                ("pytest", "3 passed"),
                ("edit a.py", ""),
                ("!pytest", "Exit code 1\n1 failed, 2 passed"),
            ],
            pytest,
            "does not contain \"",
        ),
        (
            &[("!pytest", "Exit code 1\n1 failed, 3 passed")],
            r#"{"command":"pytest","quote":"1 failed, 3 passed"}"#,
            "it failed",
        ),
        (
            &[("sed -i s/a/b/ a.py", "")],
            r#"{"command":"sed -i s/a/b/ a.py","quote":""}"#,
            "it changed something (a.py)",
        ),
        // Something whose effect ccc cannot see has changed the files since.
        (
            &[
                ("pytest", "3 passed"),
                ("./gen", ""),
                ("!pytest", "Exit code 1\n1 failed, 2 passed"),
            ],
            pytest,
            "does not contain \"",
        ),
        // The tests failed, a file was edited, and they were not run again.
        (
            &[("!pytest", "Exit code 1\n1 failed, 3 passed"), ("edit a.py", "")],
            r#"{"command":"pytest","quote":"1 failed, 3 passed"}"#,
            "it failed",
        ),
        // Shortened, as in the brief.
        (
            &[("pytest -q --some-option", "3 passed")],
            r#"{"command":"pytest -q --so…","quote":"3 passed"}"#,
            "",
        ),
    ] {
        let found = check_after(lines, json);
        assert!(
            found.contains(why) && found.is_empty() == why.is_empty(),
            "{lines:?} {json}: {found:?}"
        );
    }
}

/// What ran, the evidence, and why it does not hold (empty if it does).
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

#[track_caller]
fn check_all(cases: &[Case<'_>]) {
    for (lines, json, why) in cases {
        let found = check_after(lines, json);
        assert!(
            found.contains(why) && found.is_empty() == why.is_empty(),
            "{lines:?} {json}: {found:?}"
        );
    }
}

#[test]
fn a_refused_command_shows_nothing_although_its_refusal_can_be_quoted() {
    let push = r#"{"command":"git push origin main","quote":"ccc denied git push"}"#;
    let read = r#"{"command":"cat notes","quote":"Permission to use Bash"}"#;
    check_all(&[
        (&[("!git push origin main", "ccc denied git push: it acts elsewhere")], push, "refused"),
        (&[("!cat notes", "Permission to use Bash has been denied.")], read, "refused"),
    ]);
}

#[test]
fn a_failure_is_no_success_whatever_of_it_is_quoted() {
    let build = r#"{"command":"cargo build","quote":"Compiling slug v0.1"}"#;
    let run = r#"{"command":"./run","quote":"starting up"}"#;
    check_all(&[
        (&[("!cargo build", "Exit code 101\nCompiling slug v0.1\nerror: x")], build, "it failed"),
        (&[("cargo build 2>&1 | tail -9", "Compiling slug v0.1\nFinished dev")], build, ""),
        (
            &[("cargo build 2>&1 | tail -9", "Compiling slug v0.1\nerror: could not compile")],
            build,
            "reports an error",
        ),
        (&[("!./run", "Exit code 1\nstarting up\nTraceback")], run, "it failed"),
        (&[("./run", "starting up")], run, ""),
        // The quote is the error of a program that is supposed to report one.
        (
            &[("!./run --bad", "Exit code 2\nerror: unknown option --bad")],
            r#"{"command":"./run --bad","quote":"error: unknown option"}"#,
            "",
        ),
        // The command was run to show a difference, so its exit code is no failure.
        (
            &[("!diff a b", "Exit code 1\n> a line that was added")],
            r#"{"command":"diff a b","quote":"a line that was added"}"#,
            "",
        ),
    ]);
}

#[test]
fn a_run_that_hides_its_exit_code_has_to_say_that_it_passed() {
    let quote = |quote: &str| format!(r#"{{"command":"pytest","quote":"{quote}"}}"#);
    check_all(&[
        (&[("pytest | head -3", "collected 3 items")], &quote("collected 3 items"), "in the pipe"),
        (&[("pytest | tail -1", "3 passed in 0.1s")], &quote("3 passed"), ""),
        (&[("pytest >/dev/null || true; ls", "done")], &quote("done"), "follows ||"),
        (&[("pytest; ls", "slug.py")], &quote("slug.py"), "the command after it"),
        (&[("cd . && ! pytest", "slug.py")], &quote("slug.py"), "inverts its exit code"),
        (
            &[("pytest -q >/dev/null; echo rc=$?", "rc=1")],
            &quote("rc=1"),
            "only prints the exit code",
        ),
        (&[("pytest -q >/dev/null; echo rc=$?", "rc=0")], &quote("rc=0"), ""),
        (&[("pytest &", "[1] 4711")], &quote("4711"), "in the background"),
        (
            &[("pytest", "Command running in background with ID: b1")],
            &quote("Command running in background"),
            "ccc did not see it end",
        ),
    ]);
}

#[test]
fn what_printed_nothing_shows_something_only_by_ending_well() {
    let silent = |command: &str| format!(r#"{{"command":"{command}","quote":""}}"#);
    check_all(&[
        (&[("cd x && test -f a", "")], &silent("test -f a"), ""),
        (&[("git status --porcelain", "")], &silent("git status --porcelain"), ""),
        (&[("test -f a || true", "")], &silent("test -f a"), "that of something else"),
        (&[("mkdir -p x && cd x", "")], &silent("mkdir -p x"), "which proves nothing"),
        (&[("git add -A", "")], &silent("git add -A"), "which proves nothing"),
        (&[("cat USAGE.md", "")], &silent("cat USAGE.md"), "which proves nothing"),
        (&[("test -f a.py", ""), ("rm a.py", "")], &silent("test -f a.py"), "before the last"),
    ]);
    let mut agent = Commands::default();
    agent.started("1", "Bash", r#"{"command":"pytest"}"#);
    let facts = Known { agent, ..Known::default() };
    let evidence: Evidence = serde_json::from_str(&silent("pytest")).unwrap();
    assert!(
        verify(&[evidence], false, &facts)[0].as_ref().unwrap().contains("ccc did not see it end")
    );
}

#[test]
fn what_ran_before_an_edit_says_nothing_about_what_it_depends_on() {
    let run = r#"{"command":"python3 main.py","quote":"total 5.00"}"#;
    let read = r#"{"command":"cat slug.py","quote":"def slugify(title)"}"#;
    let page = r#"{"command":"curl x.org","quote":"the answer is 42"}"#;
    let main = ("python3 main.py", "total 5.00");
    check_all(&[
        (&[("edit cart.py", ""), main], run, ""),
        (&[main, ("edit cart.py", "")], run, "before the last edit (cart.py)"),
        (&[main, ("edit cart.py", ""), main], run, ""),
        // Edits that do not matter: the saved output, added tests, the readme.
        (&[main, ("edit out.json", "")], run, ""),
        (&[main, ("edit tests/test_main.py", "")], run, ""),
        (&[main, ("edit README.md", "")], run, ""),
        (&[("cat slug.py", "def slugify(title)"), ("edit slug.py", "")], read, "before the last"),
        (&[("cat slug.py", "def slugify(title)"), ("edit cart.py", "")], read, ""),
        (&[("curl x.org", "the answer is 42"), ("edit cart.py", "")], page, ""),
    ]);
}
