//! Runs the judge's process inside the hook, where no person can be asked.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, bounded, never, select_biased, unbounded};

use crate::brief::old_lines::OldLines;
use crate::checks::result::CheckResult;
use crate::client::launch::Launch;
use crate::client::stream::{
    Block, Line, Message, Part, Permission, TurnResult, Usage, initialize_judge, message_to_judge,
    permission_answer, refuse_control, strip_escapes, tool_ruling,
};
use crate::console;
use crate::event::{Gone, Now, ReviewRequest};
use crate::process::child::ChildEvent;
use crate::process::supervisor::SupervisorProcess;
use crate::record::SupervisorLog;
use crate::review::commands::Commands;
use crate::review::engine::{Engine, INITIALIZE, Step};
use crate::review::evidence::verify;
use crate::review::lookup::Lookup;
use crate::review::policy::Policy;
use crate::review::requirement::Evidence;
use crate::review::verdict::Verdict;
use crate::review::word;
use crate::session::{ChildState, one_time_word};
use crate::surface::review_cost;

/// What is reviewed, and the facts that the judge's evidence is checked against.
pub struct HookReview<'a> {
    pub request: &'a ReviewRequest,
    /// The commands that the agent ran.
    pub ran: &'a Commands,
    pub roots: &'a [PathBuf],
    pub state_dir: &'a Path,
    /// The results of the checks; `still_the_same` tells whether the files are still those the checks ran on.
    pub checks: &'a [CheckResult],
    pub still_the_same: &'a dyn Fn() -> bool,
    /// The brief for a judge with fresh eyes, without the agent's account.
    pub brief_for_fresh_eyes: &'a str,
    pub diff: &'a str,
    /// What stood in the files before the task began, if that is known.
    pub old: Option<&'a OldLines>,
    /// Receives a message when the person has typed something.
    pub typed: Receiver<Instant>,
}

/// What one judge is started with.
pub struct JudgeStart {
    pub launch: Launch,
    pub prompt: String,
}

/// The outcome of the review, and its cost.
pub struct Judged {
    /// `None` if the judge was stopped because the person typed something.
    pub verdict: Option<Verdict>,
    pub cost_usd: f64,
    pub usage: Usage,
}

pub fn run(
    start: &dyn Fn(&ReviewRequest) -> Result<JudgeStart>,
    log: SupervisorLog,
    policy: Policy,
    review: HookReview<'_>,
) -> Result<Judged> {
    let mut typed = review.typed.clone();
    let began = Instant::now();
    let known = review.request.requirements.clone();
    let (engine, steps) = Engine::start(policy, known, began.elapsed());
    let mut judge = Judge {
        engine,
        began,
        start,
        log,
        request: review.request.clone(),
        process: None,
        output: never(),
        exit: never(),
        review,
        ran: Commands::default(),
        usage: Usage::default(),
        cost_usd: 0.0,
        past_usd: 0.0,
        conclusion: None,
    };
    judge.follow(steps);
    let conclusion = loop {
        if let Some(conclusion) = judge.conclusion.take() {
            break conclusion.map(Some);
        }
        let (exit, output) = (judge.exit.clone(), judge.output.clone());
        select_biased! {
            recv(exit) -> gone => {
                judge.exit = never();
                judge.exited(gone.unwrap_or_default());
            },
            recv(output) -> event => match event {
                Ok(ChildEvent::Lines(lines)) => {
                    for line in lines {
                        judge.log.line(&line);
                        judge.line(line);
                    }
                    judge.log.flush();
                }
                Ok(ChildEvent::OutputEnded) | Err(_) => {
                    judge.output = never();
                    if let Some(process) = &mut judge.process {
                        process.output_ended = true;
                    }
                }
            },
            recv(typed) -> said => {
                typed = never();
                if said.is_ok() {
                    break Ok(None);
                }
            },
            default(judge.patience()) => {}
        }
        judge.time_passed();
    };
    judge.see_out();
    let cost_usd = judge.past_usd + judge.cost_usd;
    log::info!("supervisor-hook: {}", review_cost(cost_usd, &judge.usage).join(", "));
    let verdict = conclusion.map_err(|reason| anyhow!(reason))?;
    // The plain client has its own way back to an earlier state, which knows nothing of rounds.
    let verdict = verdict.map(|verdict| Verdict { better_round: None, ..verdict });
    Ok(Judged { verdict, cost_usd, usage: judge.usage })
}

/// The judge's process, driven by the review engine.
struct Judge<'a> {
    engine: Engine,
    began: Instant,
    start: &'a dyn Fn(&ReviewRequest) -> Result<JudgeStart>,
    log: SupervisorLog,
    /// The request that the current judge was given.
    request: ReviewRequest,
    process: Option<ChildState<Option<SupervisorProcess>>>,
    output: Receiver<ChildEvent>,
    exit: Receiver<Gone>,
    review: HookReview<'a>,
    /// The commands that the current judge has run.
    ran: Commands,
    usage: Usage,
    /// The cost of the current judge, then of all judges before it.
    cost_usd: f64,
    past_usd: f64,
    conclusion: Option<Result<Verdict, String>>,
}

