//! `cargo bench --bench review_price`: what the reviews of a session of three rounds cost in the two
//! forms, on the real client and in one run, and how long the agent's last answer waits for the review's
//! first request. The scripted API records the requests; they are priced as a provider with a prompt
//! cache does: read 0.1, written 1.25, input 1. Prints tables; never fails because something was slow.

#[path = "../../tests/real_client/script.rs"]
#[allow(dead_code)]
mod script;
#[path = "../../tests/support/mod.rs"]
mod support;
#[path = "../peers/table.rs"]
mod table;

use std::fs;
use std::path::Path;
use std::time::Duration;

use ccc::client::version::{MEASURED, NEWEST};
use serde_json::json;

use script::{begins_review, is_agents, is_review, judged};
use support::api::prefix::{Cache, Price};
use support::api::{Api, Request, Rule};
use support::ccc::Ccc;
use support::client::{CleanRoom, client};
use table::Table;

const FORMS: [&str; 2] = ["schema", "cached"];
/// How often the judge looks at the project before its verdict.
const LOOKS: [usize; 2] = [0, 1];
/// Sessions of each kind; each has three reviews.
const RUNS: usize = 3;
/// The newest release shall pay so much of what the form with a schema pays.
const TARGET: &str = "≤ 0.15";

fn main() {
    let mut prices = Table::new(&[
        "reviews of three rounds",
        "looks",
        "form",
        "read",
        "written",
        "input",
        "price",
        "× schema",
        "target",
    ]);
    let mut times =
        Table::new(&["last request of the agent → first of the review", "form", "p50 ms"]);
    for version in MEASURED {
        let version = &version.to_string();
        let Some(client) = client(version) else { return };
        let mut waits = [Vec::new(), Vec::new()];
        for run in 0..RUNS {
            for looks in LOOKS {
                let mut base = None;
                // In turns, so that a busy moment of the machine does not hit one of them alone.
                for (form, waits) in FORMS.iter().zip(&mut waits) {
                    let requests = session(&client, form, looks);
                    waits.extend(waited(&requests));
                    let price = reviews(&requests);
                    let schema = *base.get_or_insert(price.total());
                    if run == 0 {
                        prices.row(&row(version, looks, form, price, price.total() / schema));
                    }
                }
            }
        }
        for (form, waits) in FORMS.iter().zip(&mut waits) {
            waits.sort_unstable();
            let median = waits[waits.len() / 2].as_millis();
            times.row(&[version.to_owned(), (*form).to_owned(), median.to_string()]);
        }
    }
    prices.print();
    println!(
        "  in thousands of bytes; the price in thousands of bytes of plain input. Agent and reviews share\n  \
         one cache, which knows a prompt by its beginning, up to the places that the client marks\n"
    );
    times.print();
    println!(
        "  {} reviews each; nearly all of it is the start of the client\n",
        3 * RUNS * LOOKS.len()
    );
}

fn row(version: &str, looks: usize, form: &str, price: Price, share: f64) -> [String; 9] {
    let thousands = |bytes: usize| (bytes / 1000).to_string();
    let aimed_at = form == "cached" && looks == 0 && version == NEWEST.to_string();
    let target = if aimed_at { TARGET } else { "" };
    [
        version.to_owned(),
        looks.to_string(),
        form.to_owned(),
        thousands(price.read),
        thousands(price.written),
        thousands(price.input),
        format!("{:.0}", price.total() / 1000.0),
        format!("{share:.2}"),
        target.to_owned(),
    ]
}

/// A session of three rounds in a repository: the agent reads, writes and commits; the judge looks so
/// often before each verdict.
fn session(client: &Path, form: &str, looks: usize) -> Vec<Request> {
    let room = CleanRoom::new();
    let source =
        "A line of a file that the agent has to read before it changes anything.\n".repeat(900);
    fs::write(room.project().join("source.txt"), source).expect("a file");
    let git = "git init -q . && git config user.email a@b && git config user.name n && git add -A && \
               git commit -qm first";
    let done = room.command(Path::new("/bin/sh"), "").args(["-c", git]).status();
    assert!(done.expect("sh").success());

    let look = || Rule::any().when(begins_review).tool("Bash", json!({"command": "git status"}));

    let bash = |on: &str, command: &str| {
        Rule::on(on).when(is_agents).tool("Bash", json!({"command": command})).times(1)
    };
    let api = Api::start(vec![
        look().times(3 * looks),
        judged(Rule::any().when(is_review), false, "zq-tests-are-missing").times(1),
        judged(Rule::any().when(is_review), false, "zq-commit-it").times(1),
        judged(Rule::any().when(is_review), true, ""),
        Rule::on("zq-build-it")
            .tool("Read", json!({"file_path": room.project().join("source.txt")}))
            .times(1),
        bash("zq-tests-are-missing", "echo more >> source.txt"),
        bash("zq-commit-it", "git commit -qam second"),
        Rule::any().text("zq-built."),
    ]);
    let done = Ccc::new(&room)
        .client(client)
        .api(&api)
        .config(&json!({"supervisor": {"allowed_tools": ["Bash"], "review": form}}))
        .supervised("zq-build-it")
        .arg("--dangerously-skip-permissions")
        .run();
    assert_eq!(done.code, Some(0), "{done}");
    let requests = api.requests();
    assert_eq!(requests.iter().filter(|it| begins_review(it)).count(), 3, "{done}");
    requests
}

/// What the reviews cost, with a cache that has seen the agent's requests too.
fn reviews(requests: &[Request]) -> Price {
    let mut cache = Cache::default();
    let mut sum = Price::default();
    for request in requests {
        let price = cache.price(request);
        if is_review(request) {
            sum += price;
        }
    }
    sum
}

fn waited(requests: &[Request]) -> Vec<Duration> {
    let pairs = requests.windows(2).filter(|pair| is_agents(&pair[0]) && begins_review(&pair[1]));
    pairs.map(|pair| pair[1].at.saturating_duration_since(pair[0].at)).collect()
}
