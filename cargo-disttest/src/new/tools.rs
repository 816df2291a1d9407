//! Programs that the tests of a repository seem to need, told by its dependencies and scripts, and whether they are
//! here: the rows of §6b. A program that is here is asked for its version only.

use super::crates::Crates;
use super::sources;
use crate::probe::look;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A program that seems to be needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Its name, as §6b shows it.
    pub name: &'static str,
    /// What tells of it: `dependency tokio-postgres`, `scripts/chaos.sh`.
    pub because: String,
    /// Its first line of `--version`; `None` when it is not here, empty when it does not say.
    pub version: Option<String>,
    /// How to get it.
    pub install: &'static str,
}

/// A program that can be told of.
struct Known {
    name: &'static str,
    /// Names of its executables, any of which will do.
    programs: &'static [&'static str],
    /// The argument that makes it print its version and nothing else.
    version: &'static str,
    /// Packages whose tests need it.
    dependencies: &'static [&'static str],
    /// Words by which a script or a CI file shows that it uses it.
    words: &'static [&'static str],
    install: &'static str,
}

const KNOWN: [Known; 17] = [
    Known {
        name: "PostgreSQL",
        programs: &["postgres", "psql"],
        version: "--version",
        dependencies: &["tokio-postgres", "postgres", "deadpool-postgres", "bb8-postgres", "postgres-protocol"],
        words: &["psql", "pg_ctl", "postgres"],
        install: "apt-get install postgresql",
    },
    Known {
        name: "MySQL",
        programs: &["mysqld", "mysql"],
        version: "--version",
        dependencies: &["mysql", "mysql_async"],
        words: &["mysqld"],
        install: "apt-get install mysql-server",
    },
    Known {
        name: "MongoDB",
        programs: &["mongod"],
        version: "--version",
        dependencies: &["mongodb"],
        words: &["mongod"],
        install: "https://www.mongodb.com/docs/manual/installation/",
    },
    Known {
        name: "Redis",
        programs: &["redis-server", "valkey-server"],
        version: "--version",
        dependencies: &["redis", "fred", "deadpool-redis", "bb8-redis", "rustis"],
        words: &["redis-server", "redis-cli"],
        install: "apt-get install redis-server",
    },
    Known {
        name: "etcd",
        programs: &["etcd"],
        version: "--version",
        dependencies: &["etcd-client", "etcd-rs"],
        words: &["etcd", "etcdctl"],
        install: "apt-get install etcd-server",
    },
    Known {
        name: "ZooKeeper",
        programs: &["zkServer.sh"],
        version: "version",
        dependencies: &["zookeeper", "zookeeper-client", "tokio-zookeeper"],
        words: &["zkserver", "zkserver.sh"],
        install: "apt-get install zookeeperd",
    },
    Known {
        name: "Kafka",
        programs: &["kafka-server-start.sh", "kafka-server-start"],
        version: "--version",
        dependencies: &["rdkafka", "kafka", "rskafka"],
        words: &["kafka-server-start", "kafka-server-start.sh", "kafka-topics"],
        install: "https://kafka.apache.org/quickstart",
    },
    Known {
        name: "NATS server",
        programs: &["nats-server"],
        version: "--version",
        dependencies: &["async-nats", "nats"],
        words: &["nats-server"],
        install: "apt-get install nats-server",
    },
    Known {
        name: "RabbitMQ",
        programs: &["rabbitmq-server"],
        version: "",
        dependencies: &["lapin", "amqprs"],
        words: &["rabbitmq-server", "rabbitmqctl"],
        install: "apt-get install rabbitmq-server",
    },
    Known {
        name: "FoundationDB",
        programs: &["fdbserver"],
        version: "--version",
        dependencies: &["foundationdb"],
        words: &["fdbserver", "fdbcli"],
        install: "https://apple.github.io/foundationdb/downloads.html",
    },
    Known {
        name: "protoc",
        programs: &["protoc"],
        version: "--version",
        dependencies: &["prost-build", "tonic-build", "tonic-prost-build", "protobuf-codegen"],
        words: &["protoc", "protobuf-compiler"],
        install: "apt-get install protobuf-compiler",
    },
    Known {
        name: "Docker",
        programs: &["docker", "podman"],
        version: "--version",
        dependencies: &["testcontainers", "testcontainers-modules", "bollard", "shiplift"],
        words: &["docker", "docker-compose", "podman"],
        install: "https://docs.docker.com/engine/install/",
    },
    Known {
        name: "Toxiproxy",
        programs: &["toxiproxy-server"],
        version: "--version",
        dependencies: &["toxiproxy_rust", "noxious-client"],
        words: &["toxiproxy", "toxiproxy-server", "toxiproxy-cli"],
        install: "https://github.com/Shopify/toxiproxy/releases",
    },
    Known {
        name: "iptables",
        programs: &["iptables"],
        version: "--version",
        dependencies: &["iptables"],
        words: &["iptables"],
        install: "apt-get install iptables",
    },
    Known {
        name: "tc (iproute2)",
        programs: &["tc"],
        version: "-V",
        dependencies: &[],
        words: &["netem", "qdisc"],
        install: "apt-get install iproute2",
    },
    Known {
        name: "libfaketime",
        programs: &["faketime"],
        version: "--version",
        dependencies: &[],
        words: &["faketime", "libfaketime"],
        install: "apt-get install faketime",
    },
    Known {
        name: "Java",
        programs: &["java"],
        version: "-version",
        dependencies: &["j4rs", "jni"],
        words: &["java", "lein", "jepsen"],
        install: "apt-get install default-jre-headless",
    },
];

