//! Helps the person to type: earlier messages, file names, images, an external editor.

pub mod external_editor;
pub mod history;
pub mod image;
pub mod project_files;
