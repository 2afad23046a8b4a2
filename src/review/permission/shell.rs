//! Splits a shell script into its commands: at its operators, and also inside `$(…)`, `sh -c`,
//! `eval` and behind `sudo`, `xargs` and the like. It rather finds one command too many than one
//! too few: the body of a here-document counts as commands.

/// One command: its words without assignments and without what only runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program without its directory, and its arguments.
    pub words: Vec<String>,
    /// It, or something around it, writes to a file.
    pub writes: bool,
}

/// Deeper than anybody writes by hand.
const DEEPEST: usize = 12;

pub fn commands(script: &str) -> Vec<Command> {
    let mut found = Vec::new();
    collect(script, 0, &mut found);
    found
}

fn collect(script: &str, depth: usize, found: &mut Vec<Command>) {
    if depth > DEEPEST {
        // Nothing that anybody knows.
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
        // Quotes that do not close: the words as they stand are better than nothing.
        let words = shell_words::split(&piece.text)
            .unwrap_or_else(|_| piece.text.split_whitespace().map(unquoted).collect());
        command(words, piece.writes, depth, found);
    }
    // What is printed may be what a shell beside it reads.
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

/// Words that stand in front of a command, and belong to the shell.
const KEYWORDS: [&str; 10] =
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "coproc"];
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"];
/// Programs that run another one, with their options that take a value.
const RUNNERS: [(&str, &[&str]); 36] = [
    ("sudo", &["-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t", "-U"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("nohup", &[]),
    ("timeout", &["-s", "-k"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("xargs", &["-I", "-n", "-P", "-d", "-a", "-L", "-s", "-E"]),
    ("parallel", &["-j", "-a"]),
    ("watch", &["-n"]),
    ("strace", &["-o", "-e", "-s", "-p"]),
    ("flock", &["-w", "-E"]),
    ("chroot", &[]),
    ("busybox", &[]),
    ("unbuffer", &[]),
    ("caffeinate", &["-t", "-w"]),
    ("sshpass", &["-p", "-f"]),
    ("npx", &["-p", "--package"]),
    ("bunx", &[]),
    ("uvx", &["--from"]),
    ("time", &["-o", "-f"]),
    ("unshare", &[]),
    ("nsenter", &["-t"]),
    ("setpriv", &[]),
    ("runuser", &["-u", "-g"]),
    ("ssh-agent", &[]),
    ("chrt", &[]),
    ("taskset", &["-c"]),
    ("prlimit", &["-p"]),
    ("systemd-run", &["-u", "-p"]),
    ("dbus-run-session", &[]),
];
/// Programs with a subcommand that runs another one.
const RUN_BY_SUBCOMMAND: [(&str, &str); 10] = [
    ("bundle", "exec"),
    ("git", "foreach"),
    ("git", "run"),
    ("npm", "exec"),
    ("pipx", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("uv", "run"),
    ("yarn", "dlx"),
];
/// Those of them whose first argument is not the command yet.
const WITH_ARGUMENT: [&str; 5] = ["timeout", "flock", "chroot", "chrt", "taskset"];

fn command(words: Vec<String>, writes: bool, depth: usize, found: &mut Vec<Command>) {
    let mut words: &[String] = &words;
    loop {
        let Some((first, rest)) = words.split_first() else { return };
        let name = base(first);
        if KEYWORDS.contains(&name) || is_assignment(first) {
            words = rest;
        } else if name == "function" {
            words = rest.get(1..).unwrap_or_default();
        } else if let Some((_, valued)) = RUNNERS.iter().find(|(runner, _)| *runner == name) {
            // `env -S "words"` and `watch "words"` have the command in one.
            let mut behind = behind_options(rest, valued);
            if WITH_ARGUMENT.contains(&name) {
                behind = behind.get(1..).unwrap_or_default();
            }
            if let [only] = behind
                && only.contains(' ')
            {
                return collect(only, depth + 1, found);
            }
            if behind.is_empty() {
                break;
            }
            words = behind;
        } else {
            break;
        }
    }
    let Some((first, rest)) = words.split_first() else { return };
    let name = base(first);
    if let Some(script) = script_of(name, rest) {
        return collect(&script, depth + 1, found);
    }
    if name == "find" {
        for (at, _) in rest.iter().enumerate().filter(|(_, word)| runs(word)) {
            command(rest[at + 1..].to_vec(), writes, depth, found);
        }
    }
    for script in scripts_among(name, rest) {
        collect(&script, depth + 1, found);
    }
    // Each of git's commands is a program of its own too.
    let own = name.strip_prefix("git-").filter(|_| name != "git-lfs");
    let name =
        own.map_or_else(|| vec![name.to_owned()], |own| vec!["git".to_owned(), own.to_owned()]);
    found.push(Command { words: name.into_iter().chain(rest.iter().cloned()).collect(), writes });
}

/// What a program is told to run by one of its arguments.
fn scripts_among(name: &str, args: &[String]) -> Vec<String> {
    let behind = |is: &dyn Fn(&str) -> bool| {
        let at = args.iter().enumerate().filter(|(_, word)| is(word)).map(|(at, _)| at + 1);
        at.filter_map(|at| args.get(at).cloned()).collect::<Vec<_>>()
    };
    let mut scripts = match name {
        "trap" => args.first().cloned().into_iter().collect(),
        "alias" => args.iter().filter_map(|arg| Some(arg.split_once('=')?.1.to_owned())).collect(),
        "git" => behind(&|word| matches!(word, "--exec" | "-x") || word.ends_with("-filter")),
        name if SHELLS.contains(&name) => behind(&|word| word == "<<<"),
        _ => Vec::new(),
    };
    let subs = RUN_BY_SUBCOMMAND.iter().filter(|(program, _)| *program == name);
    for at in subs.filter_map(|(_, sub)| args.iter().position(|arg| arg == sub)) {
        let behind: Vec<_> = args[at + 1..].iter().skip_while(|arg| arg.starts_with('-')).collect();
        scripts.push(match &behind[..] {
            [only] => (*only).clone(),
            words => shell_words::join(words),
        });
    }
    if name == "git" {
        // `-c alias.p=push p`, `config alias.p push`
        let set = args.iter().filter_map(|arg| arg.strip_prefix("alias.")?.split_once('='));
        let values = set.map(|(_, value)| value.to_owned());
        let values =
            values.chain(behind(&|word| word.starts_with("alias.") && !word.contains('=')));
        scripts.extend(values.map(|value| match value.strip_prefix('!') {
            Some(script) => script.to_owned(),
            None => format!("git {value}"),
        }));
    }
    scripts
}

fn runs(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// What a shell is told to run on its command line.
fn script_of(name: &str, args: &[String]) -> Option<String> {
    if name == "eval" {
        return Some(args.join(" "));
    }
    if !SHELLS.contains(&name) && !matches!(name, "su" | "script") {
        return None;
    }
    let is_command = |word: &String| {
        word == "--command"
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
    };
    let at = args.iter().position(is_command)?;
    args.get(at + 1).cloned()
}

fn behind_options<'a>(mut words: &'a [String], valued: &[&str]) -> &'a [String] {
    while let Some((first, rest)) = words.split_first() {
        words = if valued.contains(&first.as_str()) {
            rest.get(1..).unwrap_or_default()
        } else if first.starts_with('-') || is_assignment(first) {
            rest
        } else {
            break;
        };
    }
    words
}

/// Without its directory.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_+".contains(c))
}

#[derive(Debug, Default)]
struct Piece {
    text: String,
    writes: bool,
}

/// Where one command ends and the next begins.
#[derive(Debug, Default)]
struct Split {
    pieces: Vec<Piece>,
    /// Scripts inside the script.
    inner: Vec<String>,
    piece: Piece,
}

impl Split {
    fn script(&mut self, script: &str) {
        let chars: Vec<char> = script.chars().collect();
        let at = |index: usize| chars.get(index).copied().unwrap_or('\n');
        let (mut index, mut double) = (0, false);
        while index < chars.len() {
            let c = chars[index];
            match c {
                '\\' => {
                    // A line that goes on is one line.
                    if at(index + 1) != '\n' {
                        self.piece.text.extend([c, at(index + 1)]);
                    }
                    index += 1;
                }
                '\'' if !double => {
                    let end = (index + 1..chars.len()).find(|end| chars[*end] == '\'');
                    let end = end.unwrap_or(chars.len() - 1);
                    self.piece.text.extend(&chars[index..=end]);
                    index = end;
                }
                '"' => {
                    double = !double;
                    self.piece.text.push(c);
                }
                '`' => {
                    let end = (index + 1..chars.len()).find(|end| chars[*end] == '`');
                    let end = end.unwrap_or(chars.len());
                    self.inside(&chars[index + 1..end]);
                    index = end;
                }
                '$' | '<' | '>' if at(index + 1) == '(' && !(double && c != '$') => {
                    let end = closing(&chars, index + 2);
                    self.inside(&chars[index + 2..end]);
                    index = end;
                }
                _ if double => self.piece.text.push(c),
                '#' if self.piece.text.is_empty() || self.piece.text.ends_with(' ') => {
                    while index + 1 < chars.len() && chars[index + 1] != '\n' {
                        index += 1;
                    }
                }
                '>' => {
                    self.piece.writes |= !is_harmless(&chars[index + 1..]);
                    self.piece.text.push(' ');
                    // A number in front of it is no argument, and it does not matter here.
                    if matches!(at(index + 1), '>' | '&' | '|') {
                        index += 1;
                    }
                }
                '&' if at(index + 1) == '>' => {}
                ';' | '&' | '|' | '\n' | '(' | ')' => self.next(),
                _ => self.piece.text.push(c),
            }
            index += 1;
        }
        self.next();
    }

    fn next(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        if !piece.text.trim().is_empty() || piece.writes {
            self.pieces.push(piece);
        }
    }

    fn inside(&mut self, script: &[char]) {
        self.inner.push(script.iter().collect());
        self.piece.text.push('_');
    }
}

/// Where the bracket closes whose inside begins here.
fn closing(chars: &[char], from: usize) -> usize {
    let (mut depth, mut quote) = (1, None);
    let mut index = from;
    while index < chars.len() {
        match (chars[index], quote) {
            ('\\', open) if open != Some('\'') => index += 1,
            (c @ ('"' | '\''), None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
        index += 1;
    }
    chars.len()
}

/// What stands behind `>`: another stream of the same process, or nowhere.
fn is_harmless(behind: &[char]) -> bool {
    let behind: String = behind.iter().take(24).collect();
    let behind = behind.trim_start_matches(['>', '|']).trim_start();
    let target = behind.strip_prefix('&').unwrap_or(behind);
    let is_stream =
        behind.starts_with('&') && target.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let target = target.trim_start();
    is_stream
        || ["/dev/null", "/dev/stderr", "/dev/stdout"].iter().any(|known| target.starts_with(known))
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
