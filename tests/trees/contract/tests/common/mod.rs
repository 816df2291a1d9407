//! A register in the memory of the test, clients that tell the truth about it, and clients that lie.

use disttest_runtime::prelude::*;
use std::sync::Mutex;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

static REGISTER: Mutex<Value> = Mutex::new(Value::Null);
const DEADLINE: Duration = Duration::from_secs(1);

/// Runs clients that lie about what they read, or do not, to the end of the budget.
pub async fn history(run: &Run, lie: bool) -> Result<(Recorded, Landed)> {
    println!("{} speaks to its stdout", run.scenario());
    let cluster = run.cluster(Program::new(env!("CARGO_BIN_EXE_listener")).args(["{listen}"])).await?;
    let workload = run.workload(cluster).clients(2).start(move |client: Client| work(client, lie)).await?;
    let landed = workload.faults().none("the contract of the harness is under test, not the store").await;
    Ok((workload.stop(|client: Client| last_read(client)).await?, landed))
}

async fn work(mut client: Client, lie: bool) -> Result<()> {
    let mut node = TcpStream::connect(client.addr()).await?;
    let mut number = 0;
    while client.running() {
        number += 1;
        let value = format!("{}-{number}", client.id());
        write(&mut client, &mut node, value).await;
        read(&mut client, &mut node, lie).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

async fn last_read(mut client: Client) -> Result<()> {
    let mut node = TcpStream::connect(client.addr()).await?;
    read(&mut client, &mut node, false).await;
    Ok(())
}

async fn write(client: &mut Client, node: &mut TcpStream, value: String) {
    let request = async {
        visit(node).await?;
        *REGISTER.lock().expect("no client panics") = json!(value);
        Ok(json!("ok"))
    };
    client.call("write", "k", json!(value), DEADLINE, request).await;
}

async fn read(client: &mut Client, node: &mut TcpStream, lie: bool) {
    let request = async {
        visit(node).await?;
        let value = REGISTER.lock().expect("no client panics").clone();
        Ok(if lie { json!("a value nobody wrote") } else { value })
    };
    client.call("read", "k", Value::Null, DEADLINE, request).await;
}

/// There and back again.
async fn visit(node: &mut TcpStream) -> Result<(), CallError> {
    let there_and_back = async {
        node.write_all(b"?").await?;
        node.read_u8().await
    };
    there_and_back.await.map(drop).map_err(|error| CallError::Unknown(error.to_string()))
}
