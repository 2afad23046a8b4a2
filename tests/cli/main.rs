//! The built program from the outside, without the real client.

mod fixtures;
