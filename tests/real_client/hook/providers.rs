//! Whose endpoint is asked: the provider's, whatever else is configured.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{assert_stopped, supervised};
use crate::script::{begins_review, confirms, count, is_agents};
use crate::support::api::{Api, Gate, Request, Rule};
use crate::support::ccc::{Ccc, INSTRUCTIONS};
use crate::support::client::{API_KEY, CleanRoom};
use crate::support::patience::PATIENCE;
use crate::{on_each_client, on_the_newest_client};

on_each_client!(
    the_provider_wins_over_the_users_own_settings,
    a_key_of_the_users_own_settings_is_not_sent_to_a_provider,
    a_second_opinion_comes_from_another_endpoint,
    the_users_own_login_may_judge,
);
on_the_newest_client!(two_providers_at_once_do_not_disturb_each_other);

fn endpoint(api: &Api, key: &str) -> Value {
    json!({"env": {"ANTHROPIC_BASE_URL": api.url(), "ANTHROPIC_AUTH_TOKEN": key}})
}

fn key(request: &Request) -> String {
    let bearer = request.header("authorization").unwrap_or_default().to_owned();
    request.header("x-api-key").map(str::to_owned).into_iter().chain([bearer]).collect()
}

fn the_provider_wins_over_the_users_own_settings(client: &Path) {
    let room = CleanRoom::new();
    let (own, inherited, kimi) =
        (Api::start(Vec::new()), Api::start(Vec::new()), Api::start(vec![confirms()]));
    let settings = room.home().join(".claude/settings.json");
    let users = endpoint(&own, "made-up-own").to_string();
    fs::write(&settings, &users).expect("the user's settings");
    let config = json!({"providers": {"kimi": endpoint(&kimi, "made-up-kimi")}});
    let ccc = Ccc::new(&room).client(client).api(&inherited).instructions(INSTRUCTIONS);
    let done = ccc.config(&config).args(["--supervisor=hook", "kimi", "-p", "zq-build-it"]).run();
    assert_stopped(&done);
    assert_eq!((own.requests().len(), inherited.requests().len()), (0, 0), "{done}");
    let requests = kimi.requests();
    assert_eq!(count(&requests, is_agents), 1, "{done}");
    assert_eq!(count(&requests, begins_review), 1, "{done}");
    for request in &requests {
        // The user's own key has the same name, so that the provider's is handed over by a helper,
        // and the client sends it in both headers. The judge's client reads no file of the user's.
        let both = "made-up-kimiBearer made-up-kimi";
        let expected = if is_agents(request) { both } else { "Bearer made-up-kimi" };
        assert_eq!(key(request), expected);
    }
    assert_eq!(fs::read_to_string(&settings).expect("the user's settings"), users);
}

fn a_second_opinion_comes_from_another_endpoint(client: &Path) {
    let room = CleanRoom::new();
    let (kimi, glm) = (Api::start(Vec::new()), Api::start(vec![confirms()]));
    let ccc = supervised(&room, client, &kimi).config(&json!({
        "providers": {"kimi": endpoint(&kimi, "made-up-kimi"), "glm": endpoint(&glm, "made-up-glm")},
        "supervisor": {"provider": "glm", "model": "zq-judge"},
    }));
    let done = ccc.run();
    assert_stopped(&done);
    assert_eq!((kimi.requests().len(), count(&kimi.requests(), is_agents)), (1, 1), "{done}");
    let reviews = glm.requests();
    assert!(count(&reviews, begins_review) == 1 && count(&reviews, is_agents) == 0, "{done}");
    for review in &reviews {
        assert_eq!((review.model(), key(review).as_str()), ("zq-judge", "Bearer made-up-glm"));
    }
}

/// The user's settings and the provider's are merged variable by variable.
fn a_key_of_the_users_own_settings_is_not_sent_to_a_provider(client: &Path) {
    let room = CleanRoom::new();
    let (own, kimi) = (Api::start(Vec::new()), Api::start(vec![confirms()]));
    fs::write(room.home().join(".claude/settings.json"), endpoint(&own, "made-up-own").to_string())
        .expect("the user's settings");
    let env = json!({"ANTHROPIC_BASE_URL": kimi.url(), "ANTHROPIC_API_KEY": API_KEY});
    let ccc = supervised(&room, client, &own).config(&json!({"providers": {"kimi": {"env": env}}}));
    let done = ccc.run();
    assert_stopped(&done);
    assert!(kimi.requests().len() >= 2, "{done}");
    for request in kimi.requests() {
        assert_eq!(key(&request), API_KEY);
    }
}

/// A provider that sets nothing is the user's own login, whatever the agent works with.
fn the_users_own_login_may_judge(client: &Path) {
    let room = CleanRoom::new();
    let (own, kimi) = (Api::start(vec![confirms()]), Api::start(vec![confirms()]));
    let env = json!({"ANTHROPIC_BASE_URL": own.url(), "ANTHROPIC_API_KEY": API_KEY});
    fs::write(room.home().join(".claude/settings.json"), json!({"env": env}).to_string())
        .expect("the user's settings");
    let done = supervised(&room, client, &own)
        .config(&json!({
            "providers": {"kimi": endpoint(&kimi, "made-up-kimi"), "own": {}},
            "supervisor": {"provider": "own"},
        }))
        .run();
    assert_stopped(&done);
    assert_eq!(count(&kimi.requests(), begins_review), 0, "the agent's endpoint judges\n{done}");
    assert_eq!(count(&own.requests(), begins_review), 1, "{done}");
    for request in own.requests() {
        assert_eq!(key(&request), API_KEY, "{done}");
    }
}

fn two_providers_at_once_do_not_disturb_each_other(client: &Path) {
    let room = CleanRoom::new();
    let gates = [Gate::new(), Gate::new()];
    let apis = gates.each_ref().map(|gate| {
        Api::start(vec![
            confirms(),
            Rule::any().gate(gate).text("zq-first.").times(1),
            Rule::any().text("zq-built."),
        ])
    });
    let config = json!({"providers": {
        "kimi": endpoint(&apis[0], "made-up-kimi"), "glm": endpoint(&apis[1], "made-up-glm"),
    }});
    let prepared = |provider: &str| {
        let ccc = Ccc::new(&room).client(client).instructions(INSTRUCTIONS).config(&config);
        let prompt = format!("zq-for-{provider}");
        ccc.args(["--supervisor=hook", provider, "-p", prompt.as_str()])
    };
    // Both write the files that both read, so neither starts before the other has written them.
    let running = ["kimi", "glm"].map(prepared).map(Ccc::start);
    // Both are in the middle of their first turn.
    gates.iter().for_each(|gate| gate.wait_reached(PATIENCE));
    gates.iter().for_each(Gate::open);
    for running in running {
        assert_stopped(&running.finish());
    }
    for (api, (provider, other)) in apis.iter().zip([("kimi", "glm"), ("glm", "kimi")]) {
        let requests = api.requests();
        assert_eq!((count(&requests, is_agents), count(&requests, begins_review)), (1, 1));
        for request in requests {
            assert_eq!(key(&request), format!("Bearer made-up-{provider}"));
            assert!(request.messages_text().contains(&format!("zq-for-{provider}")));
            assert!(!request.messages_text().contains(&format!("zq-for-{other}")));
        }
    }
}
