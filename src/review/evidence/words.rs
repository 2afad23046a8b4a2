//! A quote of the agent proves something only if the user asked for words: an explanation, a plan,
//! an answer. What the agent says about its own work is only a claim.

use std::sync::LazyLock;

use regex::Regex;

use crate::brief::claims;

/// Whether this quote of the agent can be what the user asked for. `is_shown`: a test run, a build
/// or a check among the evidence supports what it says. If this cannot be decided, as in a language
/// that the tables do not know, the judge is believed.
pub fn are_asked_for(quote: &str, said: &[&str], is_shown: bool) -> Result<(), String> {
    let told = is_shown && ask_what_comes_of_it(said);
    if let Some(claim) = claims::made(quote).first()
        && !told
    {
        return Err(format!(
            "the agent's own word that {claim} proves nothing; cite the check, the command or the \
             file that proves it"
        ));
    }
    if !said.is_empty() && said.iter().all(|said| is_for_a_file(said)) {
        return Err(WORK_IS.to_owned());
    }
    let said: Vec<_> = said.iter().map(|said| without_names(said)).collect();
    let asks = |pattern: &'static LazyLock<Option<Regex>>| {
        said.iter().any(|said| pattern.as_ref().is_some_and(|pattern| pattern.is_match(said)))
    };
    let has = |words: &[&str]| {
        let said = said.iter().map(|said| said.to_lowercase());
        said.into_iter().any(|said| words.iter().any(|word| said.contains(word)))
    };
    let for_work = asks(&WORK) || has(WORK_ELSEWHERE);
    if for_work && !asks(&WORDS) && !has(WORDS_ELSEWHERE) {
        return Err(WORK_IS.to_owned());
    }
    Ok(())
}

/// The most common words for both in a few other languages. For a language that is not listed, the
/// judge is believed.
const WORK_ELSEWHERE: &[&str] = &[
    "修复",
    "修改",
    "添加",
    "增加",
    "实现",
    "编写",
    "创建",
    "删除",
    "重构",
    "重命名",
    "更新",
    "移动",
    "提交",
    "翻译",
    "让",
    "改成",
    "behebe",
    "schreib",
    "ändere",
    "lösche",
    "erstelle",
    "ergänze",
    "entferne",
    "verschiebe",
    "benenne",
    "übersetze",
    "haz que",
    "arregla",
    "corrige",
    "añade",
    "agrega",
    "implementa",
    "elimina",
    "ejecuta",
    "renombra",
    "fais en sorte",
    "ajoute",
    "supprime",
    "renomme",
    "implémente",
    "écris",
    "crée",
    "corrija",
    "adicione",
    "escreva",
    "correggi",
    "aggiungi",
    "исправь",
    "добавь",
    "создай",
    "удали",
    "напиши",
    "修正",
    "追加",
    "作成",
    "実装",
    "削除",
    "変更",
    "取り除く",
    "수정",
    "추가",
    "작성",
    "삭제",
    "구현",
];
const WORDS_ELSEWHERE: &[&str] = &[
    "？",
    "为什么",
    "什么",
    "如何",
    "怎么",
    "怎样",
    "哪",
    "是否",
    "吗",
    "解释",
    "说明",
    "总结",
    "介绍",
    "告诉",
    "分析",
    "计划",
    "warum",
    "wieso",
    "erklär",
    "beschreib",
    "sag mir",
    "zusammen",
    "welche",
    "por qué",
    "explica",
    "dime",
    "cuál",
    "pourquoi",
    "expliqu",
    "dis-moi",
    "quel",
    "resum",
    "résum",
    "por que",
    "perché",
    "spiega",
    "почему",
    "объясни",
    "расскажи",
    "説明",
    "なぜ",
    "教えて",
    "설명",
    "알려",
];

const WORK_IS: &str = "the user asked for work, and what the agent says about it proves nothing; \
    cite the check, the command or the file that proves it";

