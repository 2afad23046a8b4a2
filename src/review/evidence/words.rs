//! The agent's own words show something only where words were asked for: an explanation, a plan, a
//! question. Of work they are a claim.

use std::sync::LazyLock;

use regex::Regex;

use crate::brief::claims;

/// Whether this quote of the agent's can be what the user wanted. Where neither can be told, as in a
/// language that the tables do not know, the judge is believed.
pub fn are_asked_for(quote: &str, said: &[&str]) -> Result<(), String> {
    if let Some(claim) = claims::made(quote).first() {
        return Err(format!(
            "the agent's own word that {claim} shows nothing; cite the check, the command or the file that does"
        ));
    }
    if !said.is_empty() && said.iter().all(|said| is_for_a_file(said)) {
        return Err(WORK_IS.to_owned());
    }
    let said: Vec<_> = said.iter().map(|said| without_names(said)).collect();
    let asks = |pattern: &'static LazyLock<Option<Regex>>| {
        said.iter().any(|said| pattern.as_ref().is_some_and(|pattern| pattern.is_match(said)))
    };
    if asks(&WORK) && !asks(&WORDS) {
        return Err(WORK_IS.to_owned());
    }
    Ok(())
}

const WORK_IS: &str = "the user asked for work, and what the agent says about it shows nothing; cite \
                       the check, the command or the file that does";

/// Whether the message with these words takes something back. Where that cannot be told, as in a
/// language that the tables do not know, the judge is believed.
pub fn drop_something(quote: &str, said: &[&str]) -> Result<(), String> {
    static DROPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(no|not|\w+n['’]?t|never|nevermind|nothing|none|drop\w*|skip\w*|forget|leave|without|instead|ignor\w*|remov\w*|delet\w*|cancel\w*|stop|enough|rather|only|just|unnecessary|scratch|undo|revert\w*|later|any ?more|actually|chang\w*|use|keep|else|but|wait|postpone\w*|defer\w*|optional|unneeded|fine|okay|ok)\b",
        )
        .ok()
    });
    static ENGLISH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(the|and|also|please|it|to|is|are|make|add|of|with|for|that)\b").ok()
    });
    let is = |pattern: &LazyLock<Option<Regex>>, text: &str| {
        pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    };
    let quote = super::squeezed(quote);
    let mut messages = said.iter().filter(|said| super::squeezed(said).contains(&quote));
    if messages.any(|said| is(&DROPS, said) || !is(&ENGLISH, said)) {
        return Ok(());
    }
    Err("with these words the user drops nothing".to_owned())
}

/// Words were asked for, and in a file: one sentence that writes something to a name.
fn is_for_a_file(said: &str) -> bool {
    static INTO: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)^\s*(please\s+)?(write|save|put|store|record)\b[^?!\n]*\b(into|to|in)\s+\W?[\w/.-]+\.\w+\W*$",
        )
        .ok()
    });
    INTO.as_ref().is_some_and(|pattern| pattern.is_match(said))
}

static WORK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(fix|add|implement|write|create|change|refactor|rename|delete|remove|update|make|build|migrate|port|convert|replace|move|install|configure|set up|optimi[sz]e|commit|push|deploy|run|start|handle|support|split|extract|format|bump|upgrade|generate|clean up|store|save|put|merge|rebase|revert|rewrite|translate|strip|ensure|enable|disable|debug|solve|resolve|correct|improve|repair|patch|integrate|wire|validate|parse|escape|sort|broken|should|must|crash(es|ed)?|bugs?|introduce|finish|complete)\b",
    )
    .ok()
});

static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\?|\b(why|what|how|which|who|when|where|whether|explain\w*|explanation|describ\w*|description|tell|say|answer\w*|summar\w*|list|plan\w*|show|report|compar\w*|review\w*|suggest\w*|recommend\w*|propos\w*|discuss\w*|think|opinion|find out|look|analy\w*|investigat\w*|research|advi[cs]e|estimat\w*|question\w*|ideas?|outline|reply|respond|let me know|name|count|check|verify|inform|mention|point out|confirm)\b",
    )
    .ok()
});

/// A file called `report.md` asks for no report.
fn without_names(text: &str) -> String {
    let is_name = |word: &&str| {
        let inside = word.trim_matches(|c: char| !c.is_alphanumeric());
        inside.contains(['/', '_']) || inside.contains('.') && !inside.ends_with('.')
    };
    text.split_whitespace().filter(|word| !is_name(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_where_words_were_asked_for() {
        for (said, quote) in [
            (&["Why is the query slow?"][..], "The index on users is missing."),
            (&["Explain the parser, then fix it."], "It descends recursively."),
            (&["Write a summary of cart.py"], "It adds prices up and counts them."),
            (&["Make a plan for the migration."], "First the schema, then the data."),
            (&["Warum ist das langsam"], "Der Index fehlt in der Tabelle."),
            (&["解释一下这个函数"], "它把标题变成地址。"),
            (&["Fix it.", "And tell me what it was."], "It was a race between two threads."),
            (&["do it"], "It is a matter of taste."),
        ] {
            assert_eq!(are_asked_for(quote, said), Ok(()), "{said:?} {quote}");
        }
    }

    #[test]
    fn words_that_add_something_drop_nothing() {
        for said in
            ["Never mind the docs.", "Use underscores.", "Lass die Doku weg", "文档不用写了"]
        {
            assert_eq!(drop_something(said, &[said]), Ok(()), "{said}");
        }
        let more = "Also handle the umlauts, please.";
        assert!(drop_something("handle the umlauts", &[more]).is_err());
        let both = [more, "And not the docs."];
        assert!(drop_something("handle the umlauts", &both).is_err());
        assert_eq!(drop_something("the docs", &both), Ok(()));
    }

    #[test]
    fn of_work_the_agents_words_are_a_claim() {
        for (said, quote) in [
            (&["Fix the crash on start."][..], "The crash on start is gone."),
            (&["Write the figures into report.md."], "The figures are in the report."),
            (&["Write what cart.py does into docs/usage.md."], "total adds prices up."),
            (&["Merge the branch."], "The branch is in."),
            (&["Add a test for accents.", "Commit it."], "There is a test for accents."),
            (&["Is it slow? Make it fast."], "All 12 tests pass now."),
        ] {
            let why = are_asked_for(quote, said).expect_err(quote);
            assert!(why.contains("shows nothing"), "{why}");
        }
    }
}
