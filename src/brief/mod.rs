//! The brief: what ccc knows about the work, for whoever judges it, as facts with their sources. A
//! model need not find them out, and cannot get them wrong.

pub mod activity;
pub mod claims;
pub mod command;
pub mod diff;
pub mod edits;
pub mod exit_code;
pub mod facts;
pub mod promised;
pub mod signs;
mod text;

pub use text::{Facts, brief};
