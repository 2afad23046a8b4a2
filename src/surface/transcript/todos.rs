//! The agent's todo list: one list, however often the agent rewrites it.

use serde_json::Value;

use super::Transcript;
use crate::surface::styled::{self, Style, Styled};

/// The rows of it in the live area.
const ROWS: usize = 8;

/// Whether this tool only maintains the list.
pub fn maintains_todos(tool: &str) -> bool {
    ["TodoWrite", "TaskCreate", "TaskUpdate"].contains(&tool)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TodoState {
    Open,
    Doing,
    Done,
}

impl TodoState {
    fn named(name: &str) -> Self {
        match name {
            "completed" => Self::Done,
            "in_progress" => Self::Doing,
            _ => Self::Open,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Todo {
    id: String,
    text: String,
    /// The text shown while it is being done.
    doing: String,
    state: TodoState,
}

#[derive(Debug, Default)]
pub struct Todos {
    list: Vec<Todo>,
    /// Whether it has changed since it was last put into the transcript.
    changed: bool,
}

impl Todos {
    /// Applies the result of a tool that maintains the list. Returns whether the list changed.
    pub fn done(&mut self, tool: &str, input: &str, output: &str) -> bool {
        let Ok(input) = serde_json::from_str::<Value>(input) else { return false };
        let before = self.list.clone();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        match tool {
            "TodoWrite" => {
                let todos = input["todos"].as_array().map(Vec::as_slice).unwrap_or_default();
                let todo = |(at, todo): (usize, &Value)| Todo {
                    id: at.to_string(),
                    text: text(todo, "content"),
                    doing: text(todo, "activeForm"),
                    state: TodoState::named(todo["status"].as_str().unwrap_or_default()),
                };
                self.list = todos.iter().enumerate().map(todo).collect();
            }
            "TaskCreate" => {
                if self.is_done() {
                    self.list.clear();
                }
                self.list.push(Todo {
                    id: created(output).unwrap_or_default().to_owned(),
                    text: text(&input, "subject"),
                    doing: text(&input, "activeForm"),
                    state: TodoState::Open,
                });
            }
            "TaskUpdate" => {
                let id = input["taskId"].as_str().unwrap_or_default();
                if input["status"] == "deleted" {
                    self.list.retain(|todo| todo.id != id);
                } else if let Some(todo) = self.list.iter_mut().find(|todo| todo.id == id) {
                    if let Some(status) = input["status"].as_str() {
                        todo.state = TodoState::named(status);
                    }
                    if let Some(subject) = input["subject"].as_str() {
                        subject.clone_into(&mut todo.text);
                    }
                }
            }
            _ => {}
        }
        let changed = self.list != before;
        self.changed |= changed;
        changed
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn is_done(&self) -> bool {
        self.list.iter().all(|todo| todo.state == TodoState::Done)
    }

    /// "2 of 5 done, now: Writing the parser"
    fn in_short(&self) -> String {
        let done = self.list.iter().filter(|todo| todo.state == TodoState::Done).count();
        let doing = self.list.iter().find(|todo| todo.state == TodoState::Doing);
        let now = doing.map(|todo| {
            let text = if todo.doing.is_empty() { &todo.text } else { &todo.doing };
            format!(", now: {}", styled::exposed(text))
        });
        format!("{done} of {} done{}", self.list.len(), now.unwrap_or_default())
    }
}

/// "Task #1 created successfully: …"
fn created(output: &str) -> Option<&str> {
    output.trim_start().strip_prefix("Task #")?.split_whitespace().next()
}

impl Transcript {
    pub fn has_todos(&self) -> bool {
        !self.todos.is_empty()
    }

    /// Whether anything is still open.
    pub fn has_open_todos(&self) -> bool {
        !self.todos.is_empty() && !self.todos.is_done()
    }

    /// The whole list, or as much as fits around the first open item.
    pub fn todo_rows(&self, most: usize) -> Vec<Styled> {
        let list = &self.todos.list;
        if list.is_empty() || most == 0 {
            return Vec::new();
        }
        let glyphs = self.look.glyphs;
        let head = format!("Todo: {}", self.todos.in_short());
        let mut rows = vec![Styled::new(Style::Dim, &head)];
        let room = most.saturating_sub(1);
        let open = list.iter().position(|todo| todo.state != TodoState::Done).unwrap_or(0);
        let from = open.saturating_sub(1).min(list.len().saturating_sub(room));
        for todo in list.iter().skip(from).take(room) {
            let (mark, mark_style, style) = match todo.state {
                TodoState::Done => (glyphs.good, Style::Good, Style::Dim),
                TodoState::Doing => (glyphs.arrow, Style::Tool, Style::Bold),
                TodoState::Open => (glyphs.lines.todo, Style::Dim, Style::Plain),
            };
            let text = styled::exposed(&todo.text);
            let row = Styled::new(mark_style, &format!("  {mark} ")).with(style, &text);
            rows.push(row.cut(self.width.max(1), glyphs.ellipsis));
        }
        rows
    }

    pub(super) fn live_todos(&self, rows: usize) -> Vec<Styled> {
        self.todo_rows(ROWS.min(rows))
    }

    /// A tool changed the list: without a live area, a line shows the progress.
    pub(super) fn todos_changed(&mut self) -> Vec<Styled> {
        if self.look.live {
            return Vec::new();
        }
        let line = Styled::new(Style::Dim, &format!("Todo: {}", self.todos.in_short()));
        self.shown(vec![line])
    }

    /// At the end of a turn, puts the list into the transcript.
    pub(super) fn leave_todos(&mut self) -> Vec<Styled> {
        if !self.look.live || !std::mem::take(&mut self.todos.changed) {
            return Vec::new();
        }
        let rows = self.todo_rows(usize::MAX);
        self.apart(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::transcript::tests::LOOK;

    fn rows(todos: Todos, most: usize) -> Vec<String> {
        let mut transcript = Transcript::new(LOOK);
        transcript.todos = todos;
        transcript.todo_rows(most).iter().map(Styled::text).collect()
    }

    #[test]
    fn all_tools_maintain_the_same_list() {
        let mut todos = Todos::default();
        let old = r#"{"todos":[{"content":"Write it","status":"in_progress","activeForm":"Writing it"},{"content":"Test it","status":"pending"}]}"#;
        assert!(todos.done("TodoWrite", old, ""));
        assert!(!todos.done("TodoWrite", old, ""), "the same again");
        assert_eq!(
            rows(todos, 9),
            ["Todo: 0 of 2 done, now: Writing it", "  → Write it", "  ○ Test it"]
        );
        let mut todos = Todos::default();
        for (subject, id) in [("Parse", "1"), ("Print", "2"), ("Drop", "3")] {
            let output = format!("Task #{id} created successfully: {subject}");
            assert!(todos.done("TaskCreate", &format!(r#"{{"subject":"{subject}"}}"#), &output));
        }
        todos.done("TaskUpdate", r#"{"taskId":"1","status":"completed"}"#, "");
        todos.done(
            "TaskUpdate",
            r#"{"taskId":"2","status":"in_progress","subject":"Print it"}"#,
            "",
        );
        todos.done("TaskUpdate", r#"{"taskId":"3","status":"deleted"}"#, "");
        todos.done("TaskUpdate", r#"{"taskId":"9","status":"completed"}"#, "");
        let all = ["Todo: 1 of 2 done, now: Print it", "  ✔ Parse", "  → Print it"];
        assert_eq!(rows(todos, 9), all);
    }

    #[test]
    fn a_long_list_shows_the_next_items() {
        let mut todos = Todos::default();
        for id in 1..=20 {
            let output = format!("Task #{id} created successfully: x");
            todos.done("TaskCreate", &format!(r#"{{"subject":"Step {id}"}}"#), &output);
        }
        for id in 1..=10 {
            let input = format!(r#"{{"taskId":"{id}","status":"completed"}}"#);
            todos.done("TaskUpdate", &input, "");
        }
        let shown = rows(todos, 4);
        assert_eq!(shown, ["Todo: 10 of 20 done", "  ✔ Step 10", "  ○ Step 11", "  ○ Step 12"]);
    }

    #[test]
    fn a_new_list_replaces_a_finished_one() {
        let mut todos = Todos::default();
        todos.done("TaskCreate", r#"{"subject":"Old"}"#, "Task #1 created");
        todos.done("TaskUpdate", r#"{"taskId":"1","status":"completed"}"#, "");
        todos.done("TaskCreate", r#"{"subject":"New"}"#, "Task #2 created");
        assert_eq!(rows(todos, 9), ["Todo: 0 of 1 done", "  ○ New"]);
        assert!(rows(Todos::default(), 9).is_empty());
    }
}
