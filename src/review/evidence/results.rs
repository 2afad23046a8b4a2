//! Whether words in which test runners report a result come from a test run. A file can say anything,
//! and so can a sub-agent.

use super::{Facts, Record, squeezed};
use crate::brief::command::CommandKind;
use crate::brief::output::saved_to;
use crate::review::commands::{Commands, Ran};

/// Tools that tell what is in a file, or what something in the background has printed.
const TELLING: [&str; 5] = ["Read", "Grep", "TaskOutput", "BashOutput", "AgentOutputTool"];

/// Whether a tool that only tells what something else has printed tells it of a test run.
pub fn are_not_retold(quote: &str, told: &Ran, facts: &dyn Facts) -> Result<(), String> {
    if !TELLING.contains(&told.tool.as_str()) {
        return Ok(());
    }
    are_by_a_test(quote, &named_files(&told.command), facts)
}

/// Whether a test run names one of these files or printed the quote itself.
pub fn are_by_a_test(quote: &str, files: &[&str], facts: &dyn Facts) -> Result<(), String> {
    let Record { agent, earlier, judge } = facts.record();
    let all = [Some(agent), earlier, Some(judge)].into_iter().flatten();
    let mut tests = all
        .flat_map(Commands::iter)
        .filter(|ran| ran.tool == "Bash" && CommandKind::Test.is(&ran.command));
    let said = |ran: &Ran| !quote.is_empty() && squeezed(&ran.output).contains(&squeezed(quote));
    let wrote = |ran: &Ran| {
        // For a command in the background, and for a long output, the client's message names the file
        // that receives it.
        let told = if ran.ended { saved_to(&ran.output).unwrap_or_default() } else { &ran.output };
        let names =
            |file: &&str| file.len() > 3 && (ran.command.contains(file) || told.contains(file));
        files.iter().any(names)
    };
    if tests.any(|ran| said(ran) || wrote(ran)) {
        return Ok(());
    }
    Err("only the text of a file says so, and ccc saw no test run that wrote it".to_owned())
}

/// The files and tasks that a call of a tool names, each also without its directory.
fn named_files(call: &str) -> Vec<&str> {
    let words = call.split(|c: char| c.is_whitespace() || "\"',:{}[]".contains(c));
    let words =
        words.filter(|word| word.contains(|c: char| c.is_ascii_digit() || "./".contains(c)));
    words
        .flat_map(|word| [Some(word), word.rsplit_once('/').map(|(_, name)| name)])
        .flatten()
        .collect()
}
