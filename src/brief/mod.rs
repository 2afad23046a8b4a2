//! The brief: facts about the work that ccc itself knows, with their sources, for the judge. The
//! model does not have to find them out, and cannot get them wrong.

pub mod activity;
pub mod baseline;
pub mod claims;
pub mod command;
pub mod diff;
pub mod edits;
pub mod exit_code;
pub mod facts;
pub mod old_lines;
pub mod output;
pub mod own_script;
pub mod promised;
pub mod signs;
mod text;

pub use text::{Facts, brief};
