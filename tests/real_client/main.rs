//! ccc and the real client, several releases, against a scripted API: what is checked is what the API
//! was asked, what ccc printed, and which processes are there.

#[path = "../support/asciinema.rs"]
mod asciinema;
#[path = "../recording/played.rs"]
mod played;
#[path = "../support/mod.rs"]
mod support;

mod script;

// The Linux ones find processes in /proc.
mod background;
mod case;
mod clear;
mod commands;
mod failures;
mod feedback;
mod hook;
mod hook_ui;
mod images;
mod interrupt;
mod judges;
mod native;
#[cfg(target_os = "linux")]
mod orphans;
mod output;
mod permission;
#[cfg(target_os = "linux")]
mod planted;
mod plugin;
mod prompt_cache;
mod recording;
#[cfg(target_os = "linux")]
mod restart;
mod resume;
mod review;
mod rewind;
mod steering;
mod streaming;

use std::path::Path;

use support::client::{VERSIONS, client};

/// One test for each of the functions named, on the newest and on the oldest release.
macro_rules! on_each_client {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        mod v2_1_325 {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client("2.1.325", super::$test); })+
        }
        mod v2_1_197 {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client("2.1.197", super::$test); })+
        }
    };
}
pub(crate) use on_each_client;

/// One test for each of the functions named, on the newest release alone.
macro_rules! on_the_newest_client {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        mod newest {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client("2.1.325", super::$test); })+
        }
    };
}
pub(crate) use on_the_newest_client;

/// The same on every release: for what the judge and its price depend on.
macro_rules! on_every_release {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        crate::on_each_client!($($(#[$attribute])* $test),+);
        mod v2_1_260 {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client("2.1.260", super::$test); })+
        }
    };
}
pub(crate) use on_every_release;

/// Runs the test with that release; where the client cannot be had, `client` says so.
fn with_client(version: &str, test: fn(&Path)) {
    assert!(VERSIONS.contains(&version), "{version} is not one of {VERSIONS:?}");
    if let Some(client) = client(version) {
        test(&client);
    }
}
