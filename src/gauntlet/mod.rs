//! Sessions in which an agent says that it is done, rightly or wrongly, with the label that says which.
//! The test suite plays them before scripted judges, `ccc judge` before the user's own. See docs/gauntlet.md.
//!
//! | part | what it does |
//! |---|---|
//! | `session` | reads them |
//! | `project` | what a session begins with |
//! | `agent` | does what stands in the session |
//! | `acting` | the scripted agent on the real loop |
//! | `conversation` | what it said and did, on the client's disk, for a judge that is a fork of it |

pub mod acting;
pub mod agent;
pub mod conversation;
pub mod project;
pub mod session;
