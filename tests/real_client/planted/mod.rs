//! An agent that plants something for its judge, by a tool during the session. Nothing of it may reach the
//! judge: it is asked at the real endpoint, by the real program, by the instructions of the start, and none
//! of its requests holds the planted word.
//!
//! What can be planted together is planted in one session: a single vector that gets through makes it fail,
//! and then each is tried alone.

mod alone;
mod global;
mod noticed;
mod plant;
mod session;
mod vectors;

use std::path::Path;

use noticed::{IN_TIME, message_in_the_persons_name};
use plant::{Vector, together};
use session::Way;
use vectors::AT_THE_START;

use crate::{on_each_client, on_the_release_between};

on_each_client!(
    found_at_the_start_by_the_loop,
    noticed_in_time_by_the_hook,
    noticed_in_time_by_native,
    found_at_the_start_by_the_hook,
    found_at_the_start_by_native,
    noticed_in_time_by_the_loop,
);
// What a judge finds at its start is the same whoever starts it. In time it is the agent's client that notices,
// in the ways in which that one asks for the review.
on_the_release_between!(
    found_at_the_start_by_the_loop,
    noticed_in_time_by_the_hook,
    noticed_in_time_by_native,
);

fn found_at_the_start_by_the_loop(client: &Path) {
    together(client, Way::Loop, AT_THE_START);
}

fn found_at_the_start_by_the_hook(client: &Path) {
    together(client, Way::Hook, AT_THE_START);
}

fn found_at_the_start_by_native(client: &Path) {
    together(client, Way::Native, AT_THE_START);
}

fn noticed_in_time_by_the_loop(client: &Path) {
    together(client, Way::Loop, IN_TIME);
}

fn noticed_in_time_by_the_hook(client: &Path) {
    together(client, Way::Hook, IN_TIME);
}

fn noticed_in_time_by_native(client: &Path) {
    let forged: &[Vector] = &[("a message in the person's name", message_in_the_persons_name)];
    together(client, Way::Native, &[IN_TIME, forged].concat());
}
