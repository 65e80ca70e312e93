//! The rules of a crawl as the settings describe them.

use pharos_core::config::CrawlConfig;
use pharos_store::CrawlRules;
use pharos_store::interpret::link_filter::expand_filter;

use crate::politeness::site_settings::SiteSettingsTable;

/// Returns the rules in force after a change of settings.
///
/// Changed settings replace the recorded rules; all other rules stay as recorded, because a crawl may have been
/// started with rules that differ from the settings.
pub fn apply_changed_settings(in_force: CrawlRules, before: &CrawlConfig, now: &CrawlConfig) -> CrawlRules {
    let (before, now) = (rules_from_config(before), rules_from_config(now));
    macro_rules! take_changed {
        ($($rule:ident)+) => {
            CrawlRules {
                $( $rule: if before.$rule == now.$rule { in_force.$rule } else { now.$rule }, )+
                fresh_since: in_force.fresh_since,
            }
        };
    }
    take_changed!(
        scope max_depth max_redirects include exclude filter sorted_sites types guide_words parent_directories sitemaps
        site_budget
    )
}

/// Returns the rules of a configuration, with which a new crawl starts.
pub fn rules_from_config(config: &CrawlConfig) -> CrawlRules {
    CrawlRules {
        scope: config.scope,
        max_depth: config.max_depth,
        max_redirects: config.max_redirects,
        include: config.include.clone(),
        exclude: config.exclude.clone(),
        filter: expand_filter(&config.filter),
        sorted_sites: sorted_sites(config),
        types: config.types.iter().map(|kind| kind.to_lowercase()).collect(),
        guide_words: config.guide_words.clone(),
        parent_directories: config.parent_directories,
        sitemaps: config.sitemaps,
        site_budget: config.site_budget,
        fresh_since: None,
    }
}

/// Returns the sites with sorted query parameters, from both settings. Invalid lines are reported elsewhere.
fn sorted_sites(config: &CrawlConfig) -> Vec<String> {
    let table = SiteSettingsTable::parse(&config.site_settings).unwrap_or_default();
    let named = config.sorted_sites.iter().map(|site| site.to_lowercase());
    named.chain(table.sorted()).collect()
}

#[cfg(test)]
mod tests {
    use pharos_core::config::LinkScope;

    use super::*;

    #[test]
    fn only_what_was_changed_is_changed() {
        // Started with rules that differ from the settings.
        let in_force = CrawlRules { scope: LinkScope::Any, max_depth: 3, ..CrawlRules::default() };
        let before = CrawlConfig::default();
        let now = CrawlConfig { max_depth: 5, guide_words: vec!["灯塔".into()], ..CrawlConfig::default() };
        let changed = apply_changed_settings(in_force.clone(), &before, &now);
        let words = vec!["灯塔".to_string()];
        assert_eq!(changed, CrawlRules { max_depth: 5, guide_words: words, ..in_force.clone() });
        assert_eq!(apply_changed_settings(in_force.clone(), &now, &now), in_force);
    }
}
