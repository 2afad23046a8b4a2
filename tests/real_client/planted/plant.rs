//! What an agent plants, in parts that can be planted together: scripts follow each other, and settings
//! are merged into one file.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::{Value, json};

use super::session::{Session, Way};

/// A way to reach the judge, with its name.
pub type Vector = (&'static str, fn(&Session) -> Plant);

#[derive(Default)]
pub struct Plant {
    /// What the agent runs.
    pub script: String,
    /// In both files of the project that have settings.
    pub settings: Value,
    pub user_settings: Value,
    /// Added to the client's `.claude.json`.
    pub global: Value,
    /// ccc.json.
    pub config: Value,
    /// The agent goes on only when its client can have seen the changed settings.
    pub is_noticed: bool,
    /// What a process that the agent leaves behind does again and again.
    pub watch: String,
    /// What that process does once, while the judge is looking.
    pub during: String,
}

impl Plant {
    pub fn script(script: impl Into<String>) -> Self {
        Self { script: script.into(), ..Self::default() }
    }

    pub fn settings(settings: Value) -> Self {
        Self { settings, ..Self::default() }
    }

    pub fn and(mut self, other: Self) -> Self {
        self.script += &other.script;
        self.is_noticed |= other.is_noticed;
        self.watch += &other.watch;
        self.during += &other.during;
        merge(&mut self.settings, other.settings);
        merge(&mut self.user_settings, other.user_settings);
        merge(&mut self.global, other.global);
        merge(&mut self.config, other.config);
        self
    }

    /// The command with which the agent plants it. The script stands in a file: the client asks the person
    /// about a command that names these places.
    fn command(&self, room: &Session) -> String {
        let mut script = self.script.clone();
        for (file, value) in [
            (".claude/settings.json", &self.settings),
            (".claude/settings.local.json", &self.settings),
            ("~/.claude/settings.json", &self.user_settings),
            ("~/.claude/ccc.json", &self.config),
        ] {
            if !value.is_null() {
                script += &room.json(file, value);
            }
        }
        if !self.global.is_null() {
            script += &added_to_global(room, &self.global);
        }
        if self.is_noticed {
            // The time that the agent's client takes to see a changed file that it watches.
            script += "sleep 2\n";
        }
        if !self.watch.is_empty() || !self.during.is_empty() {
            script += &left_behind(room, self);
        }
        fs::write(room.path("~/plant"), script).expect("a script");
        format!("bash '{}'", room.path("~/plant"))
    }
}

fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, other) => *into = other,
    }
}

/// A script that adds these values to `.claude.json`, which the client has written already.
pub fn added_to_global(room: &Session, value: &Value) -> String {
    rewritten(room, value, "write(text())")
}

/// `.claude.json` written by this program in Python, in which `c` is what stood there with `value` added.
pub fn rewritten(room: &Session, value: &Value, program: &str) -> String {
    let path = room.path("~/.claude.json");
    format!(
        "[ -e '{path}.first' ] || cp '{path}' '{path}.first'\n\
         python3 - <<'END'\nimport json\np = '{path}'\nc = json.load(open(p + '.first'))\n\
         c.update(json.loads('''{value}'''))\n\
         def write(b): open(p, 'wb').write(b)\ndef text(): return json.dumps(c).encode()\n{program}\nEND\n"
    )
}

/// A script that leaves a process behind.
fn left_behind(room: &Session, plant: &Plant) -> String {
    fs::write(room.path("~/during"), &plant.during).expect("a script");
    let once = format!(
        "[ -e ~/looking ] && [ ! -e ~/written ] && {{ (cd '{}'; bash ~/during); touch ~/written; }}",
        room.path("")
    );
    let each_time = format!("{}\n{once}", plant.watch);
    let script = format!("#!/bin/bash\nfor i in $(seq 1000); do\n{each_time}\nsleep 0.03\ndone");
    let file = room.file("~/watch", &script);
    let path = room.path("~/watch");
    format!("{file}chmod +x '{path}'\nsetsid '{path}' > /dev/null 2>&1 < /dev/null &\ntrue\n")
}

/// Plants all of these in one session. When something reached the judge, each is planted alone, to say
/// which it was.
pub fn together(client: &Path, way: Way, vectors: &[Vector]) {
    let gets_through =
        |vectors: &[Vector]| catch_unwind(AssertUnwindSafe(|| play(client, way, vectors))).is_err();
    if gets_through(vectors) {
        let alone = vectors.iter().filter(|vector| gets_through(&[**vector]));
        let alone: Vec<&str> = alone.map(|(name, _)| *name).collect();
        panic!("{way:?}: the judge is not untouched by all of these together; alone: {alone:?}");
    }
}

fn play(client: &Path, way: Way, vectors: &[Vector]) {
    let mut room = Session::new();
    let parts = vectors.iter().map(|(_, plant)| plant(&room));
    let plant = parts.reduce(Plant::and).expect("a vector");
    if !plant.during.is_empty() {
        room.look = "touch ~/looking; until [ -e ~/written ]; do sleep 0.1; done; sleep 2; \
                     git diff; git look; echo zq-looked";
    }
    let command = json!({"command": plant.command(&room)});
    let done = room.run(way, |ccc| ccc.client(client), &[("Bash", command)]);
    room.assert_untouched(way, &done);
}
