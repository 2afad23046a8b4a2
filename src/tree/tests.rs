use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

struct Project {
    dir: tempfile::TempDir,
    git: Option<PathBuf>,
}

impl Project {
    fn plain() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), git: None }
    }

    fn with_git() -> Self {
        let git = find_git(std::env::var_os("PATH").as_deref()).expect("git on the PATH");
        let project = Self { dir: tempfile::tempdir().unwrap(), git: Some(git) };
        project.git(&["init", "--quiet"]);
        project
    }

    fn git(&self, args: &[&str]) {
        let config = ["user.name=t", "user.email=t@t", "init.defaultBranch=main"];
        let config = config.iter().flat_map(|setting| ["-c", setting]);
        let done = Command::new(self.git.as_ref().unwrap())
            .args(config)
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn take(&self) -> Snapshot {
        Snapshot::take(self.dir.path(), self.git.as_deref())
    }

    /// What `act` changed, as "+path", "~path", "-path".
    fn changed_by(&self, act: impl FnOnce()) -> Vec<String> {
        let before = self.take();
        act();
        names(&before.changes(&before.again(self.dir.path(), self.git.as_deref())))
    }
}

fn names(changes: &[Change]) -> Vec<String> {
    let mark = |kind| match kind {
        ChangeKind::Added => '+',
        ChangeKind::Modified => '~',
        ChangeKind::Deleted => '-',
    };
    changes.iter().map(|change| format!("{}{}", mark(change.kind), change.path.display())).collect()
}

#[test]
fn what_was_added_changed_and_deleted_is_named_with_and_without_git() {
    for project in [Project::plain(), Project::with_git()] {
        for file in ["same", "changed", "deleted", "dir/deep", "made executable", "linked"] {
            project.write(file, file);
        }
        if project.git.is_some() {
            project.commit();
        }
        let changed = project.changed_by(|| {
            project.write("changed", "other");
            project.write("new/file 1", "x");
            fs::remove_file(project.path("deleted")).unwrap();
            fs::remove_file(project.path("linked")).unwrap();
            symlink("same", project.path("linked")).unwrap();
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(project.path("made executable"), mode).unwrap();
            // Written again with the same content.
            project.write("same", "same");
        });
        let expected = ["~changed", "-deleted", "~linked", "~made executable", "+new/file 1"];
        assert_eq!(changed, expected, "git: {:?}", project.git);
        assert_eq!(project.changed_by(|| ()), [""; 0]);
        assert_eq!(project.take().fingerprint(), project.take().fingerprint());
    }
}

#[test]
fn a_commit_changes_no_file() {
    let project = Project::with_git();
    project.write("a", "1");
    let before_the_first = project.take();
    project.commit();
    assert_eq!(names(&before_the_first.changes(&project.take())), [""; 0]);
    project.write("a", "2");
    project.write("b", "new");
    assert_eq!(project.changed_by(|| project.commit()), [""; 0]);
    // A commit of a file that changed meanwhile does not hide the change.
    let changed = project.changed_by(|| {
        project.write("a", "3");
        project.commit();
    });
    assert_eq!(changed, ["~a"]);
    project.write("a", "4");
    assert_eq!(project.changed_by(|| project.git(&["checkout", "--quiet", "a"])), ["~a"]);
}

#[test]
fn dirty_files_are_compared_by_content() {
    let project = Project::with_git();
    project.write("a", "1");
    project.commit();
    project.write("a", "dirty");
    project.write("untracked", "1");
    assert_eq!(project.changed_by(|| project.write("a", "DIRTY")), ["~a"]);
    assert_eq!(project.changed_by(|| project.write("untracked", "2")), ["~untracked"]);
    assert_eq!(project.changed_by(|| project.git(&["add", "--all"])), [""; 0]);
    // Staged, and then restored to the content of the commit: still a change since the last
    // snapshot.
    assert_eq!(project.changed_by(|| project.write("a", "1")), ["~a"]);
}

