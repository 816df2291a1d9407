//! `check`: judges recorded histories against a model.

use super::Context;
use crate::check::answer::{Judged, worst};
use crate::check::models::{self, INIT, Known, LIN, Make, SEQ, SER, WHOLE};
use crate::check::size::default_memory;
use crate::check::watch::Watch;
use crate::check::{self, Settings, html, json, text};
use crate::cli::{CheckArgs, Format};
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use crate::import::{Reading, STDIN, Tuples};
use disttest_runtime::base::nearest::nearest;
use disttest_runtime::checker::isolation::{KeyOrder, Level};
use disttest_runtime::plan::names;
use serde_json::Value;
use std::path::Path;

/// Judges them.
pub(super) fn run(context: &Context, args: &CheckArgs) -> Outcome {
    let settings = settings(args).map_err(|message| Failure::new(End::WrongUsage, message))?;
    if args.histories.iter().filter(|history| history.as_os_str() == STDIN).count() > 1 {
        return Err(Failure::new(End::WrongUsage, "standard input is one history: `-` can be named once"));
    }
    let mut files: Vec<(String, Judged)> = Vec::new();
    for (at, history) in args.histories.iter().enumerate() {
        if at > 0 && !context.json() && !context.common.quiet {
            context.console.result("");
        }
        let named = history.display().to_string();
        let shown = if named == STDIN { "<stdin>".to_owned() } else { named.clone() };
        let watch = Watch::new(visible(&shown), &settings, &context.console);
        let judged = check::check(history, &settings, &watch);
        tell(context, &shown, &judged, &settings)?;
        files.push((shown, judged));
    }
    if let Some(path) = &args.html {
        write(path, &html::page(&files, &settings))?;
        context.console.status("Wrote", visible(&path.display().to_string()));
    }
    Ok(worst(files.iter().map(|(_, judged)| judged.end())))
}

fn tell(context: &Context, shown: &str, judged: &Judged, settings: &Settings) -> Result<(), Failure> {
    if context.common.format == Format::Json {
        for document in json::documents(shown, judged, settings) {
            let line = serde_json::to_string(&document).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
            context.console.result(line);
        }
    } else {
        context.console.result_text(&text::page(shown, judged, settings));
    }
    if let Judged::Unreadable(problem) = judged {
        context.console.error(visible(&problem.render(shown)));
    }
    Ok(())
}

fn write(path: &Path, page: &str) -> Result<(), Failure> {
    let cannot = |error| Failure::new(End::Unwritable, format!("{}: cannot be written: {error}", path.display()));
    std::fs::write(path, page).map_err(cannot)
}

/// What the flags mean together. A flag that would not be looked at is an error: its user expects it to be.
fn settings(args: &CheckArgs) -> Result<Settings, String> {
    let model = models::find(&args.model)?;
    let checkers = checkers(args, model)?;
    let given = args.wfr_keys || args.sequential_keys || args.linearizable_keys;
    if given && (model.name == "list-append" || !checkers.contains(&SER)) {
        return Err(format!(
            "--wfr-keys, --sequential-keys and --linearizable-keys are for --model rw-register, and say nothing of `{}`",
            model.name
        ));
    }
    args.parameters.all_read(model.name, &checkers)?;
    if args.per_key && (model.takes(WHOLE) || checkers.contains(&SER)) {
        return Err(format!("a `{}` has many keys in one operation: it cannot be checked key by key", model.name));
    }
    let init = args.init.as_ref().map(|text| {
        serde_json::from_str(text)
            .map_err(|_| format!("--init is JSON, and `{text}` is none; a string is written '\"{text}\"'"))
    });
    let init: Option<Value> = init.transpose()?;
    // Nothing, and `false` of a lock, is what they start as.
    if init.as_ref().is_some_and(|init| !init.is_null() && *init != false) && !model.takes(INIT) {
        return Err(format!("a `{}` starts empty: --init says nothing of it", model.name));
    }
    let keys = KeyOrder {
        writes_follow_reads: args.wfr_keys,
        sequential: args.sequential_keys,
        linearizable: args.linearizable_keys,
    };
    let level = args.consistency_model.as_ref().map(|level| level_of(level, &checkers)).transpose()?.flatten();
    let settings = Settings {
        model,
        checkers,
        init,
        per_key: match (args.per_key, args.whole) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        fail: args.fail_semantics,
        level,
        keys,
        parameters: args.parameters.clone(),
        reading: Reading { format: args.input_format, tuples: Tuples::default() },
        timeout: args.timeout,
        memory: args.memory.unwrap_or_else(default_memory),
        threads: match args.threads {
            Some(threads) => threads.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        },
    };
    // What depends on the history's keys is told when they are known.
    for (_, make) in model.checkers().filter(|(name, _)| settings.checkers.contains(name)) {
        make.fits(&settings.asked(false))?;
    }
    Ok(settings)
}

