//! What a session leaves on disk: complete, readable by others, and enough to run the loop again,
//! also when ccc was killed in the middle of a word.

#[path = "../support/asciinema.rs"]
mod asciinema;
#[path = "../support/dispositions.rs"]
mod dispositions;
#[path = "../support/patience.rs"]
mod patience;
#[path = "../cli/person.rs"]
mod person;
#[path = "../support/room.rs"]
mod room;

mod client;
mod failures;
mod killed;
mod played;
mod rerun;
mod resumed;
mod sessions;
mod trace;
