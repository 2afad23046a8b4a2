//! The programs that ccc starts, resolved once to absolute paths, so that a later `PATH` cannot put
//! another program in their place.

use std::env;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::client::version::INSTALL;

/// This very program, for the shim, the Stop hook and the slash commands.
pub fn ccc() -> Result<PathBuf> {
    env::current_exe().context("ccc cannot find its own executable")
}

/// The client: `CCC_CLAUDE`, else `claude` on the path. Checked here, because a PTY reports a
/// missing executable as a child that started and failed.
pub fn claude() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os("CCC_CLAUDE").filter(|value| !value.is_empty()) {
        let path = PathBuf::from(&chosen);
        let found = if path.components().count() > 1 { Some(path) } else { on_path(&path) };
        return match found.filter(|path| is_executable(path)) {
            Some(path) => runs_here(std::path::absolute(path)?),
            None => bail!(
                "CCC_CLAUDE names {}, which is not an executable file. Correct or unset CCC_CLAUDE",
                chosen.display()
            ),
        };
    }
    let found = on_path(Path::new("claude")).with_context(|| {
        format!(
            "claude is not on the PATH. Install it (`{INSTALL}`), or set CCC_CLAUDE to the path of \
             the executable"
        )
    })?;
    runs_here(found)
}

/// Without this check, a program for another machine, or a script whose interpreter is missing,
/// would only exit with code 126 or 127.
fn runs_here(path: PathBuf) -> Result<PathBuf> {
    let advice = format!("Install it again (`{INSTALL}`), or set CCC_CLAUDE to another executable");
    let (head, own) = (head(&path), ccc().map(|own| head(&own)).unwrap_or_default());
    if head.starts_with(ELF) && own.starts_with(ELF) && machine(&head) != machine(&own) {
        bail!("{} is a program for another kind of machine. {advice}", path.display());
    }
    if let Some(interpreter) = interpreter(&head).filter(|program| !is_executable(program)) {
        bail!("{} needs {}, which does not exist. {advice}", path.display(), interpreter.display());
    }
    Ok(path)
}

const ELF: &[u8] = b"\x7fELF";

/// The ELF class, byte order and machine number.
fn machine(head: &[u8]) -> Option<[u8; 4]> {
    Some([*head.get(4)?, *head.get(5)?, *head.get(18)?, *head.get(19)?])
}

/// The program in the first line of a script.
fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = str::from_utf8(line).ok()?;
    line.split_whitespace().next().map(PathBuf::from)
}

fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(256).read_to_end(&mut head);
    }
    head
}

/// The first such program on the `PATH`, as an absolute path.
pub fn on_path(name: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let found = env::split_paths(&path).map(|dir| dir.join(name)).find(|path| is_executable(path));
    found.and_then(|path| std::path::absolute(path).ok())
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(dir: &Path, content: &[u8]) -> String {
        let path = dir.join("claude");
        std::fs::write(&path, content).unwrap();
        runs_here(path).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn a_client_that_cannot_run_here_is_reported_with_advice() {
        let dir = tempfile::tempdir().unwrap();
        let mut program = head(&ccc().unwrap());
        assert_eq!(told(dir.path(), &program), "");
        if program.starts_with(ELF) {
            program[18] ^= 0xff;
            let error = told(dir.path(), &program);
            assert!(error.contains("another kind of machine. Install it again (`npm"), "{error}");
        }
        assert_eq!(told(dir.path(), b"#!/bin/sh -e\n"), "");
        let error = told(dir.path(), b"#! /nowhere/node --x\n");
        assert!(error.contains("needs /nowhere/node, which does not exist"), "{error}");
    }
}
