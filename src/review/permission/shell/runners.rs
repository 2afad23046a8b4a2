//! Programs that run other programs: shells, `sudo`, `xargs` and the like.

use super::{Command, collect};

/// Keywords of the shell that may stand before a command.
const KEYWORDS: [&str; 10] =
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "coproc"];
pub const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"];
/// Programs that run another program, with those of their options that take a value.
const RUNNERS: [(&str, &[&str]); 35] = [
    ("sudo", &["-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t", "-U", "--user", "--group"]),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("nohup", &[]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"]),
    ("setsid", &[]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-d",
            "-a",
            "-L",
            "-s",
            "-E",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--max-lines",
        ],
    ),
    ("parallel", &["-j", "-a"]),
    ("watch", &["-n", "--interval"]),
    ("strace", &["-o", "-e", "-s", "-p"]),
    ("flock", &["-w", "-E"]),
    ("chroot", &[]),
    ("busybox", &[]),
    ("unbuffer", &[]),
    ("caffeinate", &["-t", "-w"]),
    ("sshpass", &["-p", "-f"]),
    ("npx", &["-p", "--package", "-w", "--workspace"]),
    ("bunx", &[]),
    ("uvx", &["--from", "--with", "--python", "-p"]),
    ("time", &["-o", "-f", "--output", "--format"]),
    ("unshare", &[]),
    ("nsenter", &["-t"]),
    ("setpriv", &[]),
    ("runuser", &["-u", "-g"]),
    ("ssh-agent", &[]),
    ("chrt", &[]),
    ("taskset", &["-c"]),
    ("prlimit", &["-p"]),
    ("dbus-run-session", &[]),
];
/// Programs with a subcommand that runs another program.
const RUN_BY_SUBCOMMAND: [(&str, &str); 20] = [
    ("bun", "x"),
    ("bundle", "exec"),
    ("conda", "run"),
    ("git", "foreach"),
    ("git", "run"),
    ("hatch", "run"),
    ("mise", "exec"),
    ("mise", "x"),
    ("npm", "exec"),
    ("npm", "x"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pipx", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
];
/// Options of these subcommands that take a value.
const VALUED_OF_SUBCOMMANDS: [&str; 13] = [
    "--with",
    "--with-requirements",
    "--extra",
    "--group",
    "--package",
    "--project",
    "--directory",
    "--python",
    "--spec",
    "--workspace",
    "-n",
    "-p",
    "-w",
];
/// Runners whose first argument is not yet the command.
const WITH_ARGUMENT: [&str; 5] = ["timeout", "flock", "chroot", "chrt", "taskset"];

pub fn command(words: Vec<String>, writes: bool, depth: usize, found: &mut Vec<Command>) {
    let mut words: &[String] = &words;
    loop {
        let Some((first, rest)) = words.split_first() else { return };
        let name = base(first);
        if KEYWORDS.contains(&name) || is_assignment(first) {
            words = rest;
        } else if name == "function" {
            words = rest.get(1..).unwrap_or_default();
        } else if let Some((_, valued)) = RUNNERS.iter().find(|(runner, _)| *runner == name) {
            // `env -S "words"` and `watch "words"` take the whole command as one argument.
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
    // Each subcommand of git also exists as a program of its own.
    let own = name.strip_prefix("git-").filter(|_| name != "git-lfs");
    let name =
        own.map_or_else(|| vec![name.to_owned()], |own| vec!["git".to_owned(), own.to_owned()]);
    found.push(Command { words: name.into_iter().chain(rest.iter().cloned()).collect(), writes });
}

/// The scripts that a program is told to run by its arguments.
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
        let behind: Vec<_> =
            behind_options(&args[at + 1..], &VALUED_OF_SUBCOMMANDS).iter().collect();
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

/// The script that a shell is given on its command line.
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

/// The name of a program without its directory.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_+".contains(c))
}
