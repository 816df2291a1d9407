//! A target without scenarios, as most packages have: it must go on working beside the others.

#[test]
fn ordinary() {
    println!("an ordinary test ran");
}
