//! What the switch must know of a frame: where it goes, and what it carries (RFC 894, 791, 9293, 768).

const ETHERNET: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Hardware address it is for.
pub(super) fn destination(frame: &[u8]) -> Option<[u8; 6]> {
    frame.get(..6)?.try_into().ok().filter(|_| frame.len() >= ETHERNET)
}

/// The lowest bit of the first byte marks groups and broadcasts.
pub(super) fn is_for_all(mac: [u8; 6]) -> bool {
    mac[0] & 1 == 1
}

/// What an IPv4 packet of TCP or UDP carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) from_port: u16,
    pub(super) to_port: u16,
    /// Bytes behind the transport header.
    pub(super) payload: usize,
}

/// True for IPv4, whatever it carries.
pub(super) fn is_ip(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&[0x08, 0x00])
}

/// The contents of `frame`; `None` for anything but TCP and UDP over IPv4, and for fragments behind the first.
pub(super) fn contents(frame: &[u8]) -> Option<Contents> {
    if !is_ip(frame) {
        return None;
    }
    let ip = &frame[ETHERNET..];
    let header = usize::from(ip.first()? & 0x0F) * 4;
    let total = usize::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]));
    let fragment = u16::from_be_bytes([*ip.get(6)?, *ip.get(7)?]) & 0x1FFF;
    let inner = ip.get(header..total.min(ip.len()))?;
    let transport = match (*ip.get(9)?, fragment) {
        (TCP, 0) => usize::from(inner.get(12)? >> 4) * 4,
        (UDP, 0) => 8,
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes([*inner.get(at)?, *inner.get(at + 1)?]));
    Some(Contents { from_port: port(0)?, to_port: port(2)?, payload: inner.len().checked_sub(transport)? })
}

/// Flips one bit behind the IP header, which `draw` chooses; none where nothing is.
pub(super) fn flip(frame: &mut [u8], draw: u64) {
    let header = frame.get(ETHERNET).map_or(0, |first| usize::from(first & 0x0F) * 4);
    let start = (ETHERNET + header).min(frame.len());
    let bits = (frame.len() - start) as u64 * 8;
    if bits > 0 {
        let bit = usize::try_from(draw % bits).unwrap_or_default();
        frame[start + bit / 8] ^= 1 << (bit % 8);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A frame of TCP with `payload` bytes.
    pub(in super::super) fn tcp(from_port: u16, to_port: u16, payload: usize) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
        let total = u16::try_from(20 + 32 + payload).expect("short").to_be_bytes();
        frame.extend([0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([from_port.to_be_bytes(), to_port.to_be_bytes()].concat());
        frame.extend([0; 8]);
        frame.extend([0x80, 0x10]);
        frame.extend([0; 18]);
        frame.extend(vec![7; payload]);
        frame
    }

    #[test]
    fn payload_is_what_stands_behind_both_headers() {
        let check = |payload: usize| {
            let expect = Contents { from_port: 5, to_port: 80, payload };
            assert_eq!(contents(&tcp(5, 80, payload)), Some(expect));
            // Short frames are filled up on a wire; what fills them is none of the packet.
            let mut padded = tcp(5, 80, payload);
            padded.resize(padded.len() + 6, 0);
            assert_eq!(contents(&padded), Some(expect));
        };
        [0, 1, 3, 1400].into_iter().for_each(check);
    }

    #[test]
    fn no_bytes_are_too_strange_to_be_looked_at() {
        let whole = tcp(5, 80, 10);
        for length in 0..whole.len() {
            let _ = (contents(&whole[..length]), destination(&whole[..length]));
            flip(&mut whole.clone()[..length], 12345);
        }
        for at in 0..whole.len() {
            let mut odd = whole.clone();
            odd[at] = 0xFF;
            let _ = contents(&odd);
            flip(&mut odd, u64::MAX);
        }
    }

    #[test]
    fn a_flip_changes_one_bit_behind_the_ip_header_and_a_second_one_undoes_it() {
        let whole = tcp(5, 80, 10);
        for draw in 0..1000 {
            let mut damaged = whole.clone();
            flip(&mut damaged, draw);
            let bits: u32 = whole.iter().zip(&damaged).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!((bits, &damaged[..34]), (1, &whole[..34]), "{draw}");
            flip(&mut damaged, draw);
            assert_eq!(damaged, whole);
        }
    }
}
