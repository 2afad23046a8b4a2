//! What a message says was done, and the commands that can have done it.

use std::sync::LazyLock;

use regex::Regex;

use super::told::Claim;

/// The commands that make or measure something. If none of them ran, the claim is not supported.
pub static DONE_BY: [(Claim, &str, LazyLock<Option<Regex>>); 8] = [
    (
        Claim::Migrated,
        "that does it",
        LazyLock::new(|| {
            Regex::new(r"(?i)migrat|alembic|prisma|flyway|liquibase|sql|upgrade|\b(db|make|just|npm|pnpm|yarn|docker|podman|rake|rails|artisan|goose|diesel|knex|ecto)\b|\.sh\b|manage\.py").ok()
        }),
    ),
    (
        Claim::Merged,
        "that does it",
        LazyLock::new(|| {
            Regex::new(r"\bgit\b.*\b(merge|rebase|pull|cherry-pick|am|reset|push)\b|\b(gh|glab|jj|hg|make|just)\b|\.sh\b").ok()
        }),
    ),
    (
        Claim::OutOfHistory,
        "that rewrites it",
        LazyLock::new(|| {
            Regex::new(r"filter-branch|filter-repo|\bbfg\b|rebase|amend|--orphan|fast-import|\bgit\b.*\breset\b|\b(jj|hg|make|just)\b|\.sh\b").ok()
        }),
    ),
    (
        Claim::Released,
        "that does it",
        LazyLock::new(|| {
            Regex::new(r"(?i)publish|upload|deploy|release|push|twine|\b(make|just|npm|pnpm|yarn|gh|glab|curl|ssh|scp|rsync|kubectl|helm|terraform|ansible\S*|aws|az|gcloud|fly|flyctl|vercel|netlify|heroku|docker|podman|wrangler|pulumi|cap|mvnw?|gradlew?|dotnet|gem)\b|\.sh\b").ok()
        }),
    ),
    (
        Claim::Branch,
        "that makes a branch",
        LazyLock::new(|| {
            Regex::new(r"\b(checkout|switch)\s.*-(b|B|c|C|-create|-orphan)\b|\bbranch\s+[^-\s]|worktree\s+add|\b(jj|hg|gh|glab|flow)\b").ok()
        }),
    ),
    (
        Claim::Tag,
        "that makes a tag",
        LazyLock::new(|| {
            Regex::new(r"(?i)\btags?\b|\b(npm|yarn|pnpm|poetry|hatch|cargo)\s+(version|release)|bump|release-it|semantic-release|\b(jj|hg|gh|glab)\b").ok()
        }),
    ),
    (
        Claim::PullRequest,
        "that opens one",
        LazyLock::new(|| {
            Regex::new(r"\b(gh|glab|hub|tea|az|curl|wget|http)\b|merge_request|refs/for/").ok()
        }),
    ),
    (
        Claim::Coverage,
        "that measures it",
        LazyLock::new(|| Regex::new(r"(?i)cov|nyc|istanbul|jacoco|tarpaulin|\bc8\b").ok()),
    ),
];

/// Whether the command only says what it would do.
pub fn is_only_tried(command: &str) -> bool {
    command.contains("--dry-run") || command.contains("--dryrun") || command.contains("push -n ")
}
