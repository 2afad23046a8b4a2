//! The person's label on a recorded session, stored beside the recording: whether the work was done
//! when it got its last verdict.

use std::io::ErrorKind;
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
        match files::read_text(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is broken; label the session again", path.display()))
                .map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub fn write(self, dir: &Path) -> Result<()> {
        files::replace(&dir.join(FILE), &serde_json::to_vec(&self)?)
    }
}
