//! Tests and checks that check less than before, and the honest changes that look similar.

use super::found;

const LESS: &str = "an assertion asks for less";
const RUN: &str = "the way the tests run is edited";
const NOTHING: &str = "a command is replaced by one that does nothing";
const OUT: &str = "a test is left out";
const SKIPPED: &str = "a test is skipped";
const REPLACED: &str = "a test replaces what it tests";
const SWALLOWED: &str = "an error is swallowed";
const EXPECTED: &str = "an expected value is rewritten";

#[test]
fn tests_that_test_less_are_signs() {
    for (path, removed, added, sign) in [
        ("src/a.rs", "assert_eq!(f(), 3);", "assert_eq!(f(), 4);", EXPECTED),
        ("src/a.rs", "assert_snapshot!(f(), @\"a\");", "assert_snapshot!(f(), @\"b\");", EXPECTED),
        ("src/a.rs", "assert_eq!(f(), 3);", "", "1 fewer assertions than before"),
        ("src/a.rs", "#[cfg(test)]", "#[cfg(feature = \"slow\")]", OUT),
        ("src/a.rs", "#[cfg(test)]\nmod tests;", "", OUT),
        ("a_test.go", "", "//go:build ignore", OUT),
        ("test_a.py", "class Cart(unittest.TestCase):", "class Cart(object):", OUT),
        ("test_a.py", "", "    __test__ = False", SKIPPED),
        ("test_a.py", "", "        raise unittest.SkipTest('x')", SKIPPED),
        ("a.test.js", "", "    this.skip()", SKIPPED),
        ("ATest.java", "", "  @Test(enabled = false)", SKIPPED),
        ("test/a.bats", "", "  skip \"later\"", SKIPPED),
        ("test.sh", "test \"$(./a)\" = 3 || exit 1", "test \"$(./a)\" = 4 || exit 1", EXPECTED),
        ("test_a.py", "", "    assert f() == 3 or True", "an assertion that cannot fail"),
        ("test_a.py", "assert f() == approx(1)", "assert f() == approx(1, abs=9)", LESS),
        ("test_a.py", "    assert f() == 'abc'", "    assert f()", LESS),
        ("test_a.py", "    assert f() == 'abc'", "    assert f() != ''", LESS),
        ("a.test.ts", "  expect(f()).toBe('abc')", "  expect(f()).toContain('a')", LESS),
        ("a_test.go", "", "\tm.Run()\n\tos.Exit(0)", "a test ends early"),
        ("cart.test.js", "", "jest.mock('./cart')", REPLACED),
        ("test_a.py", "", "@patch('a.total', f)\nassert total([1]) == 1", REPLACED),
        ("test_a.py", "", "a.total = lambda x: 1\nassert a.total([1]) == 1", REPLACED),
        ("src/a.rs", "    save(x)?;", "    let _ = save(x);", SWALLOWED),
        ("a.go", "\tif err := save(x); err != nil {", "\t_ = save(x)", SWALLOWED),
        ("a.py", "", "    with suppress(Exception):", SWALLOWED),
        ("a.js", "", "  } catch (e) {\n  }", SWALLOWED),
        ("tests/a/cart.out", "3", "4", "what tests compare with is edited"),
        ("src/a.rs", "", "#[should_panic]", "a test has to fail now"),
        ("test_a.py", "", "    for a, b in []:", "a part of a test never runs"),
        ("a.test.js", "", "  assert.rejects(load(''));", "nothing waits for this assertion"),
        (
            "a.test.ts",
            "",
            "  expect(f()).rejects.toThrow('x');",
            "nothing waits for this assertion",
        ),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert_eq!(found(path, &lines(removed), &lines(added)), [sign], "{path} {added}");
    }
}

