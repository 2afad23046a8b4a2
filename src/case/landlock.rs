//! Without an overlay: the kernel refuses every write but to a few places. Modes, owners and times of
//! files are not its business, so a `chmod` is not held; the comparison after a review sees it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus,
};

use super::covers::{Covers, of_clients_in};

/// The first that also refuses to cut files off.
const NEEDED: ABI = ABI::V3;

/// Returns where temporary files go instead, when the project lies among them.
pub fn enter(covers: &Covers) -> Result<Option<PathBuf>> {
    if covers.kept.iter().any(|kept| covers.covered.contains(kept)) {
        bail!("the project is the client's own directory");
    }
    let temporary = env::temp_dir().canonicalize().ok();
    // One that can be opened without opening the project as well.
    let temporary = temporary.filter(|dir| holds(dir, &covers.covered));
    let temporary = temporary.map(|dir| of_clients_in(&dir));
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
    // What came and went meanwhile needs no rule.
    let Ok(fd) = PathFd::new(path) else { return Ok(rules) };
    let wanted = if path.is_dir() { writes } else { writes & AccessFs::from_file(NEEDED) };
    Ok(rules.add_rule(PathBeneath::new(fd, wanted))?)
}

/// The path, or, where something covered lies in it, everything in it that is not on the way there.
/// What lies in the project itself, as a client's own directory may, stays open.
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
    fn a_project_among_temporary_files_is_left_out() {
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
