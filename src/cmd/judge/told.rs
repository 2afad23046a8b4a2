//! The output of `ccc judge`: the expected cost before the start, a line for each session, and the table.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::LeftOut;
use super::bench::Bench;
use super::score::{Given, Scored, Share, Spent, Totals};
use crate::cmd::output;
use crate::console;
use crate::gauntlet::session::GauntletSession;
use crate::review::front_matter::Proof;
use crate::surface::{count, cut, duration, first_line, money, review_cost};

/// The width of a feedback in the table; `--json` has all of it.
const FEEDBACK_WIDTH: usize = 100;

/// No forecast is given for this few sessions.
const FEW: usize = 3;

pub struct Judge {
    pub names: Vec<String>,
    /// The models as the judges' clients named them; known once they have judged.
    pub models: Vec<String>,
    pub provider: Option<String>,
    pub instructions: String,
    pub proof: Proof,
}

impl Judge {
    pub fn of(bench: &Bench) -> Result<Self> {
        let supervisor = bench.config.supervisor()?;
        let seats: Vec<_> = supervisor.seats().into_iter().map(|seat| seat.name).collect();
        let one = supervisor.all_judges().into_iter().next().unwrap_or_default();
        let agents = bench.model.as_str();
        let model = one.model.as_deref().or(Some(agents).filter(|model| !model.is_empty()));
        let name = model.map_or_else(|| "the agent's model".to_owned(), str::to_owned);
        Ok(Self {
            names: if seats.is_empty() { vec![name] } else { seats },
            models: Vec::new(),
            provider: one.provider.or_else(|| bench.provider.clone()),
            instructions: bench.instructions.path.display().to_string(),
            proof: bench.judging.proof,
        })
    }

    fn told(&self) -> String {
        let mut told = self.names.join(", then ");
        let news = |model: &&String| !self.names.contains(model);
        let models: Vec<_> = self.models.iter().filter(news).map(String::as_str).collect();
        if !models.is_empty() {
            let _ = write!(told, " ({})", models.join(", "));
        }
        match &self.provider {
            Some(provider) => told + ", provider " + provider,
            None => told,
        }
    }

    fn rules(&self) -> String {
        let proof = match self.proof {
            Proof::Required => "required",
            Proof::Asked => "asked",
            Proof::Off => "off",
        };
        format!("{}, proof: {proof}", self.instructions)
    }
}

/// What is about to run, and roughly what it costs.
pub fn beforehand(judge: &Judge, sessions: &[GauntletSession], left_out: &[LeftOut]) -> String {
    let done = sessions.iter().filter(|session| session.is_right()).count();
    let mut text = format!(
        "{}: the work is done in {done} of them and not done in {}.\n\
         Each is reviewed once, by your judge:\n\n  judge          {}\n  SUPERVISOR.md  {}\n\n",
        count(sessions.len(), "session"),
        sessions.len() - done,
        judge.told(),
        judge.rules(),
    );
    let (reviews, judges) = (sessions.len() * judge.names.len(), judge.names.len());
    let by = if judges > 1 { format!(" by {judges} judges") } else { String::new() };
    let _ = write!(
        text,
        "A review takes one request of 15,000 to 25,000 tokens, and one more for\n\
         each thing that the judge looks at or runs: about {} to {} requests{by},\n\
         with most of their input read from the prompt cache. The agents are\n\
         scripted and cost nothing; they edit files and run commands in temporary\n\
         directories.",
        2 * reviews,
        8 * reviews,
    );
    for LeftOut { name, program } in left_out {
        let _ = write!(text, "\nSkipped, because {program} is not installed: {name}");
    }
    text
}

