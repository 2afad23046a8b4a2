//! The loop's rules: `step(event, now) -> actions`, without files, processes, threads, clock or
//! environment.
//!
//! | phase | event | what follows | tests |
//! |---|---|---|---|
//! | any | start | the agent starts; a prompt is its first message | `scenario_001_the_loop_starts` |
//! | waiting | a message | sent; after a confirmed task or a reached limit it starts a new task, at round 0 | `scenario_001_supervisor_phase_to_the_end_when_completed` |
//! | working | a message | sent at once: it steers the running turn | `a_message_while_working_steers_and_delays_the_review` |
//! | working | take back | the last message that the agent has not taken up returns to the person | `a_message_that_the_agent_has_not_taken_up_can_be_taken_back` |
//! | waiting | go back to a message | the client's conversation, its files or both go back; the task goes back with the conversation | `going_back_takes_the_task_with_the_conversation` |
//! | reviewing | a message | the review is dropped, the message sent | `a_message_while_reviewing_wins_over_the_verdict` |
//! | working | result, all messages taken up, no background task | review, or the limit | `scenario_001_agent_phase_to_supervisor_phase`, `at_the_limit_the_next_stop_is_not_reviewed` |
//! | working | result of a turn that the agent began by itself, after a confirmation | review; the count starts anew | `work_after_a_confirmation_restarts_the_count` |
//! | working | result with an error | reported, no review | `an_error_result_is_reported_and_not_reviewed` |
//! | working | result after the person's interrupt | no review | `an_interrupt_by_the_user_is_not_reviewed` |
//! | working | result with `num_turns: 0` | a slash command: no review. If a tool was used, it does not count as a success | `a_slash_command_is_neither_reviewed_nor_part_of_the_task`, `a_turn_that_used_a_tool_is_no_slash_command` |
//! | any | the agent names another conversation, and the person did not ask for one | an error: the person decides | `only_the_person_moves_the_agent_to_another_conversation` |
//! | any | the client is too old | the end, with what to do; its work is not judged | `a_client_that_is_too_old_ends_the_session` |
//! | working | result while background tasks run | wait for their end, then for the agent to wake | `a_background_task_delays_the_review_until_the_agent_has_seen_its_end` |
//! | waiting, reviewing | the agent starts a turn by itself | working; a running review is dropped | `an_agent_that_wakes_during_a_review_drops_it` |
//! | reviewing | the agent stopped | ccc looks at what changed and runs the checks, before it asks a judge | `checks_run_before_any_judge_is_asked` |
//! | reviewing | a check is red | its output goes to the agent; no judge is asked | `a_red_check_goes_to_the_agent_and_no_judge_is_asked` |
//! | reviewing | all checks passed, and no file has changed since | they do not run again | `green_checks_do_not_run_again_while_no_file_changes` |
//! | reviewing | "completed", but files have changed since the checks ran | ccc runs the checks and asks the judge again, once | `a_confirmation_is_repeated_if_files_changed_during_the_review` |
//! | reviewing | completed | back to the person | `scenario_001_supervisor_phase_to_the_end_when_completed` |
//! | reviewing | not completed | the feedback goes to the agent | `scenario_001_supervisor_phase_to_agent_phase_when_not_completed` |
//! | reviewing | not completed, and an earlier round was better | ccc tells the person, who can go back there; nothing else changes | `a_better_earlier_round_is_reported_and_marked` |
//! | reviewing | blocked, impossible | the person decides | `a_blocked_or_impossible_task_goes_to_the_person` |
//! | reviewing | not completed, for the same reason the third time | stuck: the person decides | `a_task_that_goes_in_circles_goes_to_the_person` |
//! | reviewing | no verdict, failure, deadline | once more, then the person decides | `a_review_without_a_verdict_is_tried_once_more` |
//! | working | the agent dies | resumed once; a second death soon after is an error | `an_agent_that_dies_in_mid_turn_is_resumed_once` |
//! | waiting, reviewing | the agent dies | resumed with the next message | `an_agent_that_dies_while_idle_is_resumed_with_the_next_message` |
//! | any | a tool needs permission | the person is asked; without a person: denied | `the_person_is_asked_for_permission_one_question_at_a_time`, `without_a_person_permission_is_denied` |
//! | any | the person answers a question of the agent | the answer is among their words, which the judge is told | `an_answer_to_the_agents_question_is_among_the_persons_words` |
//! | any, before the first review | the session was recorded before | its count, its messages and its cost continue | `a_recorded_session_that_the_agent_names_continues` |
//! | any | `/supervisor`, `/supervisoroff` | supervision on (count at 0), off | `supervision_can_be_switched_off_and_on` |
//! | any | the client is in another conversation | its messages and its count are new | `another_conversation_has_its_own_messages_and_count`, `clear_starts_a_new_conversation` |
//! | any, typed into the client | a message | the client has the message already: ccc notes it and drops a running review, but sends nothing | `a_message_typed_into_the_client_drops_the_review_and_is_not_sent` |
//! | any, typed into the client | the person took a message back | that message is no longer part of the task | `messages_undone_by_a_rewind_leave_the_task` |
//! | any, typed into the client | the client leaves | the end, with its exit code | `the_session_ends_with_the_clients_exit_code` |
//! | any, typed into the client | the judge needs permission | denied: ccc has no screen to ask on | `the_judge_is_denied_permission_without_a_screen_to_ask_on` |
//! | waiting, typed into the client | `/supervisor` after a review without a verdict | the next stop is reviewed: there is no stop to answer now | `without_a_verdict_the_next_stop_is_reviewed` |
//! | reviewing | the project changed during the review | ccc tells the person; the verdict still counts | `a_change_during_a_review_is_reported_and_the_verdict_counts` |
//! | any | the person wants another permission mode, model, … | ccc asks the client; the client's answer counts | `the_key_asks_for_the_next_mode_and_the_clients_answer_counts`, `a_chosen_model_is_shown_before_its_first_turn` |
//! | any | the client starts up, nobody chose a mode | the mode that the client's own screen would begin in | `a_session_begins_in_the_mode_of_the_clients_own_screen` |
//! | any | the client is started again | it gets the mode that it had | `a_new_process_gets_the_mode_that_the_old_one_had` |
//! | working | the person sends a running tool to the background | ccc asks the client | `only_a_running_tool_goes_to_the_background` |
//! | any | leave, signal | the end | `leaving_and_signals_end_the_session` |
//!
//! Without a person at the terminal, "back to the person" is the end of the session. The tests are in
//! `tests/`; `tests/cli/scenarios.rs` checks that every row has one.

