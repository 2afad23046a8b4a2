//! Named threads. A panic in one ends ccc, because whatever waits for the thread would wait for
//! ever; the shims end the children.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// The exit code of a program that panicked.
const PANICKED: i32 = 101;

pub fn named(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let run = move || {
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            std::process::exit(PANICKED);
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
