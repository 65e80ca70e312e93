//! Numbers and columns inside a section: LEB128 numbers, and byte strings that carry their length.

/// Why something read back is not what was written. Its stretch of the library counts as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage(pub(super) &'static str);

pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_column(out: &mut Vec<u8>, column: &[u8]) {
    put_number(out, column.len() as u64);
    out.extend_from_slice(column);
}

/// Small numbers of either sign become small numbers: 0, -1, 1, -2, …
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Bytes still to be read. Nothing is believed: every step checks what is left.
#[derive(Clone, Copy)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Damage> {
        let mut number = 0;
        for (i, &byte) in self.0.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.0 = &self.0[i + 1..];
                return Ok(number);
            }
        }
        Err(Damage("a number has no end"))
    }

    /// A number that counts or addresses things in memory.
    pub(super) fn size(&mut self) -> Result<usize, Damage> {
        usize::try_from(self.number()?).map_err(|_| Damage("a number is too large"))
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damage("the section ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn column(&mut self) -> Result<&'a [u8], Damage> {
        let length = self.size()?;
        self.take(length)
    }

    pub(super) fn text_column(&mut self) -> Result<&'a str, Damage> {
        str::from_utf8(self.column()?).map_err(|_| Damage("text that is not UTF-8"))
    }

    pub(super) fn fixed_u32(&mut self) -> Result<u32, Damage> {
        self.take(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    pub(super) fn fixed_u64(&mut self) -> Result<u64, Damage> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn end(&self) -> Result<(), Damage> {
        if self.0.is_empty() { Ok(()) } else { Err(Damage("the section is longer than its contents")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_survive(numbers in prop::collection::vec(any::<i64>(), 0..20)) {
            let mut bytes = Vec::new();
            for &n in &numbers {
                put_number(&mut bytes, zigzag(n));
            }
            let mut input = Input(&bytes);
            for &n in &numbers {
                prop_assert_eq!(unzigzag(input.number().unwrap()), n);
            }
            prop_assert_eq!(input.end(), Ok(()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut input = Input(&bytes);
            while input.column().is_ok() && !input.0.is_empty() {}
        }
    }
}
