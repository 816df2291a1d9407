//! Two runs at once on one machine do not see each other.

use crate::kills::{build_the_example, workspace};
use crate::world::World;
use disttest_runtime::verdict::Verdict;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PLAN: &str = "tests/abd-store/docs/testing-plans/abd-register.md";

fn disttest(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(env!("CARGO_BIN_EXE_disttest"), "");
    command.arg("disttest").args(args).arg("--session-root").arg(world.root.path());
    command.current_dir(workspace()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(world: &World, more: &[&str]) -> Child {
    let args = [&["run", PLAN, "--tier", "smoke", "--scenario", "S2"], more].concat();
    disttest(world, &args).spawn().expect("it starts")
}

#[test]
fn two_runs_of_one_plan_at_once_come_each_to_its_own_verdict_and_heal_touches_neither() {
    build_the_example();
    let worlds = [World::new(), World::new()];
    let [sound, broken] = &worlds;
    let mut runs = [start(sound, &[]), start(broken, &["--sut-arg=--bug=ack-before-write"])];
    let mut under_way = [false; 2];
    loop {
        let lives = runs.each_mut().map(|run| run.try_wait().expect("it can be asked").is_none());
        for (index, world) in worlds.iter().enumerate() {
            let output = disttest(world, &["heal"]).output().expect("it runs");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing to heal\n", "{told}");
            under_way[index] |= told.contains("is under way") && lives == [true; 2];
        }
        if lives == [false; 2] {
            break;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(under_way, [true; 2], "they ran at the same time, and heal saw both");
    let told = runs.map(|run| run.wait_with_output().expect("it ended"));
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let verdicts = [sound.verdicts(), broken.verdicts()];
    assert!(verdicts[0].contains(&Verdict::PassSmoke), "{:?}\n{}", verdicts[0], told[0]);
    assert!(verdicts[1].contains(&Verdict::FailReproducible), "{:?}\n{}", verdicts[1], told[1]);
    worlds.iter().for_each(|world| world.nothing_is_left().expect("both ended"));
}
