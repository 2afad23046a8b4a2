//! The block of a verdict.

use super::*;

#[test]
fn a_verdict_says_what_was_denied() {
    let denied = |what: &str| Denied {
        tool: "Bash".into(),
        what: what.into(),
        reason: "It acts elsewhere.".into(),
    };
    let mut verdict = judged(true);
    verdict.denied = vec![denied("git push\nmore"); 7];
    let notice = told(verdict);
    let shown = shown(LOOK, &notice);
    assert_eq!(shown.matches("denied Bash `git push`: It acts elsewhere.").count(), 5, "{shown}");
    assert!(shown.ends_with("2 more were denied"), "{shown}");
}

#[test]
fn a_verdict_says_which_round_was_better_and_how_to_go_back() {
    let mut verdict = judged(false);
    verdict.better_round = Some(1);
    let notice = told(verdict);
    for (look, told) in [
        (
            Look { live: true, ..LOOK },
            "Round 1 was better: press Esc twice at the empty prompt when the agent is idle to go back to it.",
        ),
        (
            Look { spoken: true, ..LOOK },
            "Round 1 was better: type /rewind when the agent is idle to go back to it.",
        ),
        (LOOK, "Round 1 was better."),
    ] {
        let shown = shown(look, &notice);
        assert!(shown.lines().last().is_some_and(|line| line.ends_with(told)), "{shown}");
    }
}

fn item(id: &str, status: Standing) -> Requirement {
    let evidence = vec![Evidence::Check("cargo test".into())];
    Requirement { id: id.into(), text: format!("wish {id}"), status, evidence }
}

fn listing(completed: bool, requirements: Vec<Requirement>) -> Notice {
    told(Verdict { requirements, ..judged(completed) })
}

#[test]
fn what_is_open_comes_first_and_what_is_met_shows_its_evidence() {
    let list = vec![
        item("R1", Standing::Met),
        item("R2", Standing::Unmet),
        item("R3", Standing::Dropped),
        item("R4", Standing::Unproven),
    ];
    let text = shown(LOOK, &listing(false, list));
    let lines: Vec<_> = text.lines().map(|line| line.trim_matches(['┃', ' '])).collect();
    assert_eq!(
        lines[1..5],
        [
            "✘ wish R2",
            "? wish R4",
            "✔ wish R1   check \"cargo test\"",
            "– wish R3   check \"cargo test\""
        ],
        "{text}"
    );
}

#[test]
fn on_a_narrow_screen_a_requirement_is_wrapped_not_cut() {
    let mut transcript = Transcript::new(Look { live: true, ..LOOK });
    transcript.set_width(40);
    let long = |id: &str, status| Requirement {
        text: "Explain in a few words what the file is for and why it is there".into(),
        ..item(id, status)
    };
    let list = vec![long("R1", Standing::Unproven), long("R2", Standing::Met)];
    let lines = transcript.notice(&listing(false, list));
    assert!(lines.iter().all(|line| line.width() <= 40), "{:?}", texts(&lines));
    let text = texts(&lines).join("\n");
    let wrapped = "Explain in a few words what the\n┃     file is for and why it is there\n";
    assert!(
        text.contains(&format!("┃   ? {wrapped}┃   ✔ {wrapped}┃     check \"cargo test\"\n")),
        "{text}"
    );
}

#[test]
fn what_was_met_before_is_not_said_again() {
    let mut transcript = Transcript::new(LOOK);
    let (met, open) = (item("R1", Standing::Met), item("R2", Standing::Unmet));
    transcript.notice(&listing(false, vec![met.clone(), open.clone()]));
    let third = item("R3", Standing::Met);
    let again = listing(false, vec![met.clone(), open, third]);
    let text = texts(&transcript.notice(&again)).join("\n");
    assert!(!text.contains("wish R1") && text.contains("1 still met"), "{text}");
    assert!(text.contains("✘ wish R2") && text.contains("✔ wish R3"), "{text}");
    // A confirmation rests on all of it.
    let all = vec![met, item("R2", Standing::Met), item("R3", Standing::Met)];
    let text = texts(&transcript.notice(&listing(true, all))).join("\n");
    assert_eq!(text.matches("✔ wish").count(), 3, "{text}");
}

#[test]
fn a_long_list_is_folded_on_a_screen_and_whole_elsewhere() {
    let list: Vec<_> = (0..30).map(|at| item(&format!("R{at}"), Standing::Met)).collect();
    let shown =
        |look| texts(&Transcript::new(look).notice(&listing(true, list.clone()))).join("\n");
    let screen = shown(Look { live: true, ..LOOK });
    assert!(screen.matches("✔ wish").count() == 8 && screen.contains("22 more met"), "{screen}");
    assert_eq!(shown(Look { live: false, ..LOOK }).matches("✔ wish").count(), 30);
}

#[test]
fn each_of_several_judges_has_a_line() {
    let seat = |name: &str, fresh| Seat { name: name.into(), fresh };
    let yes = Opinion::new(&seat("kimi", true), Ok(Verdict::new(true, "")));
    let yes = Opinion { seconds: 12.0, cost_usd: 0.25, ..yes };
    let none = Opinion::new(&seat("glm", false), Err("no credit".into()));
    let verdict = Verdict { opinions: vec![yes, none.clone()], ..Verdict::new(false, "x") };
    let text = shown(LOOK, &told(verdict));
    assert!(text.contains("✔ judge kimi (fresh eyes): complete · 12s · $0.25"), "{text}");
    assert!(text.contains("? judge glm: no verdict: no credit · 0s"), "{text}");
    let alone = shown(LOOK, &Notice::Opinion { round: 1, opinion: none });
    assert!(alone.contains("glm: no verdict: no credit"), "{alone}");
}

#[test]
fn only_a_case_that_is_not_the_best_has_a_line() {
    let case = |held, why: &str| Notice::ReviewCase { round: 1, held, why: why.into() };
    assert_eq!(shown(LOOK, &case(CaseKind::Overlay, "")), "");
    assert_eq!(
        shown(LOOK, &case(CaseKind::Nothing, "no overlay: EPERM")),
        "┃ The review runs without a glass case (no overlay: EPERM)"
    );
}
