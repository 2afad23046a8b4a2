//! Handles a stop of the agent: whether it is reviewed, and what the client is told.

use std::env;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, anyhow, bail};

use super::guard::{self, Guarded, Standing};
use super::review::{self, Occasion, Reviewed};
use super::{Args, Decision, NO_RECORD, Told, allow, is_set, project, say, switch_command};
use crate::client::transcript::{ClientTranscript, GOAL};
use crate::cmd::{base, logging};
use crate::config::Config;
use crate::config::clients::Limits;
use crate::directories::Directories;
use crate::event::{Dropped, Notice, Outcome, Round, Said};
use crate::hook::event::HookEvent;
use crate::hook::pinned::Asked;
use crate::hook::state::{HookState, StateFile};
use crate::hook::task::Task;
use crate::hook::transcript_file::TranscriptFile;
use crate::native::told;
use crate::record::by_hook;
use crate::review::circle::Circle;
use crate::review::verdict::{Halt, Verdict};
use crate::surface::count;

/// Why a stop is not reviewed if the person has typed something meanwhile.
const MESSAGE_FIRST: &str = "not reviewed: your message goes first";

pub fn stopped(
    args: &Args,
    event: &HookEvent,
    state: &StateFile,
    state_dir: &Path,
    told: &mut Told,
) -> Result<Decision> {
    // A project that was never supervised gets no log file.
    if state_dir.is_dir() {
        logging::start(state_dir.join("ccc.log"));
    }
    let mut transcript = TranscriptFile::new(event.transcript_path.as_deref());
    // If the pinned facts are broken or missing, this fails instead of judging by the files as they are now.
    let standing = args
        .pinned(event)
        .and_then(|file| guard::standing(file, event, state, &mut transcript))
        .inspect_err(|_| told.supervised = true)?;
    let mut guarded = match standing {
        Standing::Off => {
            // Reported, because the switch is known only from a line of the conversation, which others
            // can write too.
            told.supervised = true;
            let command = switch_command();
            return allow(&format!(
                "supervision is off: {command}off was typed in this conversation. What follows is not \
                 reviewed; {command} turns it on again"
            ));
        }
        Standing::On(guarded) => Some(guarded),
        Standing::Unpinned => {
            let found = state.load().inspect_err(|_| told.supervised = true)?;
            match found {
                None => return allow("this session is not supervised"),
                Some(state) if !state.enabled => return allow("supervision is off"),
                Some(_) => None,
            }
        }
    };
    let tasks = event.background();
    let waits_for = match guarded.as_deref_mut() {
        Some(guarded) => guarded.awaited(&tasks)?,
        None => tasks.into_iter().map(|task| task.name).collect(),
    };
    if !waits_for.is_empty() {
        told.supervised = true;
        return allow("not reviewed yet: background tasks are still running");
    }
    transcript.wait_for_answer(event.last_assistant_message.as_deref());
    // The transcript alone cannot excuse a turn from review: the agent can write it too. `asked` comes
    // from the hook that the client runs for a prompt; it runs none for a shell command of the person.
    let asked = guarded.as_deref().and_then(|guarded| guarded.file().was_asked());
    let is_work = asked.as_ref().is_some_and(|asked| asked.is_in(event.prompt_id.as_deref()));
    if let Some(why) = transcript.transcript().turn.unjudged().filter(|_| !is_work) {
        // Told where a prompt came before: it was interrupted, says the transcript.
        told.supervised = asked.is_some();
        return allow(&format!("not reviewed: {why}"));
    }
    told.supervised = true;
    if transcript.transcript().waiting().next().is_some() {
        return message_first(guarded.as_deref());
    }
    let beside = beside(event, transcript.transcript());
    if let Some(guarded) = guarded.as_deref_mut() {
        told.changes.extend(beside.filter(|beside| guarded.tell_once(beside)));
    }
    let decision = supervise(args, event, transcript, state, state_dir, guarded.as_deref_mut());
    if let (Some(guarded), Ok(Decision::GoOn(_))) = (guarded.as_deref(), &decision) {
        guarded.file().ask(&Asked::default())?;
    }
    told.changes.extend(guarded.into_iter().flat_map(|mut guarded| guarded.for_the_person()));
    decision
}

