//! Positions in the library: the common order of all stores.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A position between two records of the library.
///
/// A library has one log per writer; the library on local disk has one log, 0. A log is append-only, so the positions
/// of a log also order its events in time. A store that has applied a log up to a position reflects every record of the
/// log before it and none after it.
///
/// Positions of different logs are not ordered: neither is less, equal or greater. Code that needs some order, to sort
/// or to decide between records of the same time, uses [`sort_key`](Self::sort_key).
///
/// Serialises as in a library without logs: text formats get the fields `file` and `offset`, and a field `log` if it is
/// not 0; binary formats, which have no optional fields, get log and volume in one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LibraryPosition {
    /// Number of the log.
    pub log: u16,
    /// Number of the volume, from 1; 0 precedes the first volume.
    pub volume: u32,
    /// Byte offset in that volume.
    pub offset: u64,
}

/// The form of a position in text formats.
#[derive(Serialize, Deserialize)]
struct TextPosition {
    #[serde(default, skip_serializing_if = "is_zero")]
    log: u16,
    file: u32,
    offset: u64,
}

/// The form of a position in binary formats.
#[derive(Serialize, Deserialize)]
struct BinaryPosition {
    /// Log and volume, as in the packed form.
    file: u32,
    offset: u64,
}

impl Serialize for LibraryPosition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { log, volume, offset } = *self;
        if serializer.is_human_readable() {
            TextPosition { log, file: volume, offset }.serialize(serializer)
        } else {
            BinaryPosition { file: (u32::from(log) << VOLUME_BITS) | volume, offset }.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for LibraryPosition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let TextPosition { log, file, offset } = TextPosition::deserialize(deserializer)?;
            Ok(Self { log, volume: file, offset })
        } else {
            let BinaryPosition { file, offset } = BinaryPosition::deserialize(deserializer)?;
            let log = u16::try_from(file >> VOLUME_BITS).unwrap_or(u16::MAX);
            Ok(Self { log, volume: file & Self::MAX_VOLUME, offset })
        }
    }
}

// The predicate of `skip_serializing_if` gets a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
fn is_zero(log: &u16) -> bool {
    *log == 0
}

const OFFSET_BITS: u32 = 40;
const VOLUME_BITS: u32 = 14;
const LOG_BITS: u32 = 10;

impl LibraryPosition {
    /// The position before the first record of log 0.
    pub const START: LibraryPosition = LibraryPosition { log: 0, volume: 0, offset: 0 };

    /// Highest number of a log.
    pub const MAX_LOG: u16 = (1 << LOG_BITS) - 1;

    /// Highest number of a volume.
    pub const MAX_VOLUME: u32 = (1 << VOLUME_BITS) - 1;

    /// Creates a position in log 0.
    pub const fn new(volume: u32, offset: u64) -> Self {
        Self { log: 0, volume, offset }
    }

    /// Returns the position before the first record of a log.
    pub const fn start_of_log(log: u16) -> Self {
        Self { log, volume: 0, offset: 0 }
    }

    /// Returns the start of the volume after this position.
    pub fn next_volume(self) -> Self {
        Self { volume: self.volume.saturating_add(1), offset: 0, ..self }
    }

    /// Returns the later of two positions of the same log.
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// Returns the earlier of two positions of the same log.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let (log, rest) = text.split_once('.').unwrap_or(("0", text));
        let (volume, offset) = rest.split_once(':')?;
        Some(Self { log: log.parse().ok()?, volume: volume.parse().ok()?, offset: offset.parse().ok()? })
    }

    /// Packs the position into one number: 10 bits of log, 14 bits of volume, 40 bits of offset. Within a log, the
    /// numbers have the order of the positions. The numbers of log 0 are those of libraries without logs.
    pub fn to_u64(self) -> u64 {
        let bits = |number: u64, width: u32| number & ((1 << width) - 1);
        (bits(self.log.into(), LOG_BITS) << (VOLUME_BITS + OFFSET_BITS))
            | (bits(self.volume.into(), VOLUME_BITS) << OFFSET_BITS)
            | bits(self.offset, OFFSET_BITS)
    }

    /// Unpacks the output of [`to_u64`](Self::to_u64).
    pub fn from_u64(packed: u64) -> Self {
        let bits = |shift: u32, width: u32| (packed >> shift) & ((1 << width) - 1);
        Self {
            log: bits(VOLUME_BITS + OFFSET_BITS, LOG_BITS) as u16,
            volume: bits(OFFSET_BITS, VOLUME_BITS) as u32,
            offset: bits(0, OFFSET_BITS),
        }
    }

    /// Returns a key that orders all positions: by log, then by position in the log. Across logs, the order means
    /// nothing; it only makes results repeatable.
    pub fn sort_key(self) -> u64 {
        self.to_u64()
    }
}

/// Orders positions of the same log. Positions of different logs are not comparable.
impl PartialOrd for LibraryPosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.log == other.log).then(|| (self.volume, self.offset).cmp(&(other.volume, other.offset)))
    }
}

