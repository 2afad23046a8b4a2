//! Without an overlay, Landlock refuses every write except to a few places. It does not cover
//! modes, owners and times of files, so it does not stop a `chmod`; the comparison after a review
//! sees that.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus,
};

use super::covers::{Covers, client_dir_in};

/// The first version that also refuses to truncate files.
const NEEDED: ABI = ABI::V3;

/// Returns where temporary files must go, if the project itself is in the temporary directory.
pub fn enter(covers: &Covers) -> Result<Option<PathBuf>> {
    if covers.kept.iter().any(|kept| covers.covered.contains(kept)) {
        bail!("the project is the client's own directory");
    }
    let temporary = env::temp_dir().canonicalize().ok();
    // A directory that can be made writable without making the project writable too.
    let temporary = temporary.filter(|dir| holds(dir, &covers.covered));
    let temporary = temporary.map(|dir| client_dir_in(&dir));
    let writes = AccessFs::from_write(NEEDED);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writes)
        .context("this kernel has no Landlock, or one that is too old")?
        .create()?;
    let devices = PathBuf::from("/dev");
    let open = covers.kept.iter().chain(&covers.temporary).chain([&devices]);
    let open = open.flat_map(|path| around(path, &covers.covered));
    for path in open.chain(temporary.clone()) {
        rules = allow(rules, &path, writes)?;
    }
    let status = rules.restrict_self().context("the kernel refuses")?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(temporary),
        _ => bail!("the kernel would enforce only part of it"),
    }
}

fn holds(dir: &Path, covered: &[PathBuf]) -> bool {
    covered.iter().any(|covered| covered.starts_with(dir))
}

fn allow(rules: RulesetCreated, path: &Path, writes: BitFlags<AccessFs>) -> Result<RulesetCreated> {
    // A path that has disappeared needs no rule.
    let Ok(fd) = PathFd::new(path) else { return Ok(rules) };
    let wanted = if path.is_dir() { writes } else { writes & AccessFs::from_file(NEEDED) };
    Ok(rules.add_rule(PathBeneath::new(fd, wanted))?)
}

/// The path or, if it contains something covered, everything in it that does not. A path inside the
/// project, such as a client's own directory, stays writable.
fn around(path: &Path, covered: &[PathBuf]) -> Vec<PathBuf> {
    if covered.iter().any(|covered| covered == path) {
        return Vec::new();
    }
    if !holds(path, covered) {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| !entry.path().is_symlink());
    entries.flat_map(|entry| around(&entry.path(), covered)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_in_the_temporary_directory_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["beside", "room/project/part", "room/tmp"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        let covered = [root.join("room/project")];
        let mut open = around(&root, &covered);
        open.sort();
        assert_eq!(open, [root.join("beside"), root.join("room/tmp")]);
        assert_eq!(around(&covered[0], &covered), [""; 0].map(PathBuf::from));
        assert_eq!(around(&root.join("room/project/part"), &covered), [covered[0].join("part")]);
        assert_eq!(around(&root.join("beside"), &covered), [root.join("beside")]);
    }
}
