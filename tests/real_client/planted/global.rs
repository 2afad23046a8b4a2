//! Forms of `.claude.json` that the client reads and another reader may refuse: in each, the agent's endpoint
//! stands among its variables. One session plants them one after the other, each before a review of its own.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::plant::rewritten;
use super::session::{Session, Way};
use super::vectors::endpoint;
use crate::on_each_client;
use crate::script::{begins_review, count, is_agents, judged};
use crate::support::api::Rule;

on_each_client!(every_form_of_the_clients_own_file);

/// What writes it, in Python: `c` is the value, `text()` its JSON, and `write` takes bytes.
const FORMS: [(&str, &str); 6] = [
    ("behind a byte order mark", r"write(b'\xef\xbb\xbf' + text())"),
    ("beside a byte that is no text", r"c['zq'] = 'zq-x'; write(text().replace(b'zq-x', b'\xff'))"),
    ("beside half a character", r"c['zq'] = 'zq-x'; write(text().replace(b'zq-x', b'\\ud800'))"),
    (
        "beside a number without bounds",
        r#"c['zq'] = 'zq-x'; write(text().replace(b'"zq-x"', b'1e999'))"#,
    ),
    (
        "beside a deep value",
        r#"c['zq'] = 'zq-x'; write(text().replace(b'"zq-x"', b'[' * 500 + b']' * 500))"#,
    ),
    ("in a file of many megabytes", "c['zq'] = 'x' * (17 << 20); write(text())"),
];

/// One reader serves the loop and the hook, and `config/clients/global.rs` tests it.
fn every_form_of_the_clients_own_file(client: &Path) {
    let room = Session::new();
    let command = |round: usize| {
        let script = rewritten(&room, &json!({"env": endpoint(&room)}), FORMS[round].1);
        let file = room.path(&format!("~/plant-{round}"));
        fs::write(&file, script).expect("a script");
        // A round that changes nothing in the project counts as one in a circle.
        json!({"command": format!("bash '{file}'; echo {round} > round.txt")})
    };
    room.script(&[("Bash", command(0))]);
    for round in (1..FORMS.len()).rev() {
        let asked = format!("zq-form-{round}.");
        room.real.prepend(judged(Rule::any().when(begins_review), false, &asked).times(1));
        let plant = Rule::on(asked).when(is_agents).tool("Bash", command(round));
        room.real.prepend(plant.times(1));
    }
    let done = room.play(Way::Loop, |ccc| ccc.client(client));
    let forms: Vec<_> = FORMS.iter().map(|(form, _)| form).collect();
    let reviews = count(&room.real.requests(), begins_review);
    assert_eq!(reviews, FORMS.len(), "of the variables {forms:?}\n{done}");
    room.assert_untouched(Way::Loop, &done);
}