#[test]
fn what_git_was_told_not_to_look_at_is_seen() {
    let project = Project::with_git();
    project.write("a", "1");
    project.write("b", "1");
    project.commit();
    project.git(&["update-index", "--assume-unchanged", "a"]);
    project.git(&["update-index", "--skip-worktree", "b"]);
    let changed = project.changed_by(|| {
        project.write("a", "2");
        project.write("b", "2");
    });
    assert_eq!(changed, ["~a", "~b"]);
}

#[test]
fn nothing_of_the_repositorys_own_configuration_is_run() {
    let project = Project::with_git();
    project.write("a", "1");
    project.commit();
    let ran = project.path(".git/ran");
    let script = project.path(".git/script");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    project.git(&["config", "core.fsmonitor", script.to_str().unwrap()]);
    fs::copy(&script, project.path(".git/hooks/post-index-change")).unwrap();
    let index = fs::metadata(project.path(".git/index")).unwrap().modified().unwrap();
    assert_eq!(project.changed_by(|| project.write("a", "2")), ["~a"]);
    assert!(!ran.exists());
    assert_eq!(fs::metadata(project.path(".git/index")).unwrap().modified().unwrap(), index);
}

#[test]
fn submodules_and_other_repositories_inside_are_looked_into() {
    let inner = Project::with_git();
    inner.write("in", "1");
    inner.commit();
    let project = Project::with_git();
    project.write("a", "1");
    project.commit();
    let from = inner.dir.path().to_str().unwrap();
    project.git(&["submodule", "--quiet", "add", from, "sub"]);
    project.commit();
    project.git(&["clone", "--quiet", from, "other"]);
    assert_eq!(project.changed_by(|| project.write("other/in", "2")), ["~other/in"]);
    let changed = project.changed_by(|| {
        project.write("sub/in", "2");
        project.write("sub/new", "2");
    });
    assert_eq!(changed, ["~sub/in", "+sub/new"]);
    assert_eq!(project.changed_by(|| project.write("sub/in", "3")), ["~sub/in"]);
    let dropped = || fs::remove_dir_all(project.path("other")).unwrap();
    assert_eq!(project.changed_by(dropped), ["-other"]);
}

