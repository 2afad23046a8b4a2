//! Writes `ccc.json`: one writer at a time, always the whole file, and without losing anything that
//! this version does not know. A file that cannot be read as JSON is never overwritten.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

use super::{Config, FILE};
use crate::files;

/// A longer chain of links is taken for a loop.
const MAX_LINKS: usize = 40;

/// Changes the file under its lock. The file is left as it is if `change` fails or changes nothing.
pub fn edit<T>(
    config_dir: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<T>,
) -> Result<T> {
    if let Some(home) = dirs::home_dir().filter(|home| config_dir.starts_with(home)) {
        // A home directory is not for ccc to create: the path is wrong.
        ensure!(
            home.is_dir(),
            "your home directory {} does not exist, so ccc cannot write {FILE} there; set HOME, or \
             CCC_CONFIG_DIR, to a directory that exists",
            home.display()
        );
    }
    let path = behind_links(config_dir.join(FILE))?;
    let _lock = files::lock(&beside(&path, ".lock"))?;

    let mut root = Config::read(&path)?;
    let before = text(&root)?;
    let result = change(&mut root)?;
    let after = text(&root)?;
    if after != before || !path.exists() {
        files::replace(&path, after.as_bytes())?;
    }
    Ok(result)
}

fn text(root: &Map<String, Value>) -> Result<String> {
    Ok(serde_json::to_string_pretty(root)? + "\n")
}

/// Follows links: a rename would replace a link by a file, and disconnect a shared configuration.
fn behind_links(mut path: PathBuf) -> Result<PathBuf> {
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // EINVAL means that the path is not a link.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        }
    }
    bail!("{} is a loop of links", path.display())
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(|| OsString::from(FILE), OsString::from);
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn put(root: &mut Map<String, Value>, key: &str, value: Value) {
        root.insert(key.to_owned(), value);
    }

    #[test]
    fn a_missing_file_is_made_private() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("new");
        edit(&config, |root| {
            put(root, "a", json!(1));
            Ok(())
        })
        .unwrap();
        let path = config.join(FILE);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"a\": 1\n}\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn unknown_keys_and_the_order_survive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        fs::write(&path, r#"{"z":{"y":1,"b":[null,2.5]},"mine":"ü","a":true}"#).unwrap();
        edit(dir.path(), |root| {
            put(root, "mine", json!("new"));
            put(root, "last", json!({}));
            Ok(())
        })
        .unwrap();
        let text: String = fs::read_to_string(&path).unwrap().split_whitespace().collect();
        assert_eq!(text, r#"{"z":{"y":1,"b":[null,2.5]},"mine":"new","a":true,"last":{}}"#);
    }

    #[test]
    fn a_broken_file_is_reported_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        for broken in ["{\n  \"a\": ,\n}", "", "[1]", "\"text\"", "{} {}"] {
            fs::write(&path, broken).unwrap();
            let error = edit(dir.path(), |root| {
                put(root, "a", json!(1));
                Ok(())
            });
            let error = format!("{:#}", error.unwrap_err());
            assert!(error.contains("ccc.json is broken"), "{error}");
            assert!(error.contains("line") || error.contains("it is empty"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), broken);
        }
    }

    #[test]
    fn a_refused_change_and_an_empty_one_write_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let own_style = "{ \"a\" : 1 }";
        fs::write(&path, own_style).unwrap();
        let refused: Result<()> = edit(dir.path(), |root| {
            put(root, "a", json!(2));
            bail!("no")
        });
        assert!(refused.is_err());
        edit(dir.path(), |_| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), own_style);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (config, shared) = (dir.path().join("config"), dir.path().join("shared"));
        fs::create_dir_all(&config).unwrap();
        fs::create_dir_all(&shared).unwrap();
        symlink("../shared/two.json", config.join(FILE)).unwrap();
        symlink("mine.json", shared.join("two.json")).unwrap();
        for value in [1, 2] {
            edit(&config, |root| {
                put(root, "a", json!(value));
                Ok(())
            })
            .unwrap();
        }
        assert!(config.join(FILE).is_symlink() && shared.join("two.json").is_symlink());
        assert_eq!(fs::read_to_string(shared.join("mine.json")).unwrap(), "{\n  \"a\": 2\n}\n");

        symlink("ccc.json", shared.join(FILE)).unwrap();
        let error = edit(&shared, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("loop"), "{error}");
    }
}
