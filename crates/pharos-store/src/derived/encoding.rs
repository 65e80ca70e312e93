//! Encoding of numbers and columns within a section: LEB128 numbers and length-prefixed byte strings.

/// The reason why data could not be decoded. Its library range counts as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecodeError(pub(super) &'static str);

pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn write_column(out: &mut Vec<u8>, column: &[u8]) {
    write_varint(out, column.len() as u64);
    out.extend_from_slice(column);
}

/// Maps signed numbers of small magnitude to small unsigned numbers: 0, -1, 1, -2, …
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Remaining input. Every read checks the remaining length.
#[derive(Clone, Copy)]
pub(super) struct SectionReader<'a>(pub(super) &'a [u8]);

impl<'a> SectionReader<'a> {
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0;
        for (i, &byte) in self.0.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.0 = &self.0[i + 1..];
                return Ok(number);
            }
        }
        Err(DecodeError("unterminated number"))
    }

    /// Reads a number that is used as a size or index.
    pub(super) fn size(&mut self) -> Result<usize, DecodeError> {
        usize::try_from(self.varint()?).map_err(|_| DecodeError("number too large"))
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or(DecodeError("unexpected end of the section"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn column(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.size()?;
        self.take(length)
    }

    pub(super) fn text_column(&mut self) -> Result<&'a str, DecodeError> {
        str::from_utf8(self.column()?).map_err(|_| DecodeError("invalid UTF-8"))
    }

    pub(super) fn fixed_u32(&mut self) -> Result<u32, DecodeError> {
        self.take(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub(super) fn fixed_u64(&mut self) -> Result<u64, DecodeError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn end(&self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError("the section is longer than its contents")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(numbers in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = Vec::new();
            for &n in &numbers {
                write_varint(&mut bytes, zigzag(n));
            }
            let mut input = SectionReader(&bytes);
            for &n in &numbers {
                prop_assert_eq!(unzigzag(input.varint().unwrap()), n);
            }
            prop_assert_eq!(input.end(), Ok(()));
        }

        #[test]
        fn any_bytes_are_decoded_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut input = SectionReader(&bytes);
            while input.column().is_ok() && !input.0.is_empty() {}
        }
    }
}
