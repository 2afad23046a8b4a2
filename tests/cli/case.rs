//! The glass case, with shell scripts in place of the client: whatever runs in it, nothing of the
//! project changes. A machine that allows no mounts says so, and is checked for what it has instead.

mod processes;
mod room;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ccc::client::case::{CaseKind, CaseRequest};
use ccc::tree::{Snapshot, find_git};
use nix::unistd::geteuid;

use room::{CaseRoom, Done};

/// Whether an overlay holds; a machine that has none says so.
#[track_caller]
fn is_overlay(done: &Done) -> bool {
    if done.report.held != CaseKind::Overlay {
        let _ = writeln!(std::io::stderr(), "no overlay on this machine: {}", done.report.why);
    }
    done.report.held == CaseKind::Overlay
}

fn contents(dir: &Path) -> Snapshot {
    Snapshot::take(dir, None)
}

#[track_caller]
fn unchanged(dir: &Path, before: &Snapshot) {
    assert_eq!(before.changes(&contents(dir)), []);
}

const ATTACKS: &str = "echo x > new; echo x >> file; echo x > file; touch touched; mkdir made; \
    rm -rf dir; sed -i s/real/forged/ file; mv file moved; ln -s / link; chmod 777 .; \
    python3 -c 'open(\"by-python\",\"w\").write(\"x\")'; cp /bin/sh copied; \
    umount \"$PWD\" 2>&1; umount -l \"$PWD\" 2>&1; unshare -rm umount -l \"$PWD\" 2>&1; \
    touch /proc/1/root/\"$PWD\"/escaped 2>&1; touch /proc/$PPID/root/\"$PWD\"/escaped 2>&1; true";

