//! Confirmations that rest on what the task has not changed.

use super::*;

#[test]
fn a_confirmation_rests_on_the_work_somewhere() {
    const OLD: &str = r#"{"file":"slug.py:100","quote":"def test_accents():"}"#;
    const NEW: &str = r#"{"file":"ci.yml","quote":"['3.11', '3.13']"}"#;
    const RAN: &str = r#"{"command":"pytest","quote":"3 passed"}"#;
    const GONE: &str = r#"{"file":"gone.py:1","quote":"def gone"}"#;
    const DROPPED: &str = r#"{"user":"Never mind the docs"}"#;
    const SHOWN: &str = r#"{"command":"cat slug.py","quote":"def test_accents():"}"#;
    const LISTED: &str = r#"{"command":"ls","quote":"slug.py"}"#;
    let agent = ran(&[
        ("pytest", "3 passed"),
        ("cat slug.py", "import re\ndef test_accents():"),
        ("ls", "slug.py"),
    ]);
    let facts = Known { agent, ..Known::default() };
    let doubted = |cited: &[&str], confirms: bool| {
        let read = |json: &&str| serde_json::from_str::<Evidence>(json).unwrap();
        let evidence: Vec<_> = cited.iter().map(read).collect();
        let findings = verify(&evidence, confirms, &facts);
        let is_old =
            |why: &Option<String>| why.as_ref().is_some_and(|why| why.contains("before the task"));
        findings.iter().filter(|why| is_old(why)).count()
    };
    for (cited, old) in [
        (&[OLD][..], 1),
        (&[OLD, OLD], 2),
        (&[OLD, DROPPED], 1),
        (&[OLD, GONE], 1),
        (&[SHOWN], 1),
        (&[SHOWN, OLD], 2),
        (&[LISTED], 0),
        (&[OLD, NEW], 0),
        (&[OLD, RAN], 0),
        (&[OLD, r#"{"check":"cargo test"}"#], 0),
        (&[OLD, r#"{"answer":"because the index is missing"}"#], 0),
        (&[NEW], 0),
        (&[], 0),
    ] {
        assert_eq!(doubted(cited, true), old, "{cited:?}");
        assert_eq!(doubted(cited, false), 0, "{cited:?}");
    }
}
