//! Random input, and what has to hold for all of it.
//!
//! proptest and not cargo-fuzz: libFuzzer needs a nightly compiler, sees bytes where the machine wants
//! events, and gives back an input where proptest gives back the shortest one. Inputs in a text format are
//! mutated from lines that real clients and real recordings have, so that they get past the first brace.
//!
//! `cargo test --test fuzz` is the short form, a few seconds. `CCC_FUZZ_MINUTES=10 cargo test --release
//! --test fuzz` runs each target for that long. What was found once is tried first: `proptest-regressions/`.

mod corpus;
mod inputs;
mod machine;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{
    Config, FileFailurePersistence, TestCaseResult, TestError, TestRunner,
};

/// So many between two looks at the time.
const AT_ONCE: u32 = 500;

/// Tries `holds` on inputs of the strategy: on `cases` of them, or for as many minutes as are wanted.
fn fuzz<S: Strategy>(
    seeds: &'static str,
    cases: u32,
    inputs: S,
    holds: impl Fn(S::Value) -> TestCaseResult,
) where
    S::Value: Debug,
{
    let minutes = std::env::var("CCC_FUZZ_MINUTES").ok();
    let minutes = minutes.map(|text| text.parse::<f64>().expect("CCC_FUZZ_MINUTES is a number"));
    let until = minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
    let mut tried = 0;
    loop {
        let config = Config {
            cases: if until.is_some() { AT_ONCE } else { cases },
            max_shrink_iters: 200_000,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
            ..Config::default()
        };
        tried += config.cases;
        match TestRunner::new(config).run(&inputs, &holds) {
            Ok(()) => {}
            Err(TestError::Fail(why, input)) => panic!("after {tried} inputs: {why}\n{input:#?}"),
            Err(TestError::Abort(why)) => panic!("after {tried} inputs: {why}"),
        }
        if until.is_none_or(|until| until <= Instant::now()) {
            break;
        }
    }
    if until.is_some() {
        eprintln!("{seeds}: {tried} inputs");
    }
}
