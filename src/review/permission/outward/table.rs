//! The table of commands that reach beyond every glass case, and its form in Markdown.

/// What a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Pushing,
    Publishing,
    RemoteShell,
    Request,
    Cloud,
    Containers,
    Machine,
}

#[derive(Debug, Clone, Copy)]
pub enum Which {
    All,
    /// Only these subcommands.
    Only(&'static [&'static str]),
    /// The same for programs that also understand the beginning of a subcommand.
    Short(&'static [&'static str]),
    /// Any of these goals, in any place; with `*`, whatever begins so.
    Goal(&'static [&'static str]),
    /// Every subcommand except these.
    AllBut(&'static [&'static str]),
    /// Any call with an argument that names another machine.
    Remote,
    /// Any call that sends something to another machine (`requests`).
    Sending,
}

use Reach::{Cloud, Containers, Machine, Publishing, Pushing, RemoteShell, Request};
use Which::{All, AllBut, Goal, Only, Remote, Sending, Short};

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

pub const TABLE: &[(Reach, &[&str], Which)] = &[
    (
        Pushing,
        &["git"],
        Only(&[
            "push",
            "send-pack",
            "http-push",
            "send-email",
            "imap-send",
            "review",
            "lfs push",
            "subtree push",
            "svn dcommit",
            "p4 submit",
            "annex sync",
        ]),
    ),
    (Pushing, &["hg", "bzr", "darcs"], Short(&["push"])),
    (Pushing, &["jj git", "sl"], Only(&["push"])),
    (Pushing, &["svn"], Only(&["commit", "ci", "copy", "delete", "import", "mkdir", "move"])),
    (Pushing, &["gh", "glab"], AllBut(LOOKING)),
    (
        Publishing,
        &["npm", "pnpm", "bun"],
        Short(&["publish", "unpublish", "deprecate", "dist-tag", "owner", "access", "token"]),
    ),
    (
        Publishing,
        &["yarn"],
        Only(&[
            "publish",
            "npm publish",
            "npm tag",
            "workspaces foreach npm publish",
            "workspaces foreach publish",
        ]),
    ),
    (
        Publishing,
        &["cargo"],
        Only(&["publish", "yank", "owner", "login", "release", "smart-release"]),
    ),
    (Publishing, &["cargo workspaces", "cargo ws", "nx", "rush"], Only(&["publish", "release"])),
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
    (
        Publishing,
        &["mvn", "mvnw"],
        Goal(&["deploy", "deploy-file", "release:prepare", "release:perform"]),
    ),
    (Publishing, &["gradle", "gradlew"], Goal(&["publish*", "uploadArchives"])),
    (
        Publishing,
        &["sbt", "lein", "mix", "rake"],
        Goal(&["publish*", "deploy", "hex.publish", "release"]),
    ),
    (Publishing, &["dart pub", "flutter pub"], Only(&["publish"])),
    (Publishing, &["cabal", "luarocks", "anaconda"], Only(&["upload"])),
    (Publishing, &["dotnet"], Only(&["nuget push", "nuget delete"])),
    (Publishing, &["nuget", "conan", "pod trunk"], Only(&["push", "delete", "upload"])),
    (Publishing, &["goreleaser", "semantic-release", "release-it", "fastlane"], All),
    (
        RemoteShell,
        &[
            "ssh",
            "autossh",
            "sshfs",
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
    (Request, &["curl", "wget", "http", "https", "xh", "xhs"], Sending),
    (
        Cloud,
        &[
            "aws",
            "s3cmd",
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
            "systemd-run",
            "launchctl",
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
            Request => "requests",
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
            Request => "it sends something to another machine",
            Cloud => "it acts on machines elsewhere",
            Containers => "a program outside the review carries it out",
            Machine => "it reaches beyond the project",
        }
    }
}

/// The table in Markdown, with one row for each kind of reach.
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::from("| what | denied by name | because |\n|---|---|---|\n");
    for reach in [Pushing, Publishing, RemoteShell, Request, Cloud, Containers, Machine] {
        let rows = TABLE.iter().filter(|(of, ..)| *of == reach).map(|(_, programs, which)| {
            let programs =
                programs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            match which {
                All => programs,
                Only(subs) => format!("{programs} with {}", quoted(subs)),
                Short(subs) => {
                    format!("{programs} with {} or the beginning of one", quoted(subs))
                }
                Goal(goals) => format!("{programs} with {} in any place", quoted(goals)),
                Sending => format!("{programs} if they send something elsewhere"),
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