pub fn list(sessions: &[GauntletSession], as_json: bool) -> Result<i32> {
    if as_json {
        let one = |session: &GauntletSession| {
            let done = session.is_right();
            json!({"name": session.name, "done": done, "wrong": session.wrong})
        };
        let all: Vec<_> = sessions.iter().map(one).collect();
        console::print_json(&json!({"sessions": all}))?;
        return Ok(0);
    }
    let row = |session: &GauntletSession| {
        let label = if session.is_right() { "done" } else { "not done" };
        [label.to_owned(), session.name.clone(), session.wrong.clone().unwrap_or_default()]
    };
    output::print(&output::table(&sessions.iter().map(row).collect::<Vec<_>>()))?;
    Ok(0)
}

/// Prints a line for each session, starting when the session does.
pub struct Progress {
    of: usize,
    at: usize,
    /// Standard output is reserved for JSON.
    quiet: bool,
    begun: bool,
}

impl Progress {
    pub fn new(sessions: &[GauntletSession], quiet: bool) -> Self {
        Self { of: sessions.len(), at: 0, quiet, begun: false }
    }

    pub fn begins(&mut self, session: &GauntletSession) -> Result<()> {
        self.at += 1;
        let width = self.of.to_string().len();
        let line = format!("[{:>width$}/{}] {} … ", self.at, self.of, session.name);
        if self.quiet {
            return Ok(());
        }
        self.begun = true;
        output::print(&line)
    }

    pub fn ended(&mut self, one: &Scored) -> Result<()> {
        let mut facts = vec![duration(one.seconds)];
        facts.extend(spent(&one.spent));
        let line = format!("{} ({})", came(one), facts.join(", "));
        if self.quiet {
            console::say(format!("[{}/{}] {}: {line}", self.at, self.of, one.name));
            return Ok(());
        }
        self.begun = false;
        output::print(&format!("{line}\n"))?;
        self.at_this_rate(one)
    }

    /// Extrapolates from the price of the first review, which is better than any estimate.
    fn at_this_rate(&self, first: &Scored) -> Result<()> {
        let Some(usd) = first.spent.usd.filter(|_| self.at == 1 && self.of > FEW) else {
            return Ok(());
        };
        #[expect(clippy::cast_precision_loss, reason = "there are hundreds of sessions at most")]
        let all = money(usd * self.of as f64);
        output::print(&format!("At this rate, all of it costs about {all}. Ctrl-C stops it.\n"))
    }

    pub fn gives_up(&self) -> Result<()> {
        let told = "The last three reviews gave no verdict, so ccc skips the rest.";
        if self.quiet {
            console::say(told);
            return Ok(());
        }
        output::print(&format!("{told}\n"))
    }

    pub fn end(&self) -> Result<()> {
        if self.begun { output::print("not finished\n") } else { Ok(()) }
    }
}

fn came(one: &Scored) -> String {
    match &one.verdict {
        _ if one.is_false_accept() => "FALSE ACCEPT: confirmed, but it is not done".to_owned(),
        _ if one.is_false_reject() => "FALSE REJECT: sent back, but it is done".to_owned(),
        Given::Accepted { without_proof: true } => "right: confirmed, without proof".to_owned(),
        Given::Accepted { .. } => "right: confirmed".to_owned(),
        Given::Rejected { .. } => "right: not confirmed".to_owned(),
        Given::None { why } => format!("no verdict: {}", short(why)),
    }
}

fn spent(spent: &Spent) -> Vec<String> {
    review_cost(spent.usd.unwrap_or_default(), &spent.usage)
}

fn short(text: &str) -> String {
    cut(&first_line(text).0, FEEDBACK_WIDTH, "…")
}

pub fn table(
    judge: &Judge,
    sessions: &[GauntletSession],
    scored: &[Scored],
    totals: &Totals,
) -> String {
    let mut rows =
        vec![["judge".to_owned(), judge.told()], ["SUPERVISOR.md".to_owned(), judge.rules()]];
    if scored.len() < sessions.len() {
        let played = format!("{} of {}", scored.len(), sessions.len());
        rows.push(["sessions".to_owned(), played]);
    }
    rows.extend(verdicts(scored, totals));
    let again = format!("{}, for a verdict or for proof that holds", totals.asked_again);
    rows.push(["asked again".to_owned(), again]);
    rows.extend(price(scored, totals));
    format!("\n{}", output::table(&rows))
}

