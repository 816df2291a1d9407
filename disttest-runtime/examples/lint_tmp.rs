fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let t = std::time::Instant::now();
        let (_, told) = disttest_runtime::plan::check(&text);
        let took = t.elapsed();
        let index = disttest_runtime::base::diagnostic::LineIndex::new(&text);
        println!("== {path}: {} in {took:?}", told.len());
        for d in told {
            let p = index.position(&text, d.span.start);
            let s: String = text.get(d.span.start..d.span.end).unwrap_or("??").chars().take(40).collect();
            println!(
                "{}:{} {:?} {}: {} [{}]{}",
                p.line,
                p.column,
                d.severity,
                d.rule,
                d.message,
                s.replace('\n', "⏎"),
                if d.edits.is_empty() { "" } else { " +edit" }
            );
        }
    }
}
