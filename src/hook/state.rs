//! `supervisor-{id}.json`: whether the Stop hook supervises a session, and how many reviews the session
//! has had. The file is changed only under a lock, and always replaced as a whole.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::task::Task;
use crate::client::session_id;
use crate::files;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookState {
    pub session_id: String,
    /// Off in files written before this field existed.
    #[serde(default)]
    pub enabled: bool,
    #[serde(flatten)]
    pub task: Task,
    #[serde(default)]
    pub created_at: String,
    #[serde(default)]
    pub updated_at: String,
    /// Fields written by other versions are preserved.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

pub struct StateFile {
    dir: PathBuf,
    id: String,
}

impl StateFile {
    pub fn new(dir: &Path, id: &str) -> Result<Self> {
        ensure!(session_id::is_safe(id), "{id:?} is not a session id");
        Ok(Self { dir: dir.to_owned(), id: id.to_owned() })
    }

    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("supervisor-{}.json", self.id))
    }

    /// `None` if there is no file; a file that cannot be parsed is an error.
    pub fn load(&self) -> Result<Option<HookState>> {
        let path = self.path();
        let Some(bytes) = files::if_there(files::read_own(&path), &path)? else { return Ok(None) };
        let state = serde_json::from_slice(&bytes);
        state
            .map(Some)
            .with_context(|| format!("{} is broken; it was left as it is", path.display()))
    }

    /// Restores the file after somebody removed, broke or changed it.
    pub fn put_back(&self, task: &Task) -> Result<()> {
        if self.load().is_err() {
            files::replace(&self.path(), br#"{"session_id":""}"#)?;
        }
        self.change(|state| {
            state.session_id.clone_from(&self.id);
            state.enabled = true;
            state.task.clone_from(task);
        })
    }

    /// Reads, changes and replaces the file in one step, safe against concurrent changes.
    pub fn change<T>(&self, change: impl FnOnce(&mut HookState) -> T) -> Result<T> {
        files::prepare_state_dir(&self.dir)
            .with_context(|| format!("cannot make {}", self.dir.display()))?;
        let lock = self.dir.join(format!("supervisor-{}.lock", self.id));
        let _lock = files::lock(&lock)?;
        let now = jiff::Timestamp::now().to_string();
        let mut state = self.load()?.unwrap_or_else(|| HookState {
            session_id: self.id.clone(),
            enabled: false,
            task: Task::default(),
            created_at: now.clone(),
            updated_at: String::new(),
            other: Map::new(),
        });
        let result = change(&mut state);
        state.updated_at = now;
        files::replace(&self.path(), &serde_json::to_vec_pretty(&state)?)?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file() -> (tempfile::TempDir, StateFile) {
        let dir = tempfile::tempdir().unwrap();
        let file = StateFile::new(&dir.path().join("state"), "abc123").unwrap();
        (dir, file)
    }

    /// Scenarios 000 «状态文件结构», 002 «创建状态文件», 004 «State 文件结构（更新）»
    #[test]
    fn scenario_000_the_state_file_and_its_fields() {
        let (_dir, file) = file();
        assert_eq!(file.load().unwrap(), None);
        file.change(|state| state.task.count += 1).unwrap();
        assert!(file.path().ends_with("state/supervisor-abc123.json"));
        let value: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
        assert_eq!(value["session_id"], "abc123");
        assert_eq!(value["enabled"], false);
        assert_eq!(value["count"], 1);
        for stamp in ["created_at", "updated_at"] {
            assert!(value[stamp].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{stamp}");
        }
    }

    /// Scenarios 000 «状态文件持久化», 002 «更新迭代次数»
    #[test]
    fn scenario_000_the_count_is_kept_and_the_time_stamp_renewed() {
        let (_dir, file) = file();
        file.change(|state| state.task.count = 3).unwrap();
        let before = file.load().unwrap().unwrap();
        file.change(|state| state.task.count += 1).unwrap();
        let after = file.load().unwrap().unwrap();
        assert_eq!((after.task.count, &after.created_at), (4, &before.created_at));
        assert!(after.updated_at > before.updated_at);
    }

    /// Scenario 004 «加载旧 State 文件兼容性»
    #[test]
    fn scenario_004_a_file_without_enabled_means_off() {
        let (_dir, file) = file();
        file.change(|_| ()).unwrap();
        fs::write(
            file.path(),
            r#"{"session_id":"abc123","count":5,"created_at":"2024-01-15T10:30:00Z","note":[1]}"#,
        )
        .unwrap();
        let state = file.load().unwrap().unwrap();
        assert_eq!((state.enabled, state.task.count), (false, 5));
        file.change(|state| state.enabled = true).unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(text.contains("2024-01-15T10:30:00Z") && text.contains("note"), "{text}");
    }

    #[test]
    fn a_broken_file_is_an_error_and_is_left_as_it_is() {
        let (_dir, file) = file();
        file.change(|_| ()).unwrap();
        fs::write(file.path(), "{half").unwrap();
        assert!(file.load().is_err());
        assert!(file.change(|state| state.task.count = 0).is_err());
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "{half");
    }

    /// Scenario 000 «状态文件并发处理»
    #[test]
    fn scenario_000_changes_at_the_same_time_are_not_lost() {
        let (_dir, file) = file();
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| file.change(|state| state.task.count += 1).unwrap());
            }
        });
        assert_eq!(file.load().unwrap().unwrap().task.count, 50);
    }

    #[test]
    fn an_id_cannot_leave_the_directory() {
        assert!(StateFile::new(Path::new("/s"), "../x").is_err());
    }
}
