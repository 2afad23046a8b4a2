//! A client that is quick, since it is one process, and that says always the same.

use crate::room::Room;

/// The agent answers each message with a few dozen lines, some of them long, some of them not JSON
/// alone. `$ROOM/../verdicts` holds what reviews say, one line for each, the last one for ever.
const CLIENT: &str = r#"#!/bin/sh
role=agent
id=
while [ $# -gt 0 ]; do
  case $1 in
    --help) echo 'usage: claude [options]'; exit 0 ;;
    --fork-session) role=supervisor ;;
    --session-id | --resume) id=$2; shift ;;
  esac
  shift
done
say() {
  [ -n "$QUIET" ] || printf '%s\n' "$1" >>"$ROOM/$id.$role.printed"
  printf '%s\n' "$1"
}
while read -r line; do
  case $line in *'"subtype":"initialize"'*)
    say '{"type":"control_response","response":{"subtype":"success","request_id":"ccc-initialize","response":{"commands":[{"name":"compact"}]}}}'
    continue
    ;;
  esac
  uuid=${line#*\"uuid\":\"}
  uuid=${uuid%%\"*}
  [ -z "$QUIET" ] || line=$uuid
  printf '%s\n' "$line" >>"$ROOM/$id.$role.input"
  if [ $role = supervisor ]; then
    n=0
    while read -r _; do n=$((n + 1)); done <"$ROOM/$id.$role.input"
    m=0
    while [ $((m += 1)) -le $n ] && read -r next; do verdict=$next; done <"$ROOM/../verdicts"
    say '{"type":"system","subtype":"init","model":"fake","session_id":"fork"}'
    say '{"type":"assistant","session_id":"fork","message":{"content":[{"type":"text","text":"Let me see … ✓"}]}}'
    say "{\"type\":\"result\",\"num_turns\":1,\"result\":\"\",\"total_cost_usd\":0.5,\"structured_output\":$verdict}"
  else
    say "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
    say "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"$id\"}"
    n=0
    while [ $((n += 1)) -le ${PARTS:-20} ]; do
      say "{\"type\":\"stream_event\",\"session_id\":\"$id\",\"event\":{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"$n \"}}}"
    done
    say ''
    say "a warning {\"type\":\"system\",\"subtype\":\"one\"}{\"type\":\"system\",\"subtype\":\"two\"}"
    say "{\"type\":\"assistant\",\"session_id\":\"$id\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"all done here: größer, 完成 🎉\"}]}}"
    say "{\"type\":\"result\",\"num_turns\":1,\"result\":\"all done here\",\"total_cost_usd\":0.25,\"session_id\":\"$id\"}"
  fi
done
"#;

pub const NO: &str = r#"{"completed":false,"feedback":"tests are missing\nall of them"}"#;
pub const YES: &str = r#"{"completed":true,"feedback":"fine"}"#;

/// Supervised by somebody who says this, one after the other.
pub fn room(verdicts: &[&str]) -> Room {
    let room = Room::supervised();
    room.client(CLIENT);
    room.write("verdicts", verdicts.join("\n") + "\n");
    room
}
