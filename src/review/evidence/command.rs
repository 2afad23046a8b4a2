//! Whether a command ran, printed what is quoted, and proves anything.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::wanted::Wanted;
use super::{
    Facts, Record, SHORTEST_OUTPUT, is_long_enough, parts, results, shown, squeezed, words,
};
use crate::brief::baseline::tests_without_the_work;
use crate::brief::claims::is_only_tried;
use crate::brief::command::{CommandKind, only_prints, runs_no_test, says_itself};
use crate::brief::edits::{self, without_here_documents};
use crate::brief::exit_code::{hides_exit_code, prints_exit_code};
use crate::brief::output::{
    exit_code, ran_none, reads_like_a_test_result, says_broken, says_failed, says_passed,
    tells_of_failure, without_own_words,
};
use crate::review::commands::{Commands, Ran};
use crate::review::permission::{is_reading, shell};

/// Tools that write a file. Evidence must cite the file instead.
const WRITING: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
/// Commands that only prepare something or print a file: their success without output proves
/// nothing.
const PREPARING: [&str; 22] = [
    "cd", "pushd", "popd", "mkdir", "touch", "cp", "mv", "rm", "chmod", "chown", "ln", "export",
    "set", "unset", "source", ".", "sleep", "wait", "kill", "cat", "head", "tail",
];
/// Commands that do not concern the files of the project, so that later edits do not make them
/// outdated.
const ELSEWHERE: [&str; 18] = [
    "curl",
    "wget",
    "gh",
    "dig",
    "nslookup",
    "ping",
    "ssh",
    "docker",
    "podman",
    "kubectl",
    "aws",
    "gcloud",
    "psql",
    "mysql",
    "redis-cli",
    "pip",
    "brew",
    "apt",
];

const FAILED: &str = "its output says that a test failed";

/// Who ran a command. This decides which edits can make its result worthless.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Agent,
    /// The agent, in an earlier run of the session.
    Earlier,
    /// The judge, in its copy of the project.
    Judge,
}

/// A command that was run, with what is needed to judge it.
struct Seen<'a> {
    ran: &'a Ran,
    by: By,
    commands: &'a Commands,
    facts: &'a dyn Facts,
    parts: Vec<shell::Command>,
}

pub fn ran(command: &str, quote: &str, facts: &dyn Facts) -> Result<(), String> {
    if command.trim().is_empty() {
        return Err("no command is named".to_owned());
    }
    let wanted = Wanted::new(command);
    let Record { agent, earlier, judge } = facts.record();
    let all = [(By::Judge, Some(judge)), (By::Agent, Some(agent)), (By::Earlier, earlier)];
    // Any run that shows the quote is enough, latest first. If none does, the reason is that of the
    // latest.
    let (mut why, mut later) = (None, Vec::new());
    for (by, commands) in all.into_iter().filter_map(|(by, all)| Some((by, all?))) {
        for ran in commands.iter().rev().filter(|ran| wanted.is(ran)) {
            let parts = shell::commands(&without_here_documents(&ran.command));
            let seen = Seen { ran, by, commands, facts, parts };
            let shows = seen.shows(quote).and_then(|()| seen.is_not_refuted(&later));
            let Err(reason) = shows else { return Ok(()) };
            why.get_or_insert(reason);
            later.push(ran);
        }
    }
    // The command itself is named by whoever reports this.
    Err(why.unwrap_or_else(|| "the command was not run".to_owned()))
}

/// The files that a command does nothing but show.
pub fn files_shown(command: &str) -> Vec<String> {
    const SHOWING: [&str; 7] = ["cat", "head", "tail", "nl", "less", "bat", "Read"];
    let mut parts = shell::commands(command);
    parts.retain(|part| part.words[0] != "cd");
    if parts.iter().any(|part| part.writes || !SHOWING.contains(&part.words[0].as_str())) {
        return Vec::new();
    }
    let words = parts.into_iter().flat_map(|part| part.words.into_iter().skip(1));
    words.filter(|word| !word.starts_with('-')).collect()
}

