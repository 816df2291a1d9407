//! From a cut on real sockets to the verdict on its landing: what acts lands, and no sabotage of it does.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::fault::{Assessment, CARRIER_SIGNAL, Policy, Sample, Series, Shape, Window, assess};
use crate::recorder::{ClientRecorder, EpochCell, Recorder};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long a client waits for an answer that should come, and for one that should not.
const PATIENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_millis(40)];
/// Steps of the baseline, the fault and the time after the heal; one operation and one sample each.
const STEPS: [u64; 3] = [10, 12, 10];
/// Time between two samples, as the window tells it: the test counts steps and reads no clock.
const STEP: u64 = 200_000_000;

/// What is done to the net, and to the route that the client takes.
#[derive(Clone, Copy)]
struct Sabotage {
    bypass: bool,
    inject: fn(&ProxyNet),
    heal: fn(&ProxyNet),
    /// The system under test is as slow before the fault.
    noisy: bool,
    /// The heal does nothing.
    stays: bool,
}

const HONEST: Sabotage = Sabotage {
    bypass: false,
    inject: |net| _ = net.cut_data("client", "n1").unwrap(),
    heal: |net| _ = net.heal_pair("client", "n1").unwrap(),
    noisy: false,
    stays: false,
};

/// One request and its reply, recorded; a connection that failed is opened anew by the next one.
async fn operation(
    address: SocketAddr,
    connection: &mut Option<TcpStream>,
    client: &ClientRecorder,
    answered: bool,
    patience: Duration,
) {
    let pending = client.invoke("read", "k", Value::Null).node("n1").deadline(patience);
    let exchange = async {
        if connection.is_none() {
            *connection = Some(TcpStream::connect(address).await?);
        }
        let Some(stream) = connection.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
        // The server answers an `a` and lets any other request wait.
        stream.write_all(if answered { b"a" } else { b"-" }).await?;
        stream.read_exact(&mut [0; 1]).await
    };
    match tokio::time::timeout(patience, exchange).await {
        Ok(Ok(_)) => return pending.ok(Value::Null),
        Ok(Err(error)) => pending.unknown(error.to_string()),
        Err(_) => pending.timeout(),
    }
    *connection = None;
}

async fn server(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut request = [0; 1];
            while stream.read_exact(&mut request).await.is_ok() {
                if request == *b"a" && stream.write_all(b"r").await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn run(sabotage: Sabotage) -> Assessment {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::start();
    let recorder = Recorder::create(dir.path(), clock, EpochCell::new(clock)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let direct = listener.local_addr().unwrap();
    tokio::spawn(server(listener));
    let net = ProxyNet::new(clock);
    let proxied = net.add_link("client", "n1", direct).unwrap();
    net.add_link("client", "n2", direct).unwrap();
    let address = if sabotage.bypass { direct } else { proxied };
    let series = |signal: &str, source: &str| Series {
        signal: signal.to_owned(),
        source: source.to_owned(),
        shape: Shape::Counter { dose: 1.0 },
        samples: Vec::new(),
    };
    let link = "link client->n1";
    let [before, during, _] = STEPS;
    let mut window = Window {
        epoch: 1,
        nemesis: "asymmetric-data-cut".to_owned(),
        detail: "client -> n1".to_owned(),
        victims: vec!["n1".to_owned()],
        baseline_from: Nanos(STEP),
        requested_at: None,
        injected_at: Nanos(STEP * before),
        healed_at: Some(Nanos(STEP * (before + during))),
        observed_until: Nanos(STEP * STEPS.iter().sum::<u64>()),
        injection_error: None,
        heal_error: None,
        probe_ok_at: Some(Nanos(STEP * (before + during + 1))),
        injector: vec![series("proxy-dropped-bytes", link), series(CARRIER_SIGNAL, link)],
        victim: vec![series("client-timeouts", "n1")],
        ..Window::default()
    };
    let (client, mut connection) = (recorder.client(1).unwrap(), None);
    for step in 1..=STEPS.iter().sum::<u64>() {
        let is_answered = step <= before || step > before + during;
        let patience = PATIENCE[usize::from(!is_answered || sabotage.noisy || sabotage.stays && step > before)];
        operation(address, &mut connection, &client, !sabotage.noisy, patience).await;
        let lane = net.data_counters("client", "n1").unwrap();
        let readings = [lane.bytes_dropped, lane.bytes_passed, recorder.stats().timeouts("n1")];
        for (series, reading) in window.injector.iter_mut().chain(&mut window.victim).zip(readings) {
            series.samples.push(Sample { at: Nanos(STEP * step), value: Some(reading as f64) });
        }
        if step == before {
            (sabotage.inject)(&net);
        } else if step == before + during {
            (sabotage.heal)(&net);
        }
    }
    assert_eq!(recorder.finish().unwrap().defects, Vec::<String>::new());
    assess(&window, &Policy::default())
}

#[tokio::test]
async fn a_cut_on_the_way_of_the_client_lands_and_heals() {
    let assessment = run(HONEST).await;
    assert!(assessment.landed && assessment.recovered, "{assessment:?}");
}

#[tokio::test]
async fn a_cut_that_does_not_act_or_is_not_suffered_does_not_land() {
    let rows: &[(&str, Sabotage, bool, &str)] = &[
        ("nothing is injected", Sabotage { inject: |_| (), ..HONEST }, true, "0 -> 0"),
        ("another link is cut", Sabotage { inject: |net| _ = net.cut_data("client", "n2"), ..HONEST }, true, "0 -> 0"),
        (
            "the cut is lifted at once",
            Sabotage { inject: |net| _ = net.cut_data("client", "n1").map(|_| net.heal_all()), ..HONEST },
            true,
            "0 -> 0",
        ),
        (
            "a rule that does nothing",
            Sabotage { inject: |net| _ = net.set_data_rule("client", "n1", Rule::Pass), ..HONEST },
            true,
            "0 -> 0",
        ),
        ("the proxy is bypassed", Sabotage { bypass: true, ..HONEST }, true, "0 -> 0"),
        ("clients time out before the fault as well", Sabotage { noisy: true, ..HONEST }, false, "ambiguous"),
    ];
    for (name, sabotage, recovers, why) in rows {
        let a = run(*sabotage).await;
        let said = format!("{name}: {} | {} | {}", a.injector.why, a.victim.why, a.recovery);
        assert!(!a.landed && said.contains(why), "{said}");
        assert!(!recovers || a.recovered, "{said}");
    }
}

#[tokio::test]
async fn a_cut_that_is_never_healed_lands_and_does_not_recover() {
    let assessment = run(Sabotage { heal: |_| (), stays: true, ..HONEST }).await;
    assert!(assessment.landed && !assessment.recovered, "{assessment:?}");
    assert!(assessment.recovery.contains("still"), "{}", assessment.recovery);
}
