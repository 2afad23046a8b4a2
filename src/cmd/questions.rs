//! Questions to a person at the terminal, one line each.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, Result, bail};
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};

use crate::console;

/// Whether somebody can read a question and answer it.
pub fn is_possible() -> bool {
    std::io::stdin().is_terminal() && console::is_terminal()
}

pub struct Questions<R, W> {
    pub input: R,
    pub output: W,
}

impl Questions<std::io::StdinLock<'static>, std::io::Stdout> {
    pub fn terminal() -> Self {
        Self { input: std::io::stdin().lock(), output: console::stdout() }
    }

    pub fn hidden(&mut self, question: &str) -> Result<String> {
        // Before the question is printed: a pasted answer may arrive at once.
        let silence = EchoOff::begin()?;
        write!(self.output, "{question}: ")?;
        self.output.flush()?;
        let typed = read_hidden(&mut self.input);
        drop(silence);
        writeln!(self.output)?;
        typed
    }
}

impl<R: BufRead, W: Write> Questions<R, W> {
    pub fn say(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.output, "{}", console::clean(text))?)
    }

    pub fn ask(&mut self, question: &str, default: &str) -> Result<String> {
        if default.is_empty() {
            write!(self.output, "{question}: ")?;
        } else {
            write!(self.output, "{question} [{default}]: ")?;
        }
        let answer = self.line()?;
        Ok(if answer.is_empty() { default.to_owned() } else { answer })
    }

    pub fn confirm(&mut self, question: &str, default: bool) -> Result<bool> {
        write!(self.output, "{question} [{}] ", if default { "Y/n" } else { "y/N" })?;
        Ok(match self.line()?.to_lowercase().as_str() {
            "" => default,
            answer => matches!(answer, "y" | "yes"),
        })
    }

    fn line(&mut self) -> Result<String> {
        self.output.flush()?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        if !line.ends_with('\n') {
            bail!("cancelled; nothing was changed");
        }
        Ok(line.trim().to_owned())
    }
}

/// Switches echo and signals off: a Ctrl-C that ended the program here would leave the terminal without echo.
struct EchoOff(Termios);

impl EchoOff {
    fn begin() -> Result<Self> {
        let before = tcgetattr(std::io::stdin()).context("cannot hide what is typed")?;
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        silent.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        silent.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &silent)
            .context("cannot hide what is typed")?;
        Ok(Self(before))
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &self.0);
    }
}

/// Reads a line and edits it by hand, because the terminal does not in this mode.
fn read_hidden(input: &mut impl Read) -> Result<String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut byte = [0];
    loop {
        if input.read(&mut byte)? == 0 {
            bail!("cancelled; nothing was changed");
        }
        match byte[0] {
            b'\n' | b'\r' => break,
            // Ctrl-C, Ctrl-D
            0x03 | 0x04 => bail!("cancelled; nothing was changed"),
            0x08 | 0x7f => while bytes.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // Ctrl-U
            0x15 => bytes.clear(),
            other if other < b' ' => {}
            other => bytes.push(other),
        }
    }
    let typed = String::from_utf8(bytes).context("what was typed is not UTF-8")?;
    Ok(typed.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(typed: &str) -> Questions<&[u8], Vec<u8>> {
        Questions { input: typed.as_bytes(), output: Vec::new() }
    }

    #[test]
    fn an_empty_answer_is_the_default() {
        let mut questions = questions("\n  mine \n\n\nYES\nwhat\n");
        assert_eq!(questions.ask("Name", "kimi").unwrap(), "kimi");
        assert_eq!(questions.ask("Name", "kimi").unwrap(), "mine");
        assert!(questions.confirm("Really?", true).unwrap());
        assert!(!questions.confirm("Really?", false).unwrap());
        assert!(questions.confirm("Really?", false).unwrap());
        assert!(!questions.confirm("Really?", true).unwrap());
        assert!(questions.ask("Name", "kimi").is_err(), "the end is no answer");
        let shown = String::from_utf8(questions.output).unwrap();
        assert!(shown.starts_with("Name [kimi]: Name [kimi]: Really? [Y/n] "), "{shown}");
    }

    #[test]
    fn a_hidden_line_can_be_edited() {
        for (typed, read) in [
            ("abc\n", Some("abc")),
            ("abx\u{7f}c\r", Some("abc")),
            ("aé\u{8}b\n", Some("ab")),
            ("\u{7f}wrong\u{15}right \n", Some("right")),
            ("ab\u{3}", None),
            ("ab", None),
        ] {
            assert_eq!(read_hidden(&mut typed.as_bytes()).ok().as_deref(), read, "{typed:?}");
        }
    }
}
