//! Consecutive numbers for pages, sites and domains, in the order of their first occurrence.

use std::collections::HashMap;

use pharos_core::{PageId, PageUrl, SiteId, SiteName};

use super::string_file::StringFileWriter;
use crate::GraphError;

/// Assigns numbers. URLs are written to a file.
pub(super) struct PageNumbering {
    numbers: HashMap<PageId, u32>,
    pub(super) ids: Vec<PageId>,
    pub(super) urls: StringFileWriter,
    pub(super) site_of_page: Vec<u32>,
    sites: HashMap<SiteId, u32>,
    pub(super) site_names: Vec<SiteName>,
    domains: HashMap<String, u32>,
    pub(super) domain_of_site: Vec<u32>,
    max_pages: u32,
}

impl PageNumbering {
    pub(super) fn new(urls: StringFileWriter, max_pages: u32) -> Self {
        Self {
            numbers: HashMap::new(),
            ids: Vec::new(),
            urls,
            site_of_page: Vec::new(),
            sites: HashMap::new(),
            site_names: Vec::new(),
            domains: HashMap::new(),
            domain_of_site: Vec::new(),
            max_pages,
        }
    }

    /// Returns the number of a page. Returns `None` for a new page beyond the limit.
    pub(super) fn number(&mut self, url: &PageUrl) -> Result<Option<u32>, GraphError> {
        let id = url.id();
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(Some(number));
        }
        let number = self.ids.len() as u32;
        if number >= self.max_pages {
            return Ok(None);
        }
        let site = self.site(url, id.site());
        self.urls.write(number, url.as_str())?;
        self.numbers.insert(id, number);
        self.ids.push(id);
        self.site_of_page.push(site);
        Ok(Some(number))
    }

    /// Returns the domain of a page.
    pub(super) fn domain(&self, page: u32) -> u32 {
        self.domain_of_site[self.site_of_page[page as usize] as usize]
    }

    fn site(&mut self, url: &PageUrl, id: SiteId) -> u32 {
        if let Some(&number) = self.sites.get(&id) {
            return number;
        }
        let (number, name) = (self.site_names.len() as u32, url.site());
        let domains = self.domains.len() as u32;
        let domain = *self.domains.entry(name.domain().to_owned()).or_insert(domains);
        self.domain_of_site.push(domain);
        self.site_names.push(name);
        self.sites.insert(id, number);
        number
    }
}
