//! What the attribute accepts, and the message for each thing that it rejects.

#[test]
fn the_attribute_accepts_what_the_plan_format_allows_and_rejects_the_rest_with_a_message() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/accept/*.rs");
    cases.compile_fail("ui/reject/*.rs");
}
