//! The description of each language. Related languages share what they have in common.

use super::language::{BlockComment, KeyPlacement, Language, Quote};
use super::{Style, Syntax, words};

const fn quote(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: true, lines: false }
}

const fn long(open: &'static str, close: &'static str, escapes: bool) -> Quote {
    Quote { open, close, escapes, lines: true }
}

const DOUBLE: Quote = quote("\"", "\"");
const SINGLE: Quote = quote("'", "'");
const TRIPLE: Quote = long("\"\"\"", "\"\"\"", true);
const SLASHES: Option<BlockComment> = Some(BlockComment { open: "/*", close: "*/", nested: false });
const NESTED: Option<BlockComment> = Some(BlockComment { open: "/*", close: "*/", nested: true });

const NONE: Language = Language {
    comments: &[],
    spaced: false,
    block: None,
    quotes: &[DOUBLE],
    prefixes: &[],
    character: false,
    raw: false,
    keywords: &[],
    literals: &["true", "false", "null"],
    any_case: false,
    extra: &[],
    loose: false,
    calls: true,
    bang: false,
    at: None,
    directives: false,
    symbols: false,
    patterns: false,
    fields: false,
    keys: KeyPlacement::None,
    shell: false,
};

static CPP: Language = Language {
    comments: &["//"],
    block: SLASHES,
    quotes: &[long("R\"(", ")\"", false), DOUBLE],
    character: true,
    directives: true,
    keywords: words::CPP,
    literals: &["true", "false", "NULL", "nullptr"],
    ..NONE
};

static JAVA: Language = Language {
    comments: &["//"],
    block: SLASHES,
    quotes: &[TRIPLE, DOUBLE],
    character: true,
    extra: b"$",
    at: Some(Style::Name),
    keywords: words::JAVA,
    ..NONE
};

static KOTLIN: Language = Language {
    comments: &["//"],
    block: NESTED,
    quotes: &[long("\"\"\"", "\"\"\"", false), DOUBLE],
    character: true,
    at: Some(Style::Name),
    keywords: words::KOTLIN,
    literals: &["true", "false", "null", "nil"],
    ..NONE
};

static CSHARP: Language = Language {
    comments: &["//"],
    block: SLASHES,
    quotes: &[
        TRIPLE,
        long("@\"", "\"", false),
        long("$@\"", "\"", false),
        quote("$\"", "\""),
        DOUBLE,
    ],
    character: true,
    directives: true,
    keywords: words::CSHARP,
    ..NONE
};

static GO: Language = Language {
    comments: &["//"],
    block: SLASHES,
    quotes: &[DOUBLE, long("`", "`", false)],
    character: true,
    keywords: words::GO,
    literals: &["true", "false", "nil", "iota"],
    ..NONE
};

static RUST: Language = Language {
    comments: &["//"],
    block: NESTED,
    quotes: &[long("\"", "\"", true)],
    prefixes: &["b", "c"],
    character: true,
    raw: true,
    bang: true,
    keywords: words::RUST,
    literals: &["true", "false"],
    ..NONE
};

const SCRIPT_QUOTES: &[Quote] = &[DOUBLE, SINGLE, long("`", "`", true)];
const SCRIPT_LITERALS: &[&str] = &["true", "false", "null", "undefined", "NaN", "Infinity"];

const SCRIPT: Language = Language {
    comments: &["//"],
    block: SLASHES,
    quotes: SCRIPT_QUOTES,
    extra: b"$",
    at: Some(Style::Name),
    patterns: true,
    fields: true,
    literals: SCRIPT_LITERALS,
    ..NONE
};

static JAVASCRIPT: Language = Language { keywords: words::JAVASCRIPT, ..SCRIPT };
static TYPESCRIPT: Language = Language { keywords: words::TYPESCRIPT, ..SCRIPT };

static PYTHON: Language = Language {
    comments: &["#"],
    quotes: &[TRIPLE, long("'''", "'''", true), DOUBLE, SINGLE],
    prefixes: &["r", "b", "f", "u", "t", "rb", "br", "rf", "fr"],
    at: Some(Style::Name),
    keywords: words::PYTHON,
    literals: &["True", "False", "None"],
    ..NONE
};

static PHP: Language = Language {
    comments: &["//", "# "],
    block: SLASHES,
    quotes: &[long("\"", "\"", true), long("'", "'", true)],
    extra: b"$",
    keywords: words::PHP,
    any_case: true,
    ..NONE
};