/// Whether the user's message with this quote takes something back. If this cannot be decided, as
/// in a language that the tables do not know, the judge is believed.
pub fn drop_something(quote: &str, said: &[&str]) -> Result<(), String> {
    static DROPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(no|not|\w+n['’]?t|never|nevermind|nothing|none|drop\w*|skip\w*|forget|leave|without|instead|ignor\w*|remov\w*|delet\w*|cancel\w*|stop|enough|rather|only|just|unnecessary|scratch|undo|revert\w*|later|any ?more|actually|chang\w*|use|keep|else|but|wait|postpone\w*|defer\w*|optional|unneeded|fine|okay|ok|call\w*|renam\w*|switch\w*|prefer\w*|replac\w*|swap\w*)\b",
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

/// Whether the user asked for a text in a file: one sentence that says to write something to a file
/// name.
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
        r"(?i)\b(fix|add|implement|write|create|change|refactor|rename|delete|remove|update|make|build|migrate|port|convert|replace|move|install|configure|set up|optimi[sz]e|commit|push|deploy|run|start|handle|support|split|extract|format|bump|upgrade|generate|clean up|store|save|put|merge|rebase|revert|rewrite|translate|strip|ensure|enable|disable|debug|solve|resolve|correct|improve|repair|patch|integrate|wire|validate|parse|escape|sort|broken|should|must|crash(es|ed)?|bugs?|introduce|finish|complete|ha(s|ve) to|needs? to|raise|lower|increase|decrease|reduce|serve|set|turn|switch|apply|undo|restore|copy|amend|squash|publish|release|document|download|import|export|let\s+(the|it|its|all|every|each|this|that)|allow|prevent|avoid)\b",
    )
    .ok()
});

static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\?|\b(why|what|how|which|who|when|where|whether|explain\w*|explanation|describ\w*|description|tell|say|answer|summar\w*|list|plan\w*|show|report|compar\w*|review\w*|suggest\w*|recommend\w*|propos\w*|discuss\w*|think|opinion|find out|look|analy\w*|investigat\w*|research|advi[cs]e|estimat\w*|question\w*|ideas?|outline|reply|respond|let me know|name\s+(me|the|a|all|every|each|some|two|three|\d+)|count|(check|verify|confirm) (if|for)|inform|mention|point out)\b",
    )
    .ok()
});

/// Removes file names: a file called `report.md` is not a request for a report.
fn without_names(text: &str) -> String {
    let is_name = |word: &str| {
        let inside = word.trim_matches(|c: char| !c.is_alphanumeric());
        inside.contains(['/', '_']) || inside.contains('.') && !inside.ends_with('.')
    };
    // A question mark behind a name still marks a question.
    let kept = |word| match word {
        word if !is_name(word) => Some(word),
        word => word.ends_with('?').then_some("?"),
    };
    text.split_whitespace().filter_map(kept).collect::<Vec<_>>().join(" ")
}

/// Whether the user asked to be told whether tests pass: then the agent's words are the answer.
fn ask_what_comes_of_it(said: &[&str]) -> bool {
    said.iter().any(|said| TOLD.as_ref().is_some_and(|told| told.is_match(said)))
}

static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(tell|say|report|list|show|see|find\ out|check|know)\b.{0,30}
          \b(which|what|whether|if|how\ many)\b.{0,40}\b(fail(s|ing|ed)?|pass(es)?|breaks?)\b",
    )
    .ok()
});

/// Whether the user asked which tests there are, rather than for their result.
pub fn ask_for_a_list(said: &[&str]) -> bool {
    static LIST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(list|count|how many|which|what|collect\w*|dry.?run|without running)\b")
            .ok()
    });
    said.iter().any(|said| LIST.as_ref().is_some_and(|list| list.is_match(said)))
}

