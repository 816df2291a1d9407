//! What is EDN and what is not, and that no bytes bring the reader down.

use super::{DEEPEST, Edn, read_all};
use proptest::prelude::*;

fn check(text: &str, expect: &str) {
    let got = match read_all(text.as_bytes()) {
        Ok(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
        Err(bad) => format!("{}:{}: {}", bad.place.line, bad.place.column, bad.problem),
    };
    assert_eq!(got, expect, "{text}");
}

#[test]
fn values_are_read() {
    check("", "");
    check(" , ; nothing\n", "");
    check("nil true false", "nil | true | false");
    check("1 -2 +3 007 9223372036854775807", "1 | -2 | 3 | 7 | 9223372036854775807");
    check("5N 9223372036854775808 -00009223372036854775809N", "5 | 9223372036854775808N | -9223372036854775809N");
    check("0x1f -0XFF 0xffffffffffffffffN", "31 | -255 | 18446744073709551615N");
    check("0x", "1:1: `0x` is no number");
    check("0x1g", "1:1: `0x1g` is no number");
    check("1.5 -1e3 2. 1.50M 3M 1/3", "1.5 | -1000.0 | 2.0 | 1.50M | 3M | 1/3");
    check("##Inf ##-Inf", "##Inf | ##-Inf");
    check(
        r"\a \newline \space \u00e9 \( \\ \é [\a\b]",
        "\\a | \\newline | \\space | \\é | \\( | \\\\ | \\é | [\\a \\b]",
    );
    check(r#""a\n\"\\é😀" """#, "\"a\\n\\\"\\\\é😀\" | \"\"");
    check(":a :a/b :+ a-b a/b + - -a .b", ":a | :a/b | :+ | a-b | a/b | + | - | -a | .b");
    check("(1 2) [1,[2]] {:a 1, \"b\" {}} #{1 2}", "(1 2) | [1 [2]] | {:a 1, \"b\" {}} | #{1 2}");
    check("#inst \"2026\" #jepsen.history.Op{:a 1} #a #b 1", "#inst \"2026\" | #jepsen.history.Op {:a 1} | #a #b 1");
    check("#:x{:a 1 :y/b 2 :_/c 3 d 4}", "{:x/a 1, :y/b 2, :c 3, x/d 4}");
    check("[1 #_ 2 3] #_ #_ 1 2 3 #_{:a [1]} 4", "[1 3] | 3 | 4");
    check("[1;c]\n2]", "[1 2]");
    check("\"line\nline\"", "\"line\\nline\"");
}

#[test]
fn what_is_no_edn_is_refused_with_its_place() {
    check("[1", "1:3: the text ends before the `]` of line 1: it is cut off");
    check("\n\n{:a \"b", "3:7: the text ends inside of the string of line 3: it is cut off");
    check("1\n ]", "2:2: nothing is open that `]` closes");
    check("[1}", "1:3: nothing is open that `}` closes");
    check("{:a}", "1:1: a map has a key without a value");
    check("{:a 1 :a 2}", "1:1: a map has the key `:a` twice");
    check("#{1 2 1}", "1:1: a set has `1` twice");
    check("1x", "1:1: `1x` is no number");
    check("1.2.3", "1:1: `1.2.3` is no number");
    check("1e999", "1:1: `1e999` is no number");
    check("1/0", "1:1: `1/0` is no number");
    check("::a", "1:1: `::a` is no keyword");
    check(":", "1:1: `:` is no keyword");
    check("a: ", "1:1: `a:` is no symbol");
    check("#:#n{a 1}", "1:1: `#n` is no namespace");
    check("#:9p{b 1}", "1:1: `9p` is no namespace");
    check("#:`p{b 1}", "1:1: ``p` is no namespace");
    check("#:x{:_/ 1}", "1:1: `:_/` cannot be a key of this map");
    check("#:x{_/nil 1}", "1:1: `_/nil` cannot be a key of this map");
    check("#:x{:a 1 :x/a 2}", "1:1: a map has the key `:x/a` twice");
    check("##NaN", "1:1: ##NaN equals nothing, itself included: no answer can be compared with it");
    check("^:a b", "1:1: `^` is no EDN (metadata and quoting are code)");
    check("\\abc", "1:1: `\\abc` is no character");
    check("\"\\x\"", "1:3: no escape of a string");
    check("\"\\ud800\"", "1:3: half of a pair of code units");
    check("#", "1:2: `#` begins a set, a tag, `#_` or `##Inf`; this is none");
    check("#_", "1:3: nothing follows `#_`");
    check("#tag", "1:5: the text ends where a value should be: it is cut off");
    let bad = read_all(b"\xff").expect_err("no UTF-8");
    assert_eq!(bad.problem, "this is no UTF-8");
}

#[test]
fn depth_is_limited_whatever_it_is_made_of() {
    for open in ["[", "{", "(", "#{", "#_", "#a ", "{1 ", "#_["] {
        let bad = read_all(open.repeat(100_000).as_bytes()).expect_err(open);
        assert!(bad.problem.contains("inside of each other"), "{open}: {}", bad.problem);
    }
    let deep = format!("{}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST));
    assert!(read_all(deep.as_bytes()).is_ok());
}

#[test]
fn places_stay_right_over_more_text_than_is_held_at_once() {
    let filler = "[:aaaaaaaaaa \"bbbbbbbbbb\"]\n".repeat(10_000);
    let bad = read_all(format!("{filler}  1x\n").as_bytes()).expect_err("no number");
    assert_eq!((bad.place.line, bad.place.column), (10_001, 3));
    assert_eq!((bad.text.as_str(), bad.text_column), ("  1x", 1));
    let bad = read_all(format!("[{} 1x ]", "1 ".repeat(200_000)).as_bytes()).expect_err("no number");
    assert_eq!(bad.place.column, 400_003);
    assert!(bad.text_column > 1 && bad.text.ends_with("1x ]"));
}

/// Any value that is written and read back the same.
fn any_edn() -> impl Strategy<Value = Edn> {
    let word = "[a-z*!_?$%&=<>][a-z0-9.+-]{0,5}";
    let leaf = prop_oneof![
        Just(Edn::Nil),
        any::<bool>().prop_map(Edn::Bool),
        any::<i64>().prop_map(Edn::Int),
        any::<f64>().prop_filter("it equals itself", |float| !float.is_nan()).prop_map(Edn::Float),
        "-?[1-9][0-9]{20,30}".prop_map(Edn::Big),
        "[0-9]{1,3}\\.[0-9]{1,3}".prop_map(Edn::Decimal),
        any::<char>().prop_filter("it stands alone", |c| !c.is_control() && !c.is_whitespace()).prop_map(Edn::Char),
        any::<String>().prop_map(Edn::Text),
        word.prop_map(Edn::Keyword),
        word.prop_filter("it is no constant", |word| !["nil", "true", "false"].contains(&word.as_str()))
            .prop_map(Edn::Symbol),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..5);
        prop_oneof![
            items.clone().prop_map(Edn::List),
            items.clone().prop_map(Edn::Vector),
            items.prop_map(|items| {
                let mut unique: Vec<Edn> = Vec::new();
                items.into_iter().for_each(|item| {
                    if !unique.contains(&item) {
                        unique.push(item)
                    }
                });
                Edn::Set(unique)
            }),
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|values| Edn::Map(values.into_iter().zip(0..).map(|(v, at)| (Edn::Int(at), v)).collect())),
            ("[a-z][a-z./]{0,4}[a-z]", inner).prop_map(|(tag, value)| Edn::Tagged(tag, Box::new(value))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_the_same(value in any_edn()) {
        let text = value.to_string();
        prop_assert_eq!(read_all(text.as_bytes()), Ok(vec![value]));
    }

    #[test]
    fn no_bytes_bring_the_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_all(&bytes);
    }

    #[test]
    fn no_text_of_the_notation_brings_the_reader_down(text in "[\\[\\](){}#_:^\\\\\"a1N/M.+e; \n-]{0,80}") {
        if let Ok(values) = read_all(text.as_bytes()) {
            let again: Vec<String> = values.iter().map(ToString::to_string).collect();
            prop_assert_eq!(read_all(again.join(" ").as_bytes()).map(|read| read.len()), Ok(values.len()));
        }
    }

    #[test]
    fn a_text_that_is_cut_off_is_refused_or_reads_as_the_beginning(value in any_edn(), at in any::<prop::sample::Index>()) {
        let text = Edn::Vector(vec![value]).to_string();
        let cut = at.index(text.len());
        prop_assert!(cut == 0 || read_all(&text.as_bytes()[..cut]).is_err());
    }
}