/// Formats as `00000003:4711`, and as `5.00000003:4711` in log 5.
impl fmt::Display for LibraryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.log > 0 {
            write!(f, "{}.", self.log)?;
        }
        write!(f, "{:08}:{}", self.volume, self.offset)
    }
}

/// One position per log: how far a store has applied a library, or how far the library reaches.
///
/// A log that is not listed is at its start. Serialises as the position of log 0 if no other log is listed, and as
/// a list of positions otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "SerialisedPositions", into = "SerialisedPositions")]
pub struct LibraryPositions {
    /// Positions by log, without those at the start of their log.
    by_log: BTreeMap<u16, LibraryPosition>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerialisedPositions {
    One(LibraryPosition),
    Several(Vec<LibraryPosition>),
}

impl From<LibraryPositions> for SerialisedPositions {
    fn from(positions: LibraryPositions) -> Self {
        match positions.single() {
            Some(position) => Self::One(position),
            None => Self::Several(positions.iter().collect()),
        }
    }
}

impl From<SerialisedPositions> for LibraryPositions {
    fn from(serialised: SerialisedPositions) -> Self {
        match serialised {
            SerialisedPositions::One(position) => position.into(),
            SerialisedPositions::Several(positions) => positions.into_iter().collect(),
        }
    }
}

impl LibraryPositions {
    /// The start of all logs.
    pub const START: LibraryPositions = LibraryPositions { by_log: BTreeMap::new() };

    /// Returns the position in a log.
    pub fn get(&self, log: u16) -> LibraryPosition {
        self.by_log.get(&log).copied().unwrap_or(LibraryPosition::start_of_log(log))
    }

    /// Returns the position in log 0 if no other log is listed.
    pub fn single(&self) -> Option<LibraryPosition> {
        self.by_log.keys().all(|log| *log == 0).then(|| self.get(0))
    }

    /// Sets the position of a log.
    pub fn set(&mut self, position: LibraryPosition) {
        if position == LibraryPosition::start_of_log(position.log) {
            self.by_log.remove(&position.log);
        } else {
            self.by_log.insert(position.log, position);
        }
    }

    /// Advances the log of `position` to it, unless the log is further already.
    pub fn advance(&mut self, position: LibraryPosition) {
        if !self.covers(position) {
            self.set(position);
        }
    }

    /// Returns the positions that are not at the start of their log, in the order of the logs.
    pub fn iter(&self) -> impl Iterator<Item = LibraryPosition> + '_ {
        self.by_log.values().copied()
    }

    /// Returns `true` if all logs are at their start.
    pub fn is_start(&self) -> bool {
        self.by_log.is_empty()
    }

    /// Returns `true` if everything before `end` in its log lies before these positions.
    pub fn covers(&self, end: LibraryPosition) -> bool {
        end <= self.get(end.log)
    }

    /// Returns `true` if the record at `position` lies before these positions.
    pub fn covers_record(&self, position: LibraryPosition) -> bool {
        position < self.get(position.log)
    }

    /// Returns `true` if every log is at least as far as in `other`.
    pub fn covers_all(&self, other: &Self) -> bool {
        other.iter().all(|position| self.covers(position))
    }

    /// Returns the further position of each log.
    #[must_use]
    pub fn highest(&self, other: &Self) -> Self {
        let mut highest = self.clone();
        other.iter().for_each(|position| highest.advance(position));
        highest
    }

    /// Returns the nearer position of each log.
    #[must_use]
    pub fn lowest(&self, other: &Self) -> Self {
        self.iter().map(|position| position.earlier(other.get(position.log))).collect()
    }

    /// Packs the positions into text: the numbers of [`LibraryPosition::to_u64`], separated by commas.
    pub fn to_packed(&self) -> String {
        match self.single() {
            Some(position) => position.to_u64().to_string(),
            None => self.iter().map(|position| position.to_u64().to_string()).collect::<Vec<_>>().join(","),
        }
    }

    /// Unpacks the output of [`to_packed`](Self::to_packed). Returns `None` for any other text.
    pub fn from_packed(text: &str) -> Option<Self> {
        text.split(',').map(|number| Some(LibraryPosition::from_u64(number.parse().ok()?))).collect()
    }
}

impl From<LibraryPosition> for LibraryPositions {
    fn from(position: LibraryPosition) -> Self {
        [position].into_iter().collect()
    }
}

/// Collects the furthest position of each log.
impl FromIterator<LibraryPosition> for LibraryPositions {
    fn from_iter<I: IntoIterator<Item = LibraryPosition>>(positions: I) -> Self {
        let mut all = Self::START;
        positions.into_iter().for_each(|position| all.advance(position));
        all
    }
}

