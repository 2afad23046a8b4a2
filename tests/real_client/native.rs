//! `ccc --supervisor=native`: the client's own screen with a person at it, supervised by the ccc around
//! it.

mod conversations;
mod forged;
mod in_the_way;
#[cfg(target_os = "linux")]
mod killed;
mod picture;

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::script::{begins_review, confirms, count, is_agents, only, rejects};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::CleanRoom;
use crate::support::patience::{PATIENCE, wait_until};
use crate::support::terminal::Terminal;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(
    a_rejection_goes_back_as_feedback_and_a_confirmation_is_told,
    a_message_comes_before_a_verdict_and_esc_skips_a_review,
    switches_cost_no_request_and_supervision_outlives_clear_and_compact,
);
on_the_newest_client!(
    at_the_limit_the_person_is_told_and_a_new_message_counts_anew,
    a_judge_that_fails_is_no_rejection,
    commands_in_the_shell_and_failed_turns_are_not_reviewed,
    the_users_own_status_line_stays,
    an_agent_that_a_hook_of_the_users_sends_on_is_not_called_confirmed,
    a_server_in_the_background_puts_a_review_off_once,
    the_first_start_says_that_keys_are_recorded,
    what_cannot_be_recorded_is_told_during_the_session_and_at_its_end,
);

/// A person at the client's own screen, not for the first time.
fn native(room: &CleanRoom, client: &Path, api: &Api, args: &[&str]) -> Terminal {
    supervised(command(room, client, api, args))
}

fn command(room: &CleanRoom, client: &Path, api: &Api, args: &[&str]) -> Ccc {
    std::fs::write(room.home().join(".claude/ccc-keys-are-recorded"), "").expect("a mark");
    let ccc = Ccc::new(room).client(client).api(api).instructions(INSTRUCTIONS);
    let ccc = ccc.arg("--supervisor=native").args(args.iter().copied());
    ccc.args(["--permission-mode", "default"])
}

fn supervised(ccc: Ccc) -> Terminal {
    let terminal = ccc.on_terminal();
    terminal.wait_for("supervision begins with your first message");
    terminal
}

/// A turn of the agent; the UI also asks for a title and the like, without tools.
fn is_turn(request: &Request) -> bool {
    is_agents(request) && request.tool_names().contains(&"Bash")
}

fn order(api: &Api) -> Vec<&'static str> {
    let requests = api.requests();
    let name = |request: &Request| match () {
        () if begins_review(request) => Some("review"),
        () if is_turn(request) => Some("turn"),
        () => None,
    };
    requests.iter().filter_map(name).collect()
}

#[track_caller]
fn leave(mut terminal: Terminal) {
    terminal.say("/exit");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
}

/// What ccc prints about the session that was recorded in the room.
#[track_caller]
fn told(room: &CleanRoom, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ccc"));
    command.args(args).current_dir(room.project()).env_clear().envs(room.env(""));
    let output = command.output().expect("run ccc");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {text}{errors}");
    text
}

fn recording(room: &CleanRoom) -> std::path::PathBuf {
    let sessions = room.project().join(".claude/ccc/sessions");
    let mut found = std::fs::read_dir(sessions).expect("recordings").flatten();
    found.next().expect("a recording").path()
}

