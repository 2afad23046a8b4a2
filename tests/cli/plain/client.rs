//! A client in a few lines of shell that does more than take every message up: "careful" asks for
//! permission, "slowly" leaves the turn open, and an interrupt ends it. The supervisor is that of
//! `room.rs`; one that prints an empty file says nothing.

pub const CLIENT: &str = r#"#!/bin/sh
role=agent
for arg; do [ "$arg" = --fork-session ] && role=supervisor; done
n=$(ls "$ROOM" | grep -c "$role.*args")
for arg; do printf '%s\n' "$arg"; done >"$ROOM/$role-$n.args"
id=$(printf '%s\n' "$@" | sed -n '/^--session-id$\|^--resume$/{n;p;q}')
turn=closed

says() {
  echo "{\"type\":\"assistant\",\"session_id\":\"$id\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}}"
}
ends() {
  turn=closed
  echo "{\"type\":\"result\",\"num_turns\":1,\"session_id\":\"$id\",$1}"
}

while read -r line; do
  printf '%s\n' "$line" >>"$ROOM/$role-$n.input"
  if [ $role = supervisor ]; then
    cat "$ROOM/../supervisor.prints.$n" 2>/dev/null ||
      echo '{"type":"result","num_turns":1,"result":"","structured_output":{"completed":true,"feedback":"fine"}}'
    continue
  fi
  case "$line" in
    *'"subtype":"initialize"'*)
      echo '{"type":"control_response","response":{"subtype":"success","request_id":"ccc-initialize","response":{"commands":[],"models":[{"value":"zq-small","description":"quick"},{"value":"zq-large","description":"thorough"}]}}}'
      ;;
    *'"type":"control_response"'*)
      says "all done here"
      ends '"result":"all done here"'
      ;;
    *'"subtype":"interrupt"'*)
      request=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      echo "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$request\"}}"
      ends '"subtype":"error_during_execution","is_error":true,"result":""'
      ;;
    *)
      uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
      [ $turn = open ] ||
        echo "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"fake\",\"session_id\":\"$id\"}"
      turn=open
      echo "{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"$uuid\",\"session_id\":\"$id\"}"
      case "$line" in
        *careful*)
          echo '{"type":"control_request","request_id":"ask-1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -rf build"}}}'
          ;;
        *slowly*) says "one moment" ;;
        *)
          says "all done here"
          ends '"result":"all done here"'
          ;;
      esac
      ;;
  esac
done
"#;
