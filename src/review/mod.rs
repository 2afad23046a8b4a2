//! A review: the messages to the judge, its answers, whether its proof exists, and the steps that
//! lead to a verdict.

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
