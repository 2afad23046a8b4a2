use super::super::activity::tests::activity;
use super::super::facts::{Changed, Examined, FileChange, GitState, How};
use super::*;

fn found(answer: &str, lines: &[&str], examined: &Examined) -> Vec<String> {
    unsupported(&Facts {
        examined,
        checks: &[],
        activity: &activity(lines),
        last_answer: answer,
        background: &[],
    })
}

#[track_caller]
fn check(answer: &str, lines: &[&str], examined: &Examined, why: &str) {
    let found = found(answer, lines, examined);
    assert_eq!(found.len(), usize::from(!why.is_empty()), "{answer} {lines:?}: {found:?}");
    assert!(found.iter().all(|text| text.contains(why)), "{answer} {lines:?}: {found:?}");
}

#[test]
fn a_claim_is_held_against_what_was_run() {
    for (lines, why) in [
        (&["edit a.py", "run pytest => 3 passed"][..], ""),
        (
            &["run pytest => 3 passed", "edit a.py"],
            "no test command ran after the last edit (a.py)",
        ),
        (&["run pytest => 3 passed", "edit README.md"], ""),
        (&["edit a.py"], "no test command was seen"),
        (&["edit a.py", "run echo pytest => 3 passed"], "no test command was seen"),
        (&["fail pytest => Exit code 1\n1 failed"], "failed with exit code 1"),
        (&["run pytest => collected 0 items\nno tests ran"], "ran no test"),
        (&["run cargo test => running 0 tests\n"], "ran no test"),
        (&["run cargo test => running 4 tests\nrunning 0 tests\n"], ""),
        (&["run pytest -q 2>&1 | tail -3 => 3 passed"], ""),
        (&["run pytest -q 2>&1 | head -3 => collected 3 items"], "last command in the pipe"),
        (&["run pytest || true => 1 failed, 3 passed"], "what follows || replaces"),
        (&["run pytest -q > log; echo done => done"], "the command after it"),
        (&["run pytest || echo '3 passed' => 3 passed"], "what follows || replaces"),
        (&["run set -o pipefail; pytest | tail => 3 passed"], ""),
        (&["fail pytest => Exit code 1", "edit a.py", "run pytest => 3 passed"], ""),
        (&["run make test => FAILED (failures=1)"], "says that a test failed"),
        (&["run npm test => ✓ shows 2 errors\n1 passed"], ""),
        (&["run pytest --collect-only => 3 tests collected"], "only tells what it would run"),
        (&["edit a.py", "run test -f a.py"], "no test command was seen"),
        (&["run git stash; pytest; git stash pop => 3 passed"], "git had put the work away"),
        (
            &[
                "edit a.py",
                "run pytest => 3 passed",
                "run git stash; pytest; git stash pop => 1 failed",
            ],
            "",
        ),
        (&["run npm test => > shop@1.0.0 test\n> exit 0"], "ran no test"),
        // A test by what it prints, unless it only reads that.
        (&["edit a.js", "run ./scripts/ci => 3 passed"], ""),
        (&["edit a.js", "run cat log => 3 passed"], "no test command was seen"),
        (&["edit a.js", "run npm run e2e => ok"], ""),
        (&["edit a.js", "run node snap.js --update => 3 passed"], "no test command was seen"),
        (
            &[
                "edit a.py",
                "run pytest => 3 passed",
                "fail pytest --nope => Exit code 4\nerror: unrecognized arguments",
            ],
            "",
        ),
        (
            &["edit a.py", "fail pytest => Exit code 127\nsh: pytest: command not found"],
            "failed with exit code 127",
        ),
    ] {
        check("All tests pass.", lines, &Examined::default(), why);
    }
    check("Done.", &["edit a.py"], &Examined::default(), "");
    let told = "Both tests of a.py pass. old_test.py is still red.";
    let ran = [
        "edit a.py",
        "run pytest test_a.py => 2 passed",
        "fail pytest old_test.py => Exit code 1\n1 failed",
    ];
    check(told, &ran, &Examined::default(), "");
    check(told, &ran[2..], &Examined::default(), "failed with exit code 1");
    check("All tests pass.", &ran, &Examined::default(), "failed with exit code 1");
}

