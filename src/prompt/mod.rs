//! For the person who types: earlier messages, names of files, their own editor.

pub mod external_editor;
pub mod history;
pub mod project_files;
