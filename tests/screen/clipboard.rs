//! Ctrl-V with the programs that know the clipboard, and without: a display that is gone, as in a
//! multiplexer that outlived it, is not an empty clipboard.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use crate::stage::opening;

const PNG: &str = r"printf '\211PNG\r\n\032\n'";

/// A directory with these programs in it.
fn programs(scripts: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, script) in scripts {
        let path = dir.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }
    dir
}

#[track_caller]
fn ctrl_v(scripts: &[(&str, &str)], displays: &[&'static str], seen: &str) {
    let dir = programs(scripts);
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    let opening = opening().size(120, 24).env("PATH", path);
    let opening = displays.iter().fold(opening, |opening, name| opening.env(name, "zq"));
    let (mut stage, _agent) = opening.ready();
    stage.person.types("\x16");
    stage.person.sees(seen);
}

#[test]
fn an_image_comes_from_the_display_that_has_one() {
    let empty = "echo 'Clipboard content is not available as requested type' >&2; exit 1";
    ctrl_v(&[("wl-paste", PNG)], &["WAYLAND_DISPLAY"], "[Image #1]");
    ctrl_v(&[("wl-paste", empty), ("xclip", PNG)], &["WAYLAND_DISPLAY", "DISPLAY"], "[Image #1]");
    let told = "No image was added: the clipboard contains no image.";
    ctrl_v(&[("wl-paste", empty)], &["WAYLAND_DISPLAY"], told);
}

#[test]
fn a_display_that_is_gone_is_named() {
    let gone = "echo 'Failed to connect to a Wayland server: No such file' >&2; exit 1";
    let told = "No image was added: wl-paste: Failed to connect to a Wayland server: No such file;";
    ctrl_v(&[("wl-paste", gone)], &["WAYLAND_DISPLAY"], told);
    let gone = "echo \"Error: Can't open display: zq\" >&2; exit 1";
    let told = "No image was added: xclip: Error: Can't open display: zq; drop the file on";
    ctrl_v(&[("xclip", gone)], &["DISPLAY"], told);
    ctrl_v(&[("xclip", PNG)], &[], "there is no clipboard without a Wayland or X11 display");
}