/// Formats as the position of log 0, or as a list of positions separated by spaces.
impl fmt::Display for LibraryPositions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.single() {
            return position.fmt(f);
        }
        for (nth, position) in self.iter().enumerate() {
            let space = if nth > 0 { " " } else { "" };
            write!(f, "{space}{position}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_log(log: u16, volume: u32, offset: u64) -> LibraryPosition {
        LibraryPosition { log, volume, offset }
    }

    #[test]
    fn packed_positions_keep_their_order() {
        for log in [0, 1, 700, LibraryPosition::MAX_LOG] {
            let positions = [(0, 0), (1, 0), (1, 900), (2, 5), (LibraryPosition::MAX_VOLUME, 1 << 39)]
                .map(|(volume, offset)| in_log(log, volume, offset));
            for pair in positions.windows(2) {
                assert!(pair[0] < pair[1] && pair[0].to_u64() < pair[1].to_u64());
            }
            for p in positions {
                assert_eq!(LibraryPosition::from_u64(p.to_u64()), p);
                assert_eq!(LibraryPosition::parse(&p.to_string()), Some(p));
                let json = serde_json::to_string(&p).unwrap();
                assert_eq!(serde_json::from_str::<LibraryPosition>(&json).unwrap(), p);
            }
        }
    }

    /// Libraries had no logs before: everything stored then reads as log 0, and log 0 is stored as before.
    #[test]
    fn log_0_has_the_form_of_a_library_without_logs() {
        let (volume, offset) = (3, 4711);
        let position = LibraryPosition::new(volume, offset);
        let packed = (u64::from(volume) << 40) | offset;
        assert_eq!((position.to_u64(), LibraryPosition::from_u64(packed)), (packed, position));
        assert_eq!(position.to_string(), "00000003:4711");
        assert_eq!(LibraryPosition::parse("00000003:4711"), Some(position));
        let json = r#"{"file":3,"offset":4711}"#;
        assert_eq!(serde_json::to_string(&position).unwrap(), json);
        assert_eq!(serde_json::from_str::<LibraryPosition>(json).unwrap(), position);

        let all = LibraryPositions::from(position);
        assert_eq!(serde_json::to_string(&all).unwrap(), json);
        assert_eq!(serde_json::from_str::<LibraryPositions>(json).unwrap(), all);
        assert_eq!((all.to_packed(), all.to_string()), (packed.to_string(), "00000003:4711".to_string()));
        assert_eq!(LibraryPositions::from_packed(&packed.to_string()), Some(all));
        let start = r#"{"file":0,"offset":0}"#;
        assert_eq!(serde_json::to_string(&LibraryPositions::START).unwrap(), start);
        assert_eq!(serde_json::from_str::<LibraryPositions>(start).unwrap(), LibraryPositions::START);
        assert_eq!(LibraryPositions::from_packed("0"), Some(LibraryPositions::START));
        assert_eq!(LibraryPositions::from_packed("00000003:4711"), None);
    }

    #[test]
    fn positions_of_different_logs_are_not_comparable() {
        let (a, b) = (in_log(1, 9, 0), in_log(2, 1, 5));
        assert_eq!(a.partial_cmp(&b), None);
        assert!(a.sort_key() < b.sort_key());
    }

    #[test]
    fn stores_keep_one_position_per_log() {
        let mut applied = LibraryPositions::START;
        assert!(applied.is_start() && applied.covers(LibraryPosition::START));
        applied.advance(in_log(2, 1, 50));
        applied.advance(in_log(0, 4, 7));
        applied.advance(in_log(2, 1, 20));
        assert_eq!(
            (applied.get(0), applied.get(1), applied.get(2)),
            (in_log(0, 4, 7), in_log(1, 0, 0), in_log(2, 1, 50))
        );
        assert_eq!((applied.single(), applied.to_string()), (None, "00000004:7 2.00000001:50".to_string()));
        assert!(applied.covers(in_log(2, 1, 50)) && !applied.covers_record(in_log(2, 1, 50)));
        assert!(applied.covers_record(in_log(2, 1, 49)) && !applied.covers(in_log(1, 1, 0)));

        let other: LibraryPositions =
            [in_log(0, 5, 0), in_log(2, 1, 40), in_log(3, 1, 1)].into_iter().collect();
        assert!(!applied.covers_all(&other) && !other.covers_all(&applied));
        let (low, high) = (applied.lowest(&other), applied.highest(&other));
        assert!(low.iter().eq([in_log(0, 4, 7), in_log(2, 1, 40)]));
        assert!(high.iter().eq([in_log(0, 5, 0), in_log(2, 1, 50), in_log(3, 1, 1)]));
        assert!(high.covers_all(&applied) && high.covers_all(&other) && applied.covers_all(&low));

        for all in [applied, other, high] {
            assert_eq!(LibraryPositions::from_packed(&all.to_packed()), Some(all.clone()));
            let json = serde_json::to_string(&all).unwrap();
            assert_eq!(serde_json::from_str::<LibraryPositions>(&json).unwrap(), all);
        }
    }
}
