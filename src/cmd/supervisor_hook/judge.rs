//! The judge's process inside the hook, with nobody to ask and nothing else to do meanwhile.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use crossbeam_channel::{bounded, never, select_biased, unbounded};

use crate::checks::result::CheckResult;
use crate::client::launch::Launch;
use crate::client::stream::{
    Block, Line, Message, Part, Permission, TurnResult, Usage, initialize_judge, permission_answer,
    refuse_control, strip_escapes, tool_ruling, user_message,
};
use crate::event::{Gone, Now, ReviewRequest};
use crate::process::child::ChildEvent;
use crate::process::supervisor::Supervisor;
use crate::record::SupervisorLog;
use crate::review::commands::Commands;
use crate::review::engine::{Engine, INITIALIZE, Step};
use crate::review::evidence::verify;
use crate::review::lookup::Lookup;
use crate::review::policy::Policy;
use crate::review::verdict::Verdict;
use crate::session::ChildState;
use crate::surface::review_cost;

/// What the judge's answers are held against.
pub struct Review<'a> {
    pub request: &'a ReviewRequest,
    /// What the agent ran.
    pub ran: &'a Commands,
    pub roots: &'a [PathBuf],
    /// What came of the checks.
    pub checks: &'a [CheckResult],
}

pub fn run(
    launch: &Launch,
    prompt: &str,
    mut log: SupervisorLog,
    policy: Policy,
    review: Review<'_>,
) -> Result<Verdict> {
    let began = Instant::now();
    let (to_output, mut output) = bounded(2);
    let (to_exit, mut exit) = unbounded::<Gone>();
    let supervisor = Supervisor::start(
        launch,
        move |event| to_output.send(event).is_ok(),
        move |gone| to_exit.send(gone).is_ok(),
    )?;
    let known = review.request.requirements.clone();
    let (mut engine, steps) = Engine::start(policy, known, began.elapsed());
    if let Some(word) = &review.request.word {
        engine.prepared(word);
    }
    let group = supervisor.group();
    let process = ChildState::new(Some(supervisor), group);
    let mut judge = Judge {
        engine,
        began,
        prompt,
        process,
        review,
        ran: Commands::default(),
        usage: Usage::default(),
        cost_usd: 0.0,
        conclusion: None,
    };
    judge.follow(steps);
    let conclusion = loop {
        if let Some(conclusion) = judge.conclusion.take() {
            break conclusion;
        }
        select_biased! {
            recv(exit) -> gone => {
                exit = never();
                judge.exited(gone.unwrap_or_default());
            },
            recv(output) -> event => match event {
                Ok(ChildEvent::Lines(lines)) => {
                    for line in lines {
                        log.line(&line);
                        judge.line(line);
                    }
                    log.flush();
                }
                Ok(ChildEvent::OutputEnded) | Err(_) => {
                    output = never();
                    judge.process.output_ended = true;
                }
            },
            default(judge.patience()) => {}
        }
        judge.time_passed();
    };
    // The supervisor must not block on output that nobody reads any more.
    drop(output);
    if !judge.process.has_exited() {
        // Its shim ends it; waiting for that here keeps the hook from leaving anything behind.
        let _ = exit.recv_timeout(Duration::from_secs(5));
    }
    log::info!("supervisor-hook: {}", review_cost(judge.cost_usd, &judge.usage).join(", "));
    conclusion.map_err(|reason| anyhow!("no verdict: {reason}"))
}

/// The judge's process, driven by the engine of a review.
struct Judge<'a> {
    engine: Engine,
    began: Instant,
    prompt: &'a str,
    process: ChildState<Option<Supervisor>>,
    review: Review<'a>,
    /// What the judge itself has run.
    ran: Commands,
    usage: Usage,
    cost_usd: f64,
    conclusion: Option<Result<Verdict, String>>,
}

impl Judge<'_> {
    fn now(&self) -> Now {
        self.began.elapsed()
    }

    /// How long there is nothing to do if nothing happens.
    fn patience(&self) -> Duration {
        let next = [self.engine.deadline(), self.process.drained_at].into_iter().flatten().min();
        next.map_or(Duration::MAX, |next| next.saturating_sub(self.now()))
    }

    /// What older clients tell is the total of the process.
    fn paid(&mut self, result: &TurnResult) {
        self.usage += result.usage;
        self.cost_usd = result.turn_cost_usd.map_or(result.cost_usd, |turn| self.cost_usd + turn);
    }

    fn exited(&mut self, gone: Gone) {
        self.process.exited(gone, self.now());
    }

    fn time_passed(&mut self) {
        let now = self.now();
        let steps = match self.process.gone(now) {
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
                    super::print(&text);
                    self.process.said(text);
                }
                Part::Bad(error) => log::warn!("the supervisor printed a broken line: {error}"),
            }
        }
    }

    fn follow(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                // The one attempt that the hook's policy has, and its process is there already.
                Step::Start { .. } => {
                    self.send(initialize_judge(INITIALIZE));
                    self.tell(self.prompt);
                }
                Step::Tell(text) => self.tell(&text),
                Step::Deny { request_id, asked } => {
                    let reason = format!(
                        "Nobody can be asked to allow {}. supervisor.allowed_tools in ccc.json can allow it.",
                        asked.tool
                    );
                    self.send(permission_answer(&request_id, &asked, &Permission::Deny(reason)));
                }
                Step::Refuse { request_id, subtype } => {
                    self.send(refuse_control(&request_id, &subtype));
                }
                Step::Rule { request_id, ruling } => self.send(tool_ruling(&request_id, &ruling)),
                Step::Held(report) => log::info!("supervisor-hook: {}", report.told()),
                Step::Verify(evidence) => {
                    let Review { request, ran: agent, roots, checks } = self.review;
                    let check = |name: &str| {
                        let result = checks.iter().find(|result| result.name == name)?;
                        Some(result.is_green())
                    };
                    let judge = &self.ran;
                    let lookup = Lookup { agent, judge, roots, request, check: &check };
                    let findings = verify(&evidence, &lookup);
                    let now = self.now();
                    let steps = self.engine.verified(&findings, now);
                    self.follow(steps);
                }
                Step::Stop => self.process.handle = None,
                Step::End(conclusion) => self.conclusion = Some(conclusion),
                // Told with the end; and without a person nobody is asked.
                Step::Failed { .. } | Step::Ask { .. } | Step::Unask { .. } => {}
            }
        }
    }

    fn tell(&self, text: &str) {
        self.send(user_message(&uuid::Uuid::new_v4().to_string(), text));
    }

    fn send(&self, line: Vec<u8>) {
        if let Some(supervisor) = &self.process.handle {
            supervisor.send(line);
        }
    }
}

fn show(message: &Message) {
    if let Message::Assistant { blocks, .. } = message {
        for block in blocks {
            if let Block::Text(text) = block {
                super::print(&strip_escapes(text));
            }
        }
    }
}
