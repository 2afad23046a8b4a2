//! A task that makes no sense to go on with reaches the person as what it is: on the client's own screen,
//! and on record.

use serde_json::json;

use crate::room::{Room, verdict};

fn reviewed(verdict: &str) -> Room {
    let room = Room::supervised();
    room.enable("abc123", 0);
    room.supervisor_prints(verdict);
    room
}

fn shown(room: &Room) -> String {
    room.ccc(&["sessions", "show", "abc123"]).run().code(0).out()
}

#[test]
fn blocked_and_impossible_are_told_with_what_the_person_must_do() {
    for (status, feedback) in [("blocked", "Which database?"), ("impossible", "No such API.")] {
        let said = json!({"completed": false, "status": status, "feedback": feedback});
        let line = json!({"type": "result", "num_turns": 1, "result": said.to_string()});
        let room = reviewed(&format!("{line}\n"));
        let told = format!("{status}: {feedback}");
        room.hook("abc123").run().allows(&told).tells(&told);
        let shown = shown(&room);
        let shown = shown.to_lowercase();
        assert!(shown.contains(status) && shown.contains(&feedback.to_lowercase()), "{shown}");
        let listed = room.ccc(&["sessions"]).run().code(0).out();
        assert!(listed.contains(status), "{listed}");
    }
}

#[test]
fn stuck_is_told_with_what_it_is_stuck_on() {
    let room = reviewed(&verdict(false, "Handle the umlauts."));
    room.hook("abc123").run().blocks("Handle the umlauts.");
    room.hook("abc123").run().blocks("Handle the umlauts.");
    let done = room.hook("abc123").run().allows("stuck: ");
    done.tells("stuck: ");
    done.tells("Handle the umlauts.");
    let shown = shown(&room);
    assert!(shown.contains("Stuck") && shown.contains("Handle the umlauts."), "{shown}");
    let listed = room.ccc(&["sessions"]).run().code(0).out();
    assert!(listed.contains("stuck"), "{listed}");
}