/// The work stays due: what goes first may be a command (`!make`), after which nobody else stops.
fn message_first(guarded: Option<&Guarded>) -> Result<Decision> {
    guarded.map_or(Ok(()), |guarded| guarded.file().ask(&Asked::default()))?;
    allow(MESSAGE_FIRST)
}

/// What else keeps the agent going, such as a goal or a schedule. ccc only mentions it.
fn beside(event: &HookEvent, transcript: &ClientTranscript) -> Option<String> {
    if transcript.goal.is_some() {
        return Some(GOAL.to_owned());
    }
    let schedule = "A schedule (/loop) is active as well: what the agent does when it wakes \
                    is reviewed too.";
    event.has_schedule().then(|| schedule.to_owned())
}

fn supervise(
    args: &Args,
    event: &HookEvent,
    transcript: TranscriptFile,
    state: &StateFile,
    state_dir: &Path,
    mut guarded: Option<&mut Guarded>,
) -> Result<Decision> {
    let found = Directories::find()?;
    let began_in = guarded.as_deref().map(|guarded| guarded.pinned.project.clone());
    let project = began_in.or_else(|| project(event.cwd.as_deref())).unwrap_or(found.project);
    let place = Directories { state_dir: state_dir.to_owned(), project, ..found };
    let (config, max) = match guarded.as_deref_mut() {
        Some(guarded) => (guarded.config(&place), Some(guarded.pinned.max_iterations)),
        None => {
            let max = env::var("CCC_MAX_ITERATIONS").ok().and_then(|max| max.parse().ok());
            (Config::load(&place.config_dir)?, max)
        }
    };
    let limits = Limits::of(&config, max)?;
    let max = limits.max_iterations;
    let mut kept = Kept { state, guarded };
    let task = kept.count(transcript.transcript().said.len(), max);
    let said = review::said(transcript.transcript(), &task);
    let mut record = Record { state_dir, event, said, task: &task, notices: Vec::new() };
    if task.settled {
        record.notices.push(Notice::LimitReached { max });
        record.add(Outcome::Limit, None);
        return allow(&format!(
            "the limit of {} is reached; your next message starts a new count",
            count(max, "review")
        ));
    }
    let (began, round) = (Instant::now(), task.count);
    let guarded = kept.guarded.as_deref_mut();
    let occasion = Occasion {
        settings: &args.settings,
        event,
        place: &place,
        config: &config,
        limits: &limits,
        task: &task,
    };
    let reviewed = match args.missing.as_slice() {
        [] => review::run(&occasion, transcript, guarded),
        missing => Err(anyhow!(
            "{} has changed since ccc started claude, so the reviewer would use another \
             endpoint; look for it under `env` in the project's .claude/settings*.json",
            missing.join(", ")
        )),
    };
    let Reviewed { verdict, tree, cost_usd, usage, notices, .. } = match reviewed {
        Ok(reviewed) => reviewed,
        Err(error) => {
            let reason = format!("{error:#}");
            let failed = Notice::ReviewFailed { round, reason: reason.clone(), retrying: false };
            record.notices.push(failed);
            record.add(Outcome::NoVerdict(reason.clone()), None);
            bail!("{}", told::failed(&reason));
        }
    };
    record.notices = notices;
    let Some(verdict) = verdict else {
        // The person did not wait for this review, so it does not count as a round.
        kept.change(|task| task.count = task.count.saturating_sub(1))?;
        record.notices.push(Notice::ReviewDropped { round, why: Dropped::UserMessage });
        record.add(Outcome::Ended, None);
        return message_first(kept.guarded.as_deref());
    };
    let stuck = kept.change(|task| remember(task, &verdict, tree)).unwrap_or_else(|error| {
        say(&format!("the review could not be saved: {error:#}"));
        None
    });
    if let Some(guarded) = kept.guarded.filter(|_| verdict.completed) {
        base::renew(guarded.file(), &place.project);
    }
    let seconds = began.elapsed().as_secs_f64();
    record.notices.push(Notice::Verdict {
        round,
        max,
        seconds,
        cost_usd,
        session_usd: None,
        usage,
        verdict: verdict.clone(),
    });
    let (decision, outcome) = concluded(&verdict, stuck, round, &mut record.notices);
    record.add(outcome, Some(Round { round, verdict, seconds, cost_usd, usage }));
    Ok(decision)
}

