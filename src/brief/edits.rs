//! Which tools and commands change a file that a test may depend on. Prose does not count: writing
//! a README last does not make a test run stale.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::baseline::tests_without_the_work;
use crate::review::permission::shell;

/// The file that a tool or a shell command edits, if the file counts.
pub fn by(tool: &str, input: &Value) -> Option<String> {
    match tool {
        "Bash" => by_command(input["command"].as_str()?),
        tool => by_tool(tool, input),
    }
}

fn by_tool(tool: &str, input: &Value) -> Option<String> {
    let key = match tool {
        "Edit" | "Write" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    input[key].as_str().filter(|path| !is_prose(path)).map(str::to_owned)
}

/// The file that a shell command changes, writes, moves or deletes, or the git command that
/// replaces files. Only what the command itself shows for certain.
fn by_command(script: &str) -> Option<String> {
    static TARGET: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?:^|[^>&\d])>{1,2}\|?\s*["']?([\w./-]+)"#).ok());
    if let Some(path) = by_program(script) {
        return Some(path);
    }
    // What is put away and taken back is as it was.
    if tests_without_the_work(script) {
        return None;
    }
    let script = without_here_documents(script);
    let target = TARGET.as_ref()?.captures_iter(&script).find_map(|found| {
        let path = found.get(1)?.as_str();
        is_source(path).then(|| path.to_owned())
    });
    target.or_else(|| {
        shell::commands(&script).into_iter().find_map(|command| {
            let (program, args) = command.words.split_first()?;
            let option = |start: &str| args.iter().any(|arg| arg.starts_with(start));
            match program.as_str() {
                "sed" | "perl" if option("-i") || option("-pi") || option("--in-place") => {}
                "tee" | "mv" | "rm" | "patch" | "truncate" => {}
                // The last argument is the file that is written.
                "cp" | "install" => return args.last().filter(|arg| is_source(arg)).cloned(),
                "git" if args.first().is_some_and(|sub| sub == "mv" || sub == "rm") => {}
                "git" => return git(args),
                _ => return None,
            }
            args.iter().rev().find(|arg| is_source(arg)).cloned()
        })
    })
}

/// The files among `created` that the script deletes, if it deletes no other source file.
pub fn removed_again(script: &str, created: &BTreeSet<String>) -> Vec<String> {
    if created.is_empty() || !script.contains("rm ") {
        return Vec::new();
    }
    let commands = shell::commands(&without_here_documents(script));
    let args = commands.iter().filter(|one| one.words[0] == "rm").flat_map(|one| &one.words[1..]);
    let found = args.filter(|arg| is_source(arg)).map(|arg| {
        created.iter().find(|path| Path::new(path).ends_with(arg.trim_start_matches("./"))).cloned()
    });
    found.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The file that an inline program in another language writes, recognized by the usual calls.
fn by_program(script: &str) -> Option<String> {
    static WRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"open\(\s*['"]([\w./-]+)['"]\s*,\s*(?:mode\s*=\s*)?['"][wax]|Path\(\s*['"]([\w./-]+)['"]\s*\)\.write_|writeFile(?:Sync)?\(\s*['"]([\w./-]+)['"]"#,
        )
        .ok()
    });
    const PROGRAMS: [&str; 5] = ["python", "python3", "node", "ruby", "deno"];
    let found = WRITES.as_ref()?.captures_iter(script).find_map(|found| {
        let path = (1..=3).find_map(|at| found.get(at))?.as_str();
        is_source(path).then(|| path.to_owned())
    })?;
    let runs = |command: &shell::Command| {
        command.words.first().is_some_and(|name| PROGRAMS.contains(&name.as_str()))
    };
    shell::commands(&without_here_documents(script)).iter().any(runs).then_some(found)
}

/// The git command, if it changes files. The subcommand of `stash` is kept, because `pop` restores
/// the files.
fn git(args: &[String]) -> Option<String> {
    const CHANGING: [&str; 11] = [
        "apply",
        "checkout",
        "restore",
        "stash",
        "revert",
        "am",
        "cherry-pick",
        "merge",
        "pull",
        "rebase",
        "switch",
    ];
    let name = args.first()?.as_str();
    let has = |options: &[&str]| args.iter().any(|arg| options.contains(&arg.as_str()));
    // With these options the files stay as they are, or go back to what they were: they create a
    // branch, only show something, change only the index, or abort.
    let same = has(&["-b", "-c", "--create", "list", "show", "--check", "--staged", "--abort"]);
    let changes = CHANGING.contains(&name) && !same
        || name == "reset" && has(&["--hard"])
        || name == "clean" && args.iter().any(|arg| arg.starts_with("-f") || arg.contains("force"));
    let more = args.get(1).filter(|_| name == "stash");
    let more = more.map_or(String::new(), |more| format!(" {more}"));
    changes.then(|| format!("git {name}{more}"))
}

fn extension(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.rsplit_once('.').map(|(_, extension)| extension)
}

pub fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(extension(name), Some("md" | "txt" | "rst" | "adoc" | "log" | "markdown"))
        || ["LICENSE", "CHANGELOG", "README", "AUTHORS", "NOTICE", "CODEOWNERS"].contains(&name)
        || [".gitignore", ".gitattributes", ".editorconfig", ".mailmap"].contains(&name)
}

/// Whether the file contains code, and not data.
pub fn is_code(path: &str) -> bool {
    const DATA: [&str; 9] = ["json", "yaml", "yml", "toml", "html", "css", "scss", "less", "sql"];
    let code = |extension| is_source_name(extension) && !DATA.contains(&extension);
    path.starts_with("git ") || extension(path).is_some_and(code)
}

