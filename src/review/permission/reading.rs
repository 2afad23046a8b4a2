//! Commands that only read. Without a case, only these run without permission, so a command that
//! some option can make write or run something else is not among them.

const READING: [&str; 46] = [
    "basename",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "file",
    "fold",
    "grep",
    "head",
    "hexdump",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "od",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "sha1sum",
    "sha256sum",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "[",
];

/// Subcommands of git that change nothing, apart from `--output` and pagers.
const READING_OF_GIT: [&str; 12] = [
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "show",
    "status",
];

pub fn is_reading(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else { return true };
    let named = |list: &[&str], name: &str| list.contains(&name);
    match program.as_str() {
        "git" => {
            let writes =
                |arg: &String| arg.starts_with("--output") || arg.starts_with("--ext-diff");
            // Options before the subcommand could name a program to run.
            args.first().is_some_and(|name| named(&READING_OF_GIT, name))
                && !args.iter().any(writes)
        }
        // Other scripts of sed can write to files, and files of commands can contain anything.
        "sed" => {
            args.first().is_some_and(|option| option == "-n")
                && args.get(1).is_some_and(|script| is_print(script))
                && !args[2..].iter().any(|arg| arg.starts_with('-'))
        }
        "find" => {
            let acts =
                ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls", "-fprintf"];
            !args.iter().any(|arg| acts.iter().any(|act| arg.starts_with(act)))
        }
        "sort" => !args.iter().any(|arg| {
            arg.starts_with("-o") || arg.starts_with("--output") || arg.starts_with("--compress")
        }),
        "for" | "fi" | "done" | "esac" | "}" => true,
        program => named(&READING, program),
    }
}

/// `12p`, `1,20p`, `$p`
fn is_print(script: &str) -> bool {
    script
        .strip_suffix('p')
        .is_some_and(|lines| lines.chars().all(|c| c.is_ascii_digit() || ",$".contains(c)))
}
