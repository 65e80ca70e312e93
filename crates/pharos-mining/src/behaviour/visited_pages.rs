//! Visited pages: the share of visited pages by in-degree, mirrors and depth, and the fit of a property to the
//! clicks (《搜索引擎——原理、技术与系统》§9.4, table 9-3 and formulas 9-14 to 9-20).

use serde::Serialize;

/// The properties of a page and its clicks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageProperties {
    pub in_degree: u32,
    /// Number of copies of the page, itself included.
    pub copies: u32,
    /// Depth of the URL; a home page has 0.
    pub depth: u32,
    pub clicks: u64,
}

/// Pages of a class, and how many of them were visited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VisitedShare {
    /// Lowest value of the class.
    pub from: u32,
    pub pages: u64,
    pub visited: u64,
}

impl VisitedShare {
    /// Returns the share of visited pages.
    pub fn share(&self) -> f64 {
        self.visited as f64 / self.pages.max(1) as f64
    }
}

/// Returns the visited share by classes of a property: 0, 1, 2, 3–4, 5–8, 9–16, ….
pub fn visited_by(pages: &[PageProperties], property: impl Fn(&PageProperties) -> u32) -> Vec<VisitedShare> {
    let class =
        |value: u32| if value < 2 { value as usize } else { 33 - (value - 1).leading_zeros() as usize };
    let from = |class: usize| match class {
        0..=2 => class as u32,
        _ => (1_u32 << (class - 2)) + 1,
    };
    let mut classes: Vec<VisitedShare> =
        (0..34).map(|class| VisitedShare { from: from(class), pages: 0, visited: 0 }).collect();
    for page in pages {
        let entry = &mut classes[class(property(page))];
        entry.pages += 1;
        entry.visited += u64::from(page.clicks > 0);
    }
    classes.retain(|class| class.pages > 0);
    classes
}

/// Squared differences between normalised properties and normalised clicks: the smaller, the better the property predicts
/// the clicks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ImportanceFit {
    pub pages: u64,
    pub in_degree: f64,
    pub copies: f64,
    /// Prediction that all pages are alike.
    pub uniform: f64,
}

impl ImportanceFit {
    /// Returns `true` if in-degree predicts clicks better than the others.
    pub fn is_in_degree_best(&self) -> bool {
        self.in_degree <= self.copies && self.in_degree <= self.uniform
    }
}

/// Returns Σ (V'_i − C'_i)² where V' = V/ΣV for a property and C' for the clicks. Zero without pages or clicks.
pub fn squared_difference(
    values: impl Iterator<Item = f64> + Clone,
    clicks: impl Iterator<Item = f64> + Clone,
) -> f64 {
    let (sum, clicked) = (values.clone().sum::<f64>(), clicks.clone().sum::<f64>());
    if sum <= 0.0 || clicked <= 0.0 {
        return 0.0;
    }
    values.zip(clicks).map(|(value, clicks)| (value / sum - clicks / clicked).powi(2)).sum()
}

/// Measures how well in-degree, copies and a uniform weight predict the clicks. Returns `None` without clicks.
pub fn fit_importance(pages: &[PageProperties]) -> Option<ImportanceFit> {
    if pages.iter().all(|page| page.clicks == 0) {
        return None;
    }
    let of = |value: fn(&PageProperties) -> f64| {
        squared_difference(pages.iter().map(value), pages.iter().map(|page| page.clicks as f64))
    };
    Some(ImportanceFit {
        pages: pages.len() as u64,
        in_degree: of(|page| f64::from(page.in_degree)),
        copies: of(|page| f64::from(page.copies.max(1))),
        uniform: of(|_| 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_degree_predicts_the_clicks_of_home_pages() {
        let published = ImportanceFit {
            pages: 10_000,
            in_degree: 7.166_35e-4,
            copies: 6.932_68e-3,
            uniform: 7.170_72e-3,
        };
        assert!(published.is_in_degree_best());
        let page = |in_degree, clicks| PageProperties { in_degree, copies: 1, depth: 0, clicks };
        let home_pages = [page(90, 9), page(10, 1)];
        let fit = fit_importance(&home_pages).unwrap();
        assert!(fit.is_in_degree_best() && fit.in_degree < 1e-12);
        // Uniform: 2 · (1/2 − 9/10)².
        assert!((fit.uniform - 0.32).abs() < 1e-12 && (fit.copies - 0.32).abs() < 1e-12);
    }

    #[test]
    fn in_degree_does_not_predict_the_clicks_of_all_pages() {
        let published = ImportanceFit {
            pages: 1_000_000,
            in_degree: 2.604_480e-4,
            copies: 6.321_719e-5,
            uniform: 6.298_261e-5,
        };
        assert!(!published.is_in_degree_best() && published.in_degree > published.copies);
        // Navigation pages with many links are not clicked.
        let page = |in_degree, clicks| PageProperties { in_degree, copies: 1, depth: 2, clicks };
        let pages = [page(1000, 0), page(1, 1), page(1, 1), page(1, 0)];
        assert!(!fit_importance(&pages).unwrap().is_in_degree_best());
        assert_eq!(fit_importance(&[page(1, 0)]), None);
    }

    #[test]
    fn shares_are_by_classes_of_powers_of_two() {
        let page = |in_degree: u32| PageProperties {
            in_degree,
            clicks: u64::from(in_degree > 3),
            ..Default::default()
        };
        let pages: Vec<PageProperties> = [0, 1, 2, 3, 4, 5, 8, 9, u32::MAX].map(page).to_vec();
        let classes = visited_by(&pages, |page| page.in_degree);
        let found: Vec<(u32, u64, u64)> =
            classes.iter().map(|class| (class.from, class.pages, class.visited)).collect();
        let expected =
            [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 2, 1), (5, 2, 2), (9, 1, 1), ((1 << 31) + 1, 1, 1)];
        assert_eq!(found, expected);
        assert_eq!(classes[3].share(), 0.5);
    }
}