impl Judge<'_> {
    /// Starts a judge after the previous one has exited: only one runs at a time.
    fn begin(&mut self, judge: usize) -> Result<()> {
        self.see_out();
        self.past_usd += std::mem::take(&mut self.cost_usd);
        self.ran = Commands::default();
        let fresh = self.engine.seat().is_some_and(|seat| seat.fresh);
        let HookReview { request, brief_for_fresh_eyes, diff, .. } = self.review;
        let word = one_time_word();
        self.engine.prepared(&word);
        self.request = ReviewRequest {
            judge,
            fresh,
            brief: if fresh { brief_for_fresh_eyes } else { &*request.brief }.to_owned(),
            diff: if fresh { diff } else { "" }.to_owned(),
            requirements: self.engine.known().to_vec(),
            word: Some(word),
            ..request.clone()
        };
        let JudgeStart { launch, prompt } = (self.start)(&self.request)?;
        let (to_output, output) = bounded(2);
        let (to_exit, exit) = unbounded::<Gone>();
        let supervisor = SupervisorProcess::start(
            &launch,
            move |event| to_output.send(event).is_ok(),
            move |gone| to_exit.send(gone).is_ok(),
        )?;
        (self.output, self.exit) = (output, exit);
        let group = supervisor.group();
        self.process = Some(ChildState::new(Some(supervisor), group));
        self.send(initialize_judge(INITIALIZE));
        self.tell(&prompt);
        Ok(())
    }

    /// Waits until the process is gone. The shim ends everything below it, so the hook leaves nothing behind.
    fn see_out(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        process.handle = None;
        // The process must not block on output that is no longer read.
        self.output = never();
        if !process.has_exited() {
            let _ = self.exit.recv_timeout(Duration::from_secs(5));
        }
        self.exit = never();
    }

    fn now(&self) -> Now {
        self.began.elapsed()
    }

    /// How long the loop may wait for the next event.
    fn patience(&self) -> Duration {
        let drained = self.process.as_ref().and_then(|process| process.drained_at);
        let next = [self.engine.deadline(), drained].into_iter().flatten().min();
        next.map_or(Duration::MAX, |next| next.saturating_sub(self.now()))
    }

    /// Older clients report the total of the process instead of the cost of the turn.
    fn paid(&mut self, result: &TurnResult) {
        self.usage += result.usage;
        self.cost_usd = result.turn_cost_usd.map_or(result.cost_usd, |turn| self.cost_usd + turn);
        self.engine.paid(self.cost_usd, result.usage);
    }

    fn exited(&mut self, gone: Gone) {
        let now = self.now();
        if let Some(process) = &mut self.process {
            process.exited(gone, now);
        }
    }

    fn time_passed(&mut self) {
        let now = self.now();
        let gone = self.process.as_ref().and_then(|process| process.gone(now));
        let steps = match gone {
            Some(gone) => self.engine.gone(&gone, now),
            None => self.engine.tick(now),
        };
        self.follow(steps);
    }

    fn line(&mut self, line: Line) {
        self.ran.line(&line);
        for part in line.parts {
            match part {
                Part::Message(envelope) => {
                    if envelope.parent.is_none() {
                        show(&envelope.message);
                        if let Message::Result(result) = &envelope.message {
                            self.paid(result);
                        }
                    }
                    let now = self.now();
                    let steps = self.engine.heard(*envelope, now);
                    self.follow(steps);
                }
                Part::Text(text) => {
                    console::say(&text);
                    if let Some(process) = &mut self.process {
                        process.said(text);
                    }
                }
                Part::Bad(error) => log::warn!("the supervisor printed a broken line: {error}"),
            }
        }
    }

    fn follow(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Start { judge, .. } => {
                    if let Err(error) = self.begin(judge) {
                        let now = self.now();
                        let steps = self.engine.failed(&format!("{error:#}"), now);
                        self.follow(steps);
                    }
                }
                Step::Said(opinion) => super::say(&opinion.told()),
                Step::Tell(text) => self.tell(&word::put(&text, self.request.word.as_deref())),
                Step::Deny { request_id, asked } => {
                    let reason = format!(
                        "No one can be asked for permission to use {}. supervisor.allowed_tools in ccc.json can allow it.",
                        asked.tool
                    );
                    self.send(permission_answer(&request_id, &asked, &Permission::Deny(reason)));
                }
                Step::Refuse { request_id, subtype } => {
                    self.send(refuse_control(&request_id, &subtype));
                }
                Step::Rule { request_id, ruling } => self.send(tool_ruling(&request_id, &ruling)),
                Step::Held(report) => log::info!("supervisor-hook: {}", report.told()),
                Step::Verify { evidence, confirms } => {
                    let HookReview { ran: agent, roots, state_dir, checks, old, .. } = self.review;
                    let names_check = evidence.iter().any(|one| matches!(one, Evidence::Check(_)));
                    let same = !names_check || (self.review.still_the_same)();
                    let (earlier, state_dir) = (None, Some(state_dir));
                    let request = &self.request;
                    let check = |name: &str| {
                        let result = checks.iter().find(|result| result.name == name)?;
                        Some(result.is_green() && same)
                    };
                    let judge = &self.ran;
                    let check = &check;
                    let lookup =
                        Lookup { agent, earlier, judge, roots, state_dir, request, old, check };
                    let findings = verify(&evidence, confirms, &lookup);
                    let now = self.now();
                    let steps = self.engine.verified(&findings, now);
                    self.follow(steps);
                }
                Step::Stop => {
                    if let Some(process) = &mut self.process {
                        process.handle = None;
                    }
                }
                Step::End(conclusion) => self.conclusion = Some(conclusion),
                // A failure is reported with the end, and there is no person to ask.
                Step::Failed { .. } | Step::Ask { .. } | Step::Unask { .. } => {}
            }
        }
    }

    fn tell(&self, text: &str) {
        self.send(message_to_judge(&uuid::Uuid::new_v4().to_string(), text));
    }

    fn send(&self, line: Vec<u8>) {
        let process = self.process.as_ref();
        if let Some(supervisor) = process.and_then(|process| process.handle.as_ref()) {
            supervisor.send(line);
        }
    }
}

fn show(message: &Message) {
    if let Message::Assistant { blocks, .. } = message {
        for block in blocks {
            if let Block::Text(text) = block {
                console::say(strip_escapes(text));
            }
        }
    }
}
