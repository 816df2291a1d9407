use super::super::Backend;
use super::super::testing::enclosed;
use super::*;

/// Programs that end well and do nothing.
fn idle() -> [Box<dyn Dialect>; 2] {
    [Box::new(Nft::at("/bin/true")), Box::new(Iptables::at("/bin/true", "/bin/true"))]
}

#[test]
fn rules_that_a_script_did_not_make_are_missed() {
    fn body(_: Backend) -> Result<()> {
        let at = Namespace::of_this_thread()?;
        let addresses = BTreeMap::from([(0, Ipv4Addr::new(10, 0, 0, 1)), (1, Ipv4Addr::new(10, 0, 0, 2))]);
        let faults = BTreeMap::from([((0, 1), Treatment::Cut)]);
        for dialect in idle() {
            let error = dialect.replace(&at, &addresses, &faults).expect_err("nothing is there");
            let said = format!("{error:#}");
            let ways = ["0 are there", "no JSON", "did not read its input"];
            assert!(ways.iter().any(|way| said.contains(way)), "{said}");
        }
        Ok(())
    }
    enclosed("nemesis::net::filter::tests::rules_that_a_script_did_not_make_are_missed", body, &[Backend::Switch]);
}

#[test]
fn a_program_that_fails_is_an_error_with_its_words() {
    fn body(_: Backend) -> Result<()> {
        let at = Namespace::of_this_thread()?;
        let run = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            output(&at, command, "input")
        };
        assert_eq!(run("cat")?, "input");
        let error = run("echo syntax error >&2; exit 3").expect_err("it failed");
        assert!(format!("{error:#}").contains("syntax error"), "{error:#}");
        let error = run("kill -9 $$").expect_err("it was killed");
        assert!(format!("{error:#}").contains("signal: 9"), "{error:#}");
        assert!(output(&at, Command::new("/no/such/program"), "").is_err());
        Ok(())
    }
    enclosed("nemesis::net::filter::tests::a_program_that_fails_is_an_error_with_its_words", body, &[Backend::Switch]);
}
