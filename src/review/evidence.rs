//! Whether a piece of evidence exists, and whether it can prove anything. [`Facts`] supplies what
//! has to be looked up.
//!
//! | kind | rejected if |
//! |---|---|
//! | all | the quote is too short to be found in one place and is not a whole line |
//! | `check` | it did not run, or did not pass |
//! | `command` | it did not run, did not end, or did not print that; it only prints its arguments, or a file that looks like a test run; it failed or hides whether it failed, unless the user asked for the failure; it ran no test; it ran before the last edit, or in a copy that the judge had changed |
//! | `file` | it tells in prose that tests passed, and no test said so; it is outside the project, is not text, belongs to ccc's or git's own records, is the judge's instructions, or has the quote on another line |
//! | `answer` | it is a claim about the work, or the user asked for work and for nothing in words |
//! | `user` | the user did not say it, did not say it after the task began, or it drops nothing |
//!
//! One rule is about a whole confirmation: if the task changed files, some piece must be a check, a
//! command, the answer, or a line that the task changed. Otherwise a judge could quote the first line
//! of any file for everything.

mod command;
mod results;
mod wanted;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::brief::edits;
use crate::brief::output::reads_like_a_test_result;
use crate::review::commands::Commands;
use crate::review::requirement::{Evidence, squeezed};

/// A quote may be this many lines away from the line that the judge names, because judges cite
/// lines from memory.
const NEAR: usize = 30;

/// A quote needs this many letters and digits: shorter ones, such as "return", are in every file. A
/// whole line may be shorter, and so may a quote with twice as many visible characters.
const SHORTEST_QUOTE: usize = 7;
/// The same limit for output of a command, which is shorter than code.
const SHORTEST_OUTPUT: usize = 4;
/// The same limit for a quote in exactly the line that is named.
const SHORTEST_IN_LINE: usize = 3;
/// A quote without a line number may occur at most this often; otherwise it names no place.
const MOST_PLACES: usize = 3;

/// The commands that were run, by who ran them.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub agent: &'a Commands,
    /// Commands from earlier runs of the session.
    pub earlier: Option<&'a Commands>,
    pub judge: &'a Commands,
}

/// The facts with which evidence is compared.
pub trait Facts {
    fn record(&self) -> Record<'_>;
    /// The text of a file in the project, or why it cannot be read.
    fn file(&self, path: &str) -> Result<String, String>;
    /// Whether this quote of the file stood there before the task began, and the task changed other
    /// lines; `false` if that is unknown.
    fn is_old(&self, path: &str, text: &str, quote: &str) -> bool;
    /// Whether the project has a file of this name.
    fn has_file(&self, path: &str) -> bool;
    /// Whether a check passed on the files as they are now; `None` if there is no such check.
    fn check(&self, name: &str) -> Option<bool>;
    /// The agent's last message.
    fn answer(&self) -> &str;
    /// What the user said in this task.
    fn said(&self) -> Vec<&str>;
}

const OLD: &str = "it was there before the task began, like everything that this verdict cites; also cite a line \
    that the work changed, or a command that shows the result";

/// For each piece of evidence, why it does not hold, or `None`. `confirms`: it is all the evidence of
/// a confirmation.
pub fn verify(evidence: &[Evidence], confirms: bool, facts: &dyn Facts) -> Vec<Option<String>> {
    let decides = |one: &&Evidence| match one {
        Evidence::Check(_) => true,
        Evidence::Command { command, .. } => command::decides(command),
        Evidence::File { .. } | Evidence::Answer(_) | Evidence::User(_) => false,
    };
    let has_words = evidence.iter().any(|one| matches!(one, Evidence::Answer(_)));
    let is_shown =
        has_words && evidence.iter().filter(decides).any(|one| holds(one, facts, false).is_ok());
    let mut findings: Vec<_> =
        evidence.iter().map(|one| holds(one, facts, is_shown).err()).collect();
    if confirms {
        let held = evidence.iter().zip(&mut findings).filter(|(_, why)| why.is_none());
        let (old, new): (Vec<_>, Vec<_>) =
            held.filter(|(one, _)| !one.is_by_the_user()).partition(|(one, _)| is_old(one, facts));
        for (_, why) in old.into_iter().filter(|_| new.is_empty()) {
            *why = Some(OLD.to_owned());
        }
    }
    findings
}

