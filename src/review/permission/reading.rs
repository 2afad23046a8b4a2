//! Commands that only read. Without a case, only these run without permission, so a command that
//! some option can make write or run something else is not among them.

const READING: [&str; 44] = [
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
            // Options before the subcommand could name a program to run.
            let Some(subcommand) = args.first() else { return false };
            let acts = |arg: &String| {
                ["--output", "--ext-diff", "--open-files-in-pager"].iter().any(|o| is(arg, o))
                    || (subcommand == "grep" && has_letter(arg, 'O'))
            };
            named(&READING_OF_GIT, subcommand) && !args.iter().any(acts)
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
            is(arg, "--output") || is(arg, "--compress-program") || has_letter(arg, 'o')
        }),
        // A second name is the file that is written.
        "uniq" => args.iter().filter(|arg| !arg.starts_with('-')).count() <= 1,
        // Compiles a list of magic numbers into a file.
        "file" => !args.iter().any(|arg| is(arg, "--compile") || has_letter(arg, 'C')),
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

/// Whether the argument is this long option, or the beginning of it, which programs accept as well.
fn is(arg: &str, option: &str) -> bool {
    let name = arg.split_once('=').map_or(arg, |(name, _)| name);
    name.starts_with(option) || (name.len() > 2 && option.starts_with(name))
}

/// Whether the argument is a group of short options that contains this letter.
fn has_letter(arg: &str, letter: char) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letter)
}
