//! Maxima of the link figures of a history generation, used for normalisation.
//!
//! A build computes them before it adds the first page and stores them with the generation. Later pages are
//! normalised by the same maxima, so a static rank means the same in every generation.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{IndexError, LinkFigures};

/// File in the directory of a generation.
const FILE: &str = "maxima.json";

/// The maximum of each link figure over all pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkMaxima(pub LinkFigures);

impl LinkMaxima {
    /// Includes the figures of one more page.
    pub fn include(&mut self, figures: &LinkFigures) {
        self.0 = self.0.max(figures);
    }

    /// Returns the query-independent importance of a page (静态排序值), between 0 and 1: its PageRank on a logarithmic
    /// scale relative to the maximum. PageRank follows a power law; on a linear scale almost all pages would be near
    /// 0.
    pub fn static_rank(&self, figures: &LinkFigures) -> f32 {
        let largest = self.0.page_rank.ln_1p();
        let rank = figures.page_rank.max(0.0).ln_1p() / largest;
        if rank.is_finite() { rank.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the static rank scaled to the stored integer.
    pub(crate) fn stored_rank(&self, figures: &LinkFigures) -> u16 {
        (self.static_rank(figures) * f32::from(u16::MAX)).round() as u16
    }

    pub(crate) fn write(&self, generation: &Path) -> Result<(), IndexError> {
        let path = generation.join(FILE);
        let text = serde_json::to_vec(self)
            .map_err(|e| IndexError::Damaged { path: path.clone(), detail: e.to_string() })?;
        pharos_files::replace(&path, &text).map_err(IndexError::io("write", &path))
    }

    /// Reads the maxima of a generation; all zero if it has none.
    pub(crate) fn read(generation: &Path) -> Result<Self, IndexError> {
        let path = generation.join(FILE);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|e| IndexError::Damaged { path: path.clone(), detail: e.to_string() }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(IndexError::io("read", &path)(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_lie_between_nothing_and_the_largest() {
        let of = |page_rank| LinkFigures { page_rank, ..LinkFigures::default() };
        let mut maxima = LinkMaxima::default();
        assert_eq!(maxima.static_rank(&of(3.0)), 0.0, "there are no maxima before the first build");
        [0.2, 1.0, 90.0].iter().for_each(|rank| maxima.include(&of(*rank)));
        assert_eq!((maxima.static_rank(&of(0.0)), maxima.static_rank(&of(90.0))), (0.0, 1.0));
        assert!(maxima.static_rank(&of(1.0)) > 0.1 && maxima.static_rank(&of(1e30)) == 1.0);
        assert_eq!(maxima.static_rank(&of(f32::NAN)), 0.0);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(LinkMaxima::read(dir.path()).unwrap(), LinkMaxima::default());
        maxima.write(dir.path()).unwrap();
        assert_eq!(LinkMaxima::read(dir.path()).unwrap(), maxima);
    }
}