#[test]
fn a_part_of_a_repository_and_a_worktree_are_repositories_too() {
    let project = Project::with_git();
    project.write("part/a", "1");
    project.write("b", "1");
    project.commit();
    let part = project.path("part");
    let before = Snapshot::take(&part, project.git.as_deref());
    project.write("part/a", "2");
    project.write("b", "2");
    let after = Snapshot::take(&part, project.git.as_deref());
    assert_eq!(names(&before.changes(&after)), ["~b", "~part/a"]);

    let beside = tempfile::tempdir().unwrap();
    let worktree = beside.path().join("wt");
    project.git(&["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap()]);
    let before = Snapshot::take(&worktree, project.git.as_deref());
    fs::write(worktree.join("b"), "3").unwrap();
    let after = Snapshot::take(&worktree, project.git.as_deref());
    assert_eq!(names(&before.changes(&after)), ["~b"]);
}

#[test]
fn ignored_files_are_not_looked_at() {
    for project in [Project::plain(), Project::with_git()] {
        project.write(".gitignore", "*.log\n");
        assert_eq!(project.changed_by(|| project.write("x.log", "1")), [""; 0]);
    }
}

#[test]
fn a_git_that_does_not_work_is_said_and_the_files_are_read() {
    let mut project = Project::with_git();
    project.git = Some("/bin/false".into());
    project.write("a", "1");
    let before = project.take();
    assert!(before.note().unwrap().contains("git could not be asked"), "{:?}", before.note());
    project.write("a", "2");
    assert_eq!(names(&before.changes(&project.take())), ["~a"]);
}

/// The filter is named in the repository's own configuration, which the agent can write.
#[test]
fn no_filter_of_the_repository_runs() {
    let project = Project::with_git();
    project.write("a.txt", "one");
    project.commit();
    let ran = project.dir.path().join(".git/ran");
    let program = project.path(".git/filter");
    fs::write(&program, format!("#!/bin/sh\necho ran >> '{}'\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["filter.x.clean", "diff.x.textconv", "diff.external"] {
        project.git(&["config", name, &program.display().to_string()]);
    }
    project.git(&["config", "filter.x.required", "true"]);
    fs::write(project.path(".git/info/attributes"), "* filter=x diff=x\n").unwrap();
    let before = project.take();
    // The same size, so that git has to read the file.
    project.write("a.txt", "two");
    assert_eq!(names(&before.changes(&project.take())), ["~a.txt"]);
    assert!(!ran.exists(), "it ran");
}

/// The same in a repository inside, which git counts as a submodule.
#[test]
fn no_filter_of_a_repository_inside_runs() {
    let project = Project::with_git();
    let inner = Project::with_git();
    inner.write("a.txt", "one");
    inner.commit();
    project.git(&["clone", "--quiet", inner.dir.path().to_str().unwrap(), "sub"]);
    project.commit();
    let ran = project.dir.path().join(".git/ran");
    let filter = format!("echo ran >> '{}'; cat", ran.display());
    project.git(&["-C", "sub", "config", "filter.x.clean", &filter]);
    fs::write(project.path("sub/.git/info/attributes"), "* filter=x\n").unwrap();
    let before = project.take();
    project.write("sub/a.txt", "two");
    assert_eq!(names(&before.changes(&project.take())), ["~sub/a.txt"]);
    assert!(!ran.exists(), "it ran");
}

/// Settings with which an agent can make git look elsewhere or show something else.
#[test]
fn a_change_is_seen_wherever_the_repository_says_to_look() {
    let elsewhere = tempfile::tempdir().unwrap();
    let project = Project::with_git();
    project.write("a", "1");
    project.commit();
    fs::write(elsewhere.path().join("a"), "1").unwrap();
    fs::write(elsewhere.path().join("ignored"), "hidden*\n").unwrap();
    let there = elsewhere.path().to_str().unwrap();
    let changed = project.changed_by(|| {
        project.git(&["config", "core.worktree", there]);
        project.write("a", "2");
    });
    assert_eq!(changed, ["~a"], "another work tree");
    project.git(&["config", "--unset", "core.worktree"]);
    let changed = project.changed_by(|| {
        project.git(&["config", "core.bare", "true"]);
        project.write("a", "3");
    });
    assert_eq!(changed, ["~a"], "no work tree");
    project.git(&["config", "core.bare", "false"]);
    project.commit();
    let changed = project.changed_by(|| {
        project.write("a", "4");
        project.commit();
        project.git(&["replace", "HEAD~1", "HEAD"]);
    });
    assert_eq!(changed, ["~a"], "another commit in the place of the first");
    let changed = project.changed_by(|| {
        project.git(&["config", "core.excludesFile", &format!("{there}/ignored")]);
        project.write("hidden.py", "x");
    });
    assert_eq!(changed, ["+hidden.py"], "a list of files to ignore");
}

#[test]
fn what_is_committed_to_a_new_repository_is_seen() {
    let project = Project { git: Project::with_git().git, ..Project::plain() };
    project.write("old", "x");
    let changed = project.changed_by(|| {
        project.git(&["init", "--quiet"]);
        project.write("new", "x");
        project.commit();
        project.write("later", "x");
    });
    assert_eq!(changed, ["+later", "+new"]);
}

#[test]
fn a_repository_that_is_removed_broken_or_replaced_hides_nothing() {
    let remove = |project: &Project| fs::remove_dir_all(project.path(".git")).unwrap();
    let corrupt = |project: &Project| project.write(".git/HEAD", "junk");
    let replace = |project: &Project| {
        remove(project);
        project.git(&["init", "--quiet"]);
        project.write("also", "x");
        project.commit();
    };
    for act in [&remove as &dyn Fn(&Project), &corrupt, &replace] {
        let project = Project::with_git();
        project.write("old", "x");
        project.commit();
        let before = project.take();
        project.write("new", "x");
        act(&project);
        let after = before.again(project.dir.path(), project.git.as_deref());
        assert!(!before.is_comparable(&after), "{after:?}");
        assert_eq!(names(&before.changes(&after)), ["~.git"]);
    }
}