/// Whether the evidence shows nothing but old lines of a file, also by way of `cat`.
fn is_old(evidence: &Evidence, facts: &dyn Facts) -> bool {
    let (files, quote) = match evidence {
        Evidence::File { path, quote, .. } => (vec![path.clone()], quote),
        Evidence::Command { command, quote } => (command::files_shown(command), quote),
        Evidence::Check(_) | Evidence::Answer(_) | Evidence::User(_) => return false,
    };
    let mut shown = files.iter().filter_map(|path| Some((path, facts.file(path).ok()?))).peekable();
    let is_old = |(path, text): (&String, String)| {
        !quote.is_empty() && parts(quote, &text).iter().all(|part| facts.is_old(path, &text, part))
    };
    shown.peek().is_some() && shown.all(is_old)
}

/// `is_shown`: the evidence includes a check, test or build, and that one holds.
fn holds(evidence: &Evidence, facts: &dyn Facts, is_shown: bool) -> Result<(), String> {
    match evidence {
        Evidence::Check(name) => match facts.check(name) {
            Some(true) => Ok(()),
            Some(false) => {
                Err(format!("the check {name:?} has not passed on the files as they are now"))
            }
            None => Err(format!("ccc ran no check named {name:?}")),
        },
        Evidence::Command { command, quote } => command::ran(command, quote, facts),
        Evidence::File { path, line, quote } => {
            let text = facts.file(path)?;
            parts(quote, &text).iter().try_for_each(|part| stands(*line, part, &text))?;
            // Code may contain the words of a test result; prose that reports one must have it from
            // a test run.
            if edits::is_prose(path) && reads_like_a_test_result(quote) {
                return results::are_by_a_test(quote, &[path], facts);
            }
            Ok(())
        }
        Evidence::Answer(quote) => {
            found_in(quote, &[facts.answer()], "the agent's last message does not say that")?;
            words::are_asked_for(quote, &facts.said(), is_shown)
        }
        Evidence::User(quote) => {
            found_in(quote, &facts.said(), "the user did not say that")?;
            let later = facts.said().into_iter().skip(1).collect::<Vec<_>>();
            found_in(quote, &later, "the user said that when asking for it, not later")?;
            words::drop_something(quote, &later)
        }
    }
}

/// A quote in a sentence: its beginning, in quotation marks.
fn shown(quote: &str) -> String {
    const ENOUGH: usize = 60;
    let quote = squeezed(quote);
    match quote.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{:?}", format!("{}…", &quote[..end])),
        None => format!("{quote:?}"),
    }
}

/// The parts of a quote, as they stand in the text: judges mark what they leave out with an ellipsis,
/// put quotation marks around a quote, or copy the line numbers of a listing. Just the quote if that
/// does not help.
fn parts<'a>(quote: &'a str, text: &str) -> Vec<Cow<'a, str>> {
    static NUMBERS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?m)^\s*\d+(?:→|\t|:\s|\s*[|│])").ok());
    static LEFT_OUT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\[(?:…|\.{3})\]|…|\.{3}").ok());
    let whole = squeezed(text);
    let stands = |part: &str| !part.trim().is_empty() && whole.contains(&squeezed(part));
    if let (false, Some(numbers), Some(left_out)) =
        (stands(quote), NUMBERS.as_ref(), LEFT_OUT.as_ref())
    {
        let marked = |mark| quote.trim().strip_prefix(mark)?.strip_suffix(mark);
        let unmarked = ['`', '"', '\''].into_iter().find_map(marked).map(Cow::Borrowed);
        let plain = [unmarked, Some(numbers.replace_all(quote, ""))];
        if let Some(plain) = plain.into_iter().flatten().find(|plain| stands(plain)) {
            return vec![plain];
        }
        let mut rest = whole.as_str();
        let mut comes_next = |part: &&str| {
            let part = squeezed(part);
            let after = rest.split_once(&part).map(|(_, after)| after);
            rest = after.unwrap_or_default();
            after.is_some() && is_long_enough(&part, text, SHORTEST_OUTPUT).is_ok()
        };
        let split = left_out.split(quote).filter(|part| !part.trim().is_empty());
        let split: Vec<_> = split.collect();
        if split.iter().all(&mut comes_next) && !split.is_empty() {
            return split.into_iter().map(Cow::Borrowed).collect();
        }
    }
    vec![Cow::Borrowed(quote)]
}

