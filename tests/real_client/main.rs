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
mod judge;
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

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use ccc::client::version::Version;
use support::client::client;

/// One test for each of the functions named, on the newest and on the oldest release.
macro_rules! on_each_client {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        mod newest {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client(ccc::client::version::NEWEST, super::$test); })+
        }
        mod oldest {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client(ccc::client::version::OLDEST, super::$test); })+
        }
    };
}
pub(crate) use on_each_client;

/// One test for each of the functions named, on the newest release alone.
macro_rules! on_the_newest_client {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        mod newest_alone {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client(ccc::client::version::NEWEST, super::$test); })+
        }
    };
}
pub(crate) use on_the_newest_client;

/// The same on every release: for what the judge and its price depend on.
macro_rules! on_every_release {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        crate::on_each_client!($($(#[$attribute])* $test),+);
        crate::on_the_release_between!($($(#[$attribute])* $test),+);
    };
}
pub(crate) use on_every_release;

/// On the release in between too, where not all that is tested on the others depends on the release.
macro_rules! on_the_release_between {
    ($($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        mod between {
            $(#[test] $(#[$attribute])* fn $test() { crate::with_client(ccc::client::version::MEASURED[1], super::$test); })+
        }
    };
}
pub(crate) use on_the_release_between;

/// Runs the test with that release, or with the one that `CCC_RELEASE` names: so a release that is not
/// measured is tried without a build. Where the client cannot be had, `client` says so.
fn with_client(version: Version, test: fn(&Path)) {
    let release = env::var("CCC_RELEASE").unwrap_or_else(|_| version.to_string());
    if let Some(client) = client(&release) {
        test(&client);
    }
}

/// The release that its path names, which is not one of the measured ones while a new one is tried.
fn release_of(client: &Path) -> Version {
    let of = |part: &OsStr| Version::read(part.to_str()?.strip_prefix("claude-")?);
    client.iter().find_map(of).expect("a release in the path")
}
