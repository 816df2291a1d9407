//! `report`: a session as one page for a browser.

use super::{Context, shorter};
use crate::cli::ReportArgs;
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use crate::page;
use disttest_runtime::session::disk::write_atomic;
use std::path::{Path, PathBuf};

/// Draws it.
pub(super) fn run(context: &Context, args: &ReportArgs) -> Outcome {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::new(End::Unreadable, format!("{}: {error}", path.display())))
    };
    let session = absolute(&args.session)?;
    let output = match &args.output {
        Some(output) => absolute(output)?,
        None => beside(&session),
    };
    if output.starts_with(&session) {
        let message = format!("{} is in the session, whose manifest would not have it", output.display());
        return Err(Failure::new(End::WrongUsage, message));
    }
    let root = relative(&output, &session);
    let html = page::of_session(&session, &root).map_err(|message| Failure::new(End::Unreadable, message))?;
    let cannot = |error| Failure::new(End::Unwritable, format!("{}: cannot be written: {error}", output.display()));
    write_atomic(&output, html.as_bytes()).map_err(cannot)?;
    let shown = shorter(&output).display().to_string();
    if context.json() {
        let session = session.display().to_string();
        let bytes = html.len();
        let document =
            serde_json::json!({"schema": "disttest.page/1", "session": session, "page": shown, "bytes": bytes});
        context.console.result(document);
    } else {
        context.console.status("Wrote", visible(&shown));
    }
    Ok(End::Clean)
}

fn beside(session: &Path) -> PathBuf {
    let mut name = session.file_name().unwrap_or_default().to_owned();
    name.push(".html");
    session.with_file_name(name)
}

/// The session as links of the page name it: from the page's folder, so that both can be moved together.
fn relative(page: &Path, session: &Path) -> String {
    let from = page.parent().unwrap_or(page);
    let common = from.components().zip(session.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = session.components().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_page_to_the_session() {
        let check = |page: &str, session: &str, expect: &str| {
            assert_eq!(relative(Path::new(page), Path::new(session)), expect);
        };
        check("/a/s.html", "/a/s", "s");
        check("/a/b/page.html", "/a/s/1", "../s/1");
        assert_eq!(beside(Path::new("/a/20261130T1Z")), Path::new("/a/20261130T1Z.html"));
    }
}
