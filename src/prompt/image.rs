//! Images for a message, from a file that was dropped or named, or from the clipboard.

use std::env;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use crate::client::stream::Image;
use crate::executables;
use crate::files;
use crate::process::answer::{Bounds, answer};

/// The API accepts 5 MiB of base64, which is three quarters as many bytes.
const LARGEST: u64 = 5 * 1024 * 1024 / 4 * 3;
/// A clipboard program waits for ever if the clipboard's owner does not answer.
const CLIPBOARD_TIMEOUT: Duration = Duration::from_secs(3);

/// The paths in a text that contains only paths of image files, in the form in which terminals
/// paste dropped files: quoted, with backslashes, or as URLs.
pub fn dropped_paths(text: &str, home: Option<&OsStr>) -> Option<Vec<PathBuf>> {
    let words = shell_words::split(text.trim()).ok().filter(|words| !words.is_empty())?;
    words.iter().map(|word| path(word, home).filter(|path| is_absolute_image(path))).collect()
}

fn is_absolute_image(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let known = ["png", "jpg", "jpeg", "gif", "webp"];
    path.is_absolute() && known.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// The path that a word means: a URL, a path below `~`, or a plain path.
pub fn path(word: &str, home: Option<&OsStr>) -> Option<PathBuf> {
    if let Some(address) = word.strip_prefix("file://") {
        let address = address.strip_prefix("localhost").unwrap_or(address);
        let path = percent_decode_str(address).decode_utf8_lossy();
        return Some(path.into_owned().into());
    }
    if let Some(rest) = word.strip_prefix("~/") {
        return home.map(|home| Path::new(home).join(rest));
    }
    Some(word.into())
}

pub fn read(path: &Path) -> Result<Image> {
    let name = path.display();
    let file = files::open_file(path).with_context(|| format!("cannot read {name}"))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    image(&bytes, &name.to_string())
}

fn image(bytes: &[u8], name: &str) -> Result<Image> {
    let size = bytes.len() as u64;
    ensure!(size <= LARGEST, "{name} is larger than 3.9 MB");
    let media_type = media_type(bytes)
        .with_context(|| format!("{name} is not a PNG, JPEG, GIF or WebP image"))?;
    Ok(Image { media_type, data: STANDARD.encode(bytes) })
}

fn media_type(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => return None,
    })
}

/// Asks the programs that can read the clipboard. Blocks, so it must not run on the thread that
/// draws.
pub fn clipboard() -> Result<Image> {
    const INSTEAD: &str = "drop the file on the terminal, or use /image PATH";
    let programs = clipboards();
    let (Some((first, _)), Some((last, _))) = (programs.first(), programs.last()) else {
        bail!("there is no clipboard without a Wayland or X11 display; {INSTEAD}");
    };
    let (mut asked, mut gone) = (false, None);
    for (name, args) in &programs {
        let Some(program) = executables::on_path(Path::new(name)) else { continue };
        asked = true;
        let (bytes, complaint) = output(Command::new(program).args(*args))?;
        if is_missing_display(&complaint) {
            gone = Some(format!("{name}: {}", complaint.trim()));
        }
        let bytes = from_apple_script(&bytes).unwrap_or(bytes);
        match image(&bytes, "the image on the clipboard") {
            // Some versions of xclip print text although an image was asked for.
            Err(_) if media_type(&bytes).is_none() => {}
            image => return image,
        }
    }
    let needed = if first == last { (*first).to_owned() } else { format!("{first} or {last}") };
    ensure!(asked, "ccc needs {needed} to read the clipboard; or {INSTEAD}");
    if let Some(complaint) = gone {
        bail!("{complaint}; {INSTEAD}");
    }
    bail!("the clipboard contains no image")
}

/// Recognised by its text, because both programs fail with the same exit code if there is no image.
fn is_missing_display(complaint: &str) -> bool {
    ["open display", "connect to"].iter().any(|words| complaint.contains(words))
}

