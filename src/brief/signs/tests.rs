mod weakened;

use super::*;

fn found(path: &str, removed: &[&str], added: &[&str]) -> Vec<String> {
    let file = FileDiff {
        path: path.into(),
        how: Some(How::Modified),
        removed: removed.iter().map(|&line| line.to_owned()).collect(),
        added: (1..).zip(added.iter().map(|&line| line.to_owned())).collect(),
        ..FileDiff::default()
    };
    signs(&[file]).into_iter().map(|sign| sign.what).collect()
}

#[test]
fn every_sign_is_found_in_every_language() {
    for (path, removed, added, sign) in [
        (
            "src/a.rs",
            &["    #[test]", "    fn works() {"][..],
            &[][..],
            "1 fewer tests than before",
        ),
        ("tests/test_a.py", &["def test_works():"], &[], "1 fewer tests than before"),
        ("a.test.ts", &["  it('works', () => {"], &[], "1 fewer tests than before"),
        ("a_test.go", &["func TestWorks(t *testing.T) {"], &[], "1 fewer tests than before"),
        ("src/test/ATest.java", &["  @Test"], &[], "1 fewer tests than before"),
        ("src/a.rs", &[], &["    #[ignore = \"slow\"]"], "a test is skipped"),
        ("tests/test_a.py", &[], &["@pytest.mark.skip(reason='x')"], "a test is skipped"),
        ("tests/test_a.py", &[], &["@unittest.skip('x')"], "a test is skipped"),
        ("a.spec.ts", &[], &["  it.skip('works', () => {"], "a test is skipped"),
        ("a.spec.js", &[], &["xdescribe('a', () => {"], "a test is skipped"),
        ("a.spec.js", &[], &["it.only('a', () => {"], "a test is skipped"),
        ("a_test.go", &[], &["\tt.Skip(\"later\")"], "a test is skipped"),
        ("ATest.java", &[], &["  @Disabled"], "a test is skipped"),
        ("ATest.java", &[], &["@org.junit.jupiter.api.Disabled(\"x\")"], "a test is skipped"),
        ("src/a.rs", &[], &["    #[cfg(any())]"], "a test is skipped"),
        ("src/a.rs", &[], &["#[cfg_attr(not(x), ignore)]"], "a test is skipped"),
        ("tests/test_a.py", &[], &["    if False:"], "a part of a test never runs"),
        ("a.test.ts", &[], &["  if (false) {"], "a part of a test never runs"),
        ("a.ts", &[], &["const n: string = u.age as any;"], "a warning is silenced"),
        ("tests/a.rs", &["    assert_eq!(a, 1);"], &[], "1 fewer assertions than before"),
        ("tests/test_a.py", &["    assert a == 1"], &[], "1 fewer assertions than before"),
        ("a.test.js", &["  expect(a).toBe(1)"], &[], "1 fewer assertions than before"),
        ("a_test.go", &["\t\tt.Errorf(\"x\")"], &[], "1 fewer assertions than before"),
        ("ATest.java", &["    assertEquals(1, a);"], &[], "1 fewer assertions than before"),
        (
            "tests/a.rs",
            &["assert_eq!(f(), 4);"],
            &["assert_eq!(f(), 5);"],
            "an expected value is rewritten",
        ),
        (
            "tests/test_a.py",
            &["    assert f() == 'a'"],
            &["    assert f() == 'b'"],
            "an expected value is rewritten",
        ),
        ("tests/test_a.py", &[], &["    assert True"], "an assertion that cannot fail"),
        ("tests/a.rs", &[], &["    assert!(true);"], "an assertion that cannot fail"),
        ("a.test.ts", &[], &["  expect(true).toBe(true)"], "an assertion that cannot fail"),
        ("src/a.rs", &[], &["    todo!()"], "a stub"),
        ("a.py", &[], &["    raise NotImplementedError"], "a stub"),
        ("a.ts", &[], &["  throw new Error('not implemented')"], "a stub"),
        ("a.go", &[], &["\tpanic(\"not implemented\")"], "a stub"),
        ("A.java", &[], &["throw new UnsupportedOperationException();"], "a stub"),
        ("a.py", &[], &["    # TODO handle accents"], "a TODO"),
        ("a.py", &[], &["x = y  # type: ignore"], "a warning is silenced"),
        ("a.ts", &[], &["// @ts-ignore"], "a warning is silenced"),
        ("src/a.rs", &[], &["#[allow(dead_code)]"], "a warning is silenced"),
        ("tests/test_a.py", &[], &["def test_a():", "    pass"], "a test without a body"),
        ("a.py", &[], &["def f(x):", "    pass", "", "y = 1"], "a stub"),
        ("src/a.rs", &[], &["#[test]", "fn a() {}"], "a test without a body"),
        ("a.test.ts", &[], &["it('a', () => {})"], "a test without a body"),
        ("a_test.go", &[], &["func TestA(t *testing.T) {}"], "a test without a body"),
        ("ATest.java", &[], &["@Test", "void a() {}"], "a test without a body"),
        ("conftest.py", &[], &["x"], "the way the tests run is edited"),
        (
            "package.json",
            &["    \"test\": \"jest\","],
            &["    \"test\": \"true\","],
            "the way the tests run is edited",
        ),
        ("pyproject.toml", &[], &["addopts = '-k fast'"], "the way the tests run is edited"),
        ("Cargo.toml", &[], &["test = false"], "the way the tests run is edited"),
        ("Makefile", &["\tcargo test"], &[], "the way the tests run is edited"),
        ("pom.xml", &[], &["<skipTests>true</skipTests>"], "the way the tests run is edited"),
        ("out.txt", &[], &["Ran 2 tests in 0.001s"], "the output of a test run, in a file"),
        ("log", &[], &["== 3 passed in 0.1s =="], "the output of a test run, in a file"),
        ("tests/test_a.py", &[], &["@unittest.expectedFailure"], "a test is skipped"),
        ("a.test.ts", &[], &["it.fails('a', () => {"], "a test is skipped"),
        ("tests/test_a.py", &[], &["    assert f(1) == f(1)"], "an assertion that cannot fail"),
        ("tests/test_a.py", &[], &["        return"], "a test ends early"),
        ("test.sh", &[], &["echo '1 passed'", "exit 0"], "a test ends early"),
        ("a.py", &[], &["except Exception:", "    pass"], "an error is swallowed"),
        ("a.ts", &[], &["} catch (e) {}"], "an error is swallowed"),
        ("A.java", &[], &["} catch (IOException e) { }"], "an error is swallowed"),
        ("pyproject.toml", &[], &["fail_under = 10"], "the way the tests run is edited"),
        (".eslintrc.json", &[], &["x"], "the way linters run is edited"),
        ("tsconfig.json", &[], &["    \"strict\": false,"], "the way linters run is edited"),
        ("pyproject.toml", &[], &["ignore = ['E501']"], "the way linters run is edited"),
        (".github/workflows/ci.yml", &[], &["x"], "CI or checks are edited"),
        ("SUPERVISOR.md", &[], &["x"], "CI or checks are edited"),
        ("notes.txt", &[], &["<<<<<<< HEAD"], "a merge marker"),
    ] {
        assert_eq!(found(path, removed, added), [sign], "{path} {removed:?} {added:?}");
    }
}