/// The client's reply, and the outcome for the recording.
fn concluded(
    verdict: &Verdict,
    stuck: Option<&str>,
    round: u32,
    notices: &mut Vec<Notice>,
) -> (Decision, Outcome) {
    let feedback = verdict.feedback.clone();
    match (verdict.halt, stuck) {
        _ if verdict.completed => {
            let proof = if verdict.without_proof { ", without proof" } else { "" };
            let told = format!("confirmed complete in round {round}{proof}");
            (Decision::Allow(told), Outcome::Completed)
        }
        (Some(Halt::Blocked), _) => {
            (Decision::Allow(format!("blocked: {feedback}")), Outcome::Blocked(feedback))
        }
        (Some(Halt::Impossible), _) => {
            (Decision::Allow(format!("impossible: {feedback}")), Outcome::Impossible(feedback))
        }
        (None, Some(why)) => {
            let open = verdict.open().cloned().collect();
            notices.push(Notice::Stuck { why: why.to_owned(), open, feedback: feedback.clone() });
            let told = format!("{why}: {feedback}");
            (Decision::Allow(format!("stuck: {told}")), Outcome::Stuck(told))
        }
        (None, None) => {
            notices.push(Notice::Feedback { round, text: feedback.clone() });
            (Decision::GoOn(feedback), Outcome::Ended)
        }
    }
}

/// What is recorded about this stop.
struct Record<'a> {
    state_dir: &'a Path,
    event: &'a HookEvent,
    said: Vec<Said>,
    task: &'a Task,
    notices: Vec<Notice>,
}

impl Record<'_> {
    fn add(self, outcome: Outcome, round: Option<Round>) {
        if is_set(NO_RECORD) {
            return;
        }
        let settled = self.task.settled || outcome == Outcome::Completed;
        let stop = by_hook::RecordedStop {
            session_id: &self.event.session_id,
            said: self.said,
            notices: self.notices,
            outcome,
            round,
            count: self.task.count,
            settled,
            last_answer: self.event.last_assistant_message.as_deref().unwrap_or_default(),
        };
        if let Err(error) = by_hook::add(self.state_dir, stop) {
            log::warn!("supervisor-hook: the review is not recorded: {error:#}");
        }
    }
}

/// The progress of the task, kept both in the state file and in the pinned facts.
struct Kept<'a> {
    state: &'a StateFile,
    guarded: Option<&'a mut Guarded>,
}

impl Kept<'_> {
    /// Counts one more review. It is counted before it begins, because a review that is cut off costs
    /// money too. A task that has used up its reviews is settled instead.
    fn count(&mut self, messages: usize, max: u32) -> Task {
        let counted = self.change(|task| {
            task.stopped(messages);
            if task.count < max {
                task.settled = false;
                task.count += 1;
            } else {
                task.settle();
            }
            task.clone()
        });
        counted.unwrap_or_else(|error| {
            // The client's own limit still ends the loop.
            say(&format!("the count could not be saved: {error:#}"));
            Task { count: 1, ..Task::default() }
        })
    }

    fn change<T>(&mut self, change: impl FnOnce(&mut Task) -> T) -> Result<T> {
        let changed = |state: &mut HookState| (change(&mut state.task), state.task.clone());
        let (result, task) = self.state.change(changed)?;
        if let Some(guarded) = self.guarded.as_deref_mut() {
            guarded.keep(&task)?;
        }
        Ok(result)
    }
}

/// Saves what the next review of this task needs. Returns why the task is stuck, if it is.
fn remember(task: &mut Task, verdict: &Verdict, tree: Option<String>) -> Option<&'static str> {
    if verdict.completed {
        task.confirm();
        return None;
    }
    if !verdict.requirements.is_empty() {
        task.requirements.clone_from(&verdict.requirements);
    }
    if verdict.halt.is_some() {
        task.rejections = Circle::default();
        return None;
    }
    let stuck = task.rejections.rejected(verdict, tree);
    if stuck.is_some() {
        task.rejections = Circle::default();
    }
    stuck
}
