//! What can be typed behind `cargo bench --bench peers --`.

pub const HELP: &str = "\
cargo bench --bench peers -- [OPTIONS]

  --bytes N          stream per measurement of throughput and CPU  [256M]
  --memory-bytes N   stream for the resident memory                [1G]
  --rounds N         measurements of each, the median counts       [3]
  --turns N          turns for ccc's share of one                  [50]
  --idle-seconds N   how long an idle session is watched           [10]
  --only NAME        throughput, memory, turn or idle
  --no-install       do not install asciinema when it is missing
";

#[derive(Debug, Clone)]
pub struct Options {
    pub bytes: u64,
    pub memory_bytes: u64,
    pub rounds: usize,
    pub turns: u64,
    pub idle_seconds: u64,
    pub only: Option<String>,
    pub install: bool,
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            bytes: 256 << 20,
            memory_bytes: 1 << 30,
            rounds: 3,
            turns: 50,
            idle_seconds: 10,
            only: None,
            install: true,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--bytes" => options.bytes = size(&value()?)?,
                "--memory-bytes" => options.memory_bytes = size(&value()?)?,
                "--rounds" => options.rounds = size(&value()?)?.max(1).try_into().unwrap_or(1),
                "--turns" => options.turns = size(&value()?)?.max(10),
                "--idle-seconds" => options.idle_seconds = size(&value()?)?,
                "--only" => match value()? {
                    name if ["throughput", "memory", "turn", "idle"].contains(&name.as_str()) => {
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
