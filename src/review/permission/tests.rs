use super::*;

fn bash(held: CaseKind, command: &str, allowed: &[&str]) -> Ruling {
    let input = serde_json::json!({ "command": command }).to_string();
    ask(held, "Bash", &input, allowed)
}

fn ask(held: CaseKind, tool: &str, input: &str, allowed: &[&str]) -> Ruling {
    let asked = PermissionRequest { tool: tool.into(), input: input.into(), ..Default::default() };
    let allowed: Vec<_> = allowed.iter().map(|rule| (*rule).to_owned()).collect();
    rule(held, &asked, &allowed)
}

fn is_denied(ruling: &Ruling) -> bool {
    matches!(ruling, Ruling::Deny(_))
}

const EVERY: [CaseKind; 3] = [CaseKind::Overlay, CaseKind::Landlock, CaseKind::Nothing];

#[test]
fn editing_is_denied_whatever_is_allowed() {
    for held in EVERY {
        for tool in ["Edit", "Write", "MultiEdit", "NotebookEdit"] {
            assert!(is_denied(&ask(held, tool, "{}", &[tool, "Edit(*)", "Bash"])), "{tool}");
        }
    }
}

#[test]
fn a_tool_that_nobody_knows_is_denied_unless_it_is_named() {
    for held in EVERY {
        for tool in ["mcp__files__write", "CronCreate", "EnterWorktree", "Tomorrow", ""] {
            assert!(is_denied(&ask(held, tool, "{}", &["Bash"])), "{tool}");
        }
        assert_eq!(ask(held, "mcp__files__read", "{}", &["mcp__files__read"]), Ruling::Allow);
        assert_eq!(ask(held, "Read", "{}", &[]), Ruling::Allow);
    }
}

#[test]
fn in_a_case_everything_else_runs_unasked() {
    for held in [CaseKind::Overlay, CaseKind::Landlock] {
        for command in
            ["cargo test", "echo x > f", "rm -rf .", "python3 -c 'x'", "npm ci && npm test"]
        {
            assert_eq!(bash(held, command, &[]), Ruling::Allow, "{command}");
        }
        assert_eq!(ask(held, "WebFetch", "{}", &[]), Ruling::Allow);
    }
}

#[test]
fn without_a_case_only_reading_runs_unasked() {
    let none = CaseKind::Nothing;
    for command in [
        "cat x | grep y",
        "git status && git diff HEAD~1 -- x",
        "ls -la; pwd 2>&1",
        "find . -name '*.rs'",
        "sed -n 1,20p x",
        "git log --oneline > /dev/null",
        "cd x && git show | head",
        "git grep -n --only-matching x | sort -u | uniq -c",
        "file --mime x",
    ] {
        assert_eq!(bash(none, command, &[]), Ruling::Allow, "{command}");
    }
    for command in [
        "cargo test",
        "echo x > f",
        "cat $(touch x)",
        "sed -i s/a/b/ x",
        "sed -n w/tmp/x x",
        "find . -delete",
        "git commit",
        "git -c core.pager=touch log",
        "git diff --output=f",
        "git grep --open-files-in-pager=touch x",
        "git grep --open=touch x",
        "git grep -nOtouch x",
        "git log --outpu=f",
        "sort -o x y",
        "sort -uo x y",
        "sort --outp=x y",
        "uniq x y",
        "file -C -m x",
        "ls | xargs rm",
        "",
        "LESSOPEN=x less f",
    ] {
        assert_eq!(bash(none, command, &[]), Ruling::Ask, "{command}");
    }
    assert_eq!(ask(none, "WebFetch", "{}", &[]), Ruling::Ask);
    assert_eq!(ask(none, "WebFetch", "{}", &["WebFetch"]), Ruling::Allow);
    assert_eq!(bash(none, "cargo test", &["Bash"]), Ruling::Allow);
    assert_eq!(bash(none, "cd x && cargo test -q | tail", &["Bash(cargo test:*)"]), Ruling::Allow);
    assert_eq!(bash(none, "cargo test; rm x", &["Bash(cargo test:*)"]), Ruling::Ask);
    assert_eq!(bash(none, "cargo testing", &["Bash(cargo test:*)"]), Ruling::Ask);
}

