//! The interface of every detector and peer: sign pages as they come, then group them.

use std::time::Duration;

use pharos_graph::duplicates::{GroupBuilder, DuplicateDetector, PageAttributes, PageText, pair_scores};
use rustix::time::ClockId;

pub trait Contestant {
    fn name(&self) -> String;
    /// Converts pages to the input format of this contestant; not measured.
    fn prepare(&mut self, _texts: &[PageText]) {}
    /// Stores the signatures of more pages, which have been prepared.
    fn sign(&mut self, texts: &[PageText]);
    /// Returns the representative of every page, or `None` if this contestant cannot group.
    fn group(&mut self) -> Option<Vec<u32>>;
    /// Returns the size of all signatures.
    fn bytes(&self) -> usize;
}

/// A detector of Pharos.
pub struct Ours<M: DuplicateDetector> {
    method: M,
    signatures: Vec<Option<M::PageSignature>>,
}

impl<M: DuplicateDetector> Ours<M> {
    pub fn new(method: M, pages: usize) -> Self {
        Self { method, signatures: Vec::with_capacity(pages) }
    }
}

impl<M: DuplicateDetector> Contestant for Ours<M> {
    fn name(&self) -> String {
        self.method.name()
    }

    fn sign(&mut self, texts: &[PageText]) {
        self.signatures.extend(texts.iter().map(|text| self.method.fingerprint(text)));
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        let mut grouping = GroupBuilder::new(self.signatures.len());
        grouping.join(&self.method, &self.signatures);
        let groups = grouping.finish(&self.method, &self.signatures, &[] as &[PageAttributes]);
        Some((0..self.signatures.len() as u32).map(|page| groups.representative(page)).collect())
    }

    fn bytes(&self) -> usize {
        self.signatures.iter().flatten().map(|signature| self.method.bytes(signature)).sum()
    }
}

/// A contestant and its measurements.
pub struct Entry {
    contestant: Box<dyn Contestant>,
    /// Maximum number of pages it signs.
    limit: usize,
    pages: usize,
    signing: Duration,
}

/// A row of the table.
pub struct Row {
    pub name: String,
    pub pages: usize,
    pub signed_per_second: f64,
    pub bytes_per_page: f64,
    pub grouped: Option<Grouped>,
}

pub struct Grouped {
    pub per_second: f64,
    pub precision: f64,
    pub recall: f64,
}

impl Entry {
    pub fn new(contestant: impl Contestant + 'static, limit: usize) -> Self {
        Self { contestant: Box::new(contestant), limit, pages: 0, signing: Duration::ZERO }
    }

    pub fn name(&self) -> String {
        self.contestant.name()
    }

    pub fn sign(&mut self, texts: &[PageText]) {
        let texts = &texts[..texts.len().min(self.limit - self.pages)];
        self.contestant.prepare(texts);
        let before = processor_time();
        self.contestant.sign(texts);
        self.signing += processor_time() - before;
        self.pages += texts.len();
    }

    pub fn finish(mut self, content: impl Fn(usize) -> u32) -> Row {
        let per_second = |time: Duration| self.pages as f64 / time.as_secs_f64().max(1e-9);
        let signed_per_second = per_second(self.signing);
        let bytes_per_page = self.contestant.bytes() as f64 / self.pages.max(1) as f64;
        let before = processor_time();
        let groups = self.contestant.group();
        let grouping = processor_time() - before;
        let grouped = groups.map(|groups| {
            let (precision, recall) = pair_scores(&(0..).map(&content).zip(groups).collect::<Vec<_>>());
            Grouped { per_second: per_second(grouping), precision, recall }
        });
        Row { name: self.contestant.name(), pages: self.pages, signed_per_second, bytes_per_page, grouped }
    }
}

/// Returns the processor time of this thread, which excludes time given to other processes.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
