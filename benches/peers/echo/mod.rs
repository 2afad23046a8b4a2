//! From a key to its echo, both on the terminal that a person sits at.
//!
//! Every key is a letter that stands nowhere else, so that the first time it appears is its echo:
//! with the peers a program behind them gives it back, with ccc it appears in the line to type in.
//! One key at a time, on a terminal that is always read. First while nothing else happens, then
//! while the agent, or the program behind the peers, prints as fast as it is read.

pub mod child;
mod keyboard;
mod route;

use std::io;
use std::time::{Duration, Instant};

use super::measure::{at, now};
use super::options::Options;
use super::place::Place;
use super::stamps;
use super::subject::Subject;
use super::table::Table;
use super::whole_path::mega;
use keyboard::Keyboard;
use route::{Route, routes};

/// Ctrl-U.
pub const CLEAR: u8 = 0x15;
/// Columns of a letter.
pub const COLUMNS: u16 = 2;
/// So many letters fit into a row.
const ROW: usize = 40;
const WARM_UP: usize = 2 * ROW;
const LETTERS: std::ops::Range<u32> = 0x4e00..0x9fa0;
/// Every letter is typed once in a session.
pub const MOST_KEYS: usize = (LETTERS.end - LETTERS.start) as usize - WARM_UP;
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Echoes {
    /// Nanoseconds.
    spans: Vec<u64>,
    /// Bytes that the flooding program got rid of, and that were on the terminal; and in what time.
    flooded: u64,
    shown: u64,
    nanoseconds: u64,
    trouble: Option<String>,
}

pub fn print(options: &Options, subjects: &[Subject]) -> io::Result<()> {
    let routes = routes(subjects);
    quiet_or_flooded(options, &routes, false)?;
    quiet_or_flooded(options, &routes, true)
}

fn quiet_or_flooded(options: &Options, routes: &[Route], flood: bool) -> io::Result<()> {
    let mut echoes: Vec<Echoes> = routes.iter().map(|_| Echoes::default()).collect();
    for round in 0..options.rounds {
        let mut order: Vec<_> = (0..routes.len()).collect();
        // Nobody always comes first, or always behind the same one.
        order.rotate_left(round % routes.len());
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let echoes = &mut echoes[at];
            if echoes.trouble.is_none() {
                let outcome = typed(&routes[at], flood, options, echoes);
                echoes.trouble = outcome.err().map(|error| error.to_string());
            }
        }
    }
    for echoes in &mut echoes {
        echoes.spans.sort_unstable();
    }
    table(routes, &echoes, flood).print();
    let how = if flood { "a pause of 0 to 2 ms after each" } else { "each after the last echo" };
    println!("  {} rounds, {how}; no echo counts as trouble after 10 s\n", options.rounds);
    let ccc = routes.iter().zip(echoes).find(|(route, _)| **route == Route::Ccc);
    match ccc.and_then(|(_, echoes)| echoes.trouble) {
        Some(trouble) => Err(io::Error::other(format!("key to echo, ccc: {trouble}"))),
        None => Ok(()),
    }
}

fn table(routes: &[Route], echoes: &[Echoes], flood: bool) -> Table {
    let title = if flood { "key → echo in a flood, ms" } else { "key → echo, ms" };
    let mut head = vec![title, "p50", "p99", "max", "× tmux p50", "× direct", "keys"];
    if flood {
        head.extend(["program MB/s", "screen MB/s"]);
    }
    head.push("target");
    let mut table = Table::new(&head);
    let p50 = |wanted: &Route| {
        let found = routes.iter().zip(echoes).find(|(route, _)| *route == wanted);
        found.map(|(_, echoes)| at(&echoes.spans, 50)).filter(|p50| p50.is_finite())
    };
    for (route, echoes) in routes.iter().zip(echoes) {
        if let Some(trouble) = &echoes.trouble {
            let mut cells = vec!["–".to_owned(); head.len()];
            cells[0] = route.name();
            cells[head.len() - 1].clone_from(trouble);
            table.row(&cells);
            continue;
        }
        let [p50_here, p99, max] = [50, 99, 100].map(|percent| at(&echoes.spans, percent));
        let beside = |other: Option<f64>| {
            other.map_or("–".into(), |other| format!("{:.2}", p50_here / other))
        };
        let ms = |value: f64| format!("{value:.3}");
        let mut cells = vec![route.name(), ms(p50_here), ms(p99), ms(max)];
        cells.extend([beside(p50(&Route::Tmux)), beside(p50(&Route::Direct))]);
        cells.push(echoes.spans.len().to_string());
        if flood {
            let seconds = 1e3 * mega(echoes.nanoseconds) / 1e6;
            let per_second = |bytes: u64| format!("{:.1}", mega(bytes) / seconds);
            cells.extend([per_second(echoes.flooded), per_second(echoes.shown)]);
        }
        let target = if flood { "p50 ≤ tmux, p99 < 10" } else { "p50 ≤ tmux" };
        let native = if flood { "p99 < 5" } else { "p50 ≤ script" };
        cells.push(match route {
            Route::Ccc => target.into(),
            Route::Native => native.into(),
            _ => String::new(),
        });
        table.row(&cells);
    }
    table
}

fn typed(route: &Route, flood: bool, options: &Options, into: &mut Echoes) -> io::Result<()> {
    let mut place = Place::new(if flood { "flood" } else { "hold" })?;
    let mut keyboard = Keyboard::start(route.command(&mut place)?)?;
    let outcome = ready(&mut keyboard, &place)
        .and_then(|()| keys(&mut keyboard, &place, options.keys, flood, into));
    let told = route.leave(&place);
    keyboard.end(told)?;
    outcome
}

fn ready(keyboard: &mut Keyboard, place: &Place) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while stamps::one(place.path(), "agent", "ready").is_none() {
        keyboard.rest(Duration::from_millis(20))?;
        if Instant::now() > deadline {
            return Err(io::Error::other("did not start"));
        }
    }
    if keyboard.echoes_by_itself()? {
        return Err(io::Error::other("the terminal is not raw"));
    }
    Ok(())
}

fn keys(
    keyboard: &mut Keyboard,
    place: &Place,
    count: usize,
    flood: bool,
    into: &mut Echoes,
) -> io::Result<()> {
    let letters = LETTERS.filter_map(char::from_u32).take(WARM_UP + count);
    let (mut began, mut shown, mut flooded) = (0, 0, 0);
    // So that keys do not always come at the same moment of somebody's picture.
    let mut random = 1_u64;
    for (number, letter) in letters.enumerate() {
        if number > 0 && number % ROW == 0 {
            keyboard.send(CLEAR)?;
            keyboard.rest(Duration::from_millis(5))?;
        }
        if number == WARM_UP {
            (began, shown, flooded) = (now(), keyboard.bytes, so_far(place));
        }
        let span = keyboard.key(letter)?;
        if number >= WARM_UP {
            into.spans.push(span);
        }
        if flood {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            keyboard.rest(Duration::from_micros((random >> 40) % 2000))?;
        }
    }
    into.nanoseconds += now() - began;
    into.shown += keyboard.bytes - shown;
    into.flooded += so_far(place) - flooded;
    Ok(())
}

fn so_far(place: &Place) -> u64 {
    stamps::all(place.path(), "flood", "bytes").last().copied().unwrap_or(0)
}
