pub mod event;
pub mod machine;
pub mod stream;
pub mod surface;
pub mod verdict;
