//! What the person wants from the agent's client, and the client's own state: its permission mode,
//! its model, the limit of its subscription.

use super::Machine;
use crate::client::mode::PermissionMode;
use crate::client::stream::{ClientRequest, Introduction, RateLimit};
use crate::client::version::Version;
use crate::event::{Action, Notice, Wish};

/// The first version seen to begin in auto mode on its own screen unless something else was chosen;
/// 2.1.260 still asked.
const BEGINS_IN_AUTO: Version = Version([2, 1, 325]);

#[derive(Debug, Default)]
pub struct ClientSide {
    /// As the client last reported it.
    pub mode: Option<PermissionMode>,
    /// Chosen by the person, and not yet used by a turn.
    pub model: Option<String>,
    pub limit: Option<RateLimit>,
    /// The client was in this mode at least once, so it can return to it.
    bypassed: bool,
    started: bool,
    /// The last request to the client, with its id.
    asked: Option<(String, ClientRequest)>,
}

impl Machine {
    pub(super) fn wish(&mut self, wish: Wish) {
        let request = match wish {
            Wish::NextMode => {
                let modes = &self.rules.modes;
                let now = self.pending_mode();
                ClientRequest::Mode(now.next(modes.bypass || self.client.bypassed, modes.auto))
            }
            Wish::Mode(mode) => ClientRequest::Mode(mode),
            Wish::Model(model) => ClientRequest::Model(model),
            Wish::Context => ClientRequest::Context,
            Wish::Background => ClientRequest::Background,
        };
        let why = if !self.process.running {
            "claude is not running; your next message starts it"
        } else if request != ClientRequest::Background {
            return self.ask_client(request);
        } else if !self.turn.is_open() {
            "nothing is running"
        } else if !self.background.could_take_more() {
            // The client would say yes, and do nothing.
            "no command has run for a few seconds yet"
        } else {
            return self.ask_client(request);
        };
        self.say(Notice::WishRefused { what: description(&request), why: why.to_owned() });
    }

    fn ask_client(&mut self, request: ClientRequest) {
        let request_id = self.next_id();
        self.client.asked = Some((request_id.clone(), request.clone()));
        self.actions.push(Action::AskClient { request_id, request });
    }

    /// The mode that was asked for last, so that two quick presses of the key are two steps.
    fn pending_mode(&self) -> PermissionMode {
        match &self.client.asked {
            Some((_, ClientRequest::Mode(mode))) => mode.clone(),
            _ => self.client.mode.clone().unwrap_or_default(),
        }
    }

    pub(super) fn begin_in_mode(&mut self) {
        if let Some(mode) = self.rules.modes.begins.clone() {
            self.mode_reported(mode);
        }
    }

    pub(super) fn introduced(&mut self, told: &Introduction) {
        if let Some(mode) = &told.mode {
            self.mode_reported(mode.clone());
        }
        let version = told.version.as_deref().and_then(Version::read);
        let asks = self.client.mode == Some(PermissionMode::Ask);
        let modes = self.rules.modes.clone();
        if asks && modes.unchosen && modes.auto && version >= Some(BEGINS_IN_AUTO) {
            self.ask_client(ClientRequest::Mode(PermissionMode::Auto));
        }
        // Asked after the mode, so that the mode is known when the model arrives. Older clients
        // name the model with the first turn.
        if modes.told && told.version.is_some() {
            let (request_id, request) = (self.next_id(), ClientRequest::Settings);
            self.actions.push(Action::AskClient { request_id, request });
        }
    }

    /// The client reports its mode, whoever changed it.
    pub(super) fn mode_reported(&mut self, mode: PermissionMode) {
        let asked =
            matches!(&self.client.asked, Some((_, ClientRequest::Mode(asked))) if *asked == mode);
        if asked {
            self.client.asked = None;
        }
        self.client.bypassed |= mode == PermissionMode::Bypass;
        if self.client.mode.as_ref() != Some(&mode) {
            self.client.mode = Some(mode.clone());
            if self.rules.modes.told {
                self.say(Notice::Mode { mode });
            }
        }
    }

    /// A new process starts in the configured mode, so it is asked for the mode of the old one.
    pub(super) fn ask_for_mode_again(&mut self) {
        self.client.asked = None;
        let first = !std::mem::replace(&mut self.client.started, true);
        if first || !self.rules.modes.told {
            return;
        }
        let begins = self.rules.modes.begins.clone();
        if let Some(mode) = self.client.mode.clone().filter(|mode| Some(mode) != begins.as_ref()) {
            self.client.mode = begins;
            self.ask_client(ClientRequest::Mode(mode));
        }
    }

    pub(super) fn wish_granted(&mut self, request_id: &str) {
        match self.answered_wish(request_id) {
            Some(ClientRequest::Background) => self.say(Notice::Backgrounded),
            // Older clients do not repeat the name of the model.
            Some(ClientRequest::Model(model)) => self.client.model = Some(model),
            _ => {}
        }
    }

    pub(super) fn wish_refused(&mut self, request_id: &str, why: String) {
        if let Some(request) = self.answered_wish(request_id) {
            self.say(Notice::WishRefused { what: description(&request), why });
        }
    }

    fn answered_wish(&mut self, request_id: &str) -> Option<ClientRequest> {
        self.client.asked.take_if(|(id, _)| id == request_id).map(|(_, request)| request)
    }
}

/// What was asked for, as the end of the sentence "claude did not …".
fn description(request: &ClientRequest) -> String {
    match request {
        ClientRequest::Mode(mode) => format!("change its permission mode to {}", mode.words()),
        ClientRequest::Model(model) => format!("change its model to {model}"),
        ClientRequest::Settings => "say which settings are in force".to_owned(),
        ClientRequest::Context => "say what fills its context".to_owned(),
        ClientRequest::Background => "send anything to the background".to_owned(),
    }
}
