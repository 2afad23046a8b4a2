//! Commands whose effect no glass case can contain, because it happens on another machine or in a
//! program outside the case. docs/glass-case.md shows this table; a test keeps the two the same.

/// What a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Pushing,
    Publishing,
    RemoteShell,
    Cloud,
    Containers,
    Machine,
}

#[derive(Debug, Clone, Copy)]
enum Which {
    All,
    /// Only these subcommands.
    Only(&'static [&'static str]),
    /// Every subcommand except these.
    AllBut(&'static [&'static str]),
    /// Any call with an argument that names another machine.
    Remote,
}

pub struct Outward {
    pub reach: Reach,
    /// The program and, where it matters, the subcommand.
    pub name: String,
}

use Reach::{Cloud, Containers, Machine, Publishing, Pushing, RemoteShell};
use Which::{All, AllBut, Only, Remote};

const LOOKING: &[&str] = &[
    "pr view",
    "pr list",
    "pr diff",
    "pr checks",
    "pr status",
    "issue view",
    "issue list",
    "run view",
    "run list",
    "run watch",
    "repo view",
    "repo list",
    "release view",
    "release list",
    "search",
    "status",
    "version",
    "help",
    "auth status",
    "workflow view",
    "workflow list",
    "mr view",
    "mr list",
    "mr diff",
    "ci view",
    "ci list",
];
const PLANNING: &[&str] = &["fmt", "validate", "version", "show", "output", "graph", "help"];

const TABLE: &[(Reach, &[&str], Which)] = &[
    (
        Pushing,
        &["git"],
        Only(&[
            "push",
            "send-pack",
            "http-push",
            "send-email",
            "lfs push",
            "subtree push",
            "svn dcommit",
            "p4 submit",
            "annex sync",
        ]),
    ),
    (Pushing, &["hg", "jj git"], Only(&["push"])),
    (Pushing, &["svn"], Only(&["commit", "ci", "copy", "delete", "import", "mkdir", "move"])),
    (Pushing, &["gh", "glab"], AllBut(LOOKING)),
    (
        Publishing,
        &["npm", "pnpm", "bun"],
        Only(&["publish", "unpublish", "deprecate", "dist-tag", "owner", "access", "token"]),
    ),
    (Publishing, &["yarn"], Only(&["publish", "npm publish", "npm tag"])),
    (Publishing, &["cargo"], Only(&["publish", "yank", "owner", "login", "release"])),
    (Publishing, &["twine"], Only(&["upload"])),
    (
        Publishing,
        &[
            "poetry",
            "uv",
            "flit",
            "hatch",
            "pdm",
            "deno",
            "jsr",
            "lerna",
            "changeset",
            "vsce",
            "ovsx",
        ],
        Only(&["publish"]),
    ),
    (Publishing, &["gem"], Only(&["push", "yank", "owner"])),
    (Publishing, &["mvn", "mvnw"], Only(&["deploy", "release:perform"])),
    (Publishing, &["gradle", "gradlew"], Only(&["publish", "publishPlugins", "uploadArchives"])),
    (Publishing, &["dotnet"], Only(&["nuget push", "nuget delete"])),
    (Publishing, &["nuget", "conan", "pod trunk"], Only(&["push", "delete", "upload"])),
    (Publishing, &["goreleaser", "semantic-release", "release-it", "fastlane"], All),
    (
        RemoteShell,
        &[
            "ssh",
            "scp",
            "sftp",
            "mosh",
            "telnet",
            "ftp",
            "lftp",
            "pssh",
            "ansible",
            "ansible-playbook",
            "rclone",
        ],
        All,
    ),
    (RemoteShell, &["rsync"], Remote),
    (
        Cloud,
        &[
            "aws",
            "gcloud",
            "gsutil",
            "bq",
            "az",
            "doctl",
            "oci",
            "ibmcloud",
            "hcloud",
            "eksctl",
            "pulumi",
            "cdk",
            "serverless",
            "sls",
            "sam",
            "vault",
            "nomad",
            "packer",
        ],
        All,
    ),
    (
        Cloud,
        &["kubectl", "oc", "argocd", "flux", "istioctl", "helm"],
        AllBut(&["version", "template", "lint", "explain", "help"]),
    ),
    (Cloud, &["terraform", "tofu", "terragrunt"], AllBut(PLANNING)),
    (
        Cloud,
        &[
            "vercel", "netlify", "wrangler", "firebase", "flyctl", "fly", "heroku", "railway",
            "supabase", "surge",
        ],
        All,
    ),
    (
        Containers,
        &[
            "docker",
            "docker-compose",
            "podman",
            "nerdctl",
            "buildah",
            "ctr",
            "crictl",
            "lxc",
            "incus",
            "vagrant",
            "virsh",
            "minikube",
            "kind",
        ],
        AllBut(&["version", "--version", "help"]),
    ),
    (
        Machine,
        &[
            "systemctl",
            "service",
            "shutdown",
            "reboot",
            "halt",
            "poweroff",
            "crontab",
            "at",
            "batch",
        ],
        All,
    ),
    (Machine, &["mail", "mailx", "mutt", "sendmail"], All),
];