#[test]
fn other_claims_about_commands_are_held_against_them_too() {
    let none = Examined::default();
    for (answer, lines, why) in [
        ("The build succeeds.", &["edit a.rs", "run cargo build => ok"][..], ""),
        ("The build succeeds.", &["edit a.rs", "run cargo test => ok"], ""),
        ("It builds.", &["run cargo build 2>&1 | tail -3 => Finished dev"], ""),
        (
            "The build passes.",
            &["run cargo build | tail -1 => error: could not compile `a`"],
            "in the pipe",
        ),
        ("The build passes.", &["run cargo build | tail -1"], "in the pipe"),
        ("The build passes.", &["edit a.ts", "run npx vite build => ok"], ""),
        ("It compiles without warnings.", &["edit a.rs"], "no build command was seen"),
        ("The build passes.", &["run make", "edit a.c"], "no build command ran after"),
        ("Clippy is clean.", &["run cargo clippy"], ""),
        ("No lint warnings remain.", &["edit a.rs"], "no lint command was seen"),
        ("The linter passes.", &["fail ruff check => Exit code 1"], "failed with exit code 1"),
        ("I pushed it.", &["run git push => ok"], ""),
        ("I have pushed the branch.", &["fail git push => Exit code 1"], "no successful push"),
        ("I pushed it.", &["run git push --dry-run => ok"], "no successful push"),
        ("I created the branch `fix`.", &["run git commit -m x => ok"], "makes a branch"),
        ("I created the branch `fix`.", &["run git switch -c fix => ok"], ""),
        ("I created the branch a/b.", &["mcp mcp__github__create_branch"], ""),
        ("It is tagged as v1.2.0.", &["run echo 1 > VERSION => ok"], "makes a tag"),
        ("It is tagged as v1.2.0.", &["run git tag v1.2.0 => ok"], ""),
        ("I opened a pull request.", &["run git push => ok"], "that opens one"),
        ("I opened PR #12.", &["run gh pr create --fill => ok"], ""),
        ("Coverage rose to 96 %.", &["run pytest => 3 passed"], "that measures it"),
        ("Coverage rose to 96%.", &["run pytest --cov => TOTAL 96%"], ""),
        ("The image was built.", &["run cat Dockerfile => ok"], "no build command"),
        ("The image was built.", &["run docker build -t a . => ok"], ""),
        ("The server is running.", &["run nohup ./server > log &"], ""),
        ("The server is running.", &["run python3 -c pass"], "no background work"),
        ("I published shop 1.0 to npm.", &["run npm publish --dry-run => ok"], "that does it"),
        ("I published shop 1.0 to npm.", &["run npm publish => ok"], ""),
        ("It is deployed to staging.", &["edit a.py"], "that does it"),
        ("It is deployed to staging.", &["run ./ship.sh => ok"], ""),
        ("I ran `cargo bench`.", &["run ls => ok"], "`cargo bench` was run"),
        ("There are no warnings.", &["run cargo build => warning: unused"], "`warning: unused`"),
        ("There are no warnings.", &["run cargo build => Finished"], ""),
        ("It is there.", &["run git stash -q => ok"], "`git stash` put changes away"),
        ("It is there.", &["run git stash && make; git stash pop => ok"], ""),
        ("Your changes are in the stash.", &["run git stash => ok"], ""),
        ("All tests pass.", &["run pytest -k a => 1 passed"], "only a part of them ran"),
        ("All is committed.", &["run git commit -m x => ok"], ""),
        ("Committed the change.", &["edit a.rs"], "no successful commit"),
    ] {
        check(answer, lines, &none, why);
    }
}

#[test]
fn claims_about_files_are_held_against_the_files() {
    let nothing = Examined { changed: Some(Changed::new(Vec::new())), ..Examined::default() };
    check("I fixed the crash.", &[], &nothing, "no file of the project has changed");
    check("The crash is due to a race.", &[], &nothing, "");
    let back = &["run git checkout -- tests/test_a.py => ok"];
    check("It has a test now.", back, &nothing, "set `tests/test_a.py` back");
    check("It has a test now.", &["run git restore src/a.py => ok"], &nothing, "");
    check("I restored the test.", back, &nothing, "");
    let change = FileChange { path: "a.py".into(), how: How::Modified };
    let some = Examined { changed: Some(Changed::new(vec![change])), ..Examined::default() };
    check("I fixed the crash.", &[], &some, "");
    let again = FileChange { path: "tests/test_a.py".into(), how: How::Modified };
    let again = Examined { changed: Some(Changed::new(vec![again])), ..Examined::default() };
    check("It has a test now.", back, &again, "");
    let absent =
        Examined { absent: vec!["`docs/a.md`, which does not exist".into()], ..some.clone() };
    check("I created `docs/a.md`.", &[], &absent, "names `docs/a.md`, which does not exist");
    let silent = Examined { silent_ports: vec![8123], ..some };
    check("It runs on port 8123.", &[], &silent, "nothing listens");
}

#[test]
fn a_commit_is_git_s_to_tell() {
    let git = |moved: bool, uncommitted: &[&str]| Examined {
        git: Some(GitState {
            moved,
            uncommitted: uncommitted.iter().map(|&path| path.to_owned()).collect(),
            left_branch: false,
        }),
        ..Examined::default()
    };
    // The state of git counts, and not the command that was run.
    let ran = &["run git commit -m x => ok"][..];
    check("I committed it.", ran, &git(true, &[]), "");
    check("I committed it.", ran, &git(false, &[]), "the same as when the task began");
    check("I committed it.", ran, &git(true, &["a.py", "b.py"]), "a.py and 1 more");
    let left = GitState { moved: true, left_branch: true, ..GitState::default() };
    let left = Examined { git: Some(left), ..Examined::default() };
    check("I committed it.", ran, &left, "but to no branch");
}
