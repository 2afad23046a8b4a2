//! `ccc provider …`, from flags, from answers, and many at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::{Value, json};

use crate::person::Person;
use crate::room::{Done, Room};

const FILE: &str = "home/.claude/ccc.json";
const KEY: &str = "sk-0123456789secretabcd";

fn file(room: &Room) -> Value {
    serde_json::from_str(&room.read(FILE)).expect("JSON")
}

fn provider(room: &Room, words: &[&str]) -> Done {
    let args: Vec<&str> = ["provider"].iter().chain(words).copied().collect();
    room.ccc(&args).env("SET_KEY", KEY).run()
}

fn room_with(text: &str) -> Room {
    let room = Room::new();
    room.write(FILE, text);
    room
}

#[test]
fn a_home_that_does_not_exist_is_not_created() {
    let room = Room::new();
    let home = room.path("zq-none/me");
    let args = ["provider", "add", "--preset", "kimi", "--token-env", "SET_KEY"];
    let done = room.ccc(&args).env("HOME", &home).env("SET_KEY", KEY).run().code(1);
    assert!(done.err().contains("zq-none/me does not exist, so ccc cannot write ccc.json there"));
    assert!(!room.path("zq-none").exists());
}

#[test]
fn a_preset_is_added_with_a_key_that_stays_in_the_environment() {
    let room = Room::new();
    provider(&room, &["add", "--preset", "kimi", "--token-env", "SET_KEY"]).code(0);
    assert_eq!(
        file(&room),
        json!({"providers": {"kimi": {"env": {
            "ANTHROPIC_BASE_URL": "https://api.moonshot.ai/anthropic",
            "ANTHROPIC_AUTH_TOKEN": "${SET_KEY}", "ANTHROPIC_MODEL": "kimi-k3",
            "ANTHROPIC_DEFAULT_OPUS_MODEL": "kimi-k3", "ANTHROPIC_DEFAULT_SONNET_MODEL": "kimi-k3",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "kimi-k2.5"}}},
            "current_provider": "kimi"})
    );
    assert_eq!(fs::metadata(room.path(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    provider(&room, &["add", "deepseek", "--token-env", "OTHER", "--model", "x"]).code(0);
    let added = file(&room);
    assert_eq!(added["providers"]["deepseek"]["env"]["ANTHROPIC_MODEL"], "x");
    assert_eq!(added["current_provider"], "kimi");
}

#[test]
fn an_endpoint_of_ones_own_takes_its_key_from_standard_input() {
    let room = Room::new();
    let args = [
        "provider",
        "add",
        "mine",
        "--base-url",
        "https://llm.example/v1/",
        "--token-stdin",
        "--api-key",
    ];
    room.ccc(&args).input(format!("{KEY}\n").as_str()).run().code(0);
    let env = &file(&room)["providers"]["mine"]["env"];
    assert_eq!(
        *env,
        json!({"ANTHROPIC_BASE_URL": "https://llm.example", "ANTHROPIC_API_KEY": KEY})
    );
    let done = room.ccc(&args).input(KEY).run().code(1);
    assert!(done.err().contains("--force"), "{}", done.err());
    let other: Vec<&str> = args.iter().copied().chain(["--force", "--model", "m"]).collect();
    room.ccc(&other).input(KEY).run().code(0);
    assert_eq!(file(&room)["providers"]["mine"]["env"]["ANTHROPIC_MODEL"], "m");
}

#[test]
fn wrong_words_are_usage_errors_and_change_nothing() {
    let room = Room::new();
    for (args, said) in [
        (&["add"][..], "the endpoint is missing"),
        (&["add", "--preset", "nope", "--token", "k"], "no preset"),
        (&["add", "--preset", "kimi"], "the key is missing"),
        (&["add", "--preset", "kimi", "--token", ""], "--token is empty"),
        (&["add", "--preset", "kimi", "--token", "two words"], "cannot be a key"),
        (
            &["add", "--preset", "kimi", "--token-env", "1X"],
            "not a valid name for an environment variable",
        ),
        (
            &["add", "validate", "--base-url", "https://x", "--token", "k"],
            "`ccc validate` is a command",
        ),
        (&["add", "-x", "--token", "k"], ""),
        (&["add", "a/b", "--base-url", "https://x", "--token", "k"], "cannot be a provider's name"),
        (&["add", "a", "--base-url", "x", "--token", "k"], "the base URL is not usable"),
        (&["add", "--base-url", "https://x", "--token", "k"], "needs a name"),
        (&["add", "--preset", "kimi", "--base-url", "https://x"], "cannot be used with"),
        (&["remove", "none"], "no provider \"none\""),
        (&["use", "other"], "no provider \"other\""),
        (&["rename", "none", "other"], "no provider \"none\""),
        (&["rename", "none", "init"], "is a command"),
        (&["show", "none"], "no provider \"none\""),
    ] {
        let done = provider(&room, args).code(2);
        assert!(done.err().contains(said), "{args:?}: {}", done.err());
    }
    assert!(!room.path(FILE).exists() || file(&room) == json!({}), "{:?}", file(&room));
}

#[test]
fn the_list_marks_the_current_one_and_shows_no_key() {
    let text = json!({"current_provider": "b", "settings": {"model": "shared"}, "providers": {
        "a": {"env": {"ANTHROPIC_BASE_URL": "https://a", "ANTHROPIC_AUTH_TOKEN": KEY}},
        "b": {"env": {"ANTHROPIC_BASE_URL": "https://me:hidden@b/x", "ANTHROPIC_API_KEY": "${SET_KEY}", "ANTHROPIC_MODEL": "m"}},
        "c": {"env": {"ANTHROPIC_AUTH_TOKEN": "${GONE}"}}, "d": {"env": {"ANTHROPIC_AUTH_TOKEN": "short"}}, "e": {}}});
    let room = room_with(&text.to_string());
    let out = provider(&room, &["list"]).code(0).out();
    assert_eq!(
        out,
        "   NAME  ENDPOINT       MODEL   KEY\n   \
            a     https://a      shared  sk-…abcd\n\
         *  b     https://…@b/x  m       ${SET_KEY} set\n   \
            c     -              shared  ${GONE} missing\n   \
            d     -              shared  …\n   \
            e     -              shared  none\n"
    );
    let listed: Value =
        serde_json::from_str(&provider(&room, &["list", "--json"]).code(0).out()).unwrap();
    assert_eq!(
        listed[0],
        json!({"name": "a", "current": false, "endpoint": "https://a", "model": "shared",
               "key": "sk-…abcd", "key_present": true})
    );
    assert_eq!((&listed[1]["current"], &listed[2]["key_present"]), (&json!(true), &json!(false)));
}

#[test]
fn showing_a_provider_masks_its_keys() {
    let text = json!({"providers": {"a": {"model": "m", "env": {"ANTHROPIC_BASE_URL": "https://a",
        "ANTHROPIC_AUTH_TOKEN": KEY, "MY_SECRET": "hidden-thing", "ANTHROPIC_CUSTOM_HEADERS": "X: hidden-too",
        "PLAIN": format!("uses {KEY}")}}}});
    let room = room_with(&text.to_string());
    for args in [&["show", "a"][..], &["show", "a", "--json"]] {
        let out = provider(&room, args).code(0).out();
        for part in ["https://a", "sk-…abcd", "PLAIN", "MY_SECRET"] {
            assert!(out.contains(part), "{out}");
        }
        for part in ["secret", "hidden", "0123"] {
            assert!(!out.replace("MY_SECRET", "").contains(part), "{out}");
        }
    }
}

#[test]
fn removing_the_current_provider_says_what_is_used_now() {
    let room = room_with(
        r#"{"current_provider":"a","providers":{"a":{},"b":{}},"supervisor":{"provider":"a"},"mine":1}"#,
    );
    room.write("home/.claude/settings-a.json", KEY);
    room.write("home/.claude/settings-a-supervisor.json", KEY);
    let out = provider(&room, &["remove", "a"]).code(0).out();
    assert!(
        out.contains("ccc now uses the first one in the list, b") && out.contains("supervisor"),
        "{out}"
    );
    assert_eq!(file(&room), json!({"providers": {"b": {}}, "supervisor": {}, "mine": 1}));
    assert!(!room.path("home/.claude/settings-a.json").exists(), "the key went with it");
    assert!(!room.path("home/.claude/settings-a-supervisor.json").exists());
    let out = provider(&room, &["remove", "b"]).code(0).out();
    assert_eq!(out, "Removed b.\n");
    assert!(provider(&room, &["list"]).code(0).out().contains("No providers yet"));
}

#[test]
fn a_provider_without_its_key_is_not_used_until_somebody_says_so() {
    let room = Room::new();
    let out = provider(&room, &["add", "kimi", "--token-env", "UNSET_KEY"]).code(0).out();
    assert!(out.contains("UNSET_KEY is not set") && out.contains("ccc provider use kimi"), "{out}");
    assert_eq!(file(&room)["current_provider"], "none");
    let out = provider(&room, &[]).code(0).out();
    assert!(out.starts_with("Using claude's own key or login."), "{out}");
    let out = provider(&room, &["use", "kimi"]).code(0).out();
    assert!(out.contains("current provider") && out.contains("UNSET_KEY is not set"), "{out}");
    let out = provider(&room, &[]).code(0).out();
    assert!(out.starts_with(
        "kimi is the current provider: https://api.moonshot.ai/anthropic, model kimi-k3, key"
    ));
    let out = provider(&room, &["use", "none"]).code(0).out();
    assert_eq!(out, "Using claude's own key or login.\n");
    let out = provider(&room, &["list", "--json"]).code(0).out();
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()[0]["current"], false);
    provider(&room, &["add", "none", "--base-url", "https://x.example", "--token", "k"]).code(2);
    let none = Room::new();
    assert!(provider(&none, &[]).code(0).out().contains("there are no providers"));
}

#[test]
fn using_and_renaming() {
    let room =
        room_with(r#"{"providers":{"a":{},"b":{"env":{}},"c":{}},"supervisor":{"provider":"b"}}"#);
    provider(&room, &["use", "b"]).code(0);
    provider(&room, &["rename", "b", "new"]).code(0);
    let text: String = room.read(FILE).split_whitespace().collect();
    assert_eq!(
        text,
        r#"{"providers":{"a":{},"new":{"env":{}},"c":{}},"supervisor":{"provider":"new"},"current_provider":"new"}"#
    );
    provider(&room, &["rename", "new", "c"]).code(1);
}

#[test]
fn a_broken_file_is_named_with_its_place_and_kept() {
    let broken = "{\n  \"providers\": {,}\n}";
    let room = room_with(broken);
    for args in [
        &["add", "--preset", "kimi", "--token-env", "K"][..],
        &["remove", "a"],
        &["use", "a"],
        &["rename", "a", "b"],
        &["list"],
        &["show", "a"],
    ] {
        let err = provider(&room, args).code(1).err();
        assert!(err.contains("ccc.json is broken") && err.contains("line 2 column"), "{err}");
        assert_eq!(room.read(FILE), broken);
    }
}

#[test]
fn the_presets_are_listed() {
    let room = Room::new();
    let out = provider(&room, &["add", "--presets"]).code(0).out();
    for name in ["anthropic", "kimi", "glm", "deepseek", "qwen", "minimax", "openrouter"] {
        assert!(out.contains(&format!("\n{name} ")), "{out}");
    }
    assert!(!room.path(FILE).exists());
}

#[test]
fn twenty_at_once_lose_nothing_and_readers_see_whole_files_only() {
    let room = room_with(r#"{"mine":{"kept":[1,2]}}"#);
    let names: Vec<String> = (0..20).map(|number| format!("p{number}")).collect();
    thread::scope(|scope| {
        let writers: Vec<_> = names
            .iter()
            .map(|name| {
                let room = &room;
                scope.spawn(move || {
                    let args = [
                        "add",
                        name,
                        "--base-url",
                        "https://x",
                        "--token-env",
                        "K",
                        "--model",
                        "m",
                    ];
                    provider(room, &args).code(0);
                })
            })
            .collect();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            assert_eq!(file(&room)["mine"], json!({"kept": [1, 2]}));
        }
    });
    let all = file(&room);
    assert!(names.iter().all(|name| all["providers"][name].is_object()), "{all}");
    let left: Vec<_> = fs::read_dir(room.path("home/.claude"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "the file and its lock, and nothing temporary: {left:?}");
}

#[test]
fn a_writer_that_is_killed_leaves_a_whole_file() {
    let room = room_with(r#"{"providers":{"a":{},"b":{}}}"#);
    for round in 0..40 {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ccc"))
            .args(["provider", "use", ["a", "b"][round % 2]])
            .env_clear()
            .env("HOME", room.path("home"))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Somewhere in its short life, another place each round.
        for _ in 0..round * 2000 {
            std::hint::black_box(round);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(file(&room)["providers"]["b"].is_object());
    }
    provider(&room, &["use", "a"]).code(0);
    assert_eq!(file(&room)["current_provider"], "a", "no lock outlives its owner");
}

#[test]
fn a_person_is_asked_and_the_key_is_not_shown() {
    let room = Room::new();
    let mut person = Person::runs(&room, &["provider", "add"]);
    person.sees("openrouter").sees("another endpoint: ").types("nonsense\n");
    person.sees("neither a preset").sees("another endpoint: ").types("minimax\n");
    person.sees("Name [minimax]: ").types("init\n").sees("is a command");
    person.sees("Name [minimax]: ").types("\n");
    person.sees("Key (not shown").types(&format!("{KEY}x\u{7f}\n"));
    person.sees("Model [MiniMax-M3]: ").types("other\n").sees("Added minimax");
    let (code, screen) = person.leaves();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("secret"), "{screen}");
    let env = &file(&room)["providers"]["minimax"]["env"];
    assert_eq!(env["ANTHROPIC_AUTH_TOKEN"], KEY);
    assert_eq!(env["ANTHROPIC_MODEL"], "other");
}

#[test]
fn a_person_may_think_better_of_it() {
    let room = room_with(r#"{"providers":{"kimi":{"env":{}}}}"#);
    let before = room.read(FILE);
    let mut person = Person::runs(&room, &["provider", "add", "kimi"]);
    person.sees("Replace it? [y/N]").types("\n");
    assert_eq!(person.leaves().0, 1);
    let mut person = Person::runs(&room, &["provider", "add", "qwen"]);
    person.sees("Key (not shown").types("half a ke\u{3}").sees("cancelled");
    assert_eq!(person.leaves().0, 1);
    assert_eq!(room.read(FILE), before);
}
