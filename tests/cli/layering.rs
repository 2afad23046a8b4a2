//! The layers of ARCHITECTURE.md, held by a test: the core touches nothing, knows only the core, and
//! uses only those packages that touch nothing either. The source is parsed, so that no form of
//! `use` passes unseen.

use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Rooms and files of the core, as paths of modules.
const CORE: [&str; 9] = [
    "brief",
    "checks",
    "client",
    "event",
    "hook::background",
    "hook::event",
    "hook::reply",
    "machine",
    "review",
];

/// Modules in rooms of the core that touch the world, and that the core therefore must not use.
const ADAPTERS: [&str; 7] = [
    "brief::diff",
    "brief::old_lines",
    "brief::promised",
    "checks::running",
    "checks::trust",
    "review::instructions",
    "review::lookup",
];

/// Packages that touch no file, process, clock or environment.
const PACKAGES: [&str; 10] = [
    "core",
    "alloc",
    "base64",
    "globset",
    "memchr",
    "regex",
    "saphyr",
    "serde",
    "serde_json",
    "shell_words",
];

/// What the core may use of packages that otherwise let the world in.
const HARMLESS: [&str; 3] =
    ["jiff::SignedDuration", "ring::digest::SHA256", "ring::digest::digest"];

/// What of the standard library lets the world in.
const WORLD: [&str; 10] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::path::absolute",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Methods of `std::path::Path` that look at the disk.
const LOOKS: [&str; 10] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "metadata",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

/// Every path that a file names outside its tests, written in full: `use a::{b, c}` is two, and
/// `super::b` is `crate::a::b`.
#[derive(Default)]
struct Paths {
    found: Vec<String>,
    /// The module that is being read, and the modules that it declares.
    module: String,
    children: Vec<String>,
}

impl Paths {
    fn of(module: &str, text: &str) -> Vec<String> {
        let mut paths = Self { module: module.to_owned(), ..Self::default() };
        let file = syn::parse_file(text).expect("a file that compiles");
        paths.children = declared(&file.items);
        paths.visit_file(&file);
        paths.found
    }

    fn name(&mut self, path: &str) {
        let (root, rest) = path.split_once("::").unwrap_or((path, ""));
        let mut module = self.module.as_str();
        let mut names = rest;
        match root {
            "self" => {}
            "super" => {
                module = parent(module);
                while let Some(rest) = names.strip_prefix("super::") {
                    (module, names) = (parent(module), rest);
                }
            }
            _ if self.children.iter().any(|child| child == root) => names = path,
            _ => return self.found.push(path.to_owned()),
        }
        let names = ["crate", module, names].into_iter().filter(|name| !name.is_empty());
        self.found.push(names.collect::<Vec<_>>().join("::"));
    }

    fn tree(&mut self, prefix: &str, tree: &syn::UseTree) {
        let join = |name: &dyn std::fmt::Display| match prefix {
            "" => name.to_string(),
            prefix => format!("{prefix}::{name}"),
        };
        match tree {
            syn::UseTree::Path(path) => self.tree(&join(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.name(&join(&name.ident)),
            syn::UseTree::Rename(name) => self.name(&join(&name.ident)),
            syn::UseTree::Glob(_) => self.name(&join(&"*")),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(prefix, tree);
                }
            }
        }
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

fn declared(items: &[syn::Item]) -> Vec<String> {
    let module = |item: &syn::Item| match item {
        syn::Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    };
    items.iter().filter_map(module).collect()
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    })
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test(&module.attrs) {
            return;
        }
        if let Some((_, items)) = &module.content {
            let inside = format!("{}::{}", self.module, module.ident);
            let outside = (
                std::mem::replace(&mut self.module, inside.trim_start_matches(':').to_owned()),
                std::mem::replace(&mut self.children, declared(items)),
            );
            visit::visit_item_mod(self, module);
            (self.module, self.children) = outside;
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.name(&item.ident.to_string());
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        if call.args.is_empty() && LOOKS.contains(&method.as_str()) {
            self.found.push(format!("std::fs::{method}"));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree("", &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if let [.., owner, method] = names.as_slice()
            && ["Path", "PathBuf"].contains(&owner.as_str())
            && LOOKS.contains(&method.as_str())
        {
            self.found.push(format!("std::fs::{method}"));
        }
        self.name(&names.join("::"));
        visit::visit_path(self, path);
    }

    /// The arguments of a macro are no syntax tree; their paths are read off the tokens.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let tokens = call.tokens.to_string().replace(" :: ", "::");
        let words = tokens.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        for word in words.filter(|word| word.contains("::")) {
            self.name(word);
        }
        visit::visit_macro(self, call);
    }
}

fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn is_core(module: &str) -> bool {
    CORE.iter().any(|core| is_in(module, core))
        && !ADAPTERS.iter().any(|adapter| is_in(module, adapter))
}

/// Why a file of the core may not name this path, if it may not.
fn objection(path: &str) -> Option<&'static str> {
    let root = path.split("::").next().unwrap_or_default();
    if ["crate", "std", "crate::*", "std::*", "std::time::*"].contains(&path) {
        return Some("what is used through this cannot be seen");
    }
    if let Some(module) = path.strip_prefix("crate::") {
        return (!is_core(module)).then_some("this is not a part of the core");
    }
    if root == "std" {
        let world = WORLD.iter().any(|world| is_in(path, world));
        return world.then_some("this lets the world in");
    }
    let packages = MANIFEST.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let packages = packages.split("\n[").next().unwrap_or_default();
    let is_package = packages.lines().any(|line| {
        line.split(['=', '.']).next().is_some_and(|name| name.trim().replace('-', "_") == root)
    });
    let harmless = PACKAGES.contains(&root) || HARMLESS.contains(&path);
    let outside = is_package && path != root && !harmless;
    outside.then_some("this package is not for the core")
}

