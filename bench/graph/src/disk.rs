//! The graph and the ranks as files of little-endian numbers, readable by every peer in any language.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use pharos_graph::web::Graph;

/// The links to every page: `sources[starts[page]..starts[page + 1]]`.
pub struct Incoming {
    pub starts: Vec<u64>,
    pub sources: Vec<u32>,
}

impl Incoming {
    pub fn read(directory: &Path) -> io::Result<Self> {
        let starts = std::fs::read(directory.join("starts.u64"))?;
        let sources = std::fs::read(directory.join("sources.u32"))?;
        Ok(Self {
            starts: starts.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect(),
            sources: sources.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        })
    }

    pub fn pages(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns page and source of every link, by page. The iterator owns its data, as a peer requires.
    pub fn links(self: Arc<Self>) -> impl Iterator<Item = (usize, usize)> + Clone {
        (0..self.pages()).flat_map(move |page| {
            let incoming = Arc::clone(&self);
            let places = incoming.starts[page] as usize..incoming.starts[page + 1] as usize;
            places.map(move |place| (page, incoming.sources[place] as usize))
        })
    }
}

/// Writes the files that [`Incoming`] reads, and the out-degree of every page.
pub fn write_graph(graph: &Graph, directory: &Path) -> io::Result<()> {
    let file =
        |name: &str| File::create(directory.join(name)).map(|file| BufWriter::with_capacity(1 << 20, file));
    let (mut starts, mut sources, mut degrees) =
        (file("starts.u64")?, file("sources.u32")?, file("degrees.u32")?);
    let mut links = 0_u64;
    starts.write_all(&links.to_le_bytes())?;
    for page in 0..graph.pages() {
        for source in graph.links_to(page) {
            sources.write_all(&source.to_le_bytes())?;
        }
        links += graph.links_to(page).len() as u64;
        starts.write_all(&links.to_le_bytes())?;
        degrees.write_all(&(graph.links_from(page).len() as u32).to_le_bytes())?;
    }
    starts.flush()?;
    sources.flush()?;
    degrees.flush()
}

pub fn write_ranks(ranks: impl Iterator<Item = f64>, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for rank in ranks {
        file.write_all(&rank.to_le_bytes())?;
    }
    file.flush()
}

pub fn read_ranks(path: &Path) -> io::Result<Vec<f64>> {
    Ok(std::fs::read(path)?.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}