#[test]
fn what_no_case_holds_is_denied_by_name() {
    let mut allowed = Vec::new();
    for command in [
        "git push",
        "git -C x push origin main",
        "cargo test && git push",
        "sh -c 'cd x; git push'",
        "echo x | xargs -n1 npm publish",
        "FOO=1 sudo -u x /usr/bin/docker run x",
        "cargo publish --dry-run",
        "npx changeset publish",
        "ssh host ls",
        "scp a host:b",
        "rsync -a . host:/x",
        "aws s3 cp x y",
        "kubectl apply -f x",
        "terraform apply",
        "python3 x.py; gh pr create",
        "twine upload dist/*",
        "jj git push",
        "uv publish",
        "systemctl restart x",
        "systemd-run --user touch x",
        "dotnet nuget push x",
        "$G push",
        "${G:-git} push",
        "$(echo git) push",
        "git $(echo push)",
        "git $WHAT",
        "cargo +nightly publish",
        "git subtree push --prefix x origin main",
        "git push host:path branch",
        "git push --repo=origin",
        "git push --repo origin main",
        "git -c remote.x.url=host:path push x",
        "git remote add x host:path && git push x main",
        "git --namespace n push x main",
        "git --config-env a=B --attr-source HEAD push",
        "git pu$SH",
        "git pu$(echo sh)",
        "git {push,origin}",
        "gi$T push",
        "git review",
        "git-send-pack host:path",
        "hg --config a=b push",
        "hg pus ssh://host/x",
        "npm publ",
        "npm --prefix packages/a publish",
        "npm --registry https://r.example publish --dry-run",
        "npm exec --package=x -- npm publish",
        "npm exec --package x -- npm publish",
        "npx -p semantic-release semantic-release",
        "yarn workspaces foreach -A npm publish",
        "yarn workspace a npm publish",
        "cargo --config net.offline=true publish",
        "cargo ws publish --all",
        "nx release publish",
        "mvn -B clean deploy",
        "./mvnw -pl lib org.apache.maven.plugins:maven-deploy-plugin:3.1.1:deploy",
        "mvn release:prepare",
        "./gradlew clean :lib:publish",
        "gradle publishAllPublicationsToCentralRepository",
        "python3 -m twine upload dist/*",
        "uv run --with twine twine upload dist/*",
        "uvx --with keyring twine upload dist/*",
        "poetry -C x publish",
        "uv --directory x publish",
        "pipx run --spec twine==5 twine upload x",
        "timeout --signal KILL 5 git push",
        "xargs --max-args 1 git push",
        "autossh host",
        "sshfs host:/ mnt",
        "rsync -a . rsync://host/m",
        "curl -X POST https://example.com/deploy",
        "cat x | curl -sS --data-binary @- https://example.com/hook",
        "wget --post-file=x https://example.com",
    ] {
        // A rule that allows everything does not count as permission for this.
        let denies = |rules| EVERY.iter().all(|held| is_denied(&bash(*held, command, rules)));
        if !denies(&[]) || !denies(&["Bash", "Bash(*)"]) {
            allowed.push(command);
        }
    }
    assert!(allowed.is_empty(), "allowed: {allowed:#?}");
    let mut denied = Vec::new();
    for command in [
        "git log push",
        "grep -r 'git push' .",
        "rsync -a a/ b/",
        "gh pr view 1",
        "terraform validate",
        "npm run publish-check",
        "echo docker",
        "cat ssh",
        "helm template x",
        "$PYTHON -m pytest",
        "\"$CARGO\" test",
        "git log $RANGE",
        "uv run pytest -q",
        "npm exec -- vitest run",
        "git remote -v",
        "git ls-remote host:path",
        "git fetch origin",
        "git stash push",
        "git log --format=%an_%s",
        "git show HEAD:git_push.rs",
        "npm pack --dry-run",
        "npm run publish-docs",
        "npm view react",
        "npm test",
        "mvn -q test -Dgoal=deploy",
        "mvn -pl deploy verify",
        "gradle test --tests publishTest",
        "gradle publishToMavenLocal",
        "python3 -m pytest tests/publish",
        "python3 -m build && python3 -m twine check dist/*",
        "uv run --with twine twine check dist/*",
        "cargo --color always test publish",
        "cargo package --list",
        "yarn workspace a test",
        "curl -s https://example.com/index.html",
        "curl -X POST http://localhost:3000/items -d '{}'",
        "python3 server.py & sleep 1; curl -sd a=b 127.0.0.1:8000",
        "rake test",
        "npm add -D vitest",
    ] {
        if bash(CaseKind::Overlay, command, &[]) != Ruling::Allow {
            denied.push(command);
        }
    }
    assert!(denied.is_empty(), "denied: {denied:#?}");
    assert_eq!(
        bash(CaseKind::Overlay, "cd x && docker compose up -d", &["Bash(docker compose:*)"]),
        Ruling::Allow
    );
    assert_eq!(bash(CaseKind::Overlay, "git push origin x", &["Bash(git push:*)"]), Ruling::Allow);
    assert!(is_denied(&bash(CaseKind::Overlay, "git push; ssh x", &["Bash(git push:*)"])));
    let Ruling::Deny(reason) = bash(CaseKind::Overlay, "git push", &[]) else {
        panic!("it is allowed")
    };
    assert!(
        reason.contains("`git push` is not allowed in a review")
            && reason.contains("Bash(git push:*)"),
        "{reason}"
    );
}

#[test]
fn a_command_that_cannot_be_seen_is_denied() {
    for input in ["", "{}", "[]", r#"{"command":3}"#] {
        assert!(is_denied(&ask(CaseKind::Overlay, "Bash", input, &["Bash"])), "{input}");
    }
    assert_eq!(ask(CaseKind::Nothing, "AskUserQuestion", "{}", &[]), Ruling::Ask);
}

/// docs/glass-case.md shows this table.
#[test]
fn the_documentation_has_the_table() {
    let docs = include_str!("../../../docs/glass-case.md");
    let table = outward::markdown();
    assert!(docs.contains(&table), "docs/glass-case.md must hold:\n{table}");
}
