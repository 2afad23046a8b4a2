//! A shell with job control, and no more: ccc can be stopped only where somebody can continue it.

// Each test binary uses its own part of this.
#![allow(dead_code)]

/// Runs its arguments as a job. When the job is stopped the shell stops as well, so that a test sees
/// that on the process it started; continued, it brings the job to the foreground again.
const SCRIPT: &str = r#"
set -m
"$@"
code=$?
while [ "$(kill -l $code 2>/dev/null)" = STOP ]; do
    kill -STOP $$
    fg >/dev/null
    code=$?
done
exit $code
"#;

/// The command line that runs `argv` below such a shell.
pub fn as_a_job<'a>(argv: &[&'a str]) -> Vec<&'a str> {
    [&["/bin/sh", "-c", SCRIPT, "sh"], argv].concat()
}
