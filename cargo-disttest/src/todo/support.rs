//! What a package has already for its tests: a program for the nodes, probes, a client that records.

use crate::new::crates::Crate;
use crate::new::inventory::Seen;
use crate::new::sources;
use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;
use syn::{Fields, FnArg, ImplItem, Item, ItemFn, ReturnType, Signature, Type, Visibility};

/// Where the program of a node comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// A helper makes it: an expression.
    Helper(String),
    /// A binary of the package.
    Binary {
        /// Its name.
        name: String,
        /// The package's other binaries.
        others: Vec<String>,
    },
    /// Nothing tells.
    Unknown,
}

/// A module of the package's tests that helps with scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    /// Its file, from the folder of the test file that would use it.
    pub path: String,
    /// Its name as a module.
    pub module: String,
    /// The file, from the package's folder.
    pub file: String,
    /// A function without arguments that makes a `Program`.
    pub program: Option<String>,
    /// Functions without arguments that make a `Probe`, with the texts in them: one of those is its metric.
    pub probes: Vec<(String, Vec<String>)>,
    /// A client that reads and writes keys and records it.
    pub session: Option<String>,
}

impl Support {
    /// The expression of the probe for `metric`.
    pub(crate) fn probe(&self, metric: &str) -> Option<String> {
        let probe = self.probes.iter().find(|(_, texts)| texts.iter().any(|text| text == metric));
        probe.map(|(function, _)| format!("{}::{function}()", self.module))
    }
}

/// The helper module of the package at `root` for a test at `test` (from `root`, with `/`): the one that offers most.
pub(crate) fn find(root: &Path, test: &str) -> Option<Support> {
    let files = sources::files(&root.join("tests"), |path| path.ends_with(".rs"));
    let read = |(below, file): (String, std::path::PathBuf)| {
        let file_name = format!("tests/{below}");
        let text = sources::read(&file).filter(|text| !text.starts_with("//! AUTO-GENERATED"))?;
        if file_name == test || !text.contains("disttest_runtime") {
            return None;
        }
        let module = module_name(&below)?;
        // A test file is no module: its tests would run a second time.
        Seen::of(&text).filter(|seen| !seen.is_program())?;
        let found = of_file(&text)?;
        Some(Support { path: way(test, &file_name), module, file: file_name, ..found })
    };
    let worth = |one: &Support| {
        usize::from(one.program.is_some()) * 4 + usize::from(one.session.is_some()) * 2 + one.probes.len().min(1)
    };
    // The first of equals in the order of their paths.
    files.into_iter().filter_map(read).rev().max_by_key(worth).filter(|one| worth(one) > 0)
}

/// A `pub fn … -> Program` in the library of a package that `package` depends on and that stands on this disk.
pub(crate) fn program_of_a_dependency(package: &Crate, all: &[Crate]) -> Option<String> {
    package.local.iter().find_map(|folder| {
        let text = sources::read(&folder.join("src/lib.rs")).filter(|text| text.contains("disttest_runtime"))?;
        let public = syn::parse_file(&text).ok()?.items.into_iter().find_map(|item| match item {
            Item::Fn(function) if matches!(function.vis, Visibility::Public(_)) && makes(&function.sig, "Program") => {
                Some(function.sig.ident.to_string())
            }
            _ => None,
        })?;
        let name = all.iter().find(|one| one.root == *folder)?.name.replace('-', "_");
        Some(format!("{name}::{public}()"))
    })
}

fn module_name(below: &str) -> Option<String> {
    let stem = below.strip_suffix(".rs")?;
    let name = stem.strip_suffix("/mod").unwrap_or(stem).rsplit('/').next()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain);
    (is_name && syn::parse_str::<syn::Ident>(name).is_ok()).then(|| name.to_owned())
}