#[test]
fn checks_that_check_less_are_signs() {
    for (path, removed, added, sign) in [
        (
            "tests/test_a.py",
            &["    self.assertEqual(f(1), 'a')"][..],
            &["    self.assertIsNotNone(f(1))"][..],
            "an assertion asks for less",
        ),
        (
            "a.test.ts",
            &["  expect(f(1)).toBe('a')"],
            &["  expect(f(1)).toBeDefined()"],
            "an assertion asks for less",
        ),
        (
            "tests/test_a.py",
            &[],
            &["unittest.TestCase.assertEqual = lambda *_: None"],
            "an assertion is replaced",
        ),
        ("tests/test_a.py", &[], &["    except AssertionError:"], "a failed assertion is caught"),
        ("check.sh", &[], &["pytest -q || true"], "a script hides the exit code of its tests"),
        ("tests/snapshots/a.html", &["a"], &["b"], "what tests compare with is edited"),
        ("testdata/expected.json", &["1"], &["2"], "what tests compare with is edited"),
    ] {
        assert_eq!(found(path, removed, added), [sign], "{path} {removed:?} {added:?}");
    }
}

#[test]
fn ordinary_work_has_no_signs() {
    for (path, removed, added) in [
        ("src/a.rs", &["fn f() -> u8 { 1 }"][..], &["fn f() -> u8 { 2 }"][..]),
        ("tests/test_a.py", &["def test_old():"], &["def test_new():"]),
        ("tests/test_a.py", &["    assert a == 1"], &["    assert a == 1", "    assert b == 2"]),
        ("a.py", &["    # TODO x"], &["    # TODO x"]),
        ("README.md", &[], &["TODO list and todo!() in prose"]),
        ("a.py", &[], &["if rule == '=======':", "    pass"]),
        ("a.ts", &[], &["  audit('x'); submit(1)"]),
        ("a.go", &[], &["\tpanic(\"unreachable\")"]),
        ("a.py", &[], &["@abstractmethod", "def f(self):", "    pass"]),
        ("a.py", &[], &["class Mine(Exception):", "    pass"]),
        ("a.py", &[], &["def f():", "    pass", "    return 1"]),
        ("src/a.rs", &[], &["impl Marker for A {}", "fn new() {}"]),
        ("package.json", &[], &["    \"name\": \"test\","]),
        ("Cargo.toml", &[], &["[dev-dependencies]", "proptest = \"1\""]),
        ("CHANGELOG.md", &[], &["- 3 tests passed before"]),
        ("a.py", &[], &["@abstractmethod", "def f(self):", "    raise NotImplementedError"]),
        ("a.py", &[], &["except KeyError:", "    pass"]),
        ("tests/test_a.py", &[], &["if slow:", "    return"]),
        ("tests/test_a.py", &["    return None"], &["    return"]),
        ("src/a.rs", &[], &["    let rest = lines.skip(1);"]),
        ("a.py", &[], &["    # suma todo lo que hay"]),
        ("README.md", &[], &["Cart 12", "======="]),
        ("a.test.ts", &["it('a', () => {"], &["it.concurrent('a', () => {"]),
        (
            "tests/test_a.py",
            &["    assert f(1) == 1"],
            &["    assert f(1) == 1 and f(2)", "    assert f(3) is not None"],
        ),
        ("tests/test_a.py", &[], &["    with self.assertRaises(AssertionError):"]),
        ("check.sh", &[], &["pytest -q || exit 1", "echo ok"]),
        ("src/expected.rs", &["a"], &["b"]),
        ("testdata/input.json", &["1"], &["2"]),
    ] {
        let signs = found(path, removed, added);
        assert!(signs.is_empty(), "{path}: {signs:?}");
    }
}