type ClipboardProgram = (&'static str, &'static [&'static str]);

fn clipboards() -> Vec<&'static ClipboardProgram> {
    const APPLE: ClipboardProgram = ("osascript", &["-e", "get the clipboard as «class PNGf»"]);
    const WAYLAND: ClipboardProgram = ("wl-paste", &["--type", "image/png"]);
    const X11: ClipboardProgram =
        ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]);
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "macos") {
        return vec![&APPLE];
    }
    let wayland = set("WAYLAND_DISPLAY").then_some(&WAYLAND);
    wayland.into_iter().chain(set("DISPLAY").then_some(&X11)).collect()
}

fn output(command: &mut Command) -> Result<(Vec<u8>, String)> {
    const BOUNDS: Bounds =
        Bounds { time: CLIPBOARD_TIMEOUT, idle: CLIPBOARD_TIMEOUT, bytes: 2 * LARGEST + 1024 };
    const LONGEST_COMPLAINT: usize = 200;
    let output = answer(command, b"", BOUNDS).context("the clipboard does not answer")?;
    if output.status.success() {
        return Ok((output.printed, String::new()));
    }
    Ok((Vec::new(), output.errors.chars().take(LONGEST_COMPLAINT).collect()))
}

/// `«data PNGf89504E47…»`, as AppleScript prints bytes.
fn from_apple_script(printed: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(printed).ok()?.trim();
    let digits = text.strip_prefix("«data PNGf")?.strip_suffix('»')?;
    let digit = |at: usize| digits.get(at..at + 2);
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digit(at)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

    #[test]
    fn dropped_files_are_recognised() {
        let paths = |text: &str| {
            let paths = dropped_paths(text, Some(OsStr::new("/home/me")))?;
            Some(paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("/tmp/a.png", &["/tmp/a.png"][..]),
            ("/tmp/my\\ shot.PNG ", &["/tmp/my shot.PNG"]),
            ("'/tmp/my shot.jpeg' '/tmp/b.gif'", &["/tmp/my shot.jpeg", "/tmp/b.gif"]),
            ("file:///tmp/my%20shot.webp", &["/tmp/my shot.webp"]),
            ("~/a.jpg", &["/home/me/a.jpg"]),
        ] {
            assert_eq!(paths(text).unwrap_or_default(), expected, "{text}");
        }
        for text in ["", "a.png", "see /tmp/a.png", "/tmp/a.rs", "/tmp/it's.png", "file://%zz.png"]
        {
            assert_eq!(paths(text), None, "{text}");
        }
    }

    #[test]
    fn the_content_of_a_file_counts_not_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert_eq!(read(&file("a.jpg", PNG)).unwrap().media_type, "image/png");
        let webp = file("w.png", b"RIFF\0\0\0\0WEBPVP8 ");
        assert_eq!(read(&webp).unwrap().media_type, "image/webp");
        let why = |path: &Path| read(path).unwrap_err().to_string();
        assert!(why(&file("b.png", b"no image")).contains("is not a PNG"));
        assert!(why(&dir.path().join("none.png")).contains("cannot read"));
        assert!(why(dir.path()).contains("cannot read"));
        let fifo = dir.path().join("fifo.png");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(why(&fifo).contains("cannot read"), "and nobody waits for it");
        let large = file("large.png", PNG);
        File::options().write(true).open(&large).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(why(&large).ends_with("is larger than 3.9 MB"), "{}", why(&large));
    }

    #[test]
    fn the_output_of_apple_script_is_read() {
        assert_eq!(from_apple_script("«data PNGf89504E470D0A1A0A»\n".as_bytes()).unwrap(), PNG);
        for other in ["", "«data PNGf8»", "«data PNGfzz»", "89504E47"] {
            assert_eq!(from_apple_script(other.as_bytes()), None, "{other}");
        }
    }
}
