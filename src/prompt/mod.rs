//! For the person who types: earlier messages, names of files, images, their own editor.

pub mod external_editor;
pub mod history;
pub mod image;
pub mod project_files;
