//! A person at the prompt of a session, through the program itself: history, completion, the
//! person's own editor, taking messages back.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::person::Person;
use crate::room::{Room, STATE_DIR};

const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];
const UP: &str = "\x1b[A";
const CTRL_R: &str = "\x12";
const CTRL_G: &str = "\x07";

fn session(room: &Room, env: &[(&str, &str)]) -> Person {
    let env = [env, &[("NO_COLOR", "1")]].concat();
    let mut person = Person::with_env(room, &["--supervisor"], &env);
    person.sees("ready");
    person
}

/// Leaves an empty prompt and waits for the end.
#[track_caller]
fn leave(mut person: Person) {
    person.types("\x04");
    let (code, screen) = person.leaves();
    assert_eq!(code, 0, "{screen}");
}

/// What was sent to the agent, in order.
fn sent(room: &Room) -> Vec<String> {
    let lines = room.seen("agent-0.input");
    let messages = lines.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        (line["type"] == "user").then(|| line["message"]["content"].clone())
    });
    let text = |content: serde_json::Value| match &content {
        serde_json::Value::String(text) => text.clone(),
        _ => content[0]["text"].as_str().expect("a text").to_owned(),
    };
    messages.map(text).collect()
}

#[test]
fn messages_of_one_session_are_the_next_ones_history() {
    let room = Room::supervised();
    let mut person = session(&room, &[]);
    person.types("build the parser\r").sees("Confirmed complete in").sees("ready");
    person.types("写文档\r").sees("Confirmed complete in").sees("ready");
    leave(person);
    let file = format!("{STATE_DIR}/history.jsonl");
    assert_eq!(room.read(&file), "\"build the parser\"\n\"写文档\"\n");
    let mode = fs::metadata(room.path(&file)).expect("the history").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut person = session(&room, &[]);
    person.types(UP).sees("❯ 写文档").types(UP).sees("❯ build the parser");
    person.types("\x03").types(CTRL_R).sees("search:").types("pars");
    person.sees("search: pars ❯ build the parser");
    person.types("\r").sees("❯ build the parser").types("!\x03");
    leave(person);
}

#[test]
fn a_session_without_a_record_leaves_no_history() {
    let room = Room::supervised();
    let mut person = Person::with_env(&room, &["--supervisor", "--no-record"], &[]);
    person.sees("ready").types("secret\r").sees("Confirmed complete in").sees("ready");
    leave(person);
    assert!(!room.path(&format!("{STATE_DIR}/history.jsonl")).exists());
}

#[test]
fn files_and_commands_are_completed() {
    let room = Room::supervised();
    room.write("project/.gitignore", "/target\n");
    room.write("project/target/main.o", "");
    room.write("project/src/main.rs", "");
    room.write("project/notes/to do.txt", "");
    let mut person = session(&room, &[]);
    person.types("see @mai").sees("❯ src/main.rs").types("\t").sees("@src/main.rs ");
    person.types("@not").sees("❯ notes/").types("\t").sees("@notes/").sees("❯ notes/to do.txt");
    person
        .types("\r")
        .sees("@\"notes/to do.txt\"")
        .types("\r")
        .sees("Confirmed complete in")
        .sees("ready");
    person
        .types("/comp")
        .sees("❯ /compact  Make it short")
        .types("\t\r")
        .sees("Confirmed complete in");
    person.sees("ready").types("/superviso").sees("  /supervisoroff").types("roff\r");
    person.sees("supervisor off");
    leave(person);
    assert_eq!(sent(&room)[..2], ["see @src/main.rs @\"notes/to do.txt\" ", "/compact "]);
}

/// Shows what it was given, waits for a line of its own, and adds it.
const EDITOR: &str = r#"#!/bin/sh
echo "editor has: $(cat "$1")"
read -r line || exit 1
[ "$line" = fail ] && exit 3
printf '%s\n' "$line" >>"$1"
"#;

#[test]
fn the_persons_own_editor_has_the_terminal_for_itself() {
    let room = Room::supervised();
    room.program("editor", EDITOR);
    let editor = room.path("editor").to_str().expect("a path").to_owned();
    let mut person = session(&room, &[("EDITOR", "false"), ("VISUAL", &editor)]);
    person.types("typed here ").types(PASTE[0]).types(&"row\r".repeat(20)).types(PASTE[1]);
    person.sees("[pasted 20 lines]").types(CTRL_G).sees("editor has: typed here row");
    // All of these keys are the editor's, however many there are.
    person.types("and written there\n").sees("and written there").sees("ready");
    person.types("\r").sees("Confirmed complete in").sees("ready");
    let expected = format!("typed here {}and written there", "row\n".repeat(20));
    assert_eq!(sent(&room), [expected]);

    person.types("kept").sees("kept").types(CTRL_G).sees("editor has: kept").types("fail\n");
    person.sees("exited with code 3").sees("❯ kept").types("\x03");
    leave(person);
}