/// The checkers that were named, by any of their names; the model's first when none was.
fn checkers(args: &CheckArgs, model: &'static Known) -> Result<Vec<&'static str>, String> {
    let fitting = || model.names();
    let mut found: Vec<&'static str> = Vec::new();
    for asked in &args.checker {
        let name = names::exact(names::CHECKERS, asked).map_or(asked.as_str(), |name| name.id);
        if let Some(why) = models::not_of_a_file(name) {
            return Err(format!("{name} cannot judge a file alone: {why}"));
        }
        let Some(fits) = fitting().find(|fits| *fits == name) else {
            let known = models::MODELS.iter().flat_map(Known::names);
            let near = nearest(asked, known);
            let what = match near {
                Some(near) if near == name => format!("`{name}` does not fit the model `{}`", model.name),
                Some(near) => format!("there is no checker `{asked}`; did you mean `{near}`?"),
                None => format!("there is no checker `{asked}`"),
            };
            return Err(format!("{what}; what fits it is {}", fitting().collect::<Vec<_>>().join(", ")));
        };
        if !found.contains(&fits) {
            found.push(fits);
        }
    }
    if found.is_empty() {
        let level = args.consistency_model.as_ref().and_then(|level| object_level(&level.trim().to_lowercase()));
        let asked = level.and_then(|level| fitting().find(|fits| *fits == level));
        found.extend(asked.or_else(|| fitting().next()));
    }
    let of_txns = |name: &&str| model.checkers().any(|(known, make)| known == name && matches!(make, Make::Txns(_)));
    if found.iter().any(of_txns) && !found.iter().all(of_txns) {
        return Err(format!(
            "{} judge transactions and operations, which are read in different ways: ask for them one by one",
            found.join(" and ")
        ));
    }
    Ok(found)
}

/// The level that is asked for, of transactions; of objects it is the checker that decides it. A level that none of the
/// checkers decides would be believed to hold.
fn level_of(level: &str, checkers: &[&str]) -> Result<Option<Level>, String> {
    let plain = level.trim().to_lowercase();
    if checkers.contains(&SER) {
        if let Some(known) = Level::named(&plain).or_else(|| Level::named(level.trim())) {
            return Ok(Some(known));
        }
        let names = || Level::all().map(Level::name);
        let near = nearest(&plain, names()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let all: Vec<&str> = names().collect();
        return Err(format!("there is no consistency model `{level}`; {near}they are {}", all.join(", ")));
    }
    if object_level(&plain).is_some_and(|checker| checkers == [checker]) {
        return Ok(None);
    }
    Err(format!(
        "--consistency-model {level} is not what {} decides: of objects it is `linearizable` or `sequential`, and other \
         levels are for transactions (--model list-append, rw-register)",
        checkers.join(", ")
    ))
}

/// The checker that decides a level of objects.
fn object_level(level: &str) -> Option<&'static str> {
    match level {
        "linearizable" => Some(LIN),
        "sequential" => Some(SEQ),
        _ => None,
    }
}