/// The tools that `crates` and the scripts below `root` tell of.
pub(crate) fn find(root: &Path, crates: &Crates) -> Vec<Tool> {
    let dependencies: BTreeSet<&str> =
        crates.all.iter().flat_map(|one| &one.dependencies).map(String::as_str).collect();
    let scripts = sources::files(root, is_script);
    let scripts: Vec<(String, BTreeSet<String>)> = scripts
        .into_iter()
        .filter_map(|(path, file)| {
            let mut said = words(&sources::read(&file)?);
            said.extend(is_for_docker(&path).then(|| "docker".to_owned()));
            Some((path, said))
        })
        .collect();
    let because = |known: &Known| {
        let dependency = known.dependencies.iter().find(|name| dependencies.contains(*name));
        let script = || scripts.iter().find(|(_, said)| known.words.iter().any(|word| said.contains(*word)));
        dependency.map(|name| format!("dependency {name}")).or_else(|| script().map(|(path, _)| path.clone()))
    };
    let tool = |known: &Known| {
        let because = because(known)?;
        let program = known.programs.iter().find_map(|program| look::on_path(program));
        let version = program.map(|program| version(&program, known.version).unwrap_or_default());
        Some(Tool { name: known.name, because, version, install: known.install })
    };
    KNOWN.iter().filter_map(tool).collect()
}

/// What `rustc --version` says, and the version a package asks for.
pub(crate) fn rust() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").map(PathBuf::from).or_else(|| look::on_path("rustc"))?;
    version(&rustc, "--version").filter(|text| !text.is_empty())
}

fn is_script(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let named = ["makefile", "justfile", "jenkinsfile", ".gitlab-ci.yml", ".travis.yml"].contains(&name);
    let workflow = lower.contains(".github/workflows/") && (name.ends_with(".yml") || name.ends_with(".yaml"));
    named || is_for_docker(path) || workflow || name.ends_with(".sh") || name.ends_with(".bash")
}

/// A Dockerfile or a compose file needs docker, whatever it says.
fn is_for_docker(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    name == "dockerfile" || name.starts_with("docker-compose") || name.starts_with("compose.")
}

/// The words of a script, comments aside.
fn words(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words = lines.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The first line that `program` prints when asked for its version; `None` when it fails or takes too long.
fn version(program: &Path, argument: &str) -> Option<String> {
    let text = look::printed(program, &[Some(argument).filter(|argument| !argument.is_empty())?])?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(80).collect())
}

#[cfg(test)]
mod tests {
    use super::super::crates::Crate;
    use super::*;

    fn found(dependencies: &[&str], files: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        let crates = Crates { root: None, all: vec![Crate { dependencies, ..Crate::default() }] };
        find(dir.path(), &crates).into_iter().map(|tool| (tool.name, tool.because)).collect()
    }

    #[test]
    fn only_what_the_repository_tells_of_is_named() {
        let check = |dependencies: &[&str], files: &[(&str, &str)], expect: &[(&str, &str)]| {
            let found = found(dependencies, files);
            let found: Vec<(&str, &str)> = found.iter().map(|(name, why)| (*name, why.as_str())).collect();
            assert_eq!(found, expect);
        };
        check(&["tokio", "serde"], &[], &[]);
        check(&["tokio-postgres"], &[], &[("PostgreSQL", "dependency tokio-postgres")]);
        check(&["tonic-build"], &[("a.sh", "# docker\nmake")], &[("protoc", "dependency tonic-build")]);
        check(&[], &[("chaos.sh", "sudo tc qdisc add dev eth0 root netem")], &[("tc (iproute2)", "chaos.sh")]);
        check(&[], &[("notes.md", "docker")], &[]);
        check(&[], &[("docker-compose.yml", "services:")], &[("Docker", "docker-compose.yml")]);
        check(&[], &[("a.sh", "javascript\ndockerless")], &[]);
    }

    #[cfg(unix)]
    #[test]
    fn a_version_is_the_first_line_that_is_not_blank() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let check = |body: &str, expect: Option<&str>| {
            let file = dir.path().join("tool");
            std::fs::write(&file, body).expect("written");
            let said = version(Path::new("/bin/sh"), file.to_str().expect("UTF-8"));
            assert_eq!(said.as_deref(), expect, "{body}");
        };
        check("echo; echo tool 1.2; echo more", Some("tool 1.2"));
        check("echo tool 3 >&2", Some("tool 3"));
        check("echo broken; exit 1", None);
    }
}
