//! Evidence from commands that the judge ran itself.

use super::*;

/// Covers commands of the judge, and those of an earlier run of the session.
#[test]
fn a_judge_shows_nothing_with_a_copy_that_it_has_changed() {
    let pytest: Evidence =
        serde_json::from_str(r#"{"command":"pytest","quote":"3 passed"}"#).unwrap();
    let found = |facts: &Known| {
        verify(std::slice::from_ref(&pytest), false, facts)[0].clone().unwrap_or_default()
    };
    for (lines, why) in [
        (&[("pytest", "3 passed")][..], ""),
        (&[("sed -i s/a/b/ slug.py && pytest", "3 passed")], "you had changed slug.py"),
        (&[("sed -i s/a/b/ slug.py", ""), ("pytest", "3 passed")], "you had changed slug.py"),
        (&[("git stash", ""), ("pytest", "3 passed")], "`git stash` had changed your copy"),
        // Harmless: a probe of its own, a comparison, an edit afterwards.
        (&[("cat > probe.py <<E\nx\nE", ""), ("pytest", "3 passed")], ""),
        (&[("git stash", ""), ("git stash pop", ""), ("pytest", "3 passed")], ""),
        (&[("pytest", "3 passed"), ("cat > slug.py <<E\nx\nE", "")], ""),
    ] {
        let facts = Known { judge: ran(lines), ..Known::default() };
        let found = found(&facts);
        assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{lines:?}: {found}");
    }
    let mut facts = Known { earlier: ran(&[("pytest", "3 passed")]), ..Known::default() };
    assert_eq!(found(&facts), "");
    facts.agent = ran(&[("edit a.py", "")]);
    assert!(found(&facts).contains("before the last edit (a.py)"), "{}", found(&facts));
}

#[test]
fn a_judge_shows_nothing_with_a_file_that_it_wrote_itself() {
    let read = r#"{"command":"cat out.txt","quote":"all 12 rows are there"}"#;
    let (read, rows): (Evidence, _) =
        (serde_json::from_str(read).unwrap(), "all 12 rows are there");
    for (wrote, why) in [
        ("echo all 12 rows are there > out.txt", "you wrote out.txt yourself"),
        ("cat > /tmp/out.txt <<E\nall 12 rows are there\nE", "you wrote out.txt yourself"),
        ("python3 count.py > out.txt", ""),
        ("echo x > other.txt", ""),
        ("cat README.md", ""),
    ] {
        let judge = ran(&[(wrote, ""), ("cat out.txt", rows)]);
        let facts = Known { judge, ..Known::default() };
        let found =
            verify(std::slice::from_ref(&read), false, &facts)[0].clone().unwrap_or_default();
        assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{wrote}: {found}");
    }
}
