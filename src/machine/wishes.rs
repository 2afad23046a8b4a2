//! What the person wants from the agent's client, and the client's own state: its permission mode,
//! its model, the limit of its subscription.

use super::Machine;
use crate::client::mode::PermissionMode;
use crate::client::stream::{ClientRequest, Introduction, RateLimit};
use crate::event::{Action, Notice, Wish};

/// The first version seen to begin in auto mode on its own screen unless something else was chosen;
/// 2.1.260 still asked.
const BEGINS_IN_AUTO: [u32; 3] = [2, 1, 325];

#[derive(Debug, Default)]
pub struct ClientSide {
    /// As the client told it last.
    pub mode: Option<PermissionMode>,
    /// Chosen, and not yet told by a turn.
    pub model: Option<String>,
    pub limit: Option<RateLimit>,
    /// Permissions were skipped at least once, so that it is possible.
    bypassed: bool,
    started: bool,
    /// The last thing that was asked of it, and the request's id.
    asked: Option<(String, ClientRequest)>,
}

impl Machine {
    pub(super) fn wish(&mut self, wish: Wish) {
        let request = match wish {
            Wish::NextMode => {
                let modes = &self.rules.modes;
                let now = self.mode_to_be();
                ClientRequest::Mode(now.next(modes.bypass || self.client.bypassed, modes.auto))
            }
            Wish::Mode(mode) => ClientRequest::Mode(mode),
            Wish::Model(model) => ClientRequest::Model(model),
            Wish::Context => ClientRequest::Context,
            Wish::Background => ClientRequest::Background,
        };
        let why = if !self.process.running {
            "claude is not running; your next message starts it"
        } else if request == ClientRequest::Background && !self.turn.is_open() {
            "nothing is running"
        } else {
            return self.ask_client(request);
        };
        self.say(Notice::WishRefused { what: said(&request), why: why.to_owned() });
    }

    fn ask_client(&mut self, request: ClientRequest) {
        let request_id = self.next_id();
        self.client.asked = Some((request_id.clone(), request.clone()));
        self.actions.push(Action::AskClient { request_id, request });
    }

    /// Two presses of the key in quick succession are two steps.
    fn mode_to_be(&self) -> PermissionMode {
        match &self.client.asked {
            Some((_, ClientRequest::Mode(mode))) => mode.clone(),
            _ => self.client.mode.clone().unwrap_or_default(),
        }
    }

    pub(super) fn begin_in_mode(&mut self) {
        if let Some(mode) = self.rules.modes.begins.clone() {
            self.mode_is(mode);
        }
    }

    pub(super) fn introduced(&mut self, told: &Introduction) {
        if let Some(mode) = &told.mode {
            self.mode_is(mode.clone());
        }
        let version = told.version.as_deref().map(numbers).unwrap_or_default();
        let asks = self.client.mode == Some(PermissionMode::Ask);
        let modes = self.rules.modes.clone();
        if asks && modes.unchosen && modes.auto && version.as_slice() >= BEGINS_IN_AUTO.as_slice() {
            self.ask_client(ClientRequest::Mode(PermissionMode::Auto));
        }
        // Behind the mode, so that both are known when the model is. Older clients name it with the turn.
        if modes.told && told.version.is_some() {
            let (request_id, request) = (self.next_id(), ClientRequest::Settings);
            self.actions.push(Action::AskClient { request_id, request });
        }
    }

    /// What the client says counts, whoever changed it.
    pub(super) fn mode_is(&mut self, mode: PermissionMode) {
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

    /// A new process begins in the mode of the first.
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
            // Older clients do not repeat its name.
            Some(ClientRequest::Model(model)) => self.client.model = Some(model),
            _ => {}
        }
    }

    pub(super) fn wish_refused(&mut self, request_id: &str, why: String) {
        if let Some(request) = self.answered_wish(request_id) {
            self.say(Notice::WishRefused { what: said(&request), why });
        }
    }

    fn answered_wish(&mut self, request_id: &str) -> Option<ClientRequest> {
        self.client.asked.take_if(|(id, _)| id == request_id).map(|(_, request)| request)
    }
}

/// What was wanted, behind "claude did not ".
fn said(request: &ClientRequest) -> String {
    match request {
        ClientRequest::Mode(mode) => format!("change its permission mode to {}", mode.words()),
        ClientRequest::Model(model) => format!("change its model to {model}"),
        ClientRequest::Settings => "say which settings are in force".to_owned(),
        ClientRequest::Context => "say what fills its context".to_owned(),
        ClientRequest::Background => "send anything to the background".to_owned(),
    }
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}
