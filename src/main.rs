use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(u8::try_from(ccc::cmd::run(args)).unwrap_or(1))
}