pub fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    ["test_", "test.", "tests."].iter().any(|begin| name.starts_with(begin))
        || ["_test.", ".test.", ".spec.", "_spec.", "Test.", "Tests."]
            .iter()
            .any(|part| name.contains(part))
        || path.split('/').any(|part| ["test", "tests", "spec", "__tests__"].contains(&part))
}

/// Whether the name is that of a source file.
fn is_source(path: &str) -> bool {
    !path.starts_with("/tmp/")
        && !path.starts_with("/dev/")
        && extension(path).is_some_and(is_source_name)
}

fn is_source_name(extension: &str) -> bool {
    const SOURCE: [&str; 58] = [
        "rs", "py", "pyi", "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "go", "java",
        "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "scala", "ex", "exs", "sh",
        "bash", "sql", "html", "css", "vue", "svelte", "toml", "yaml", "yml", "json", "lua",
        "dart", "zig", "hs", "ml", "clj", "jl", "r", "R", "pl", "pm", "erl", "nim", "proto",
        "graphql", "tf", "gradle", "kts", "scss", "less", "bats",
    ];
    SOURCE.contains(&extension)
}

/// The script without its here-documents: input for a command is not run.
pub fn without_here_documents(script: &str) -> String {
    static BEGIN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"<<-?\s*(?:'([^']+)'|"([^"]+)"|\\?(\w+))"#).ok());
    static SHELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:^|[;&|(]\s*)(?:\S*/)?(?:ba|da|z|k)?sh(?:\s+-\w+)*\s*<<-?\s*\S+\s*$").ok()
    });
    if !script.contains("<<") {
        return script.to_owned();
    }
    let mut kept = Vec::new();
    let mut ends: Vec<String> = Vec::new();
    for line in script.lines() {
        if let Some(end) = ends.first() {
            if line.trim() == end.as_str() {
                ends.remove(0);
            }
            continue;
        }
        // What a shell reads from there is run.
        let is_run = SHELL.as_ref().is_some_and(|shell| shell.is_match(line));
        for found in BEGIN.iter().filter(|_| !is_run).flat_map(|begin| begin.captures_iter(line)) {
            let word = (1..=3).find_map(|at| found.get(at));
            ends.extend(word.map(|word| word.as_str().to_owned()));
        }
        kept.push(line);
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_changes_a_file_is_known() {
        for (script, file) in [
            ("sed -i 's/a/b/' slug.py", "slug.py"),
            ("cat > src/a.rs <<'EOF'\nfn a() {}\nEOF", "src/a.rs"),
            ("printf x >> a.py", "a.py"),
            ("cd x && perl -pi -e 's/a/b/' a.go", "a.go"),
            ("echo x | tee a.sh", "a.sh"),
            ("rm -f tests/test_a.py", "tests/test_a.py"),
            ("git checkout -- slug.py", "git checkout"),
            ("git stash pop", "git stash pop"),
            ("git reset --hard HEAD~1", "git reset"),
            ("cp /tmp/new.py slug.py", "slug.py"),
            ("git mv slug.py slugs.py", "slugs.py"),
            ("echo x >| a.py", "a.py"),
            ("python3 - <<'E'\nopen('slug.py', 'w').write(text)\nE", "slug.py"),
            ("node -e \"fs.writeFileSync('a.js', x)\"", "a.js"),
        ] {
            assert_eq!(by_command(script).as_deref(), Some(file), "{script}");
        }
        for script in [
            "pytest -q > out.txt 2>&1",
            "pytest 2>/dev/null",
            "cat slug.py",
            "sed -n 1,5p slug.py",
            "echo done > /tmp/a.py",
            "git checkout -b new",
            "git stash -q; pytest; git stash pop",
            "git stash list",
            "git restore --staged a.py",
            "git switch -c new",
            "git reset a.py",
            "rm -rf __pycache__ target",
            "cat > notes.md <<EOF\nsed -i s/a/b/ a.py\nEOF",
            "python3 -c 'print(1 > 2)'",
            "cp slug.py /tmp/slug.py",
            "python3 -c \"print(open('slug.py').read())\"",
            "grep -n \"open('a.py', 'w')\" b.txt",
        ] {
            assert_eq!(by_command(script), None, "{script}");
        }
    }

    #[test]
    fn a_tool_that_edits_prose_changes_nothing_that_is_tested() {
        let edit = |path: &str| by_tool("Edit", &serde_json::json!({"file_path": path}));
        assert_eq!(edit("/p/a.py").as_deref(), Some("/p/a.py"));
        assert_eq!(edit("/p/README.md"), None);
        assert_eq!(by_tool("Read", &serde_json::json!({"file_path": "a.py"})), None);
    }

    #[test]
    fn code_is_told_from_data_and_tests() {
        assert!(is_code("/tmp/p/cart.py") && is_code("git stash") && !is_code("out.json"));
        for path in ["tests/a.py", "a_test.go", "src/a.spec.ts", "test_a.py", "ATest.java"] {
            assert!(is_test_file(path), "{path}");
        }
        assert!(!is_test_file("src/latest.py") && !is_test_file("src/contest/a.py"));
    }

    #[test]
    fn what_a_command_is_handed_as_its_input_is_not_run() {
        let script = "cat > a <<'X' && make\npytest\nX\nls <<-Y\n\tpytest\n\tY\ntrue";
        assert_eq!(without_here_documents(script), "cat > a <<'X' && make\nls <<-Y\ntrue");
    }
}
