//! Amounts as people write them on a command line.

use super::memory;
use std::time::Duration;

/// `512M`, `2GiB`, `3gb`, `1000000`: powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let plain = text.trim().to_ascii_lowercase();
    let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = plain[digits.len()..].trim();
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("`{unit}` is no unit of memory: K, M, G or T")),
    };
    let count: u64 =
        digits.parse().map_err(|_| "an amount of memory is a whole number and a unit, such as 2G".to_owned())?;
    let bytes = count.checked_mul(1 << shift).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "an amount of memory is more than nothing, and less than all there is".to_owned())
}

/// `30s`, `5m`, `1h 30m`; a bare number is seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let plain = text.trim();
    let seconds = plain.parse::<u64>().map(Duration::from_secs);
    let time = seconds
        .or_else(|_| humantime::parse_duration(plain))
        .map_err(|_| "a time is a number and a unit, such as 30s or 5m".to_owned())?;
    if time.is_zero() { Err("no time at all is not enough".to_owned()) } else { Ok(time) }
}

/// As [`time`], and `0` too.
pub(crate) fn time_or_none(text: &str) -> Result<Duration, String> {
    let plain = text.trim();
    if plain.trim_end_matches(|c: char| c.is_ascii_alphabetic()) == "0" { Ok(Duration::ZERO) } else { time(plain) }
}

/// Memory that a check may take when nothing else was said: most of what is free.
pub(crate) fn default_memory() -> u64 {
    memory::available().map_or(4 << 30, |free| free / 5 * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, expect) in [("2G", Some(2 << 30)), ("512 MiB", Some(512 << 20)), ("7", Some(7)), ("1kb", Some(1024))]
        {
            assert_eq!(bytes(text).ok(), expect, "{text}");
        }
        for text in ["", "G", "2X", "-1", "0", "1.5G", "99999999999999999999", "20000000T"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for (text, expect) in [("30s", Some(30)), ("5m", Some(300)), ("90", Some(90)), ("1h 1m", Some(3660))] {
            assert_eq!(time(text).ok(), expect.map(Duration::from_secs), "{text}");
        }
        assert_eq!((time_or_none("0"), time_or_none("0ms")), (Ok(Duration::ZERO), Ok(Duration::ZERO)));
        assert_eq!(time_or_none("10ms"), Ok(Duration::from_millis(10)));
        assert!(time_or_none("").is_err() && time_or_none("ms").is_err());
        assert!(time("0").is_err() && time("soon").is_err() && time("-1s").is_err());
    }
}