#[test]
fn the_session_goes_on_behind_the_editor() {
    let room = Room::supervised();
    room.program("editor", EDITOR);
    // The agent's answer waits until the test has seen that the editor has the terminal.
    room.client(&crate::room::CLIENT.replace(
        "    echo \"{\\\"type\\\":\\\"assistant",
        "    until [ -e \"$ROOM/go\" ]; do sleep 0.05; done\n    echo \"{\\\"type\\\":\\\"assistant",
    ));
    let editor = room.path("editor").to_str().expect("a path").to_owned();
    let mut person = session(&room, &[("VISUAL", &editor)]);
    person.types("work\r").sees("working").types("draft").sees("draft");
    person.types(CTRL_G).sees("editor has: draft");
    room.write("seen/go", "");
    // A review can only start when the agent's output has been read.
    crate::patience::wait_within(crate::patience::PATIENCE, || (room.reviews() > 0).then_some(()))
        .expect("a review");
    // Ctrl-C is a signal here, and the editor's: ccc stays.
    person.types("\x03").sees("all done here").sees("❯ draft").sees("ready").types("\x03");
    leave(person);
}

#[test]
fn a_session_that_is_ended_takes_the_terminal_back_from_the_editor() {
    let room = Room::supervised();
    room.program("editor", "#!/bin/sh\necho $$ >\"$ROOM/editor\"\necho editing\nexec sleep 600\n");
    let editor = room.path("editor").to_str().expect("a path").to_owned();
    let mut person = session(&room, &[("VISUAL", &editor)]);
    person.types("draft").sees("draft").types(CTRL_G).sees("editing");
    let editor = Pid::from_raw(room.seen("editor").trim().parse().expect("its process id"));
    kill(Pid::from_raw(person.pid()), Signal::SIGTERM).expect("ccc is there");
    person.sees("Ended by SIGTERM");
    assert_eq!(person.leaves().0, 143);
    assert_eq!(kill(editor, None), Err(Errno::ESRCH));
}

#[test]
fn the_keys_are_shown() {
    let room = Room::supervised();
    let mut person = session(&room, &[]);
    person.types("?").sees("search earlier messages").types("x").sees("❯ x").types("\x03");
    leave(person);
}

#[test]
fn a_queued_message_is_taken_back_and_edited() {
    let room = Room::supervised();
    room.client(TAKES_BACK);
    let mut person = session(&room, &[]);
    person
        .types("first\r")
        .sees("on it")
        .types("second")
        .sees("second")
        .types("\r")
        .types(UP)
        .sees("Taken back: ")
        .sees("❯ second");
    person
        .types(" thought\r")
        .sees("heard: second thought")
        .sees("Confirmed complete in")
        .sees("ready");
    leave(person);
}

/// A client that answers its first message only when the third line has come, and forgets what it is
/// told to forget.
const TAKES_BACK: &str = r#"#!/bin/sh
for arg; do [ "$arg" = --fork-session ] && role=supervisor; done
if [ "$role" = supervisor ]; then
  : >"$ROOM/supervisor-0.args"
  echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":"fine"}}'
  cat >/dev/null
  exit
fi
: >"$ROOM/agent-0.args"
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$/{n;p;q}')
uuid_of() { printf '%s' "$1" | sed 's/.*"uuid":"\([^"]*\)".*/\1/'; }
text() { echo "{\"type\":\"assistant\",\"session_id\":\"$id\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"; }
replay() { echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$(uuid_of "$1")\",\"session_id\":\"$id\"}"; }
while read -r line; do
  printf '%s\n' "$line" >>"$ROOM/agent-0.input"
  case $line in
    *cancel_async_message*)
      request=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$request\",\"response\":{\"cancelled\":true}}}" ;;
    *thought*)
      replay "$line"
      text "heard: second thought"
      echo "{\"type\":\"result\",\"num_turns\":1,\"result\":\"heard\",\"session_id\":\"$id\"}" ;;
    *first*)
      echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
      replay "$line"
      text "on it" ;;
  esac
done
"#;

#[test]
fn a_megabyte_is_pasted_in_one_piece() {
    let room = Room::supervised();
    let mut person = session(&room, &[]);
    let text = "0123456789abcde\n".repeat(1_000_000 / 16);
    person.types(PASTE[0]).types(&text.replace('\n', "\r")).types(PASTE[1]);
    person.sees("[pasted 62500 lines]").types("\r").sees("Confirmed complete in").sees("ready");
    leave(person);
    assert!(sent(&room) == [text], "not what was pasted");
}

#[test]
fn wide_and_combined_characters_are_edited_as_they_are_seen() {
    let room = Room::supervised();
    let mut person = session(&room, &[]);
    person.types("写👨\u{200d}👩\u{200d}👧\u{200d}👦e\u{301}한字").sees("字");
    // Past the last one, and three of them gone.
    person.types("\x1b[D\x7f\x7f\x7f").types("!\r").sees("Confirmed complete in").sees("ready");
    leave(person);
    assert_eq!(sent(&room), ["写!字"]);
}
