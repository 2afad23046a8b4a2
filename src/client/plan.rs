//! A plan that the agent made in plan mode, and asks to go by.

use serde_json::Value;

use super::stream::PermissionRequest;

/// The tool by which the agent asks.
pub const TOOL: &str = "ExitPlanMode";

pub fn is_plan(asked: &PermissionRequest) -> bool {
    asked.tool == TOOL
}

/// Markdown. The client puts it there from its own file; a plan that was never written to that file is
/// known from the tool use alone.
pub fn text(input: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    input["plan"].as_str().map(str::to_owned).filter(|plan| !plan.trim().is_empty())
}