static RUBY: Language = Language {
    comments: &["#"],
    spaced: true,
    quotes: &[DOUBLE, SINGLE],
    symbols: true,
    patterns: true,
    keywords: words::RUBY,
    literals: &["true", "false", "nil"],
    ..NONE
};

static SQL: Language = Language {
    comments: &["--"],
    block: SLASHES,
    quotes: &[Quote { escapes: false, ..SINGLE }, Quote { escapes: false, ..DOUBLE }],
    prefixes: &["e", "n", "b", "x"],
    keywords: words::SQL,
    any_case: true,
    ..NONE
};

static JSON: Language = Language {
    comments: &["//"],
    block: SLASHES,
    keys: KeyPlacement::Quoted,
    calls: false,
    ..NONE
};

static YAML: Language = Language {
    comments: &["#"],
    spaced: true,
    quotes: &[DOUBLE, Quote { escapes: false, ..SINGLE }],
    literals: &["true", "false", "null", "yes", "no", "on", "off", "~"],
    extra: b"-./~@+",
    loose: true,
    calls: false,
    keys: KeyPlacement::Colon,
    ..NONE
};

static TOML: Language = Language {
    comments: &["#", ";"],
    spaced: true,
    quotes: &[TRIPLE, long("'''", "'''", false), DOUBLE, Quote { escapes: false, ..SINGLE }],
    extra: b"-./~@+:",
    loose: true,
    calls: false,
    keys: KeyPlacement::Equals,
    ..NONE
};

static SHELL: Language = Language {
    comments: &["#"],
    spaced: true,
    quotes: &[long("\"", "\"", true), long("'", "'", false)],
    keywords: words::SHELL,
    literals: &[],
    extra: b"-./~:@%+,",
    loose: true,
    shell: true,
    ..NONE
};

static DOCKERFILE: Language = Language {
    comments: &["#"],
    spaced: true,
    quotes: &[DOUBLE, SINGLE],
    keywords: words::DOCKER,
    literals: &[],
    extra: b"-./~:@%+",
    loose: true,
    calls: false,
    ..NONE
};

static CSS: Language = Language {
    comments: &["//"],
    spaced: true,
    block: SLASHES,
    quotes: &[DOUBLE, SINGLE],
    literals: &[],
    extra: b"-.%$",
    loose: true,
    at: Some(Style::Keyword),
    keys: KeyPlacement::Property,
    ..NONE
};

pub(super) fn named(info: &str) -> Syntax {
    let word = info.split([' ', '\t', ',', ':']).next().unwrap_or_default();
    let word = word.trim_matches(['{', '}', '.']).to_ascii_lowercase();
    Syntax::Words(match word.as_str() {
        "diff" | "patch" => return Syntax::Diff,
        "html" | "htm" | "xml" | "xhtml" | "svg" | "vue" | "svelte" | "plist" => {
            return Syntax::Markup;
        }
        "rust" | "rs" => &RUST,
        "python" | "py" | "python3" | "pyi" | "starlark" => &PYTHON,
        "javascript" | "js" | "jsx" | "mjs" | "cjs" | "node" => &JAVASCRIPT,
        "typescript" | "ts" | "tsx" | "mts" | "cts" => &TYPESCRIPT,
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => &JSON,
        "yaml" | "yml" => &YAML,
        "toml" | "ini" | "cfg" | "conf" | "properties" | "dotenv" | "env" => &TOML,
        "bash" | "sh" | "shell" | "zsh" | "ksh" | "fish" | "console" | "shellscript"
        | "shell-session" | "sh-session" | "shellsession" | "terminal" => &SHELL,
        "go" | "golang" => &GO,
        "c" | "h" | "objc" | "objective-c" | "cpp" | "c++" | "cc" | "cxx" | "hpp" | "hxx"
        | "cuda" => &CPP,
        "java" | "groovy" | "gradle" | "dart" => &JAVA,
        "kotlin" | "kt" | "kts" | "scala" | "swift" => &KOTLIN,
        "csharp" | "cs" | "c#" => &CSHARP,
        "php" => &PHP,
        "ruby" | "rb" => &RUBY,
        "sql" | "postgresql" | "postgres" | "mysql" | "sqlite" | "plsql" => &SQL,
        "css" | "scss" | "sass" | "less" => &CSS,
        "dockerfile" | "docker" | "containerfile" => &DOCKERFILE,
        _ => return Syntax::Plain,
    })
}