mod agent;
mod background;
mod checks;
mod conversation;
mod cost;
mod judgement;
mod outbox;
mod points;
mod process;
mod questions;
mod resume;
mod review;
mod rules;
mod spent;
mod status;
mod task;
#[cfg(test)]
mod tests;
mod turn;
mod user;
mod wishes;

use std::collections::VecDeque;

use crate::brief::activity::Activity;
use crate::brief::{Facts, brief};
use crate::checks::result::CheckResult;
use crate::event::{Action, Dropped, Event, Notice, Now, Outcome, Phase, Question, ReviewRequest};
use crate::review::engine::Engine;
use crate::review::permission::Denied;
use background::Background;
use checks::Known;
use conversation::Conversation;
use judgement::Judgement;
use outbox::Outbox;
use points::Points;
pub use points::RewindPoint;
use process::Process;
pub use questions::{NOBODY, UNASKED};
use resume::resumed_notice;
pub use rules::{CheckingRules, Modes, Rules, TypedInto};
use spent::Spent;
pub use status::Status;
use task::Task;
use turn::AgentTurn;
use wishes::ClientSide;

#[derive(Debug)]
pub struct Machine {
    rules: Rules,
    phase: Phase,
    now: Now,
    actions: Vec<Action>,

    supervising: bool,
    task: Task,
    conversation: Conversation,
    process: Process,
    outbox: Outbox,
    turn: AgentTurn,
    /// A turn ended well and has not been judged yet.
    unjudged: bool,
    /// The agent used a tool in its turn: the turn is work, whatever its result says.
    tool_used: bool,
    background: Background,