#[test]
fn a_deleted_test_file_and_an_empty_file_are_signs() {
    let deleted =
        FileDiff { path: "tests/test_a.py".into(), how: Some(How::Deleted), ..FileDiff::default() };
    let empty = FileDiff {
        path: "report.md".into(),
        how: Some(How::Added),
        empty: true,
        ..FileDiff::default()
    };
    let marker = FileDiff { path: "pkg/__init__.py".into(), empty: true, ..FileDiff::default() };
    let what: Vec<_> = signs(&[deleted, empty, marker]).into_iter().map(|sign| sign.what).collect();
    assert_eq!(what, ["a test file is deleted", "a file without content"]);
}

#[test]
fn a_new_script_that_ends_well_whatever_its_tests_say_is_a_sign() {
    let found = |text: &str| {
        let added = (1..).zip(text.lines().map(str::to_owned)).collect();
        let how = Some(How::Added);
        let file = FileDiff { path: "check.sh".into(), how, added, ..FileDiff::default() };
        signs(&[file]).len()
    };
    for text in ["#!/bin/sh\npytest > log\nexit 0", "pytest\necho done", "set +e\npytest\ntrue"] {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in [
        "#!/bin/sh\npytest",
        "set -e\npytest\necho done",
        "#!/bin/sh -e\npytest\necho done",
        "pytest && ruff check\necho done",
        "if pytest; then\n  echo good\nelse\n  exit 1\nfi\nexit 0",
        "pytest\ncode=$?\necho done\nexit $code",
        "pytest\nruff check",
        "ls\necho done",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}

#[test]
fn a_program_that_is_put_into_the_project_is_a_sign() {
    let file =
        |path: &str, how| FileDiff { path: path.into(), how: Some(how), ..FileDiff::default() };
    let found = |file| signs(&[file]).into_iter().map(|sign| sign.what).collect::<Vec<_>>();
    assert_eq!(found(file("bin/pytest", How::Added)), ["a file has the name of a program"]);
    assert!(found(file("bin/pytest", How::Modified)).is_empty());
    assert!(found(file("gradlew", How::Added)).is_empty());
}

#[test]
fn tests_that_are_moved_are_not_lost() {
    let test = ["def test_a():", "    assert f() == 1"];
    let old = FileDiff {
        path: "tests/test_a.py".into(),
        how: Some(How::Deleted),
        removed: test.map(str::to_owned).to_vec(),
        ..FileDiff::default()
    };
    let new = FileDiff {
        path: "tests/test_b.py".into(),
        how: Some(How::Added),
        added: (1..).zip(test.map(str::to_owned)).collect(),
        ..FileDiff::default()
    };
    assert!(signs(&[old.clone(), new.clone()]).is_empty());
    let kept = FileDiff { how: Some(How::Modified), ..old.clone() };
    assert!(signs(&[kept, new.clone()]).is_empty());
    let without = FileDiff { added: new.added[..1].to_vec(), ..new };
    assert_eq!(signs(&[old, without])[0].what, "a test file is deleted");
}

#[test]
fn expectations_are_paired_in_their_order() {
    let file = FileDiff {
        path: "tests/test_a.py".into(),
        how: Some(How::Modified),
        removed: vec!["assert f(100) == 19".into(), "assert f(10) == 2".into()],
        added: vec![(1, "assert f(100) == 20".into()), (2, "assert f(10) == 3".into())],
        ..FileDiff::default()
    };
    let quotes: Vec<_> = signs(&[file]).into_iter().map(|sign| sign.quote).collect();
    let pairs =
        ["assert f(100) == 19  →  assert f(100) == 20", "assert f(10) == 2  →  assert f(10) == 3"];
    assert_eq!(quotes, pairs);
}

#[test]
fn a_test_of_a_copy_is_told_from_helpers() {
    let what = "a test defines what it imported before";
    for (path, removed, added, is) in [
        ("tests/test_a.py", "from slug import slugify", &["def slugify(title):"][..], true),
        ("a.test.js", "const { add } = require('./add');", &["function add(a, b) {"], true),
        ("a.test.ts", "import { add } from './add';", &["const add = (a, b) => a + b;"], true),
        (
            "tests/test_a.py",
            "from slug import slugify",
            &["from slug import slugify, words", "def slugify_all():"],
            false,
        ),
        ("tests/test_a.py", "import os", &["def helper(title):"], false),
        ("src/a.py", "from slug import slugify", &["def slugify(title):"], false),
    ] {
        assert_eq!(found(path, &[removed], added) == [what], is, "{path} {added:?}");
    }
}
