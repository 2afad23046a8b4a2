//! ccc's processes: the two clients, the shim in front of each, the processes that they leave
//! behind, and signals.

pub mod answer;
pub mod child;
pub mod exit;
mod idle;
pub mod orphans;
pub mod pty;
mod raw_mode;
pub mod screen;
pub mod shim;
pub mod signals;
pub mod supervisor;
pub mod terminal;