    activity: Activity,
    judgement: Judgement,
    /// The id of the last examination of the files, or of the last check.
    checks: u32,
    known: Known,
    questions: VecDeque<Question>,
    client: ClientSide,
    /// What the agent was denied.
    denials: Vec<Denied>,
    /// The messages that the person can go back to.
    points: Points,
    ids: u64,
    spent: Spent,
}

impl Machine {
    pub fn new(rules: Rules) -> Self {
        let task = Task::new(rules.carried.as_ref());
        Self {
            phase: Phase::Waiting,
            now: Now::ZERO,
            actions: Vec::new(),
            supervising: rules.supervising,
            task,
            conversation: Conversation::new(rules.resume.as_ref(), rules.carried.as_ref()),
            process: Process::default(),
            outbox: Outbox::default(),
            turn: AgentTurn::default(),
            unjudged: false,
            tool_used: false,
            background: Background::default(),
            activity: Activity::default(),
            judgement: Judgement::None,
            checks: 0,
            known: Known::default(),
            questions: VecDeque::new(),
            client: ClientSide::default(),
            denials: Vec::new(),
            points: Points::default(),
            ids: 0,
            spent: Spent::new(rules.carried.as_ref()),
            rules,
        }
    }

    pub fn step(&mut self, event: Event, now: Now) -> Vec<Action> {
        self.now = now;
        if self.phase != Phase::Ended {
            match event {
                Event::Start { prompt } => self.start(prompt),
                Event::Said(text) => self.said(text),
                Event::TakeBack => self.take_back(),
                Event::GoBack { uuid, what } => self.go_back(&uuid, what),
                Event::Interrupt => self.interrupt(),
                Event::Leave => self.finish(Outcome::Ended),
                Event::Wish(wish) => self.wish(wish),
                Event::Answered { request_id, answer } => self.answered(&request_id, answer),
                Event::Agent(envelope) => self.agent(envelope),
                Event::AgentGone(gone) => self.agent_gone(gone),
                Event::Supervisor { review, envelope } => self.supervisor(review, envelope),
                Event::SupervisorGone { review, gone } => self.supervisor_gone(review, &gone),
                Event::Examined { id, examined } => self.examined(id, examined),
                Event::CheckPrinted { check, text } => self.check_printed(check, &text),
                Event::CheckGone { check, gone } => self.check_gone(check, &gone),
                Event::ReviewPrepared { review, word } => self.prepared(review, &word),
                Event::Verified { review, findings } => self.verified(review, &findings),
                Event::Tick => self.tick(),
                Event::Signal(signal) => self.finish(Outcome::Signal(signal)),
                Event::Restored(carried) => self.restored(carried),
                Event::Conversation { session_id } => self.conversation_shown(&session_id),
                Event::Unsaid { texts, from_queue } => self.unsay(&texts, from_queue),
                Event::TreeChanged { review, files, more } => {
                    self.tree_changed(review, files, more);
                }
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// What the agent said last.
    pub fn last_answer(&self) -> &str {
        &self.conversation.last_answer
    }

    /// When to come back with a `Tick` if nothing else happens.
    pub fn deadline(&self) -> Option<Now> {
        self.judgement.deadline().into_iter().chain(self.background.deadline()).min()
    }

    fn start(&mut self, prompt: Option<String>) {
        self.say(Notice::Started {
            supervising: self.supervising,
            max_iterations: self.rules.max_iterations,
        });
        if self.rules.carried.is_some() {
            self.say(resumed_notice(&self.carried(), self.rules.max_iterations));
        }
        for check in self.rules.checking.untrusted.clone() {
            self.say(Notice::CheckEnded(CheckResult::not_trusted(&check)));
        }
        self.begin_in_mode();
        self.start_agent();
        match prompt {
            Some(prompt) => self.said(prompt),
            None => self.say(self.phase_notice()),
        }
    }

    fn tick(&mut self) {
        self.drive(Engine::tick);
        self.check_overdue();
        if self.background.passed(self.now) {
            self.review_or_give_back();
        }
        self.settle();
    }

    /// Begins the review once the agent is idle: its turn ended well, it took up every message, and
    /// nothing that it started is still running.
    fn settle(&mut self) {
        let idle = self.phase == Phase::Working
            && self.unjudged
            && !self.turn.is_open()
            && self.outbox.is_empty();
        if !idle {
            return;
        }
        if !self.background.is_empty() {
            if let Some(tasks) = self.background.wait(self.now + self.rules.background_wait) {
                self.say(Notice::WaitingForBackground { tasks });
            }
        } else if !self.background.awaits_waking() {
            self.review_or_give_back();
        }
    }

    fn review_or_give_back(&mut self) {
        self.unjudged = false;
        self.background.stop_waiting();
        if !self.supervising {
            return self.give_back(Outcome::Unreviewed);
        }
        self.task.continue_after_confirmation();
        if self.task.round >= self.rules.max_iterations {
            self.say(Notice::LimitReached { max: self.rules.max_iterations });
            self.task.limit_reached();
            self.give_back(Outcome::Limit);
        } else {
            self.task.next_round();
            self.judge();
        }
    }

    /// The loop has nothing more to do: it is the person's turn, or, without a person, the session
    /// ends.
    fn give_back(&mut self, outcome: Outcome) {
        if self.rules.person {
            self.enter(Phase::Waiting);
        } else {
            self.finish(outcome);
        }
    }

    fn finish(&mut self, outcome: Outcome) {
        self.drop_review(Dropped::SessionEnded);
        self.lose_messages();
        self.enter(Phase::Ended);
        self.actions.push(Action::Finish(outcome));
    }

    fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.spent.leave(self.phase, self.now);
            self.phase = phase;
            self.say(self.phase_notice());
        }
    }

    fn phase_notice(&self) -> Notice {
        Notice::Phase { phase: self.phase, round: self.task.round, max: self.rules.max_iterations }
    }

    fn say(&mut self, notice: Notice) {
        self.actions.push(Action::Say(notice));
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        // The client wants a UUID, so the version and variant bits are those of a random one. When
        // it rewinds, it tells messages apart by the first 24 characters only.
        let (high, low) = (self.rules.seed >> 32, self.rules.seed & 0xffff_ffff);
        let second = if self.rules.careful { self.ids & 0xffff } else { self.ids >> 28 };
        let third = (self.ids >> 16) & 0xfff;
        format!("{high:08x}-{second:04x}-4{third:03x}-8ccc-{low:08x}{:04x}", self.ids & 0xffff)
    }

    fn request(&self, review: u32) -> Option<ReviewRequest> {
        let engine = self.judgement.engine();
        let fresh = engine.and_then(Engine::seat).is_some_and(|seat| seat.fresh);
        let known = engine.map_or(&*self.task.requirements, Engine::known);
        Some(ReviewRequest {
            review,
            round: self.task.round,
            max: self.rules.max_iterations,
            session_id: self.conversation.id()?.clone(),
            model: self.conversation.model.clone(),
            said: self.task.said.clone(),
            last_answer: self.conversation.last_answer.clone(),
            background: self.background.names(),
            brief: self.brief(fresh),
            requirements: known.to_vec(),
            earlier_rounds: self.earlier_rounds(),
            word: None,
            judge: engine.map_or(0, Engine::judge),
            fresh,
            diff: String::new(),
        })
    }

    /// Empty in sessions that do not examine the files: there the judge finds out everything
    /// itself. Fresh eyes get nothing that the agent says about its work.
    fn brief(&self, fresh: bool) -> String {
        if !self.rules.checking.examines {
            return String::new();
        }
        brief(&Facts {
            examined: &self.known.examined,
            checks: &self.known.results,
            activity: &self.activity,
            last_answer: if fresh { "" } else { &self.conversation.last_answer },
            background: &self.background.names(),
        })
    }
}
