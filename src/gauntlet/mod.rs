//! Sessions in which an agent says that it is done, rightly or wrongly, with the label that says which:
//! `session` reads them, `project` is what they begin with, `agent` does what stands there. The test suite
//! plays them before scripted judges, `ccc judge` before the user's own. See docs/gauntlet.md.

pub mod agent;
pub mod project;
pub mod session;