/// The way from the folder of file `from` to file `to`, both from one folder.
fn way(from: &str, to: &str) -> String {
    let folders: Vec<&str> = from.split('/').collect();
    let folders = &folders[..folders.len().saturating_sub(1)];
    let target: Vec<&str> = to.split('/').collect();
    let shared = folders.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folders.len() - shared);
    up.chain(target[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// What a file offers; its places are left empty.
fn of_file(text: &str) -> Option<Support> {
    let items = syn::parse_file(text).ok()?.items;
    let visible = |vis: &Visibility| !matches!(vis, Visibility::Inherited);
    let functions = || {
        items.iter().filter_map(|item| match item {
            Item::Fn(function) if visible(&function.vis) => Some(function),
            _ => None,
        })
    };
    let probe = |function: &ItemFn| {
        let block = &function.block;
        let texts = block.stmts.iter().flat_map(|statement| texts(tokens(statement))).collect();
        (function.sig.ident.to_string(), texts)
    };
    Some(Support {
        path: String::new(),
        module: String::new(),
        file: String::new(),
        program: functions().find(|f| makes(&f.sig, "Program")).map(|f| f.sig.ident.to_string()),
        probes: functions().filter(|f| makes(&f.sig, "Probe")).map(probe).collect(),
        session: session(&items),
    })
}

/// True for `fn f() -> …::NAME`.
fn makes(signature: &Signature, name: &str) -> bool {
    signature.inputs.is_empty()
        && signature.asyncness.is_none()
        && signature.generics.params.is_empty()
        && matches!(&signature.output, ReturnType::Type(_, ty) if is_named(ty, name))
}

fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// A struct with a visible field `client: Client`, `new(Client)`, and `read` and `write` of a key that say whether they
/// were answered.
fn session(items: &[Item]) -> Option<String> {
    items.iter().find_map(|item| {
        let Item::Struct(of) = item else { return None };
        let Fields::Named(fields) = &of.fields else { return None };
        let client = fields.named.iter().any(|field| {
            field.ident.as_ref().is_some_and(|name| name == "client")
                && !matches!(field.vis, Visibility::Inherited)
                && is_named(&field.ty, "Client")
        });
        let name = of.ident.to_string();
        let has = |method: &dyn Fn(&Signature) -> bool| {
            items.iter().any(|item| match item {
                Item::Impl(of) if of.trait_.is_none() && is_named(&of.self_ty, &name) => {
                    of.items.iter().any(|item| matches!(item, ImplItem::Fn(one) if method(&one.sig)))
                }
                _ => false,
            })
        };
        let new = |one: &Signature| {
            one.ident == "new"
                && one.asyncness.is_none()
                && matches!(one.inputs.first(), Some(FnArg::Typed(arg)) if one.inputs.len() == 1 && is_named(&arg.ty, "Client"))
                && matches!(&one.output, ReturnType::Type(_, ty) if is_named(ty, &name) || is_named(ty, "Self"))
        };
        let works = client && has(&new) && has(&|one| acts(one, "read")) && has(&|one| acts(one, "write"));
        works.then_some(name)
    })
}

/// True for `async fn NAME(&mut self, key: &str) -> bool`.
fn acts(signature: &Signature, name: &str) -> bool {
    let mut inputs = signature.inputs.iter();
    let by_self = matches!(inputs.next(), Some(FnArg::Receiver(_)));
    let key = matches!(inputs.next(), Some(FnArg::Typed(arg)) if matches!(&*arg.ty, Type::Reference(to) if is_named(&to.elem, "str")));
    signature.ident == name
        && signature.asyncness.is_some()
        && by_self
        && key
        && inputs.next().is_none()
        && matches!(&signature.output, ReturnType::Type(_, ty) if is_named(ty, "bool"))
}

fn tokens(statement: &syn::Stmt) -> TokenStream {
    quote::ToTokens::to_token_stream(statement)
}

/// String literals among the tokens.
fn texts(stream: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for tree in stream {
        match tree {
            TokenTree::Group(group) => found.extend(texts(group.stream())),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPORT: &str = "use disttest_runtime::prelude::*;
        pub(crate) fn program() -> Program { Program::new(\"x\") }
        fn hidden() -> Program { Program::new(\"y\") }
        pub(crate) fn timeouts() -> Probe { Probe::metric(\"peer-timeouts\", |t: Target| async move { Ok(1.0) }) }
        pub(crate) struct Session { pub(crate) client: Client }
        impl Session {
            pub(crate) fn new(client: Client) -> Session { Session { client } }
            pub(crate) async fn read(&mut self, key: &str) -> bool { true }
            pub(crate) async fn write(&mut self, key: &str) -> bool { true }
        }";

    #[test]
    fn a_helper_module_is_read() {
        let found = of_file(SUPPORT).expect("Rust");
        assert_eq!(found.program.as_deref(), Some("program"));
        assert_eq!(found.probes, [("timeouts".to_owned(), vec!["peer-timeouts".to_owned()])]);
        assert_eq!(found.session.as_deref(), Some("Session"));
        for (from, to) in [
            ("pub(crate) client", "client"),
            ("read(&mut self, key: &str) -> bool", "read(&mut self, key: &str, n: u8) -> bool"),
            ("async fn write", "fn write"),
            ("new(client: Client)", "new(client: Client, n: u8)"),
        ] {
            assert!(SUPPORT.contains(from));
            assert_eq!(of_file(&SUPPORT.replace(from, to)).expect("Rust").session, None, "{to}");
        }
    }

    #[test]
    fn the_module_that_offers_most_is_found_with_the_way_to_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        assert_eq!(find(dir.path(), "tests/auto/s1.rs"), None);
        write("tests/other/mod.rs", "use disttest_runtime::prelude::*; pub fn program() -> Program { x() }");
        write("tests/node.rs", &format!("{SUPPORT}\n#[test]\nfn t() {{}}"));
        let found = find(dir.path(), "tests/auto/s1.rs").expect("there is one");
        assert_eq!(found.file, "tests/other/mod.rs");
        write("tests/support/mod.rs", SUPPORT);
        let found = find(dir.path(), "tests/auto/s1.rs").expect("there is one");
        assert_eq!((found.path.as_str(), found.module.as_str()), ("../support/mod.rs", "support"));
        assert_eq!(found.probe("peer-timeouts").as_deref(), Some("support::timeouts()"));
        assert_eq!(found.probe("other"), None);
    }

    #[test]
    fn a_way_leads_from_file_to_file() {
        let check = |from: &str, to: &str, expect: &str| assert_eq!(way(from, to), expect);
        check("tests/auto/s1.rs", "tests/support/mod.rs", "../support/mod.rs");
        check("tests/s1.rs", "tests/support.rs", "support.rs");
        check("tests/a/b/s1.rs", "tests/a/c.rs", "../c.rs");
    }
}