fn a_rejection_goes_back_as_feedback_and_a_confirmation_is_told(client: &Path) {
    let room = CleanRoom::new();
    let gate = Gate::new();
    let api = Api::start(vec![
        rejects("zq-tests-are-missing").gate(&gate).times(1),
        confirms(),
        Rule::on("zq-tests-are-missing").text("zq-tested."),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    terminal.say("zq-build-it");
    terminal.wait_for("reviewing");
    terminal.wait_for("round 1/10 · Esc skips it");
    terminal.wait_for("ccc reviews the work");
    picture::matches(client, "reviewing", &terminal.screen());
    gate.open();
    // «Stop hook says: …», «Stop hook feedback: …» before 2.1.327.
    terminal.wait_for(": zq-tests-are-missing");
    terminal.wait_for("Stop says: ccc: Confirmed in round 2");
    terminal.wait_for("confirmed in round 2 ·");
    let screen = terminal.screen();
    assert!(!screen.to_lowercase().contains("error"), "{screen}");
    picture::matches(client, "confirmed", &screen);
    leave(terminal);

    assert_eq!(order(&api), ["turn", "review", "turn", "review"]);
    let requests = api.requests();
    assert!(only(&requests, is_turn)[1].recent_text().contains("zq-tests-are-missing"));
    let review = only(&requests, begins_review)[1].recent_text();
    assert!(review.contains("zq-build-it") && review.contains(INSTRUCTIONS), "{review}");

    let list = told(&room, &["sessions"]);
    assert!(list.contains("confirmed") && list.contains("zq-build-it"), "{list}");
    let story = told(&room, &["sessions", "show"]);
    assert!(story.contains("Not complete yet, round 1/10"), "{story}");
    let dir = recording(&room);
    let id = dir.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    told(&room, &["replay", &id, "--check"]);
    let cast = std::fs::read_to_string(dir.join("session.cast")).expect("a cast");
    assert!(cast.contains("zq-tests-are-missing"), "the screen is on record");
    assert!(cast.contains("\"i\",\"zq-build-it\""), "and so is what was typed");
}

fn a_message_comes_before_a_verdict_and_esc_skips_a_review(client: &Path) {
    let room = CleanRoom::new();
    let (turn, first, second) = (Gate::new(), Gate::new(), Gate::new());
    let api = Api::start(vec![
        rejects("zq-never-heard").gate(&first).times(1),
        rejects("zq-never-heard").gate(&second).times(1),
        confirms(),
        Rule::on("zq-begin").when(is_turn).gate(&turn).text("zq-begun."),
        Rule::on("zq-build-it").text("zq-built."),
        Rule::on("zq-wait").text("zq-waited."),
        Rule::on("zq-go-on").text("zq-went-on."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    terminal.say("zq-build-it");
    first.wait_reached(PATIENCE);
    terminal.say("zq-wait");
    terminal.wait_for("zq-waited.");
    second.wait_reached(PATIENCE);
    terminal.wait_for("ccc reviews the work");
    terminal.keys("\x1b");
    terminal.wait_for("review skipped, not confirmed");
    picture::matches(client, "skipped", &terminal.screen());
    terminal.say("zq-go-on");
    terminal.wait_for("zq-went-on.");
    terminal.wait_for("Confirmed in round 1");
    // One that waits when the agent stops.
    terminal.say("zq-begin");
    turn.wait_reached(PATIENCE);
    terminal.say("zq-last");
    terminal.wait_for("edit queued messages");
    // The client shows it before it notes it, and only from the note can ccc know that it waits.
    wait_until("the message is noted", || is_queued(&room, "zq-last"));
    turn.open();
    api.wait_for(|requests| count(requests, begins_review) == 4, PATIENCE);
    terminal.wait_for("confirmed in round 1");
    leave(terminal);

    let expected = ["turn", "review", "turn", "review", "turn", "review", "turn", "turn", "review"];
    assert_eq!(order(&api), expected);
    let requests = api.requests();
    let agents = requests.iter().filter(|request| is_agents(request));
    assert!(!agents.into_iter().any(|request| request.messages_text().contains("zq-never-heard")));
    let last = only(&requests, begins_review)[3].recent_text();
    let said =
        ["zq-begin", "zq-build-it", "zq-wait", "zq-go-on"].map(|word| last.matches(word).count());
    assert!(said.iter().all(|count| *count >= 1), "{said:?}: {last}");
}

fn switches_cost_no_request_and_supervision_outlives_clear_and_compact(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-first").text("zq-first-done."),
        Rule::on("zq-second").text("zq-second-done."),
        Rule::on("zq-third").text("zq-third-done."),
        Rule::on("zq-fourth").text("zq-fourth-done."),
        Rule::on("zq-fifth").text("zq-fifth-done."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    terminal.say("/supervisoroff");
    terminal.wait_for("Supervision is off: nothing is reviewed until /supervisor.");
    terminal.wait_for("supervision off");
    terminal.say("zq-first");
    terminal.wait_for("zq-first-done.");
    // After each turn the client says how long it took: «✻ Brewed for 0s».
    let ends = |line: &str| line.starts_with('✻') && line.contains(" for ") && !line.contains('…');
    terminal.wait_until("the end of the turn", |screen| screen.lines().any(ends));
    picture::matches(client, "off", &terminal.screen());
    assert_eq!(order(&api), ["turn"]);
    terminal.say("/supervisor");
    terminal.wait_for("Supervision is on");
    assert_eq!(order(&api), ["turn"], "a switch is no request");
    terminal.say("zq-second");
    terminal.wait_for("confirmed in round 1");
    terminal.say("/clear");
    terminal.wait_until("an empty screen", |screen| !screen.contains("zq-second-done"));
    terminal.say("zq-third");
    terminal.wait_for("zq-third-done.");
    terminal.wait_for("Confirmed in round 1");
    terminal.say("zq-fourth");
    terminal.wait_for("zq-fourth-done.");
    api.wait_for(|requests| count(requests, begins_review) == 3, PATIENCE);
    terminal.wait_for("confirmed in round 1");
    terminal.say("/compact");
    terminal.wait_for("ompacted");
    terminal.say("zq-fifth");
    terminal.wait_for("zq-fifth-done.");
    api.wait_for(|requests| count(requests, begins_review) == 4, PATIENCE);
    terminal.wait_for("confirmed in round 1");
    leave(terminal);
    let requests = api.requests();
    let reviews = only(&requests, begins_review);
    let said = |at: usize, word: &str| reviews[at].recent_text().contains(word);
    assert!(said(1, "zq-third") && !said(1, "zq-second"), "another conversation has its own words");
    assert!(said(3, "zq-fifth") && said(3, "zq-third"), "a compacted one keeps its words");
}

fn at_the_limit_the_person_is_told_and_a_new_message_counts_anew(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![
        rejects("zq-missing-one").times(1),
        rejects("zq-missing-two").times(1),
        confirms(),
        Rule::on("zq-missing").text("zq-more."),
    ]);
    let mut terminal = native(&room, client, &api, &["--max-iterations", "2"]);
    terminal.say("zq-build-it");
    terminal.wait_for("Stopped after 2 reviews without confirmation.");
    terminal.wait_for("limit of 2 reviews reached");
    picture::matches(client, "limit", &terminal.screen());
    terminal.say("zq-go-on");
    terminal.wait_for("confirmed in round 1");
    leave(terminal);
    let expected = ["turn", "review", "turn", "review", "turn", "turn", "review"];
    assert_eq!(order(&api), expected);
}

fn a_judge_that_fails_is_no_rejection(client: &Path) {
    let room = CleanRoom::new();
    let fails =
        || Rule::any().when(begins_review).status(400, "invalid_request_error", "zq-no-credit");
    let api = Api::start(vec![fails(), Rule::on("zq-build-it").text("zq-built.")]);
    let mut terminal = native(&room, client, &api, &[]);
    terminal.say("zq-build-it");
    terminal.wait_for("The work was not reviewed:");
    terminal.wait_for("zq-no-credit");
    terminal.wait_until("the line below", |screen| {
        screen.lines().any(|line| line.trim() == "not reviewed")
    });
    picture::matches(client, "failed", &terminal.screen());
    leave(terminal);
    assert_eq!(count(&api.requests(), is_turn), 1);
}

fn commands_in_the_shell_and_failed_turns_are_not_reviewed(client: &Path) {
    let room = CleanRoom::new();
    let failed = Rule::on("zq-fail").status(400, "invalid_request_error", "zq-refused");
    let (slow, review) = (Gate::new(), Gate::new());
    let api = Api::start(vec![
        confirms().gate(&review),
        failed,
        Rule::on("zq-slow").when(is_turn).gate(&slow).times(1),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    run_in_the_shell(&mut terminal, "zq-shell");
    terminal.wait_for("ok.");
    // A command right after an interrupted turn.
    terminal.say("zq-slow");
    slow.wait_reached(PATIENCE);
    terminal.keys("\x1b");
    terminal.wait_until("the message back in the input", |screen| {
        let lines: Vec<_> = screen.lines().collect();
        let is_input = |pair: &[&str]| {
            pair[0].starts_with('❯') && pair[0].contains("zq-slow") && pair[1].starts_with('─')
        };
        lines.windows(2).any(is_input)
    });
    terminal.keys("\x15");
    terminal.wait_until("an empty input", |screen| !screen.contains("zq-slow"));
    run_in_the_shell(&mut terminal, "zq-after");
    terminal.wait_until("its end", |screen| screen.matches("● ok.").count() == 2);
    // And one during a review, which is no message to the agent.
    terminal.say("zq-build-it");
    review.wait_reached(PATIENCE);
    terminal.wait_for("reviewing");
    terminal.keys("!");
    terminal.say("echo zq-during-$((40+2))");
    review.open();
    terminal.wait_for("Confirmed in round 1");
    terminal.wait_for("zq-during-42");
    terminal.wait_until("its end", |screen| screen.matches("● ok.").count() == 4);
    terminal.say("zq-fail");
    terminal.wait_for("zq-refused");
    terminal.wait_for("turn failed, not reviewed");
    leave(terminal);
    let requests = api.requests();
    assert_eq!(count(&requests, begins_review), 1);
    let review = only(&requests, begins_review)[0].recent_text();
    assert!(!review.contains("zq-during"), "{review}");
}

/// Whether the client's transcript says that this message waits for the agent.
fn is_queued(room: &CleanRoom, message: &str) -> bool {
    let in_dir = |dir: &Path| -> Vec<_> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let projects = in_dir(&room.home().join(".claude/projects"));
    projects.iter().flat_map(|project| in_dir(project)).any(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().any(|line| line.contains("\"enqueue\"") && line.contains(message))
    })
}

fn run_in_the_shell(terminal: &mut Terminal, word: &str) {
    terminal.keys("!");
    terminal.say(&format!("echo {word}-$((40+2))"));
    terminal.wait_for(&format!("{word}-42"));
}

fn an_agent_that_a_hook_of_the_users_sends_on_is_not_called_confirmed(client: &Path) {
    let room = CleanRoom::new();
    let sends_on =
        r#"[ -e ~/zq-once ] || { >~/zq-once; echo '{"decision":"block","reason":"zq-own"}'; }"#;
    let hooks = json!({"Stop": [{"hooks": [{"type": "command", "command": sends_on}]}]});
    let settings = room.home().join(".claude/settings.json");
    std::fs::write(settings, json!({"hooks": hooks}).to_string()).expect("settings");
    let gate = Gate::new();
    let api = Api::start(vec![
        confirms(),
        Rule::on("zq-own").when(is_turn).gate(&gate).text("zq-more."),
        Rule::on("zq-build-it").text("zq-built."),
    ]);
    let mut terminal = native(&room, client, &api, &[]);
    terminal.say("zq-build-it");
    gate.wait_reached(PATIENCE);
    terminal.wait_for("Stop says: ccc: Confirmed in round 1");
    terminal.wait_until("no word of the last review", |screen| {
        screen.lines().any(|line| line.trim_start().starts_with("supervised"))
    });
    gate.open();
    terminal.wait_for("confirmed in round 1 ·");
    assert_eq!(order(&api), ["turn", "review", "turn", "review"]);
    leave(terminal);
}

fn the_users_own_status_line_stays(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(Vec::new());
    let line =
        json!({"type": "command", "command": "printf 'zq-mine %s' \"$(grep -c session_id)\""});
    let settings = json!({"statusLine": line}).to_string();
    std::fs::write(room.home().join(".claude/settings.json"), settings).expect("settings");
    let terminal = native(&room, client, &api, &[]);
    terminal.wait_for("zq-mine 1");
    let screen = terminal.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text}: {screen}"));
    assert!(at("zq-mine 1") < at("supervision begins"), "{screen}");
    leave(terminal);
}

fn a_server_in_the_background_puts_a_review_off_once(client: &Path) {
    let room = CleanRoom::new();
    let serves = json!({"command": "sleep 1000", "run_in_background": true});
    let serve = Rule::on("zq-serve").when(is_turn).tool("Bash", serves).times(1);
    let api = Api::start(vec![confirms(), serve]);
    let mut terminal = native(&room, client, &api, &["--allowedTools", "Bash"]);
    terminal.say("zq-serve");
    terminal.wait_for("1 in the background, not reviewed yet");
    assert_eq!(count(&api.requests(), begins_review), 0, "{}", terminal.screen());
    terminal.say("zq-go-on");
    terminal.wait_for("Confirmed in round 1");
}

fn the_first_start_says_that_keys_are_recorded(client: &Path) {
    let room = CleanRoom::new();
    let api = Api::start(vec![confirms()]);
    let ccc = || Ccc::new(&room).client(client).api(&api).instructions(INSTRUCTIONS);
    let start = || ccc().arg("--supervisor=native").on_terminal();
    let mut terminal = start();
    terminal.wait_for("supervision begins with your first message · every key is recorded");
    terminal.say("zq-build-it");
    terminal.wait_for("UserPromptSubmit says: ccc: This session is recorded");
    terminal.wait_for("Confirmed in round 1");
    leave(terminal);
    let terminal = start();
    terminal.wait_for("supervision begins with your first message");
    assert!(!terminal.screen().contains("recorded"), "{}", terminal.screen());
    leave(terminal);
}

fn what_cannot_be_recorded_is_told_during_the_session_and_at_its_end(client: &Path) {
    const ID: &str = "11111111-2222-4333-8444-555555555555";
    let room = CleanRoom::new();
    let api = Api::start(vec![confirms(), Rule::on("zq-build-it").text("zq-built.")]);
    let dir = room.project().join(".claude/ccc/sessions").join(ID);
    std::fs::create_dir_all(&dir).expect("a directory");
    std::os::unix::fs::symlink("elsewhere", dir.join("session.cast")).expect("a link");
    let mut terminal = native(&room, client, &api, &["--session-id", ID]);
    terminal.say("zq-build-it");
    terminal.wait_for("ccc: Not recorded: session.cast: it is a symbolic link");
    terminal.wait_for("Confirmed in");
    terminal.say("/exit");
    assert_eq!(terminal.wait_exit(), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    let last = screen.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("ccc: Not recorded: session.cast: "), "{screen}");
}