fn found_in(quote: &str, texts: &[&str], otherwise: &str) -> Result<(), String> {
    let holds = |text: &&str| squeezed(text).contains(&squeezed(quote)) && !quote.trim().is_empty();
    let Some(text) = texts.iter().find(|text| holds(text)) else {
        return Err(if weight(quote) == 0 { TOO_SHORT } else { otherwise }.to_owned());
    };
    is_long_enough(quote, text, SHORTEST_QUOTE)
}

fn stands(line: Option<u32>, quote: &str, text: &str) -> Result<(), String> {
    if !line.is_some_and(|line| is_in_line(quote, line, text)) {
        is_long_enough(quote, text, SHORTEST_QUOTE)?;
    }
    let named = shown(quote);
    let (quote, whole) = (squeezed(quote), squeezed(text));
    if !whole.contains(&quote) {
        return Err(format!("the file does not contain {named}"));
    }
    let Some(line) = line else {
        let places = whole.matches(&quote).count();
        return if places > MOST_PLACES {
            Err(format!("the file contains {named} in {places} places; name the line"))
        } else {
            Ok(())
        };
    };
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let height = quote.len().min(NEAR);
    let around: Vec<_> =
        text.lines().skip(line.saturating_sub(NEAR + 1)).take(2 * NEAR + height).collect();
    if squeezed(&around.join("\n")).contains(&quote) {
        return Ok(());
    }
    Err(format!("the file contains {named}, but not near line {line}"))
}

/// Whether the named line contains the quote. A change can be as short as `a + b`, so a short quote
/// is enough here if it occurs in few places; a bare word must not occur anywhere else.
fn is_in_line(quote: &str, line: u32, text: &str) -> bool {
    let from = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
    let lines: Vec<_> = text.lines().skip(from).take(quote.trim().lines().count()).collect();
    let visible = quote.chars().filter(|c| !c.is_whitespace()).count();
    let quote = squeezed(quote);
    let places = squeezed(text).matches(&quote).count();
    let is_word = !quote.contains(|c: char| !c.is_alphanumeric() && c != ' ');
    let is_found = if is_word {
        places == 1 && weight(&quote) >= SHORTEST_OUTPUT
    } else {
        places <= MOST_PLACES && weight(&quote) > 0
    };
    is_found && visible >= SHORTEST_IN_LINE && squeezed(&lines.join("\n")).contains(&quote)
}

const TOO_SHORT: &str = "the quote is missing or too short to prove anything";

/// Counts letters and digits. Non-ASCII ones count three times, because many scripts need fewer
/// characters.
fn weight(text: &str) -> usize {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| if c.is_ascii() { 1 } else { 3 }).sum()
}

/// Whether the quote is long enough to identify a place, or is a whole line that occurs in few
/// places.
fn is_long_enough(quote: &str, text: &str, shortest: usize) -> Result<(), String> {
    let weight = weight(quote);
    // Punctuation also makes a quote distinctive: `['3.11', '3.13']`.
    let visible = quote.chars().filter(|c| !c.is_whitespace()).count();
    if weight >= shortest || 2 * weight >= shortest && visible >= 2 * shortest {
        return Ok(());
    }
    let quote = squeezed(quote);
    let lines = text.lines().filter(|line| squeezed(line) == quote).take(MOST_PLACES + 1).count();
    if weight > 0 && (squeezed(text) == quote || (1..=MOST_PLACES).contains(&lines)) {
        return Ok(());
    }
    Err(TOO_SHORT.to_owned())
}

#[cfg(test)]
mod tests;
