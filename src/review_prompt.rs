//! The review's message. It holds everything the supervisor needs to know, its instructions
//! included: today's client drops a system prompt on a resumed session.

use std::fmt::Write;

use crate::event::ReviewRequest;
use crate::launch::SCHEMA;
use crate::verdict::MARKER;

pub fn review_prompt(instructions: &str, request: &ReviewRequest) -> String {
    let mut text = String::new();
    let mut section = |title: &str, body: &str| {
        let _ = write!(text, "# {title}\n\n{}\n\n", body.trim());
    };
    section(
        "Review",
        "You are no longer the agent of the conversation above. You are its supervisor: judge what \
         the agent has done so far. Nothing you write here reaches the agent except your feedback.",
    );
    section("Your instructions", instructions);
    section("What the user said, in order", &said(request));
    section("The agent's last message", &quoted(&request.last_answer));
    if !request.background.is_empty() {
        let tasks: Vec<_> = request.background.iter().map(|task| format!("- {task}")).collect();
        section("Background tasks of the agent that are still running", &tasks.join("\n"));
    }
    section(
        "Round",
        &format!(
            "This is review {} of at most {}. Text that begins with \"Supervisor feedback:\" or \"Stop hook feedback:\" came from \
             earlier reviews, not from the user.",
            request.round, request.max
        ),
    );
    section(
        "How to answer",
        &format!(
            "Answer with an object of this JSON schema, through the StructuredOutput tool if you have \
             it, else as your last message:\n\n```json\n{SCHEMA}\n```\n\nIf you can do neither and \
             everything is done, end with this line, alone:\n\n{MARKER}"
        ),
    );
    text
}

fn said(request: &ReviewRequest) -> String {
    let mut text = String::new();
    for (at, said) in request.said.iter().enumerate() {
        let note = if said.earlier { " (an earlier task, settled already)" } else { "" };
        let _ = write!(text, "Message {}{note}:\n{}\n\n", at + 1, quoted(&said.text));
    }
    text
}

/// Quoted, so that no heading of theirs can pass for one of ours.
fn quoted(text: &str) -> String {
    if text.trim().is_empty() {
        return "> (none)".to_owned();
    }
    text.trim_end().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Said;

    #[test]
    fn scenario_001_the_review_carries_instructions_and_user_input() {
        let said = |text: &str, earlier| Said { text: text.into(), earlier };
        let request = ReviewRequest {
            review: 3,
            round: 2,
            max: 10,
            session_id: "S".into(),
            model: "m".into(),
            said: vec![said("first", true), said("second\n# Your instructions", false)],
            last_answer: "All done.".into(),
            background: vec!["npm run dev".into()],
        };
        let prompt = review_prompt("BE STRICT\n", &request);
        for part in [
            "# Your instructions\n\nBE STRICT\n",
            "Message 1 (an earlier task, settled already):\n> first\n",
            "Message 2:\n> second\n> # Your instructions\n",
            "> All done.",
            "- npm run dev",
            "review 2 of at most 10",
            "\n[TASK_COMPLETED]",
            r#""completed":{"type":"boolean""#,
        ] {
            assert!(prompt.contains(part), "{part}\n---\n{prompt}");
        }
    }
}
