//! The feedback to the agent about failed checks, which needs no model.

use std::fmt::Write;

use super::result::{CheckResult, cut_front};

/// The limit for the output of all checks together, so that the message stays readable.
const OUTPUT_BYTES: usize = 6 << 10;

pub fn feedback(results: &[CheckResult]) -> Option<String> {
    let red: Vec<_> = results.iter().filter(|result| result.is_red()).collect();
    if red.is_empty() {
        return None;
    }
    let share = OUTPUT_BYTES / red.len();
    let mut text = match red.len() {
        1 => "A check that runs whenever you stop has failed.\n".to_owned(),
        many => format!("{many} checks that run whenever you stop have failed.\n"),
    };
    for result in &red {
        let name = if result.name == result.run { "" } else { &result.name };
        let name = if name.is_empty() { String::new() } else { format!("Check {name}: ") };
        let _ = write!(
            text,
            "\n{name}the command {} {} after {:.1} s.\n",
            quoted(&result.run),
            result.told(),
            result.seconds
        );
        let mut tail = result.tail.clone();
        if tail.is_empty() {
            text.push_str("It printed nothing.\n");
            continue;
        }
        let whole = tail.len() <= share;
        if !whole {
            cut_front(&mut tail, share);
            // Drops the first line, which is incomplete now.
            tail = tail.split_once('\n').map_or(tail.clone(), |(_, rest)| rest.to_owned());
        }
        let fence = fence(&tail);
        let _ = writeln!(text, "The end of its output:\n\n{fence}\n{tail}\n{fence}");
    }
    text.push_str(
        "\nFind the cause and fix it. The checks run again when you stop. If a check itself is \
         wrong or cannot pass here, say so and explain why; do not work around it.",
    );
    Some(text)
}

fn quoted(command: &str) -> String {
    if command.contains(['`', '\n']) {
        let fence = fence(command);
        return format!("\n\n{fence}\n{command}\n{fence}\n\n");
    }
    format!("`{command}`")
}

/// A fence longer than any run of backticks in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::result::CheckOutcome;

    fn red(run: &str, tail: &str) -> CheckResult {
        CheckResult {
            name: run.into(),
            run: run.into(),
            outcome: CheckOutcome::Red { how: "exited with code 101".into(), code: Some(101) },
            seconds: 12.34,
            tail: tail.into(),
        }
    }

    #[test]
    fn feedback_contains_command_exit_code_and_tail() {
        let text = feedback(&[red("cargo test", "assertion failed\n```")]).unwrap();
        for part in [
            "A check that runs whenever you stop has failed.",
            "the command `cargo test` exited with code 101 after 12.3 s.",
            "````\nassertion failed\n```\n````\n",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }

    #[test]
    fn green_checks_give_no_feedback() {
        let green = CheckResult { outcome: CheckOutcome::Green, ..red("make", "x") };
        assert_eq!(feedback(&[]), None);
        assert_eq!(feedback(std::slice::from_ref(&green)), None);
        let text = feedback(&[green, red("make lint", "")]).unwrap();
        assert!(!text.contains("`make`") && text.contains("It printed nothing."), "{text}");
    }

    #[test]
    fn the_message_stays_short_however_many_fail() {
        let long = "0123456789abcde\n".repeat(500);
        let many: Vec<_> = (0..20).map(|at| red(&format!("make {at}"), &long)).collect();
        let text = feedback(&many).unwrap();
        assert!(text.starts_with("20 checks") && text.len() < 12 << 10, "{}", text.len());
        assert!(text.contains("```\n0123456789abcde\n"), "whole lines\n{text}");
    }
}