impl Reach {
    pub fn name(self) -> &'static str {
        match self {
            Pushing => "pushing",
            Publishing => "publishing",
            RemoteShell => "remote shells",
            Cloud => "clouds and clusters",
            Containers => "containers",
            Machine => "the machine, and mail",
        }
    }

    /// Why the glass case cannot contain it.
    pub fn why(self) -> &'static str {
        match self {
            Pushing => "it changes a repository elsewhere",
            Publishing => "what is published stays published",
            RemoteShell => "it acts on another machine",
            Cloud => "it acts on machines elsewhere",
            Containers => "a program outside the review carries it out",
            Machine => "it reaches beyond the project",
        }
    }
}

/// Options that take a value and may stand before the subcommand, for all of these programs.
const VALUED: [&str; 16] = [
    "-C",
    "-c",
    "-f",
    "-n",
    "-p",
    "-R",
    "-s",
    "-w",
    "--cwd",
    "--dir",
    "--file",
    "--filter",
    "--git-dir",
    "--manifest-path",
    "--repo",
    "--work-tree",
];

/// Stands for the result of a substitution.
const COMPUTED: &str = "_";

/// Looks a command up in the table. The first word is the program, without its directory.
pub fn find(words: &[String]) -> Option<Outward> {
    let (program, args) = words.split_first()?;
    let told = told(args);
    // A program whose name is only known at run time may be any that has such a subcommand.
    if program.starts_with('$') || program == COMPUTED {
        let any = TABLE.iter().filter(|(_, _, which)| matches!(which, Only(_)));
        return any.flat_map(|(_, programs, _)| *programs).find_map(|program| {
            let words = program.split(' ').map(str::to_owned).chain(args.iter().cloned());
            find(&words.collect::<Vec<_>>())
        });
    }
    if program == "git" && told.first().is_some_and(|sub| sub.starts_with('$') || *sub == COMPUTED)
    {
        return Some(Outward { reach: Pushing, name: "git push".to_owned() });
    }
    TABLE.iter().find_map(|(reach, programs, which)| {
        let rest = programs.iter().find_map(|name| match name.split_once(' ') {
            None => (name == program).then_some(&told[..]),
            Some((name, sub)) => {
                let (first, rest) = told.split_first()?;
                (name == program && *first == sub).then_some(rest)
            }
        })?;
        let starts = |sub: &&&str| rest.starts_with(&sub.split(' ').collect::<Vec<_>>());
        let outward = |name: String| Some(Outward { reach: *reach, name });
        match which {
            All => outward(program.clone()),
            Only(subs) => {
                let sub = subs.iter().find(starts)?;
                outward(format!("{program} {sub}"))
            }
            // A call without a subcommand prints help.
            AllBut(subs) if rest.is_empty() || subs.iter().any(|sub| starts(&sub)) => None,
            AllBut(_) => outward(format!("{program} {}", rest[0])),
            Remote => rest
                .iter()
                .any(|word| is_remote(word))
                .then(|| Outward { reach: *reach, name: program.clone() }),
        }
    })
}

/// The arguments without options and their values.
fn told(args: &[String]) -> Vec<&str> {
    let mut told = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        // Only before the subcommand: after it, the same letters may mean something else.
        if told.is_empty() && VALUED.contains(&arg.as_str()) {
            args.next();
        } else if !(arg.starts_with('-') || (told.is_empty() && arg.starts_with('+'))) {
            told.push(arg.as_str());
        }
    }
    told
}

/// `host:path`, `user@host::module`, `rsync://…`
fn is_remote(word: &str) -> bool {
    word.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// The table in Markdown, with one row for each kind of reach.
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::from("| what | denied by name | because |\n|---|---|---|\n");
    for reach in [Pushing, Publishing, RemoteShell, Cloud, Containers, Machine] {
        let rows = TABLE.iter().filter(|(of, ..)| *of == reach).map(|(_, programs, which)| {
            let programs =
                programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            match which {
                All => programs,
                Only(subs) => format!("{programs} with {}", quoted(subs)),
                AllBut(subs) => format!("{programs} but for {}", quoted(subs)),
                Remote => format!("{programs} with another machine"),
            }
        });
        let rows = rows.collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "| {} | {rows} | {} |", reach.name(), reach.why());
    }
    out
}

fn quoted(subs: &[&str]) -> String {
    subs.iter().map(|sub| format!("`{sub}`")).collect::<Vec<_>>().join(", ")
}