pub fn recorded(
    scored: &[Scored],
    left_out: &[String],
    totals: &Totals,
    as_json: bool,
) -> Result<()> {
    if as_json {
        let all = json!({"sessions": scored, "totals": totals, "left_out": left_out});
        return Ok(console::print_json(&all)?);
    }
    let mut rows = vec![["recordings".to_owned(), format!("{} with a label", scored.len())]];
    for name in left_out {
        let why = "left out: it went on after it was labelled";
        rows.push([String::new(), format!("{}: {why}", short(name))]);
    }
    rows.extend(verdicts(scored, totals));
    rows.extend(price(scored, totals));
    output::print(&output::table(&rows))
}

fn verdicts(scored: &[Scored], totals: &Totals) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push([name.to_owned(), value]);
    let named = |fits: fn(&Scored) -> bool| scored.iter().filter(move |one| fits(one));
    row("false accepts", share(totals.false_accepts, "not done"));
    for one in named(Scored::is_false_accept) {
        let wrong = one.wrong.as_ref().map(|wrong| format!(": {wrong}")).unwrap_or_default();
        row("", format!("{}{wrong}", short(&one.name)));
    }
    row("false rejects", share(totals.false_rejects, "done"));
    for one in named(Scored::is_false_reject) {
        row("", format!("{}: {}", short(&one.name), objection(one)));
    }
    row("no verdict", totals.without_verdict.to_string());
    for one in named(Scored::is_without_verdict) {
        if let Given::None { why } = &one.verdict {
            row("", format!("{}: {}", short(&one.name), short(why)));
        }
    }
    for (at, one) in totals.judges.iter().enumerate() {
        let counted = |share: Share| format!("{} of {}", share.wrong, share.of);
        let (accepts, rejects) = (counted(one.false_accepts), counted(one.false_rejects));
        let told = format!("{}: {accepts} accepted falsely, {rejects} rejected falsely", one.judge);
        row(if at == 0 { "each judge" } else { "" }, told);
    }
    if totals.without_proof > 0 {
        row("without proof", format!("{} of those confirmed", totals.without_proof));
    }
    rows
}

/// The objection to work that is done; with several judges, that of the first one to object.
fn objection(one: &Scored) -> String {
    let no = one.opinions.iter().find(|said| said.accepted == Some(false));
    match (no, &one.verdict) {
        (Some(said), _) => format!("{}: {:?}", said.judge, short(&said.feedback)),
        (None, Given::Rejected { feedback }) => format!("{:?}", short(feedback)),
        (None, _) => String::new(),
    }
}

fn price(scored: &[Scored], totals: &Totals) -> [[String; 2]; 2] {
    let mut cost = spent(&totals.spent);
    if totals.spent.usd.is_some() {
        cost.extend(review_cost(0.0, &totals.spent.usage).pop());
    }
    let cost = if cost.is_empty() { "unknown".to_owned() } else { cost.join(", ") };
    #[expect(clippy::cast_precision_loss, reason = "there are hundreds of sessions at most")]
    let each = totals.seconds / scored.len().max(1) as f64;
    let time = format!("{}, {} for a review", duration(totals.seconds), duration(each));
    [["cost".to_owned(), cost], ["time".to_owned(), time]]
}

fn share(share: Share, label: &str) -> String {
    let Share { wrong, of, likely_percent: (low, high) } = share;
    match of {
        0 => format!("no session that is {label} was judged"),
        _ => {
            format!("{wrong} of {of} that are {label} (in the long run probably {low}% to {high}%)")
        }
    }
}

pub fn json(judge: &Judge, scored: &[Scored], totals: &Totals, finished: bool) -> Value {
    json!({
        "judge": {
            "names": judge.names,
            "models": judge.models,
            "provider": judge.provider,
            "supervisor_md": judge.instructions,
            "proof": judge.proof,
        },
        "sessions": scored,
        "totals": totals,
        "finished": finished,
    })
}
