//! Where the bytes of a history come from: a file or standard input, plain, gzip or zstd.

use super::Problem;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The name of standard input.
pub(crate) const STDIN: &str = "-";

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Not at all.
    Plain,
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

impl Packing {
    /// By the first bytes.
    fn of(start: &[u8]) -> Packing {
        // A skippable frame may come first.
        let skippable = start.len() >= 4 && (0x50..=0x5f).contains(&start[0]) && start[1..4] == [0x2a, 0x4d, 0x18];
        match start {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ if skippable => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// Opens `name` and unpacks it on the fly. A packed text that is cut off or damaged is an error when it is read.
pub(crate) fn open(name: &Path) -> Result<(Box<dyn BufRead>, Packing), Problem> {
    if name.as_os_str() == STDIN {
        return unpack(io::stdin());
    }
    let cannot = |error: io::Error| Problem::new(format!("cannot be read: {error}"));
    let file = File::open(name).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.is_dir() {
        return Err(Problem::new("is a folder; name the history in it"));
    }
    unpack(file)
}

/// Unpacks `bytes` on the fly.
pub(crate) fn unpack(bytes: impl Read + 'static) -> Result<(Box<dyn BufRead>, Packing), Problem> {
    let (start, rest) = peek(bytes, 4).map_err(|error| Problem::new(format!("cannot be read: {error}")))?;
    let packing = Packing::of(&start);
    let packed = BufReader::with_capacity(1 << 16, io::Cursor::new(start).chain(rest));
    let plain: Box<dyn BufRead> = match packing {
        Packing::Plain => Box::new(packed),
        Packing::Gzip => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(packed))),
        Packing::Zstd => Box::new(BufReader::with_capacity(1 << 16, Frames { state: State::Between(Some(packed)) })),
    };
    Ok((plain, packing))
}

/// The first bytes of `from`, up to `count`, and the rest.
pub(super) fn peek<R: Read>(mut from: R, count: usize) -> io::Result<(Vec<u8>, R)> {
    let mut start = Vec::with_capacity(count);
    from.by_ref().take(count as u64).read_to_end(&mut start)?;
    Ok((start, from))
}

/// zstd frames one after the other, each with its checksum compared.
struct Frames<R: BufRead> {
    state: State<R>,
}

enum State<R: BufRead> {
    Between(Option<R>),
    Inside(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    Ended,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(None) => return Ok(0),
                State::Between(Some(mut packed)) => self.state = next_frame(&mut packed)?.enter(packed)?,
                State::Inside(mut decoder) => {
                    let read = decoder.read(into)?;
                    if read > 0 {
                        self.state = State::Inside(decoder);
                        return Ok(read);
                    }
                    self.state = State::Between(Some(leave(*decoder)?));
                }
            }
        }
    }
}

/// What follows in a packed text.
enum Next {
    End,
    Frame,
    Skipped,
}

impl Next {
    fn enter<R: BufRead>(self, packed: R) -> io::Result<State<R>> {
        match self {
            Next::End => Ok(State::Ended),
            Next::Skipped => Ok(State::Between(Some(packed))),
            Next::Frame => {
                let decoder = StreamingDecoder::new(packed).map_err(|error| damaged(&error.to_string()))?;
                Ok(State::Inside(Box::new(decoder)))
            }
        }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the zstd stream is damaged or cut off: {what}"))
}

/// Skips a skippable frame, if that is next.
fn next_frame(packed: &mut impl BufRead) -> io::Result<Next> {
    let start = packed.fill_buf()?;
    match start.first() {
        None => Ok(Next::End),
        Some(0x50..=0x5f) => {
            let mut head = [0; 8];
            packed.read_exact(&mut head)?;
            if head[1..4] != [0x2a, 0x4d, 0x18] {
                return Err(damaged("what follows a frame is none"));
            }
            let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
            let skipped = io::copy(&mut packed.by_ref().take(size), &mut io::sink())?;
            if skipped == size { Ok(Next::Skipped) } else { Err(damaged("a skippable frame ends early")) }
        }
        Some(_) => Ok(Next::Frame),
    }
}

/// The bytes behind a frame, once its checksum fits.
fn leave<R: BufRead>(decoder: StreamingDecoder<R, ruzstd::decoding::FrameDecoder>) -> io::Result<R> {
    let (packed, frame) = decoder.into_parts();
    let (told, found) = (frame.get_checksum_from_data(), frame.get_calculated_checksum());
    match (told, found) {
        (Some(told), Some(found)) if told != found => Err(damaged("the checksum of a frame differs")),
        _ => Ok(packed),
    }
}
