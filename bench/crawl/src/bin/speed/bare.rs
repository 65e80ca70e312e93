//! Upper bounds: clients that know every address in advance and store nothing.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{TokenizerResult, local_name};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use pharos_core::PageUrl;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use url::Url;

use crate::{Outcome, Task};

/// On two cores, more connections are slower.
const CONNECTIONS: usize = 16;

/// Processing of a fetched page.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Work {
    Nothing,
    LinksAndGzip,
    CleaningAndGzip,
}

pub(crate) async fn crawl(task: Task, work: Work) -> Outcome<()> {
    let (task, next) = (Arc::new(task), Arc::new(AtomicUsize::new(0)));
    let mut connections = JoinSet::new();
    for _ in 0..CONNECTIONS {
        connections.spawn(fetch(task.clone(), next.clone(), work));
    }
    while let Some(ended) = connections.join_next().await {
        ended??;
    }
    Ok(())
}

/// Fetches the next page of the list until there is none, on one connection.
async fn fetch(task: Arc<Task>, next: Arc<AtomicUsize>, work: Work) -> Outcome<()> {
    let stream = TcpStream::connect(task.server).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut tools = Tools::new();
    while let Some(page) = task.pages.get(next.fetch_add(1, Ordering::Relaxed)) {
        let url = Url::parse(page)?;
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let request = Request::get(&url[url::Position::BeforePath..])
            .header(HOST, host)
            .header(ACCEPT_ENCODING, "gzip")
            .body(Empty::<Bytes>::new())?;
        sender.ready().await?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let answer = Response::from_parts(head, body.collect().await?.to_bytes());
        if work != Work::Nothing {
            tools.work(&url, &answer, work)?;
        }
    }
    Ok(())
}

struct Tools {
    compressor: Compressor,
    decompressor: Decompressor,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Tools {
    fn new() -> Self {
        let compressor = Compressor::new(CompressionLvl::new(1).unwrap_or_default());
        Self { compressor, decompressor: Decompressor::new(), plain: Vec::new(), packed: Vec::new() }
    }

    fn work(&mut self, url: &Url, answer: &Response<Bytes>, work: Work) -> Outcome<()> {
        let mut body: &[u8] = answer.body();
        if answer.headers().get(CONTENT_ENCODING).is_some_and(|coding| coding == "gzip") {
            // The last four bytes are the length.
            let length = body.last_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length) as usize);
            self.plain.resize(length, 0);
            self.decompressor.gzip_decompress(body, &mut self.plain)?;
            body = &self.plain;
        }
        self.packed.resize(self.compressor.gzip_compress_bound(body.len()), 0);
        black_box(self.compressor.gzip_compress(body, &mut self.packed)?);
        if work == Work::LinksAndGzip {
            black_box(links(url, body));
        } else {
            let content_type = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            black_box(pharos_html::extract_page(&PageUrl::parse(url.as_str())?, content_type, body));
        }
        Ok(())
    }
}

/// Extracts links with the tokenizer alone, without a tree.
fn links(url: &Url, body: &[u8]) -> Vec<Url> {
    let tokenizer =
        Tokenizer::new(Links { base: url.clone(), found: RefCell::default() }, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(&String::from_utf8_lossy(body)));
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.found.into_inner()
}

struct Links {
    base: Url,
    found: RefCell<Vec<Url>>,
}

impl TokenSink for Links {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(Tag { kind: TagKind::StartTag, name: local_name!("a"), attrs, .. }) = token
            && let Some(href) = attrs.iter().find(|attribute| attribute.name.local == local_name!("href"))
            && let Ok(link) = self.base.join(&href.value)
        {
            self.found.borrow_mut().push(link);
        }
        TokenSinkResult::Continue
    }
}
