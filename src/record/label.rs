//! The person's label on a recorded session, stored beside the recording: whether the work was done
//! when it got its last verdict.

use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::files;

const FILE: &str = "label.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub done: bool,
    /// A session that continues after this time needs a new label.
    pub at: Timestamp,
}

impl Label {
    /// `dir` is the recording's directory.
    pub fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(FILE);
        let Some(text) = files::if_there(files::read_text(&path), &path)? else { return Ok(None) };
        let label = serde_json::from_str(&text);
        let broken = || format!("{} is broken; label the session again", path.display());
        label.map(Some).with_context(broken)
    }

    pub fn write(self, dir: &Path) -> Result<()> {
        files::replace(&dir.join(FILE), &serde_json::to_vec(&self)?)
    }
}
