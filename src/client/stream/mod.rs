//! The client's stream-json: bytes → lines → messages, and messages → lines.
//!
//! Pure: nothing here reads, writes, or knows what a process is.

mod always;
mod control;
mod decode;
mod encode;
mod escapes;
mod lenient;
mod lines;
mod message;
mod reports;
mod salvage;
mod wire;

pub use always::meaning as always_means;
pub use decode::{Line, Part};
pub use encode::{
    ClientRequest, Image, JOINER, Permission, cancel_message, client_request, initialize,
    initialize_judge, interrupt, message_to_judge, message_with_images, permission_answer,
    refuse_control, rewind_conversation, rewind_files, tool_ruling,
};
pub use escapes::{strip_escapes, visible};
pub use lines::{Lines, MAX_LINE, SplitLine};
pub use message::{
    Block, Control, Envelope, Hunk, Init, Message, Partial, PermissionRequest, SlashCommand,
    TaskNote, ToolResult, TurnResult, Usage, why_retried,
};
pub use reports::{
    Compaction, ContextCategory, ContextUsage, Introduction, Model, RateLimit, TaskProgress,
};