/// Whether the command tests, builds or checks something.
pub fn decides(command: &str) -> bool {
    [CommandKind::Test, CommandKind::Build, CommandKind::Lint].iter().any(|kind| kind.is(command))
}

impl Seen<'_> {
    fn shows(&self, quote: &str) -> Result<(), String> {
        let ran = self.ran;
        if WRITING.contains(&ran.tool.as_str()) {
            return Err("it wrote a file; cite the file as it is now".to_owned());
        }
        if !ran.ended {
            return Err("ccc did not see it end".to_owned());
        }
        if ran.tool == "Bash" && ran.failed && exit_code(&ran.output).is_none() {
            return Err("it was refused, or ended before it was done".to_owned());
        }
        if quote.trim().is_empty() {
            return self.shows_by_ending_well();
        }
        let parts = parts(quote, &ran.output);
        let output = squeezed(&ran.output);
        if !parts.iter().all(|part| output.contains(&squeezed(part))) {
            return Err(format!("it ran, but its output does not contain {}", shown(quote)));
        }
        let quote = parts.join(" ");
        let quote = quote.as_str();
        is_long_enough(quote, &ran.output, SHORTEST_OUTPUT)?;
        let is_result = reads_like_a_test_result(quote);
        let fails = is_result && !ran.failed && says_failed(&ran.output);
        if fails && !words::ask_for_failure(&self.facts.said()) {
            return Err(FAILED.to_owned());
        }
        if ran.tool != "Bash" {
            if is_result {
                results::are_not_retold(quote, ran, self.facts)?;
            }
            self.is_of_the_project()?;
            return self.is_of_now();
        }
        if only_prints(&ran.command) {
            return Err("it only prints its own arguments".to_owned());
        }
        let is_its_own = |part: &Cow<'_, str>| {
            says_itself(&ran.command, part.trim())
                && !squeezed(&without_own_words(&ran.command, &ran.output))
                    .contains(&squeezed(part))
        };
        if parts.iter().any(is_its_own) {
            return Err(
                "the command prints these words itself, whether or not the rest of it succeeds"
                    .to_owned(),
            );
        }
        if is_result {
            if squeezed(&ran.command).contains(&squeezed(quote)) {
                return Err("the quote is part of the command itself".to_owned());
            }
            self.is_written_by_a_test()?;
        }
        if is_only_tried(&ran.command)
            && CommandKind::Push.is(&ran.command)
            && !self.facts.said().iter().any(|said| said.to_lowercase().contains("dry"))
        {
            return Err("it was a dry run, which pushes nothing".to_owned());
        }
        // A failure proves something only if the user asked to see it.
        if tells_of_failure(quote) && words::ask_for_failure(&self.facts.said()) {
            return Ok(());
        }
        self.succeeded(quote)?;
        self.is_of_the_project()?;
        self.is_of_now()
    }

    /// Whether the same tests did not fail in a later run.
    fn is_not_refuted(&self, later: &[&Ran]) -> Result<(), String> {
        let failed = |again: &&&Ran| {
            let same = again.failed && again.command == self.ran.command;
            again.ended
                && !tests_without_the_work(&again.command)
                && (same || says_failed(&again.output))
                && CommandKind::Test.is(&again.command)
        };
        let passed = CommandKind::Test.is(&self.ran.command) && !self.ran.failed;
        // The same tests with other options, such as `pytest` after `pytest -q`.
        let plain = |script: &str| -> Vec<Vec<String>> {
            let commands = shell::commands(&without_here_documents(script)).into_iter();
            let words = commands.map(|command| command.words);
            words.map(|words| words.into_iter().filter(|w| !w.starts_with('-')).collect()).collect()
        };
        let own = self.commands.iter().skip_while(|ran| !std::ptr::eq(*ran, self.ran)).skip(1);
        let own = own.filter(|ran| passed && CommandKind::Test.is(&ran.command));
        let again = own.filter(|ran| plain(&ran.command) == plain(&self.ran.command));
        let all: Vec<_> = later.iter().copied().chain(again).collect();
        match all.iter().find(failed).filter(|_| passed) {
            Some(again) => Err(format!("`{}` ran later and failed", again.command)),
            None => Ok(()),
        }
    }

    /// Accepts an empty quote if the command succeeded and printed nothing that could be quoted.
    fn shows_by_ending_well(&self) -> Result<(), String> {
        let ran = self.ran;
        if self.found_nothing() {
            self.is_of_the_project()?;
            return self.is_of_now();
        }
        if !squeezed(&ran.output).is_empty() {
            return Err("none of its output is quoted".to_owned());
        }
        if ran.failed {
            return Err("it failed".to_owned());
        }
        let script = serde_json::json!({"command": ran.command});
        if let Some(path) = edits::by("Bash", &script) {
            return Err(format!("it changed something ({path}); cite what is there now"));
        }
        if only_prints(&ran.command) {
            return Err("it only prints its own arguments".to_owned());
        }
        if hides_exit_code(&ran.command).is_some() || prints_exit_code(&ran.command) {
            return Err(
                "it printed nothing, and its exit code is that of something else".to_owned()
            );
        }
        let prepares = |command: &shell::Command| {
            command.words.first().is_some_and(|name| PREPARING.contains(&name.as_str()))
                || command.words.starts_with(&["git".to_owned(), "add".to_owned()])
        };
        if ran.tool != "Bash" || self.parts.iter().all(prepares) {
            return Err("it printed nothing, which proves nothing".to_owned());
        }
        self.succeeded("")?;
        self.is_of_the_project()?;
        self.is_of_now()
    }

    /// A search that found nothing says so with its exit code alone.
    fn found_nothing(&self) -> bool {
        const SEARCHES: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "ag"];
        let Some(last) = self.parts.last() else { return false };
        let searches = SEARCHES.contains(&last.words[0].as_str())
            || last.words[0] == "git" && last.words.get(1).is_some_and(|sub| sub == "grep");
        let output = self.ran.output.trim();
        self.ran.failed
            && searches
            && self.only_reads()
            && output.lines().count() == 1
            && exit_code(output) == Some(1)
    }

    /// A test, build or check must have succeeded. Any other command may have failed if it only
    /// reads, or if the quote is the error itself.
    fn succeeded(&self, quote: &str) -> Result<(), String> {
        let Ran { command, output, failed, .. } = self.ran;
        let test = CommandKind::Test.is(command);
        let decides = decides(command);
        let is_the_error = || tells_of_failure(quote) || is_end_of_traceback(quote, output);
        if *failed && (decides || !(self.only_reads() || is_the_error())) {
            return Err("it failed".to_owned());
        }
        if !decides {
            return Ok(());
        }
        if test && tests_without_the_work(command) {
            return Err("git had put the work away while it ran".to_owned());
        }
        if let Some(why) = runs_no_test(command)
            && !words::ask_for_a_list(&self.facts.said())
        {
            return Err(why.to_owned());
        }
        if test && says_failed(output) {
            return Err(FAILED.to_owned());
        }
        if test && ran_none(output) {
            return Err("its output says that no test ran".to_owned());
        }
        let hidden = hides_exit_code(command);
        let hidden = hidden.or(prints_exit_code(command).then_some("it only prints the exit code"));
        match hidden {
            Some(_) if test && !is_quiet_success(output) && !says_passed(command, output) => {
                Err(format!(
                    "{}, and its output does not say that a test passed",
                    hidden.unwrap_or_default()
                ))
            }
            Some(why) if !test && says_broken(output) => {
                Err(format!("{why}, and its output reports an error"))
            }
            _ => Ok(()),
        }
    }

    /// A test result that was read from a file counts only if a test run wrote that file.
    fn is_written_by_a_test(&self) -> Result<(), String> {
        if !self.only_reads() {
            return Ok(());
        }
        let read = self.parts.iter().flat_map(|part| part.words.iter().skip(1));
        results::are_by_a_test("", &read.map(String::as_str).collect::<Vec<_>>(), self.facts)
    }

    fn only_reads(&self) -> bool {
        self.ran.tool != "Bash"
            || !self.parts.is_empty()
                && self.parts.iter().all(|part| !part.writes && is_reading(&part.words))
    }

    /// A judge works in a copy, and a command that it ran after changing the copy proves nothing
    /// about the agent's work.
    fn is_of_the_project(&self) -> Result<(), String> {
        if self.by != By::Judge {
            return Ok(());
        }
        if self.only_reads() {
            return match self.written_for_it() {
                Some(file) => Err(format!("you wrote {file} yourself, so it proves nothing")),
                None => Ok(()),
            };
        }
        // After `git stash pop` or `git stash apply` the copy is as it was.
        let mut git = self.commands.edited_before(self.ran).filter(|path| path.starts_with("git "));
        let by_git = git.next().filter(|last| !["git stash pop", "git stash apply"].contains(last));
        let mut files = self.commands.edited_before(self.ran);
        let changed = by_git.or_else(|| files.find(|path| self.facts.has_file(path)));
        let Some(what) = changed else { return Ok(()) };
        let what = match what.strip_prefix("git ") {
            Some(_) => format!("`{what}` had changed your copy"),
            None => format!("you had changed {what} in your copy"),
        };
        Err(format!(
            "{what} when it ran, so it proves nothing about the project; run it on the files as \
             the agent left them"
        ))
    }

    /// A file that this command reads and that the judge itself wrote before.
    fn written_for_it(&self) -> Option<&str> {
        const FILLS: [&str; 5] = ["echo", "printf", "cat", "tee", ":"];
        let words = self.ran.command.split(|c: char| !c.is_alphanumeric() && !"._-/".contains(c));
        let files: Vec<_> = words.filter_map(|word| word.rsplit('/').next()).collect();
        let is_read = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or_default();
            files.iter().find(|file| file.contains('.') && **file == name).copied()
        };
        let before = self.commands.iter().take_while(|ran| !std::ptr::eq(*ran, self.ran));
        before.filter(|ran| ran.tool == "Bash").find_map(|ran| {
            let edited = edits::by("Bash", &serde_json::json!({"command": ran.command}));
            let parts = shell::commands(&without_here_documents(&ran.command));
            let fills = |part: &shell::Command| FILLS.contains(&part.words[0].as_str());
            let filled = parts.iter().any(|part| part.writes) && parts.iter().all(fills);
            let mut written = parts.iter().filter(|_| filled).flat_map(|part| &part.words);
            edited
                .and_then(|path| is_read(&path))
                .or_else(|| written.find_map(|word| is_read(word)))
        })
    }

    /// Whether nothing that the command depends on was edited after it ran.
    fn is_of_now(&self) -> Result<(), String> {
        let (own, agent) = (self.commands, self.facts.record().agent);
        let later: Vec<&str> = match self.by {
            By::Judge => return Ok(()),
            By::Agent => own.edited_after(self.ran).collect(),
            By::Earlier => agent.edited().chain(own.edited_after(self.ran)).collect(),
        };
        let command = &self.ran.command;
        let concerns = |path: &&&str| {
            if decides(command) {
                true
            } else if self.only_reads() {
                let name = path.rsplit('/').next().unwrap_or(path);
                command.contains(name)
            } else {
                !self.is_elsewhere() && edits::is_code(path) && !edits::is_test_file(path)
            }
        };
        match later.iter().find(concerns) {
            Some(path) => Err(format!(
                "it ran before the last edit ({path}), so it says nothing about the files as they \
                 are now"
            )),
            None => Ok(()),
        }
    }

    fn is_elsewhere(&self) -> bool {
        let names = |part: &shell::Command| {
            part.words.first().is_some_and(|name| ELSEWHERE.contains(&name.as_str()))
        };
        self.parts.iter().any(names)
    }
}

/// Whether the quote is the exception at the end of a traceback, whatever its name.
fn is_end_of_traceback(quote: &str, output: &str) -> bool {
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    output.contains("Traceback") && squeezed(last).contains(&squeezed(quote))
}

/// Whether the output reports the exit code 0 and no failure.
fn is_quiet_success(output: &str) -> bool {
    static ZERO: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?im)^\W*((exit|rc|code|status|ret|exit[ _]code)\W{0,3})?0\W*$").ok()
    });
    ZERO.as_ref().is_some_and(|zero| zero.is_match(output)) && !tells_of_failure(output)
}