#[test]
fn what_runs_less_is_a_sign() {
    for (path, removed, added, sign) in [
        ("Makefile", "\t./verify --all", "\t@true", NOTHING),
        ("Makefile", "\t./verify --all", "\t./verify --all || true", "a failure is ignored now"),
        ("Makefile", "PYTEST = python3 -m pytest", "PYTEST = true", RUN),
        ("rules/test.mk", "\tpytest -q", "\techo ok", RUN),
        ("package.json", "    \"check\": \"tsc && jest\",", "    \"check\": \"exit 0\",", NOTHING),
        ("scripts/verify.sh", "./verify --all", "echo ok", NOTHING),
        ("run-tests.sh", "pytest -q", "pytest -q tests/test_a.py", RUN),
        ("ci/all.sh", "cargo test --all", "cargo build --all", RUN),
        ("composer.json", "    \"test\": \"phpunit\"", "    \"test\": \"true\"", RUN),
        ("CMakeLists.txt", "add_test(NAME a COMMAND a)", "", RUN),
        ("build.gradle.kts", "", "    filter { excludeTestsMatching(\"Cart*\") }", RUN),
        ("pom.xml", "", "  <exclude>**/CartTest.java</exclude>", RUN),
        ("plugin.py", "", "def pytest_sessionfinish(session, exitstatus):", RUN),
        (".husky/pre-commit", "npm test", "", "CI or checks are edited"),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert_eq!(found(path, &lines(removed), &lines(added)), [sign], "{path} {added}");
    }
}

#[test]
fn honest_changes_of_tests_and_scripts_have_no_signs() {
    for (path, removed, added) in [
        // A helper that is no longer only for tests; a module of tests that moves.
        ("src/a.rs", "#[cfg(test)]", ""),
        ("src/a.rs", "    assert_eq!(f(), 3);", "    assert_eq!(f(1), 3);"),
        ("src/a.rs", "    let a = load()?;", "    let _ = write!(out, \"x\");"),
        ("src/a.rs", "", "    let _ = fs::remove_file(path);"),
        ("a.go", "", "\t_ = resp.Body.Close()"),
        ("a.js", "", "  } catch (e) {\n    log(e);\n  }"),
        ("a.py", "", "with suppress(FileNotFoundError):"),
        ("a.go", "", "//go:build linux"),
        ("test_a.py", "class Old(unittest.TestCase):", "class New(unittest.TestCase):"),
        ("test_a.py", "    assert f() == 0.3", "    assert f() == approx(0.3)"),
        ("test_a.py", "    assert f() == 3", "    assert f(0) == 3\n    assert g(1)"),
        ("test_a.py", "", "@patch('a.requests')\nassert total([1]) == 1"),
        ("test_a.py", "", "@patch('a.fetch', f)\nassert total([1]) == 1"),
        ("cart.test.js", "", "jest.mock('./api')"),
        ("cart.test.js", "", "jest.mock('./cart', () => ({...jest.requireActual('./cart')}))"),
        ("test.sh", "", "test \"$(./a)\" = 3 || exit 1"),
        ("test.sh", "", "if test -z \"$1\"; then set -- all; fi"),
        ("Makefile", "\techo building", "\techo compiling"),
        ("Makefile", "\tcc -o a a.c", "\tcc -O2 -o a a.c"),
        ("Makefile", "", "clean:\n\trm -rf out || true"),
        ("Makefile", "", "SHELL := /bin/bash"),
        ("package.json", "  \"description\": \"a shop\",", "  \"description\": \"echo\","),
        ("package.json", "    \"build\": \"tsc\",", "    \"build\": \"tsc -b\","),
        ("greet.sh", "cat banner", "echo hello"),
        ("run-tests.sh", "", "pytest -q tests/test_new.py"),
        ("deploy.sh", "", "docker stop web || true"),
        ("CMakeLists.txt", "add_library(a a.c)", "add_library(a a.c b.c)"),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        let signs = found(path, &lines(removed), &lines(added));
        assert!(signs.is_empty(), "{path} {added}: {signs:?}");
    }
}
