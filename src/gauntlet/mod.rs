//! Sessions in which an agent says that it is done, each labelled with whether that is true. The test
//! suite plays them to scripted judges, `ccc judge` to the user's own. See docs/gauntlet.md.
//!
//! | part | what it does |
//! |---|---|
//! | `session` | reads the sessions |
//! | `project` | what a session begins with |
//! | `agent` | performs what the session says |
//! | `acting` | the scripted agent on the real loop |
//! | `conversation` | stores what it said and did where the client keeps conversations, for a judge that is a fork of it |

pub mod acting;
pub mod agent;
pub mod conversation;
pub mod project;
pub mod session;
