//! Versions and floors, as far as they can be read.

/// The first number with a dot in `text`, or the first number: `etcd Version: 3.5.9` gives 3.5.9.
pub(crate) fn version_in(text: &str) -> Option<String> {
    let numbers = || {
        text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map(|word| word.trim_matches('.'))
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(".."))
    };
    numbers().find(|word| word.contains('.')).or_else(|| numbers().next()).map(str::to_owned)
}

/// What a `Version floor` cell demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    /// Nothing.
    Any,
    /// At least this.
    AtLeast(String),
    /// Words that are no version.
    Unread,
}

/// Reads the cell.
pub(crate) fn floor(cell: &str) -> Floor {
    let plain = cell.replace(['`', '*'], "").trim().to_lowercase();
    if ["", "-", "–", "—", "any", "none", "n/a", "any version"].contains(&plain.as_str()) {
        return Floor::Any;
    }
    version_in(&plain).map_or(Floor::Unread, Floor::AtLeast)
}

/// True if `version` is `floor` or later; parts that are missing count as 0.
pub(crate) fn reaches(version: &str, floor: &str) -> bool {
    let parts = |text: &str| text.split('.').map(|part| part.parse::<u64>().unwrap_or(0)).collect::<Vec<_>>();
    let (mut version, mut floor) = (parts(version), parts(floor));
    let length = version.len().max(floor.len());
    version.resize(length, 0);
    floor.resize(length, 0);
    version >= floor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(version_in(text).as_deref(), expect, "{text}");
        check("etcd Version: 3.5.9\nGit SHA: bdbbde998", Some("3.5.9"));
        check("openjdk version \"17.0.15\" 2025-04-15", Some("17.0.15"));
        check("go version go1.22.3 linux/amd64", Some("1.22.3"));
        check("tc utility, iproute2-6.1.0", Some("6.1.0"));
        check("jq-1.6", Some("1.6"));
        check("version 7", Some("7"));
        check("none", None);
    }

    #[test]
    fn floors_are_read_or_said_to_be_unread() {
        assert_eq!(floor("≥ 3.5"), Floor::AtLeast("3.5".into()));
        assert_eq!(floor("1.75+"), Floor::AtLeast("1.75".into()));
        assert_eq!(floor("kernel 5.10 or later"), Floor::AtLeast("5.10".into()));
        assert_eq!(floor("—"), Floor::Any);
        assert_eq!(floor("latest"), Floor::Unread);
        assert!(reaches("3.10", "3.9.1") && reaches("3.5", "3.5.0") && !reaches("2.9.9", "3"));
    }
}