const MANIFEST: &str = include_str!("../../Cargo.toml");

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn module_of(path: &Path, src: &Path) -> String {
    let path = path.strip_prefix(src).expect("a file below src").with_extension("");
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    names.join("::").trim_end_matches("::mod").to_owned()
}

#[test]
fn the_core_touches_nothing_and_knows_only_the_core() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let core: Vec<_> = files.into_iter().filter(|path| is_core(&module_of(path, &src))).collect();
    assert!(core.len() > 20, "the rooms of the core have moved: {core:?}");
    let mut found = Vec::new();
    for path in core {
        let text = fs::read_to_string(&path).expect("a source file");
        for named in Paths::of(&module_of(&path, &src), &text) {
            if let Some(objection) = objection(&named) {
                found.push(format!("{}: {named}: {objection}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_form_of_an_import_passes_unseen() {
    for (code, refused) in [
        ("use crate::{event::Event, files};", true),
        ("use crate::review::{instructions, verdict};", true),
        ("use std::{collections::BTreeMap, fs as disk};", true),
        ("use std::time::{Duration, Instant};", true),
        ("fn f() { let _ = std::env::var(\"X\"); }", true),
        ("fn f() { println!(\"{}\", crate::config::FILE); }", true),
        ("use nix::unistd::getpid;", true),
        ("use crate::{event::Event, review::verdict::Verdict};", false),
        ("use std::{collections::BTreeMap, time::Duration};", false),
        ("use crate as all; fn f() { all::files::sync(); }", true),
        ("use std as all; fn f() { all::fs::sync(); }", true),
        ("extern crate std as all;", true),
        ("use std::*;", true),
        ("use super::super::files;", true),
        ("use super::lookup::Lookup;", true),
        ("mod inside { use super::super::lookup::Lookup; }", true),
        ("fn f() { super::lookup::look(); }", true),
        ("fn f(path: &std::path::Path) { path.exists(); }", true),
        ("fn f(path: &std::path::Path) { path.read_link(); }", true),
        ("use std::path::Path; fn f(path: &Path) -> bool { Path::exists(path) }", true),
        (
            "fn f(paths: &[std::path::PathBuf]) { paths.iter().all(|path| std::path::Path::is_dir(path)); }",
            true,
        ),
        ("use std::path::absolute;", true),
        ("use super::verdict::Verdict;", false),
        ("mod lookup { pub fn look() {} } use lookup::look;", false),
        ("#[cfg(test)]\nmod tests { use std::fs; }", false),
    ] {
        let paths = Paths::of("review::evidence", code);
        let objections = paths.iter().filter_map(|path| objection(path));
        assert_eq!(objections.count() > 0, refused, "{code}: {paths:?}");
    }
    // The room's own file names what it declares without a prefix.
    for (code, refused) in [
        ("pub mod lookup; pub use lookup::Lookup;", true),
        ("pub mod verdict; pub use verdict::Verdict;", false),
    ] {
        let paths = Paths::of("review", code);
        assert_eq!(
            paths.iter().any(|path| objection(path).is_some()),
            refused,
            "{code}: {paths:?}"
        );
    }
}
