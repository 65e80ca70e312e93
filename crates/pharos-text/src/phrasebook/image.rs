//! The file form of a book: counts, texts, ends, weights, orders, all numbers little-endian, and a sum over everything.

use std::sync::OnceLock;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{Order, Pages, Phrasebook, Place};

const MAGIC: &[u8; 8] = b"PHAROSB1";
const SUM: usize = 8;

/// Why bytes are no book.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a phrasebook of this version: {0}")]
pub struct ImageError(&'static str);

impl Phrasebook {
    /// The book as a file.
    pub fn to_image(&self) -> Vec<u8> {
        let Pages { texts, ends, weights } = &self.pages;
        let orders = self.orders().map(|(order, _)| order.places());
        let mut out = MAGIC.to_vec();
        let counts = [texts.len(), ends.len()].into_iter().chain(orders.iter().map(|places| places.len()));
        counts.for_each(|count| out.extend((count as u64).to_le_bytes()));
        out.extend(texts.as_bytes());
        ends.iter().for_each(|end| out.extend(end.to_le_bytes()));
        weights.iter().for_each(|weight| out.extend(weight.to_le_bytes()));
        orders.iter().for_each(|places| places.iter().for_each(|place| out.extend(place.0.to_le_bytes())));
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// The book in a file. Whatever the bytes are, a book that is given can be asked anything.
    pub fn from_image(image: &[u8]) -> Result<Self, ImageError> {
        let (body, sum) = image.split_last_chunk::<SUM>().ok_or(ImageError("too short"))?;
        if xxh3_64(body) != u64::from_le_bytes(*sum) {
            return Err(ImageError("its sum is wrong"));
        }
        let mut rest = Rest(body);
        if rest.take(MAGIC.len())? != MAGIC {
            return Err(ImageError("another kind of file"));
        }
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = rest.count()?;
        }
        let [texts, phrases, orders @ ..] = counts;
        let texts = String::from_utf8(rest.take(texts)?.to_vec()).map_err(|_| ImageError("broken text"))?;
        let ends = rest.numbers(phrases)?;
        let weights = rest.numbers(phrases)?.into_iter().map(f32::from_bits).collect();
        let pages = Pages { texts, ends, weights };
        check(&pages)?;
        let [written, written_middles, sounds, sound_middles, initials] = orders;
        let mut order = |count| order(&pages, rest.numbers(count)?);
        let (written, written_middles) = (order(written)?, order(written_middles)?);
        let (sounds, sound_middles, initials) = (order(sounds)?, order(sound_middles)?, order(initials)?);
        if !rest.0.is_empty() {
            return Err(ImageError("something follows its end"));
        }
        let filters = OnceLock::new();
        Ok(Self { pages, written, written_middles, sounds, sound_middles, initials, filters })
    }
}

fn check(pages: &Pages) -> Result<(), ImageError> {
    let mut start = 0;
    for end in &pages.ends {
        let is_text = *end >= start && pages.texts.is_char_boundary(*end as usize);
        if !is_text {
            return Err(ImageError("a phrase that is none"));
        }
        start = *end;
    }
    Ok(())
}

fn order(pages: &Pages, places: Vec<u32>) -> Result<Order, ImageError> {
    let places: Vec<Place> = places.into_iter().map(Place).collect();
    let is_there = |place: &Place| {
        (place.phrase() as usize) < pages.ends.len()
            && pages.text(place.phrase()).is_char_boundary(place.offset())
    };
    if !places.iter().all(is_there) {
        return Err(ImageError("a place outside its phrase"));
    }
    Ok(Order::of(places))
}

/// What is still to be read.
struct Rest<'i>(&'i [u8]);

impl<'i> Rest<'i> {
    fn take(&mut self, bytes: usize) -> Result<&'i [u8], ImageError> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(ImageError("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn count(&mut self) -> Result<usize, ImageError> {
        let bytes = self.take(8)?.try_into().map_err(|_| ImageError("it ends too early"))?;
        usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| ImageError("too large"))
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<u32>, ImageError> {
        let bytes = self.take(count.checked_mul(4).ok_or(ImageError("too large"))?)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }
}
