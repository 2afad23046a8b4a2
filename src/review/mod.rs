//! A review: what the judge is told, what it said, whether its proof exists, and how it goes on until
//! there is a verdict.

pub mod circle;
pub mod commands;
pub mod engine;
pub mod evidence;
pub mod front_matter;
pub mod instructions;
pub mod lookup;
pub mod opinion;
pub mod permission;
pub mod policy;
pub mod prompt;
pub mod requirement;
pub mod verdict;
pub mod word;
