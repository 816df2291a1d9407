//! What we know how to look for, by the names that plans use.

/// How to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A program on PATH; the arguments print its version and do nothing else.
    Program(&'static str, &'static [&'static str]),
    /// A part of a program, such as a plugin: asked by the program with these arguments, which print the part's version.
    /// The program's own version says nothing of it.
    Part(&'static str, &'static [&'static str]),
    /// A program on PATH that is not started: it has no harmless way to tell its version.
    Present(&'static str),
    /// The Linux kernel; its version is the kernel's.
    Linux,
    /// A capability of this process, by its number in `CapEff`.
    Capability(u32),
    /// Namespaces that an unprivileged user may make.
    UserNamespaces,
    /// The unified control group hierarchy.
    CgroupV2,
    /// A kernel module, built in or on disk.
    Module(&'static str),
    /// Processors that this process may use; their number is the version.
    Cores,
    /// Memory; whole GiB are the version.
    Memory,
    /// The loopback interface.
    Loopback,
    /// A file that must exist.
    File(&'static str),
}

/// Something a plan may require.
#[derive(Debug)]
pub(crate) struct Known {
    /// Its name in reports.
    pub name: &'static str,
    /// Lower-case words by which plans name it.
    pub words: &'static [&'static str],
    /// How to look for it.
    pub look: Look,
    /// How to install it where the plan does not say.
    pub hint: &'static str,
}

const fn known(name: &'static str, words: &'static [&'static str], look: Look, hint: &'static str) -> Known {
    Known { name, words, look, hint }
}

const fn program(name: &'static str, words: &'static [&'static str], hint: &'static str) -> Known {
    known(name, words, Look::Program(name, &["--version"]), hint)
}

/// Everything we know, longer names before shorter ones that they contain.
pub(crate) const KNOWN: &[Known] = &[
    program("etcdctl", &["etcdctl"], "apt-get install etcd-client"),
    program("etcd", &["etcd"], "apt-get install etcd-server"),
    program("redis-server", &["redis", "redis-server"], "apt-get install redis-server"),
    program("valkey-server", &["valkey", "valkey-server"], "apt-get install valkey-server"),
    program("memcached", &["memcached"], "apt-get install memcached"),
    program("postgres", &["postgres", "postgresql"], "apt-get install postgresql"),
    program("psql", &["psql"], "apt-get install postgresql-client"),
    program("mysqld", &["mysql", "mysqld"], "apt-get install default-mysql-server"),
    program("sqlite3", &["sqlite", "sqlite3"], "apt-get install sqlite3"),
    program("mongod", &["mongodb", "mongod"], "see mongodb.com"),
    known("nats-server", &["nats", "nats-server"], Look::Program("nats-server", &["--version"]), "see nats.io"),
    known("consul", &["consul"], Look::Program("consul", &["version"]), "see consul.io"),
    program("minio", &["minio"], "see min.io"),
    program("nginx", &["nginx"], "apt-get install nginx"),
    program("haproxy", &["haproxy"], "apt-get install haproxy"),
    program("envoy", &["envoy"], "see envoyproxy.io"),
    program("toxiproxy-server", &["toxiproxy", "toxiproxy-server"], "see github.com/Shopify/toxiproxy"),
    program("prometheus", &["prometheus"], "apt-get install prometheus"),
    program("docker-compose", &["docker-compose"], "apt-get install docker-compose"),
    known(
        "docker compose",
        &["docker compose", "docker compose plugin", "docker-compose-plugin", "compose plugin", "compose v2"],
        Look::Part("docker", &["compose", "version"]),
        "apt-get install docker-compose-plugin",
    ),
    known(
        "docker buildx",
        &["docker buildx", "docker buildx plugin", "docker-buildx-plugin", "buildx"],
        Look::Part("docker", &["buildx", "version"]),
        "apt-get install docker-buildx-plugin",
    ),
    known(
        "podman compose",
        &["podman compose", "podman-compose"],
        Look::Part("podman", &["compose", "version"]),
        "apt-get install podman-compose",
    ),
    program("docker", &["docker"], "apt-get install docker.io"),
    program("podman", &["podman"], "apt-get install podman"),
    known(
        "kubectl",
        &["kubectl", "kubernetes", "k8s"],
        Look::Program("kubectl", &["version", "--client"]),
        "see kubernetes.io",
    ),
    known("kind", &["`kind`", "kind cluster"], Look::Program("kind", &["version"]), "see kind.sigs.k8s.io"),
    known("helm", &["helm"], Look::Program("helm", &["version"]), "see helm.sh"),
    program("iptables", &["iptables"], "apt-get install iptables"),
    program("nft", &["nft", "nftables"], "apt-get install nftables"),
    known("tc", &["tc", "iproute2", "iproute"], Look::Program("tc", &["-V"]), "apt-get install iproute2"),
    known(
        "netem",
        &["netem", "tc-netem", "sch_netem"],
        Look::Module("sch_netem"),
        "a kernel with CONFIG_NET_SCH_NETEM",
    ),
    known("dm-flakey", &["dm-flakey"], Look::Module("dm_flakey"), "a kernel with CONFIG_DM_FLAKEY"),
    known("dm-error", &["dm-error"], Look::Module("dm_mod"), "a kernel with CONFIG_BLK_DEV_DM"),
    known(
        "dmsetup",
        &["dmsetup", "device mapper", "device-mapper"],
        Look::Program("dmsetup", &["--version"]),
        "apt-get install dmsetup",
    ),
    known("FUSE", &["fuse", "/dev/fuse"], Look::File("/dev/fuse"), "apt-get install fuse3"),
    known(
        "libfaketime",
        &["libfaketime", "faketime"],
        Look::Program("faketime", &["--version"]),
        "apt-get install faketime",
    ),
    known("libeatmydata", &["eatmydata", "libeatmydata"], Look::Present("eatmydata"), "apt-get install eatmydata"),
    program("strace", &["strace"], "apt-get install strace"),
    program("perf", &["perf"], "apt-get install linux-perf"),
    program("bpftrace", &["bpftrace"], "apt-get install bpftrace"),
    program("gdb", &["gdb"], "apt-get install gdb"),
    program("valgrind", &["valgrind"], "apt-get install valgrind"),
    program("tcpdump", &["tcpdump"], "apt-get install tcpdump"),
    program("tshark", &["tshark", "wireshark"], "apt-get install tshark"),
    program("stress-ng", &["stress-ng"], "apt-get install stress-ng"),
    program("fio", &["fio"], "apt-get install fio"),
    known("wrk", &["wrk"], Look::Present("wrk"), "apt-get install wrk"),
    known("k6", &["k6"], Look::Program("k6", &["version"]), "see k6.io"),
    program("unshare", &["unshare"], "apt-get install util-linux"),
    program("nsenter", &["nsenter"], "apt-get install util-linux"),
    program("systemd-run", &["systemd-run"], "a systemd machine"),
    known(
        "Java",
        &["java", "jvm", "jdk", "jre", "tlc", "tla2tools"],
        Look::Program("java", &["-version"]),
        "apt-get install default-jre-headless",
    ),
    known("Leiningen", &["lein", "leiningen"], Look::Present("lein"), "apt-get install leiningen"),
    known(
        "Go",
        &["go toolchain", "golang", "`go`", "go compiler"],
        Look::Program("go", &["version"]),
        "apt-get install golang",
    ),
    known(
        "Python",
        &["python", "python3", "pytest"],
        Look::Program("python3", &["--version"]),
        "apt-get install python3",
    ),
    known("Node.js", &["node.js", "nodejs", "npm"], Look::Program("node", &["--version"]), "apt-get install nodejs"),
    program("cargo-nextest", &["nextest", "cargo-nextest", "cargo nextest"], "cargo install --locked cargo-nextest"),
    program("cargo-fuzz", &["cargo-fuzz", "cargo fuzz"], "cargo install cargo-fuzz"),
    known(
        "Rust",
        &["rust", "rustc", "cargo", "rust toolchain"],
        Look::Program("rustc", &["--version"]),
        "see rustup.rs",
    ),
    program("protoc", &["protoc", "protobuf compiler"], "apt-get install protobuf-compiler"),
    program("cmake", &["cmake"], "apt-get install cmake"),
    known(
        "a C compiler",
        &["gcc", "clang", "c compiler"],
        Look::Program("cc", &["--version"]),
        "apt-get install build-essential",
    ),
    known("git lfs", &["git lfs", "git-lfs"], Look::Part("git", &["lfs", "version"]), "apt-get install git-lfs"),
    program("git", &["git"], "apt-get install git"),
    program("curl", &["curl"], "apt-get install curl"),
    program("jq", &["jq"], "apt-get install jq"),
    known("openssl", &["openssl"], Look::Program("openssl", &["version"]), "apt-get install openssl"),
    known("Chromium", &["chromium", "chrome"], Look::Program("chromium", &["--version"]), "apt-get install chromium"),
    known(
        "CAP_NET_ADMIN",
        &["cap_net_admin", "net_admin"],
        Look::Capability(12),
        "run as root, or in a user namespace",
    ),
    known(
        "CAP_SYS_ADMIN",
        &["cap_sys_admin", "sys_admin", "root", "root privileges", "sudo"],
        Look::Capability(21),
        "run as root, or in a user namespace",
    ),
    known("CAP_SYS_TIME", &["cap_sys_time"], Look::Capability(25), "run as root, or use a time namespace"),
    known(
        "user namespaces",
        &["user namespaces", "user namespace", "network namespaces", "network namespace", "netns"],
        Look::UserNamespaces,
        "sysctl user.max_user_namespaces",
    ),
    known(
        "cgroup v2",
        &["cgroup v2", "cgroups v2", "cgroup2", "cgroups", "cgroup"],
        Look::CgroupV2,
        "a kernel booted with the unified hierarchy",
    ),
    known("CPU cores", &["cores", "cpu cores", "cpus", "vcpus"], Look::Cores, "a larger machine"),
    known("memory", &["memory", "ram"], Look::Memory, "a larger machine"),
    known("loopback TCP", &["loopback", "localhost"], Look::Loopback, "ip link set lo up"),
    known("Linux", &["linux", "linux kernel", "kernel"], Look::Linux, "a Linux machine"),
];

/// What `requirement` names, each once, in the order of its words.
pub(crate) fn named_in(requirement: &str) -> Vec<&'static Known> {
    let text = requirement.to_lowercase();
    let mut found: Vec<(usize, usize, &'static Known)> = Vec::new();
    for known in KNOWN {
        let places = known.words.iter().filter_map(|word| Some((whole_word(&text, word)?, word.len())));
        found.extend(places.max_by_key(|(_, len)| *len).map(|(at, len)| (at, len, known)));
    }
    // `redis-server` must not name a shorter thing inside of it as well.
    let inside = |a: &(usize, usize, &Known), b: &(usize, usize, &Known)| {
        a.0 >= b.0 && a.0 + a.1 <= b.0 + b.1 && (a.0, a.1) != (b.0, b.1)
    };
    let mut outer: Vec<_> = found.iter().filter(|a| !found.iter().any(|b| inside(a, b))).collect();
    outer.sort_by_key(|(at, _, _)| *at);
    outer.into_iter().map(|(_, _, known)| *known).collect()
}

/// Where `word` stands in `text` as a whole word.
fn whole_word(text: &str, word: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_recognised_by_whole_words() {
        let check = |text: &str, expect: &[&str]| {
            let names: Vec<&str> = named_in(text).iter().map(|known| known.name).collect();
            assert_eq!(names, expect, "{text}");
        };
        check("etcd 3-node cluster", &["etcd"]);
        check("`etcdctl`", &["etcdctl"]);
        check("Redis (standalone)", &["redis-server"]);
        check("Linux kernel with netem", &["Linux", "netem"]);
        check("docker-compose", &["docker-compose"]);
        check("docker compose", &["docker compose"]);
        check("`docker compose` plugin", &["docker compose"]);
        check("Docker with the compose plugin", &["docker", "docker compose"]);
        check("cargo nextest", &["cargo-nextest"]);
        check("git lfs", &["git lfs"]);
        check("Rust toolchain, cargo-nextest", &["Rust", "cargo-nextest"]);
        check("iptables or nftables", &["iptables", "nft"]);
        check("A quiet machine of our own", &[]);
        check("graphite storage", &[]);
    }
}
