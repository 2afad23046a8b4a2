//! The log: a file in the state directory, opened when there is something to write. Nothing is logged
//! to the screen.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use crate::files;

pub fn start(path: PathBuf) {
    let target = env_logger::Target::Pipe(Box::new(LogFile { path, file: None }));
    let env = env_logger::Env::new().filter_or("CCC_LOG", "info");
    let _ = env_logger::Builder::new().parse_env(env).target(target).format(format).try_init();
}

fn format(out: &mut env_logger::fmt::Formatter, record: &log::Record<'_>) -> std::io::Result<()> {
    let (time, level, module) = (jiff::Timestamp::now(), record.level(), record.target());
    writeln!(out, "{time:.3} {} {level} {module}: {}", std::process::id(), record.args())
}

struct LogFile {
    path: PathBuf,
    file: Option<File>,
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.file.is_none() {
            if let Some(dir) = self.path.parent() {
                files::create_dir(dir)?;
            }
            self.file = Some(files::append(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