/// Whether the user asked to see the failure itself, or to have it reported but not fixed. If it is
/// also to be fixed, a failing run does not prove that it was.
pub fn ask_for_failure(said: &[&str]) -> bool {
    static SHOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)reproduc|test that fails|failing test (first|for)|fails? first|shows? (me )?that|demonstrate|\bTDD\b",
        )
        .ok()
    });
    static NOT_MENDED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)\b(do not|don.t|without|not) (fix|repair)(ing)?").ok());
    static MENDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(fix|repair|make|implement|solve|resolve|correct|debug|add|change|write|update|refactor)\b",
        )
        .ok()
    });
    let matches = |pattern: &'static LazyLock<Option<Regex>>, text: &str| {
        pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    };
    let wants_it_mended = || {
        let asks = |said: &&str| match NOT_MENDED.as_ref() {
            Some(not) => matches(&MENDED, &not.replace_all(said, "")),
            None => true,
        };
        said.iter().any(asks)
    };
    said.iter().any(|said| matches(&SHOWN, said))
        || said.iter().any(|said| matches(&TOLD, said) || matches(&NOT_MENDED, said))
            && !wants_it_mended()
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
            (&["修复它，并解释原因"], "少了一个索引。"),
            (&["Fix it.", "And tell me what it was."], "It was a race between two threads."),
            (&["do it"], "It is a matter of taste."),
            (&["I want an overview of the module."], "It has three parts."),
            (&["Let me have your thoughts on it."], "It is fine as it is."),
            (&["Does it serve index.html? Try it, then stop it."], "Yes, it answered."),
            (&["Explique pourquoi test_accents échoue"], "Les accents manquent."),
            (&["なぜ失敗するか説明してください"], "索引がありません。"),
        ] {
            assert_eq!(are_asked_for(quote, said, false), Ok(()), "{said:?} {quote}");
        }
    }

    #[test]
    fn what_comes_of_the_tests_is_told_beside_a_run_that_shows_it() {
        let (said, told) = ("Run the tests and tell me whether they pass.", "Both tests pass.");
        assert_eq!(are_asked_for(told, &[said], true), Ok(()));
        assert!(are_asked_for(told, &[said], false).is_err());
        assert!(are_asked_for(told, &["Fix the tests."], true).is_err());
    }

    #[test]
    fn words_that_add_something_drop_nothing() {
        for said in [
            "Never mind the docs.",
            "Use underscores.",
            "Call it --debug, please.",
            "Lass die Doku weg",
        ] {
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
            (&["Let the service retry 4 times."], "It retries 4 times now."),
            (&["The timeout has to be configurable."], "The timeout is configurable."),
            (&["greet.sh without a name must fail."], "greet.sh without a name fails."),
            (&["Raise the timeout in production."], "The timeout is 60 seconds now."),
            (&["修复 texts.py 里的错误"], "已全部修复，三个函数都对了。"),
            (&["Haz que slugify quite los acentos."], "Los acentos se quitan."),
            (&["Corrige le bug et lance les tests."], "Le bug est corrigé."),
            (&["バグを修正してください。"], "バグは直りました。"),
            (&["Add a route and check that it answers 200."], "It answers with 200."),
            (&["Schreibe eine Übersicht nach übersicht.md."], "Die Übersicht steht dort."),
        ] {
            let why = are_asked_for(quote, said, false).expect_err(quote);
            assert!(why.contains("proves nothing"), "{why}");
        }
    }

    #[test]
    fn a_failure_is_wanted_by_those_who_do_not_want_it_mended() {
        for (said, wanted) in [
            ("Run the tests and tell me which one fails. Do not fix it yet.", true),
            ("Check whether the tests pass.", true),
            ("Write a test that fails for #12.", true),
            ("Reproduce the crash, then fix it.", true),
            ("Fix it and tell me whether the tests pass.", false),
            ("Make it fast, and say if a test fails.", false),
            ("The tests fail.", false),
        ] {
            assert_eq!(ask_for_failure(&[said]), wanted, "{said}");
        }
        assert!(!ask_for_failure(&["Tell me what fails.", "Now fix it."]));
    }
}
