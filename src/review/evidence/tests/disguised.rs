//! Commands that look as if they showed something.

use super::*;

#[test]
fn what_the_tests_print_must_get_into_the_output() {
    let quoted = |command: &str| serde_json::json!({"command": command, "quote": "3 passed"});
    for (ran, output, shows) in [
        (r"pytest -q >/dev/null; printf '%s passed\n' 3", "3 passed", false),
        ("N=3; pytest -q >/dev/null 2>&1; echo \"$N passed\"", "3 passed", false),
        ("pytest -q >/dev/null; python3 -c 'print(3, \"passed\")'", "3 passed", false),
        ("pytest -q &>/dev/null; cat <<< '3 passed'", "3 passed", false),
        (r"pytest -q > log 2>&1; printf '%s passed\n' 3", "3 passed", false),
        ("cat > run.sh <<E\npytest -q\nE\nls", "3 passed in 0.1s", false),
        ("pytest -q > out.log 2>&1; tail -3 out.log", "3 passed in 0.1s", true),
        ("pytest > log; rc=$?; tail -1 log; test $rc -eq 0", "3 passed in 1s", true),
        ("pytest -q 2>/dev/null; ls", "3 passed in 0.1s\nslug.py", true),
        ("bash <<'E'\npytest -q\nE", "3 passed in 0.1s", true),
        ("bash -s <<E\nset -e\npytest -q\nE", "3 passed in 0.1s", true),
        ("bash -euo pipefail -c 'pytest -q | tail -1'", "3 passed in 0.1s", true),
        ("FOO=1 timeout 60 pytest -q", "3 passed in 0.1s", true),
        ("echo tests | xargs pytest -q", "3 passed in 0.1s", true),
        ("docker compose run --rm web pytest -q", "3 passed in 0.1s", true),
    ] {
        let found = check_after(&[(ran, output)], &quoted("pytest").to_string());
        assert_eq!(found.is_empty(), shows, "{ran}: {found}");
    }
    for command in ["./check-all", "python3 -c \"import subprocess; subprocess.run(['pytest'])\""] {
        let after = |output| check_after(&[(command, output)], &quoted(command).to_string());
        assert_eq!(after("3 passed"), "", "{command}");
        assert_eq!(after("1 failed, 3 passed"), "its output says that a test failed", "{command}");
    }
}
