//! What can be typed behind `cargo bench --bench peers --`.

use super::echo::MOST_KEYS;

pub const HELP: &str = "\
cargo bench --bench peers -- [OPTIONS]

  --bytes N          stream per measurement of throughput and CPU  [256M]
  --memory-bytes N   stream for the resident memory                [1G]
  --render-bytes N   partial messages per measurement              [64M]
  --rounds N         measurements of each, the median counts       [3]
  --pairs N          sessions with and without recording, and rounds
                     of the relay beside script                    [9]
  --turns N          turns for ccc's share of one                  [50]
  --keys N           keys for their echo, in each round            [2000]
  --idle-seconds N   how long an idle session is watched           [10]
  --hour-seconds N   how much of an hour is played, for its size   [48]
  --only NAME        throughput, memory, turn, idle, echo, relay, render, recording or hour
  --no-install       do not install asciinema when it is missing

Recordings are written below TMPDIR: a directory in memory leaves the disk out of it.
";

const PARTS: [&str; 9] =
    ["throughput", "memory", "turn", "idle", "echo", "relay", "render", "recording", "hour"];

#[derive(Debug, Clone)]
pub struct Options {
    pub bytes: u64,
    pub memory_bytes: u64,
    pub render_bytes: u64,
    pub rounds: usize,
    pub pairs: usize,
    pub turns: u64,
    pub keys: usize,
    pub idle_seconds: u64,
    pub hour_seconds: u64,
    pub only: Option<String>,
    pub install: bool,
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            bytes: 256 << 20,
            memory_bytes: 1 << 30,
            render_bytes: 64 << 20,
            rounds: 3,
            pairs: 9,
            turns: 50,
            keys: 2000,
            idle_seconds: 10,
            hour_seconds: 48,
            only: None,
            install: true,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--bytes" => options.bytes = size(&value()?)?,
                "--memory-bytes" => options.memory_bytes = size(&value()?)?,
                "--render-bytes" => options.render_bytes = size(&value()?)?,
                "--rounds" => options.rounds = count(&value()?)?,
                "--pairs" => options.pairs = count(&value()?)?,
                "--keys" => options.keys = count(&value()?)?.min(MOST_KEYS),
                "--hour-seconds" => options.hour_seconds = size(&value()?)?,
                "--turns" => options.turns = size(&value()?)?.max(10),
                "--idle-seconds" => options.idle_seconds = size(&value()?)?,
                "--only" => match value()? {
                    name if PARTS.contains(&name.as_str()) => {
                        options.only = Some(name);
                    }
                    other => return Err(format!("there is no part {other:?}")),
                },
                "--no-install" => options.install = false,
                // Cargo adds it.
                "--bench" => {}
                "--help" | "-h" => return Err(String::new()),
                other => return Err(format!("unknown option {other:?}")),
            }
        }
        Ok(options)
    }

    pub fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

fn count(text: &str) -> Result<usize, String> {
    Ok(size(text)?.max(1).try_into().unwrap_or(usize::MAX))
}

fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| format!("{text:?} is no number"))
}
