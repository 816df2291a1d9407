//! x
fn main() {
    let text = std::fs::read_to_string("/tmp/large.md").unwrap();
    for _ in 0..15 {
        let (_, told) = disttest_runtime::plan::check(&text);
        eprintln!("{}", told.len());
    }
}
