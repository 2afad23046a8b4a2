//! A plan that the agent made in plan mode and asks the person to approve.

use serde_json::Value;

use super::stream::PermissionRequest;

pub const TOOL: &str = "ExitPlanMode";

pub fn is_plan(asked: &PermissionRequest) -> bool {
    asked.tool == TOOL
}

/// The plan in Markdown. The client fills it in from its own file; a plan that was never written to
/// that file is only in the tool use.
pub fn text(input: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    input["plan"].as_str().map(str::to_owned).filter(|plan| !plan.trim().is_empty())
}
