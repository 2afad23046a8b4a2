//! Commands whose effect no glass case can contain, because it happens on another machine or in a
//! program outside the case. docs/glass-case.md shows this table; a test keeps the two the same.

mod table;

use super::requests;
pub use table::{Reach, markdown};
use table::{Reach::Pushing, TABLE, Which};

pub struct Outward {
    pub reach: Reach,
    /// The program and, where it matters, the subcommand.
    pub name: String,
}

/// Options that take a value and may stand before the subcommand, for all of these programs.
const VALUED: [&str; 27] = [
    "-C",
    "-c",
    "-f",
    "-n",
    "-p",
    "-R",
    "-s",
    "-w",
    "--attr-source",
    "--color",
    "--config",
    "--config-env",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--filter",
    "--git-dir",
    "--manifest-path",
    "--namespace",
    "--prefix",
    "--project",
    "--registry",
    "--repo",
    "--repository",
    "--work-tree",
    "--workspace",
];

/// Stands for the result of a substitution.
const COMPUTED: &str = "_";

/// Looks a command up in the table. The first word is the program, without its directory.
pub fn find(words: &[String]) -> Option<Outward> {
    let (program, args) = words.split_first()?;
    // `yarn workspace NAME npm publish`
    if let [first, _, rest @ ..] = args
        && program == "yarn"
        && first == "workspace"
    {
        return find(&[std::slice::from_ref(program), rest].concat());
    }
    // `python -m twine upload`
    if program.starts_with("python")
        && let Some(at) = args.iter().position(|arg| arg == "-m")
    {
        return find(&args[at + 1..]);
    }
    let told = told(args);
    // A program whose name is only known at run time may be any that has such a subcommand.
    if program.contains('$') || program == COMPUTED {
        let any =
            TABLE.iter().filter(|(_, _, which)| matches!(which, Which::Only(_) | Which::Short(_)));
        return any.flat_map(|(_, programs, _)| *programs).find_map(|program| {
            let words = program.split(' ').map(str::to_owned).chain(args.iter().cloned());
            find(&words.collect::<Vec<_>>())
        });
    }
    // No subcommand of git has one of these in its name, so the shell makes the name.
    if program == "git" && told.first().is_some_and(|sub| sub.contains(['$', '_', '{', '*', '?'])) {
        return Some(Outward { reach: Pushing, name: "git push".to_owned() });
    }
    TABLE.iter().find_map(|(reach, programs, which)| {
        let rest = programs.iter().find_map(|name| match name.split_once(' ') {
            None => (name == program).then_some(&told[..]),
            Some((name, sub)) => {
                let (first, rest) = told.split_first()?;
                (name == program && *first == sub).then_some(rest)
            }
        })?;
        let starts = |sub: &&&str| rest.starts_with(&sub.split(' ').collect::<Vec<_>>());
        let outward = |name: String| Some(Outward { reach: *reach, name });
        match which {
            Which::All => outward(program.clone()),
            Which::Only(subs) => {
                let sub = subs.iter().find(starts)?;
                outward(format!("{program} {sub}"))
            }
            // A call without a subcommand prints help.
            Which::AllBut(subs) if rest.is_empty() || subs.iter().any(|sub| starts(&sub)) => None,
            Which::AllBut(_) => outward(format!("{program} {}", rest[0])),
            Which::Short(subs) => {
                let is = |sub: &&&str| is_begun(rest, sub);
                let sub = subs.iter().find(starts).or_else(|| subs.iter().find(is))?;
                outward(format!("{program} {sub}"))
            }
            Which::Goal(goals) => {
                let goal =
                    goals_among(args).find(|word| goals.iter().any(|goal| is_goal(word, goal)))?;
                outward(format!("{program} {goal}"))
            }
            Which::Remote => {
                rest.iter().any(|word| is_remote(word)).then(|| outward(program.clone()))?
            }
            Which::Sending => requests::sends(program, args).then(|| outward(program.clone()))?,
        }
    })
}

/// The arguments without options and their values.
fn told(args: &[String]) -> Vec<&str> {
    let mut told = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        // Only before the subcommand: after it, the same letters may mean something else.
        if told.is_empty() && VALUED.contains(&arg.as_str()) {
            args.next();
        } else if !(arg.starts_with('-') || (told.is_empty() && arg.starts_with('+'))) {
            told.push(arg.as_str());
        }
    }
    told
}

/// Whether the first argument is the beginning of this subcommand.
fn is_begun(told: &[&str], sub: &str) -> bool {
    told.first().is_some_and(|first| first.len() >= 3 && sub.starts_with(first))
}

/// The goals of a build tool: its arguments without options and their values.
fn goals_among(args: &[String]) -> impl Iterator<Item = &String> {
    const VALUED: [&str; 9] =
        ["--tests", "-pl", "--projects", "-x", "--exclude-task", "-f", "--file", "-p", "-P"];
    let is_value = |at: usize| at > 0 && VALUED.contains(&args[at - 1].as_str());
    let told = args.iter().enumerate().filter(move |(at, _)| !is_value(*at));
    told.map(|(_, arg)| arg).filter(|arg| !arg.starts_with('-'))
}

/// `deploy`, `:lib:publish`, `org.example:plugin:deploy`. What goes to the local repository stays on
/// this machine.
fn is_goal(word: &str, goal: &str) -> bool {
    let last = word.rsplit(':').next().unwrap_or(word);
    match goal.strip_suffix('*') {
        Some(start) => last.starts_with(start) && !last.to_lowercase().ends_with("local"),
        None => word == goal || last == goal || word.ends_with(&format!(":{goal}")),
    }
}

/// `host:path`, `user@host::module`, `rsync://…`
fn is_remote(word: &str) -> bool {
    word.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}
