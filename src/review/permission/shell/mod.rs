//! Splits a shell script into its commands: at its operators, and also inside `$(…)`, `sh -c`,
//! `eval` and behind `sudo`, `xargs` and the like. When in doubt it finds a command too many rather
//! than one too few: the body of a here-document counts as commands.

mod runners;
mod split;

use runners::{SHELLS, command};
use split::Split;

/// One command, without assignments and without the program that merely runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program without its directory, and its arguments.
    pub words: Vec<String>,
    /// Whether the command or something around it writes to a file.
    pub writes: bool,
}

/// Nobody nests commands deeper than this by hand.
const DEEPEST: usize = 12;

pub fn commands(script: &str) -> Vec<Command> {
    let mut found = Vec::new();
    collect(script, 0, &mut found);
    found
}

fn collect(script: &str, depth: usize, found: &mut Vec<Command>) {
    if depth > DEEPEST {
        // A command that no rule knows, and so none allows.
        found.push(Command { words: vec!["(nested)".to_owned()], writes: true });
        return;
    }
    let mut split = Split::default();
    split.script(script);
    for inner in split.inner {
        collect(&inner, depth + 1, found);
    }
    let first = found.len();
    for piece in split.pieces {
        // If the quotes are unbalanced, split at whitespace.
        let words = shell_words::split(&piece.text)
            .unwrap_or_else(|_| piece.text.split_whitespace().map(unquoted).collect());
        command(words, piece.writes, depth, found);
    }
    // A shell in the same script may read what `echo` and `printf` print.
    if found[first..].iter().any(Command::is_shell_that_reads) {
        let prints = |command: &&Command| matches!(command.name(), "echo" | "printf");
        let printed =
            found[first..].iter().filter(prints).map(|command| command.words[1..].join(" "));
        for script in printed.collect::<Vec<_>>() {
            collect(&script.replace("\\n", "\n"), depth + 1, found);
        }
    }
}

impl Command {
    fn is_shell_that_reads(&self) -> bool {
        SHELLS.contains(&self.name()) && self.words[1..].iter().all(|word| word.starts_with('-'))
    }

    fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

fn unquoted(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(script: &str) -> Vec<String> {
        commands(script).into_iter().map(|command| command.words.join(" ")).collect()
    }

    #[test]
    fn a_command_is_found_wherever_it_stands() {
        for script in [
            "git push",
            "true && git push",
            "cd x; git push",
            "false || git push &",
            "if true; then git push; fi",
            "( git push )",
            "{ git push; }",
            "! git push",
            "A=1 B='2 3' git push",
            "/usr/bin/git push",
            "\\git push",
            "'git' \"push\"",
            "sudo -u bob git push",
            "env -u X Y=1 git push",
            "timeout -k 5 10s git push",
            "nice -n 5 nohup git push",
            "echo x | xargs -n1 git push",
            "sh -c 'git push'",
            "bash -lc \"git push\"",
            "bash -c \"sh -c 'git push'\"",
            "eval git push",
            "eval \"git push\"",
            "echo $(git push)",
            "echo \"$(git push)\"",
            "echo `git push`",
            "diff <(git push) x",
            "find . -name x -exec git push \\;",
            "git \\\n push",
            "echo x\ngit push",
            "bash <<EOF\ngit push\nEOF",
            "for x in 1 2; do git push; done",
            "echo x > y && git push",
            "watch -n 5 'git push'",
            "exec git push",
            "time -p git push",
            "function f { git push; }; f",
            "coproc git push",
            "echo 'git push' | sh",
            "printf 'git push\\n' | bash -s",
            "bash <<< 'git push'",
            "trap 'git push' EXIT",
            "alias p='git push'; p",
            "git-push",
            "/usr/lib/git-core/git-push",
            "git -c alias.p=push p",
            "git -c alias.p='!git push' p",
            "git config alias.p push && git p",
            "git rebase --exec 'git push' HEAD~1",
            "git bisect run git push",
            "git submodule foreach git push",
            "git submodule foreach --recursive 'git push'",
            "git filter-branch --tree-filter 'git push'",
            "unshare -r git push",
            "taskset 1 git push",
            "npm exec -- git push",
            "uv run git push",
        ] {
            let seen = seen(script);
            assert!(
                seen.iter().any(|command| command.trim_end_matches(" ;") == "git push"),
                "{script}: {seen:?}"
            );
        }
    }

    #[test]
    fn what_is_only_mentioned_is_no_command() {
        for script in [
            "echo git push",
            "echo 'x; git push'",
            "grep -r \"git push\" .",
            "echo x # git push",
            "cat git push",
            "echo 'a' \"b; git push\"",
            "echo '$(git push)'",
            "echo 'git push'; sh run-tests.sh",
        ] {
            assert!(
                !seen(script).iter().any(|seen| seen == "git push"),
                "{script}: {:?}",
                seen(script)
            );
        }
    }

    #[test]
    fn writing_is_told_from_reading() {
        let writes = |script: &str| commands(script).iter().any(|command| command.writes);
        for script in [
            "echo x > f",
            "echo x >> f",
            "echo x >f",
            "cat a &> f",
            "x 2> log",
            "> f",
            "x >| f",
            "sh -c 'x > f'",
        ] {
            assert!(writes(script), "{script}");
        }
        for script in [
            "echo x > /dev/null",
            "x 2>&1",
            "x >/dev/null 2>&1",
            "x &>/dev/null",
            "echo '>' f",
            "x 1>&2",
            "echo \"a > b\"",
        ] {
            assert!(!writes(script), "{script}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_is_written_breaks_it(script in ".*") {
            let _ = commands(&script);
        }

        #[test]
        fn no_mixture_of_operators_breaks_it(script in "[a&|;<>()$`'\"\\\\ \n#=-]*") {
            let _ = commands(&script);
        }
    }
}