#[test]
fn nothing_that_is_written_in_a_case_stays() {
    let place = CaseRoom::new();
    let before = contents(&place.project);
    let done = place.run(&format!("{ATTACKS}; cat moved made/../new; pwd"));
    unchanged(&place.project, &before);
    assert!(done.report.held.is_case(), "{done:?}");
    if is_overlay(&done) {
        // Inside, it all happened, and at the same path.
        assert!(done.printed.contains("forged\n") || done.printed.contains("x\n"), "{done:?}");
        assert!(done.printed.ends_with(&format!("{}\n", place.project.display())), "{done:?}");
    }
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// Users other than root, when the test runs as root.
#[test]
fn it_holds_for_who_is_not_root() {
    if !geteuid().is_root() {
        return; // Then every other test is this one.
    }
    // The build directory need not be open to everybody.
    let dir = tempfile::tempdir().expect("a directory");
    let place = CaseRoom::under(dir.path(), "project");
    let shim = place.root.join("ccc");
    // By another process: a child that another test forks while this one writes the copy would keep it
    // open, and nothing could run it ("Text file busy").
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_ccc")).arg(&shim).status();
    assert!(copied.expect("cp").success(), "no copy that everybody can run");
    fs::set_permissions(&place.root, fs::Permissions::from_mode(0o755)).expect("a mode");
    let owner = Command::new("chown").args(["-R", "4711:4711"]).arg(&place.root).status();
    assert!(owner.expect("chown").success());
    let before = contents(&place.project);
    let case = CaseRequest { required: false, covered: vec![place.project.clone()] };
    let script = format!("id -u; {ATTACKS}; ls");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=4711", "--regid=4711", "--clear-groups"]).arg(&shim);
    command.arg("agent-shim").args(case.args()).args(["--", "/bin/sh", "-c", &script]);
    let like = place.command(&case, &place.project, "");
    command.env_clear().envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(&place.project).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let done = Done::of(command);
    unchanged(&place.project, &before);
    assert!(done.report.held.is_case() && done.printed.starts_with("4711\n"), "{done:?}");
    if is_overlay(&done) {
        assert!(done.printed.contains("by-python") && done.printed.contains("moved"), "{done:?}");
    }
}

#[test]
fn without_an_overlay_the_kernel_refuses_to_write() {
    // A machine on which no namespace can be had.
    let none = "echo 0 > /proc/sys/user/max_user_namespaces && \
        echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$@\"";
    let place = CaseRoom::new().behind(&["unshare", "-r", "sh", "-c", none, "sh"]);
    let can = Command::new("unshare").args(["-r", "sh", "-c", none, "sh", "true"]).output();
    if !can.is_ok_and(|done| done.status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: namespaces cannot be switched off here");
        return;
    }
    let before = contents(&place.project);
    let script = format!(
        "{ATTACKS}; ls; echo x > $TMPDIR/t && cat $TMPDIR/t && echo x > ~/.claude/c; \
         echo x > /dev/null && echo devices; echo x > ~/no"
    );
    let done = place.run(&script);
    assert_eq!(done.report.held, CaseKind::Landlock, "{done:?}");
    assert!(done.report.why.starts_with("no overlay: "), "{done:?}");
    // Modes are not Landlock's business; the rest is.
    fs::set_permissions(&place.project, fs::Permissions::from_mode(0o755)).expect("a mode");
    unchanged(&place.project, &before);
    assert!(done.printed.contains("devices"), "{done:?}");
    assert!(place.root.join("tmp/t").exists() && place.root.join("home/.claude/c").exists());
    assert_eq!(place.root.join("home/no").exists(), place.is_temporary(), "{done:?}");
}

#[test]
fn odd_names_and_links_lead_into_the_case() {
    for name in ["a:b", "a,b", "a\\b", "a b\nc", "a\"'$(x)"] {
        let place = CaseRoom::with_project(name);
        let before = contents(&place.project);
        let done = place.run("echo x > new && cat new");
        unchanged(&place.project, &before);
        if is_overlay(&done) {
            assert_eq!(done.printed, "x\n", "{name:?}");
        }
    }
    let place = CaseRoom::new();
    let link = place.root.join("link");
    symlink(&place.project, &link).expect("a link");
    let before = contents(&place.project);
    let script = format!("echo x > new; echo x > '{}/new2'; ls", place.project.display());
    let done = place.run_in(&link, std::slice::from_ref(&link), &script);
    unchanged(&place.project, &before);
    if is_overlay(&done) {
        assert!(done.printed.contains("new\nnew2\n"), "{done:?}");
    }
}

#[test]
fn directories_beside_the_project_are_covered_too() {
    let place = CaseRoom::new();
    let beside = place.root.join("beside");
    fs::create_dir(&beside).expect("a directory");
    let before = contents(&beside);
    let covered = [place.project.clone(), beside.clone(), "nowhere".into()];
    let done = place.run_in(&place.project, &covered, "echo x > ../beside/new; cat ../beside/new");
    unchanged(&beside, &before);
    if is_overlay(&done) {
        assert_eq!(done.printed, "x\n");
    }
}

#[test]
fn git_works_in_the_case_and_leaves_nothing_in_the_repository() {
    if find_git(std::env::var_os("PATH").as_deref()).is_none() {
        return;
    }
    let place = CaseRoom::new();
    let worktree = place.root.join("worktree");
    place.git(&place.project, &["init", "--quiet"]);
    place.git(&place.project, &["add", "--all"]);
    place.git(&place.project, &["commit", "--quiet", "--message", "x"]);
    let to = worktree.to_str().expect("a path in UTF-8");
    place.git(&place.project, &["worktree", "add", "--quiet", "--detach", to]);
    let listing = || {
        let walk = ignore_nothing(&place.project.join(".git"));
        walk.into_iter().chain(ignore_nothing(&worktree)).collect::<Vec<_>>()
    };
    let before = listing();
    let script = "git status --short && echo x >> file && \
        git -c user.name=t -c user.email=t@t commit --quiet --all --message y && \
        git stash list && git log --oneline | wc -l";
    for dir in [&place.project, &worktree] {
        let done = place.run_in(dir, std::slice::from_ref(dir), script);
        assert_eq!(listing(), before, "{done:?}");
        if is_overlay(&done) {
            assert_eq!(done.printed.trim(), "2", "{done:?}");
        }
    }
    // A part of a repository is covered with the rest of it.
    let part = place.project.join("dir");
    let done = place.run_in(
        &part,
        std::slice::from_ref(&part),
        "echo x > ../new; echo x >> deep; cat ../new",
    );
    assert_eq!(listing(), before, "{done:?}");
}

/// Every file with its content.
fn ignore_nothing(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .flat_map(|path| {
            if path.is_dir() {
                ignore_nothing(&path)
            } else {
                vec![(path.clone(), fs::read(path).unwrap_or_default())]
            }
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_clients_own_directory_stays_real_wherever_it_lies() {
    // The home directory is the project.
    let place = CaseRoom::with_project("home");
    fs::write(place.root.join("home/.claude.json"), "{}").expect("a file");
    let script = "echo kept > .claude/kept; echo kept > .claude.json; echo x > lost; cat lost";
    let done = place.run(script);
    let read = |name: &str| fs::read_to_string(place.project.join(name)).unwrap_or_default();
    assert_eq!(
        (read(".claude/kept").as_str(), read(".claude.json").as_str()),
        ("kept\n", "kept\n")
    );
    assert_eq!(read("lost"), "", "{done:?}");

    // The project lies in the client's directory.
    let place = CaseRoom::with_project("home/.claude/skills/one");
    let before = contents(&place.project);
    let done = place.run("echo x > new; echo kept > ~/.claude/kept; ls");
    unchanged(&place.project, &before);
    assert!(place.root.join("home/.claude/kept").exists(), "{done:?}");
}

#[test]
fn where_there_is_no_case_it_is_said_and_a_required_one_ends_it() {
    // The client's own directory is the one place that no case can cover.
    let place = CaseRoom::with_project("home/.claude");
    let done = place.run("echo ran");
    assert_eq!((done.report.held, done.code), (CaseKind::Nothing, Some(0)), "{done:?}");
    assert!(done.report.why.contains("the client's own directory"), "{done:?}");
    assert_eq!(done.printed, "ran\n");
    let case = CaseRequest { required: true, covered: vec![place.project.clone()] };
    let done = Done::of(place.command(&case, &place.project, "echo ran"));
    assert_eq!(done.code, Some(125), "{done:?}");
    assert!(done.printed.starts_with("supervisor.sandbox is \"required\""), "{done:?}");
    assert!(!done.printed.contains("ran\n"), "{done:?}");
}

#[test]
fn a_project_at_the_root_is_read_only() {
    let place = CaseRoom::new();
    let script = "echo x > ~/no; echo x > $TMPDIR/yes";
    let done = place.run_in(&place.project, &["/".into()], script);
    assert_ne!(done.report.held, CaseKind::Overlay, "{done:?}");
    assert!(done.report.why.contains("the project is the root directory"), "{done:?}");
    if done.report.held == CaseKind::Landlock {
        assert_eq!(place.root.join("home/no").exists(), place.is_temporary(), "{done:?}");
        assert!(place.root.join("tmp/yes").exists(), "{done:?}");
    }
}

/// File systems that a project may lie on, made by root in a namespace of the test's own.
#[test]
fn mounts_in_the_project_and_projects_on_other_file_systems() {
    if !geteuid().is_root() {
        let _ = writeln!(std::io::stderr(), "skipped: only root can mount what this test needs");
        return;
    }
    let memory = "mount -t tmpfs x \"$PWD\" && cd \"$PWD\" && echo real > file";
    let layered = "mount -t tmpfs x \"$TMPDIR\" && mkdir \"$TMPDIR/u\" \"$TMPDIR/w\" && mount -t \
        overlay x -o \"lowerdir=$PWD,upperdir=$TMPDIR/u,workdir=$TMPDIR/w\" \"$PWD\" && cd \"$PWD\"";
    let inside = "mkdir -p inner/deeper && mount -t tmpfs x inner && mkdir inner/deeper && \
        mount -t tmpfs y inner/deeper && echo real > inner/file && echo real > inner/deeper/file && \
        touch mounted && mount --bind file mounted && mkdir odd && mount -t proc proc odd";
    let look =
        "find . -name proc -prune -o -path ./odd -prune -o -type f -print | sort | xargs cat";
    let read_only =
        "mount --bind \"$PWD\" \"$PWD\" && mount -o remount,bind,ro \"$PWD\" && cd \"$PWD\"";
    for (prepare, attack) in [
        (memory, "echo x > new; echo x > file"),
        (read_only, "echo x > new; echo x > file"),
        (layered, "echo x > new; echo x > file; rm -r dir"),
        (inside, "echo x > new; echo x > inner/new; echo x > inner/deeper/file; echo x > mounted"),
    ] {
        // The state is compared in there, because the mounts are gone afterwards.
        let compare = format!(
            "{prepare} && before=$({look}) && \"$@\"; after=$({look}); \
             [ \"$before\" = \"$after\" ] && echo unchanged || echo \"changed: $after\""
        );
        let place = CaseRoom::new().behind(&["unshare", "-m", "sh", "-c", &compare, "sh"]);
        let done = place.run(&format!("{attack}; cat inner/deeper/file new"));
        assert!(done.printed.contains("unchanged\n"), "{prepare}: {done:?}");
        if is_overlay(&done) {
            assert!(done.printed.contains("x\n"), "{prepare}: {done:?}");
        }
    }
}

/// The client reads what its commands have printed from files there: nobody else may write them, and what was
/// there before is still to be seen. A schedule that was not there does not come either.
#[test]
fn temporary_files_and_the_schedule_are_the_cases_own() {
    let place = CaseRoom::new();
    let own = place.root.join("tmp").join(format!("claude-{}", geteuid()));
    fs::create_dir_all(&own).expect("a directory");
    fs::write(own.join("agents"), "of the agent").expect("a file");
    let before = contents(&place.project);
    let done = place
        .run("echo x > \"$TMPDIR/own\"; cat \"$TMPDIR/own\" \"$TMPDIR/agents\" .claude/*.json");
    unchanged(&place.project, &before);
    if is_overlay(&done) {
        assert_eq!(done.printed, "x\nof the agent{\"tasks\":[]}", "{done:?}");
        assert_eq!(fs::read_dir(&own).expect("it").count(), 1);
    }
}
