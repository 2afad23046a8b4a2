//! The proof that a yes needs, for each setting of `proof`.

use super::*;
use crate::review::requirement::Standing;

const BARE: &str = r#"{"completed":true,"feedback":"fine"}"#;

fn with(proof: Proof) -> Policy {
    Policy::session(true, TIMEOUT, &Judging::today(proof))
}

/// A judge that was given the word "k3v9".
fn judge(policy: Policy, known: Vec<Requirement>) -> Engine {
    let (mut engine, _) = Engine::start(policy, known, second(0));
    engine.prepared("k3v9");
    engine
}

fn verdict(requirements: &str) -> Envelope {
    result(&format!(r#"{{"completed":true,"word":"k3v9","requirements":[{requirements}]}}"#))
}

fn met(id: &str, evidence: &str) -> String {
    format!(r#"{{"id":"{id}","text":"{id}!","status":"met","evidence":[{evidence}]}}"#)
}

const FILE: &str = r#"{"file":"a.py:1","quote":"def a"}"#;
const CHECK: &str = r#"{"check":"make"}"#;

fn told(steps: &[Step]) -> String {
    match steps {
        [Step::Tell(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn ended(steps: &[Step]) -> Result<Verdict, String> {
    match steps.last() {
        Some(Step::End(conclusion)) => conclusion.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_yes_whose_evidence_exists_is_a_yes() {
    for proof in [Proof::Required, Proof::Asked, Proof::Off] {
        let mut engine = judge(with(proof), Vec::new());
        let both = format!("{},{}", met("R1", FILE), met("R2", CHECK));
        assert_eq!(short(&engine.heard(verdict(&both), second(1))), ["verify 2"]);
        let verdict = ended(&engine.verified(&[None, None], second(2))).unwrap();
        assert!(verdict.completed && !verdict.without_proof);
        assert!(verdict.requirements.iter().all(|one| one.status == Standing::Met));
    }
}

#[test]
fn policy_proof_a_bare_yes_is_asked_for_its_proof_once() {
    for (proof, wanted) in [
        (Proof::Off, vec!["stop", "yes: fine"]),
        (Proof::Asked, vec!["stop", "yes, without proof"]),
        (Proof::Required, vec!["stop", "failed", "no verdict"]),
    ] {
        for text in [BARE, "[TASK_COMPLETED]", r#"{"completed":true,"word":"k3v9"}"#] {
            for policy in [with(proof), Policy::hook(TIMEOUT, &Judging::today(proof))] {
                let mut engine = judge(policy, Vec::new());
                let mut steps = engine.heard(result(text), second(1));
                if proof != Proof::Off {
                    assert!(told(&steps).contains("you give no proof"), "{steps:?}");
                    steps = engine.heard(result(BARE), second(2));
                }
                let steps = short(&steps);
                assert_eq!(steps.len(), wanted.len(), "{text}: {steps:?}");
                let fits = |(step, wanted): (&String, &&str)| {
                    step.starts_with(wanted) || wanted.starts_with("yes: ")
                };
                assert!(steps.iter().zip(&wanted).all(fits), "{text}: {steps:?}");
            }
        }
    }
}

#[test]
fn a_yes_without_the_word_is_a_bare_one() {
    let mut engine = judge(with(Proof::Required), Vec::new());
    let text = format!(r#"{{"completed":true,"requirements":[{}]}}"#, met("R1", FILE));
    engine.heard(result(&text), second(1));
    assert!(told(&engine.verified(&[None], second(1))).contains("The word of this review"));
    engine.heard(result(&text), second(2));
    assert!(ended(&engine.verified(&[None], second(2))).is_err());
}

#[test]
fn evidence_that_does_not_exist_is_told_once_and_never_accepted() {
    for proof in [Proof::Required, Proof::Asked, Proof::Off] {
        let mut engine = judge(with(proof), Vec::new());
        let both = format!("{},{}", met("R1", FILE), met("R2", CHECK));
        engine.heard(verdict(&both), second(1));
        let gone = [Some("there is no file a.py".to_owned()), None];
        let asked = told(&engine.verified(&gone, second(2)));
        assert!(asked.contains("R1 (R1!), a.py:1: there is no file a.py"), "{asked}");
        assert!(!asked.contains("R2 ("), "{asked}");
        engine.heard(verdict(&both), second(3));
        let verdict = ended(&engine.verified(&gone, second(4))).unwrap();
        assert!(!verdict.completed);
        assert!(verdict.feedback.contains("there is no file a.py"), "{}", verdict.feedback);
        let standing: Vec<_> = verdict.requirements.iter().map(|one| one.status).collect();
        assert_eq!(standing, [Standing::Unproven, Standing::Met]);
    }
}

#[test]
fn a_second_answer_whose_evidence_exists_is_a_yes() {
    let mut engine = judge(with(Proof::Required), Vec::new());
    engine.heard(result(BARE), second(1));
    engine.heard(verdict(&met("R1", FILE)), second(2));
    assert!(ended(&engine.verified(&[None], second(3))).unwrap().completed);
}

#[test]
fn everything_listed_needs_evidence_and_nothing_is_open() {
    let dropped = r#"{"id":"R1","text":"R1!","status":"dropped","evidence":[]}"#;
    let unmet = r#"{"id":"R1","text":"R1!","status":"unmet"}"#;
    for (listed, why) in [
        (met("R1", ""), "no evidence is given"),
        (dropped.to_owned(), "no quote of the user dropping it is given"),
        (unmet.to_owned(), "its status is not \"met\""),
    ] {
        let mut engine = judge(with(Proof::Asked), Vec::new());
        let asked = told(&engine.heard(verdict(&listed), second(1)));
        assert!(asked.contains(why), "{asked}");
        let verdict = ended(&engine.heard(verdict(&listed), second(2))).unwrap();
        assert!(!verdict.completed && verdict.feedback.contains(why), "{}", verdict.feedback);
    }
}

#[test]
fn a_requirement_of_the_last_round_does_not_go_away_by_itself() {
    let known = vec![Requirement {
        id: "R2".into(),
        text: "docs".into(),
        status: Standing::Unmet,
        evidence: Vec::new(),
    }];
    let mut engine = judge(with(Proof::Asked), known);
    engine.heard(verdict(&met("R1", FILE)), second(1));
    let asked = told(&engine.verified(&[None], second(1)));
    assert!(asked.contains("R2 (docs): the last review listed it"), "{asked}");
    let dropped =
        r#"{"id":"R2","text":"docs","status":"dropped","evidence":{"user":"never mind the docs"}}"#;
    engine.heard(verdict(&format!("{},{dropped}", met("R1", FILE))), second(2));
    assert!(ended(&engine.verified(&[None, None], second(3))).unwrap().completed);
}

/// Requirements that a later verdict leaves out stay on the list, whether that verdict is an
/// unproven yes or a no.
#[test]
fn what_two_short_lists_leave_out_is_still_asked_for() {
    let known = || {
        let item = |id: &str| Requirement {
            id: id.into(),
            text: id.into(),
            status: Standing::Unmet,
            evidence: Vec::new(),
        };
        vec![item("R1"), item("R2")]
    };
    let ids = |verdict: &Verdict| {
        verdict.requirements.iter().map(|one| one.id.clone()).collect::<Vec<_>>().join(" ")
    };
    let mut engine = judge(with(Proof::Required), known());
    let short = met("R1", FILE);
    engine.heard(verdict(&short), second(1));
    engine.verified(&[None], second(1));
    engine.heard(verdict(&short), second(2));
    let rejected = ended(&engine.verified(&[None], second(2))).unwrap();
    assert_eq!((rejected.completed, ids(&rejected)), (false, "R1 R2".to_owned()));
    let mut engine = judge(with(Proof::Required), known());
    let no = r#"{"completed":false,"feedback":"x","requirements":[{"id":"R9","status":"unmet"}]}"#;
    let rejected = ended(&engine.heard(result(no), second(1))).unwrap();
    assert_eq!(ids(&rejected), "R9 R1 R2");
    // A no without requirements stays without them.
    let mut engine = judge(with(Proof::Required), known());
    let no = r#"{"completed":false,"feedback":"x"}"#;
    assert!(ended(&engine.heard(result(no), second(1))).unwrap().requirements.is_empty());
}

#[test]
fn a_no_needs_no_proof_and_what_it_calls_met_is_held_against_the_facts_too() {
    let mut engine = judge(with(Proof::Required), Vec::new());
    let no = r#"{"completed":false,"feedback":"tests"}"#;
    assert!(!ended(&engine.heard(result(no), second(1))).unwrap().completed);
    let mut engine = judge(with(Proof::Required), Vec::new());
    let no =
        format!(r#"{{"completed":false,"feedback":"tests","requirements":[{}]}}"#, met("R1", FILE));
    engine.heard(result(&no), second(1));
    let verdict = ended(&engine.verified(&[Some("gone".into())], second(1))).unwrap();
    assert_eq!(verdict.feedback, "tests");
    assert_eq!(verdict.requirements[0].status, Standing::Unproven);
}

#[test]
fn a_judge_that_leaves_when_it_is_asked_for_proof_has_given_none() {
    for (proof, confirmed) in [(Proof::Asked, true), (Proof::Required, false)] {
        let mut engine = judge(with(proof), Vec::new());
        engine.heard(result(BARE), second(1));
        let conclusion = ended(&engine.gone(&exited(0), second(2)));
        assert_eq!(conclusion.is_ok_and(|verdict| verdict.without_proof), confirmed);
    }
    // If the judge crashes, its earlier answer does not count, and a new judge is started.
    let mut engine = judge(with(Proof::Asked), Vec::new());
    engine.heard(result(BARE), second(1));
    assert_eq!(short(&engine.gone(&exited(1), second(2)))[2], "start 2");
}

#[test]
fn a_yes_that_is_taken_back_in_plain_text_is_no_yes_when_the_judge_leaves() {
    let mut engine = judge(with(Proof::Asked), Vec::new());
    engine.heard(result(BARE), second(1));
    engine.heard(result("I looked again: it is not done."), second(2));
    let conclusion = ended(&engine.gone(&exited(0), second(3))).unwrap();
    assert!(!conclusion.completed, "{conclusion:?}");
    assert_eq!(conclusion.feedback, "I looked again: it is not done.");
}

#[test]
fn an_id_of_the_last_round_does_not_come_to_mean_something_else() {
    let known = |text: &str| Requirement {
        id: "R1".into(),
        text: text.into(),
        status: Standing::Unmet,
        evidence: Vec::new(),
    };
    let said = |text: &str| {
        verdict(&format!(r#"{{"id":"R1","text":"{text}","status":"met","evidence":[{FILE}]}}"#))
    };
    let mut engine = judge(with(Proof::Required), vec![known("accents are handled")]);
    engine.heard(said("there is a readme"), second(1));
    let told = told(&engine.verified(&[None], second(2)));
    assert!(
        told.contains("R1 (accents are handled): in the last review this id had this meaning"),
        "{told}"
    );

    for text in ["slugify handles accents", "the handling of é and ü"] {
        let mut engine = judge(with(Proof::Required), vec![known("accents are handled")]);
        engine.heard(said(text), second(1));
        assert!(ended(&engine.verified(&[None], second(2))).unwrap().completed, "{text}");
    }

    let changed = format!(
        r#"{{"id":"R1","text":"umlauts stay","status":"met","evidence":[{FILE},{{"user":"keep the umlauts"}}]}}"#
    );
    let mut engine = judge(with(Proof::Required), vec![known("accents are removed")]);
    engine.heard(verdict(&changed), second(1));
    assert!(ended(&engine.verified(&[None, None], second(2))).unwrap().completed);
}

#[test]
fn a_requirement_does_not_shrink_from_review_to_review() {
    let known = || Requirement {
        id: "R1".into(),
        text: "accents and umlauts are handled".into(),
        status: Standing::Unmet,
        evidence: Vec::new(),
    };
    let said = |status: &str, done: bool| {
        result(&format!(
            r#"{{"completed":{done},"word":"k3v9","feedback":"x","requirements":[
            {{"id":"R1","text":"umlauts are handled","status":"{status}","evidence":[{FILE}]}}]}}"#
        ))
    };
    let mut engine = judge(with(Proof::Required), vec![known()]);
    engine.heard(said("met", true), second(1));
    let told = told(&engine.verified(&[None], second(2)));
    assert!(told.contains("its new text leaves out \"accents\""), "{told}");

    // A no keeps the whole wording for the next review.
    let mut engine = judge(with(Proof::Required), vec![known()]);
    let verdict = ended(&engine.heard(said("unmet", false), second(1))).unwrap();
    assert_eq!(verdict.requirements[0].text, "accents and umlauts are handled");
}

/// Whatever `proof` says: evidence that was given and does not hold is not made good by silence.
#[test]
fn what_was_in_doubt_is_not_settled_by_leaving_it_out() {
    let gone = || Some("there is no file a.py".to_owned());
    let both = format!("{},{}", met("R1", CHECK), met("R2", FILE));
    for proof in [Proof::Required, Proof::Asked, Proof::Off] {
        for short in [verdict(&met("R1", CHECK)), result(BARE), result("[TASK_COMPLETED]")] {
            let mut engine = judge(with(proof), Vec::new());
            engine.heard(verdict(&both), second(1));
            engine.verified(&[None, gone()], second(2));
            let mut steps = engine.heard(short.clone(), second(3));
            if matches!(steps[..], [Step::Verify { .. }]) {
                steps = engine.verified(&[None], second(3));
            }
            let verdict = ended(&steps).unwrap();
            assert!(!verdict.completed && verdict.feedback.contains("R2 (R2!)"), "{verdict:?}");
            let standing: Vec<_> = verdict.requirements.iter().map(|one| one.status).collect();
            assert_eq!(standing, [Standing::Met, Standing::Unproven], "{proof:?}");
        }
    }
}

#[test]
fn what_was_proven_need_not_be_proven_again() {
    let mut engine = judge(with(Proof::Required), Vec::new());
    let both = format!("{},{}", met("R1", CHECK), met("R2", FILE));
    engine.heard(verdict(&both), second(1));
    engine.verified(&[None, Some("gone".to_owned())], second(2));
    let steps = engine.heard(verdict(&met("R2", CHECK)), second(3));
    assert!(
        matches!(steps[..], [Step::Verify { confirms: false, .. }]),
        "R1 has its proof already"
    );
    let verdict = ended(&engine.verified(&[None], second(4))).unwrap();
    assert!(verdict.completed);
    let ids: Vec<_> = verdict.requirements.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["R2", "R1"]);
}

#[test]
fn a_no_that_gives_an_id_another_meaning_loses_neither() {
    let known = |id: &str, text: &str| Requirement {
        id: id.into(),
        text: text.into(),
        status: Standing::Unmet,
        evidence: Vec::new(),
    };
    let all = vec![known("R1", "accents are handled"), known("R2", "the docs are written")];
    let mut engine = judge(with(Proof::Required), all);
    let no = r#"{"completed":false,"feedback":"x","requirements":[
        {"id":"R1","text":"accents are handled","status":"unmet"},
        {"id":"R2","text":"say hello","status":"unmet"}]}"#;
    let verdict = ended(&engine.heard(result(no), second(1))).unwrap();
    let listed: Vec<_> =
        verdict.requirements.iter().map(|one| format!("{} {}", one.id, one.text)).collect();
    assert_eq!(listed, ["R1 accents are handled", "R3 say hello", "R2 the docs are written"]);
}

/// Otherwise an invented quote would make the next review ask for something easier.
#[test]
fn words_that_the_user_did_not_say_change_no_requirement() {
    let known = || Requirement {
        id: "R1".into(),
        text: "accents are removed".into(),
        status: Standing::Unmet,
        evidence: Vec::new(),
    };
    let said = |status: &str, done: bool| {
        result(&format!(
            r#"{{"completed":{done},"word":"k3v9","feedback":"x","requirements":[{{"id":"R1","text":"say hello",
            "status":"{status}","evidence":[{{"user":"say hello instead"}}]}}]}}"#
        ))
    };
    let invented = || Some("the user did not say that".to_owned());
    for (status, done) in [("unmet", false), ("met", false), ("met", true)] {
        for (finding, text) in [(invented(), "accents are removed"), (None, "say hello")] {
            let mut engine = judge(with(Proof::Asked), vec![known()]);
            let mut steps = Vec::new();
            for at in 1..=2 {
                engine.heard(said(status, done), second(at));
                steps = engine.verified(std::slice::from_ref(&finding), second(at));
                if !matches!(steps[..], [Step::Tell(_)]) {
                    break;
                }
            }
            let verdict = ended(&steps).unwrap();
            let of_r1 = verdict.requirements.iter().find(|one| one.text == text);
            assert_eq!(
                of_r1.map(|one| one.id.as_str()),
                Some("R1"),
                "{status} {done}: {verdict:?}"
            );
        }
    }
}
