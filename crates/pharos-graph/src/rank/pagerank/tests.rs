use proptest::prelude::*;

use super::*;
use crate::web::Direction;

fn graph(pages: u32, links: &[(u32, u32)]) -> Graph {
    Graph::from_links(pages, links.iter().copied(), GraphOptions::default()).unwrap()
}

fn ranks(graph: &Graph, options: &PageRankOptions) -> RankVector {
    page_rank(graph, options, Teleport::Everywhere, None).unwrap()
}

/// A→B, C; B→C; C→A.
fn three_pages() -> Graph {
    graph(3, &[(0, 1), (0, 2), (1, 2), (2, 0)])
}

fn book(max_rounds: u32, tolerance: f64) -> PageRankOptions {
    PageRankOptions { damping: 0.5, tolerance, max_rounds, scale: RankScale::PerPage }
}

fn assert_near(found: &[f64], expected: &[f64], within: f64) {
    let near =
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() <= within);
    assert!(near, "{found:?} instead of {expected:?}");
}

#[test]
fn the_books_three_pages() {
    let found = ranks(&three_pages(), &book(100, 1e-14));
    assert!(found.converged);
    assert_near(&found.values, &[14.0 / 13.0, 10.0 / 13.0, 15.0 / 13.0], 1e-13);
}

#[test]
fn the_first_round_of_the_books_three_pages() {
    let found = ranks(&three_pages(), &book(1, 1e-14));
    assert_near(&found.values, &[1.0, 0.75, 1.25], 1e-15);
    assert!(!found.converged);
    let exact = [14.0 / 13.0, 10.0 / 13.0, 15.0 / 13.0];
    let away: f64 = found.values.iter().zip(exact).map(|(f, e)| (f - e).abs() / 3.0).sum();
    assert!(away <= found.error_bound);
}

/// The book prints equal values for rounds 6 and 7. That holds for in-place updates, not for its formula.
#[test]
fn rounds_end_by_tolerance_and_not_at_seven() {
    let mut in_place = [1.0f64; 3];
    let mut history = vec![in_place];
    for _ in 0..7 {
        in_place[0] = 0.5 + 0.5 * in_place[2];
        in_place[1] = 0.5 + 0.5 * (in_place[0] / 2.0);
        in_place[2] = 0.5 + 0.5 * (in_place[0] / 2.0 + in_place[1]);
        history.push(in_place);
    }
    let furthest =
        |left: &[f64], right: &[f64]| left.iter().zip(right).map(|(l, r)| (l - r).abs()).fold(0.0, f64::max);
    assert!(furthest(&history[6], &history[7]) < 1e-4);

    let after = |rounds| ranks(&three_pages(), &book(rounds, 0.0)).values;
    assert!(furthest(&after(6), &after(7)) > 5e-4);
    let rounds = ranks(&three_pages(), &book(100, 1e-4)).rounds;
    assert!((9..=11).contains(&rounds), "{rounds} rounds");
}

#[test]
fn the_books_form_sums_to_the_number_of_pages() {
    // A chain that ends at a dangling page, an isolated page, and a pair that links only to itself.
    let graph = graph(7, &[(0, 1), (1, 2), (2, 3), (5, 6), (6, 5)]);
    let found = ranks(&graph, &PageRankOptions { scale: RankScale::PerPage, ..PageRankOptions::default() });
    assert!((sum(found.values.iter().copied()) - 7.0).abs() < 1e-12);
}

#[test]
fn the_probability_to_jump_is_what_damping_leaves() {
    let by_jump = PageRankOptions::default().jump_probability(0.15);
    assert!((by_jump.damping - 0.85).abs() < 1e-15);
}

#[test]
fn without_pages_there_is_nothing_to_rank() {
    assert!(ranks(&graph(0, &[]), &PageRankOptions::default()).values.is_empty());
    assert_near(&ranks(&graph(4, &[]), &PageRankOptions::default()).values, &[0.25; 4], 1e-15);
}

#[test]
fn trust_flows_from_seeds_only() {
    let graph = graph(5, &[(0, 1), (1, 2), (3, 4), (4, 3)]);
    let seeds = [(0, 2.0), (0, 1.0)];
    let found = page_rank(&graph, &PageRankOptions::default(), Teleport::Seeds(&seeds), None).unwrap();
    assert!(found.values[0] > found.values[1] && found.values[1] > found.values[2] && found.values[2] > 0.0);
    assert_eq!(found.values[3..], [0.0, 0.0]);
    assert!((found.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn rules_that_compute_nothing_are_refused() {
    let graph = three_pages();
    for damping in [1.0, -0.1, f64::NAN] {
        let options = PageRankOptions { damping, ..PageRankOptions::default() };
        let refused = page_rank(&graph, &options, Teleport::Everywhere, None);
        assert!(matches!(refused, Err(GraphError::InvalidOption { option: "damping", .. })));
    }
    for seeds in
        [vec![], vec![(0, 0.0)], vec![(1, f64::NAN)], vec![(0, f64::MAX), (1, f64::MAX)], vec![(3, 1.0)]]
    {
        assert!(page_rank(&graph, &PageRankOptions::default(), Teleport::Seeds(&seeds), None).is_err());
    }
    assert!(page_rank(&graph, &PageRankOptions::default(), Teleport::Everywhere, Some(&[1.0])).is_err());
}

#[test]
fn ranks_of_the_last_generation_save_rounds() {
    let links: Vec<(u32, u32)> = (0..500u32).map(|i| (i, i * i % 499)).collect();
    let graph = graph(500, &links);
    let cold = ranks(&graph, &PageRankOptions::default());
    let scaled: Vec<f64> = cold.values.iter().map(|value| value * 1e300).collect();
    let warm = page_rank(&graph, &PageRankOptions::default(), Teleport::Everywhere, Some(&scaled)).unwrap();
    assert!(warm.rounds < cold.rounds / 2, "{} after {}", warm.rounds, cold.rounds);
    assert_near(&warm.values, &cold.values, 1e-9);
}

#[test]
fn a_farm_of_a_thousand_pages_moves_no_site_and_the_page_within_its_bound() {
    let web = [(0, 2), (2, 3), (3, 0), (1, 3), (3, 1)];
    let sites: Vec<u32> = [0, 0, 1, 2].into_iter().chain(std::iter::repeat_n(0, 1_000)).collect();
    let farm: Vec<(u32, u32)> = web.into_iter().chain((4..1_004).map(|page| (page, 0))).collect();
    let domains = [0, 1, 2];
    let (before, after) = (graph(4, &web), graph(1_004, &farm));

    let page_sites = PageSites::new(&sites[..4], &domains).unwrap();
    let site_before =
        site_rank(&before, page_sites, &PageRankOptions::default(), GraphOptions::default()).unwrap();
    let page_sites = PageSites::new(&sites, &domains).unwrap();
    let site_after =
        site_rank(&after, page_sites, &PageRankOptions::default(), GraphOptions::default()).unwrap();
    assert_eq!(site_before.values, site_after.values);

    // Each new page adds only its teleport share, 1 − d on the scale with mean 1, of which at most d/(1 − d²) reaches
    // the target.
    let per_page = PageRankOptions { scale: RankScale::PerPage, ..PageRankOptions::default() };
    let gained = ranks(&after, &per_page).values[0] - ranks(&before, &per_page).values[0];
    assert!(gained > 0.0 && gained <= 1_000.0 * 0.15 * 0.85 / (1.0 - 0.85 * 0.85), "gained {gained}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let links: Vec<(u32, u32)> =
        (0..400_000u64).map(|i| ((i * 7_919 % 99_991) as u32, (i * i % 50_021) as u32)).collect();
    let graph = graph(100_000, &links);
    assert!(graph.parts(Direction::Backward).len() > 4);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ranks(&graph, &PageRankOptions::default()))
    };
    assert_eq!(with(1), with(3));
}

/// Multiplies the dense Google matrix until it converges.
fn dense(pages: usize, links: &[(u32, u32)], damping: f64, jumps: &[f64]) -> Vec<f64> {
    let mut linked = vec![vec![false; pages]; pages];
    links
        .iter()
        .filter(|(from, to)| from != to)
        .for_each(|&(from, to)| linked[from as usize][to as usize] = true);
    let mut ranks = vec![1.0 / pages as f64; pages];
    for _ in 0..400 {
        let mut next = vec![0.0; pages];
        for from in 0..pages {
            let count = linked[from].iter().filter(|&&link| link).count();
            for to in 0..pages {
                let follow = match (count, linked[from][to]) {
                    (0, _) => jumps[to],
                    (_, true) => 1.0 / count as f64,
                    (_, false) => 0.0,
                };
                next[to] += ranks[from] * (damping * follow + (1.0 - damping) * jumps[to]);
            }
        }
        ranks = next;
    }
    ranks
}

proptest! {
    #[test]
    fn ranks_are_those_of_the_dense_matrix(
        pages in 1u32..12,
        links in prop::collection::vec((0u32..12, 0u32..12), 0..60),
        damping in 0.0..0.9f64,
        seeds in prop::collection::vec((0u32..12, 0.1..5.0f64), 0..4),
    ) {
        let links: Vec<(u32, u32)> = links.into_iter().map(|(from, to)| (from % pages, to % pages)).collect();
        let seeds: Vec<(u32, f64)> = seeds.into_iter().map(|(page, weight)| (page % pages, weight)).collect();
        let mut jumps = vec![0.0; pages as usize];
        seeds.iter().for_each(|&(page, weight)| jumps[page as usize] += weight);
        let total: f64 = jumps.iter().sum();
        let jumps: Vec<f64> = if seeds.is_empty() {
            vec![1.0 / f64::from(pages); pages as usize]
        } else {
            jumps.iter().map(|weight| weight / total).collect()
        };
        let teleport = if seeds.is_empty() { Teleport::Everywhere } else { Teleport::Seeds(&seeds) };
        let options = PageRankOptions { damping, tolerance: 1e-12, max_rounds: 1_000, ..PageRankOptions::default() };
        let found = page_rank(&graph(pages, &links), &options, teleport, None).unwrap();
        prop_assert!(found.converged);
        let expected = dense(pages as usize, &links, damping, &jumps);
        let away: f64 = found.values.iter().zip(&expected).map(|(f, e)| (f - e).abs()).sum();
        prop_assert!(away < 1e-9 && away <= found.error_bound + 1e-13, "{} away", away);
        prop_assert!((found.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Delta rounds subtract excess rank of the start: no page may become negative, whatever the start.
    #[test]
    fn any_start_leads_to_the_same_ranks(
        links in prop::collection::vec((0u32..12, 0u32..12), 0..60),
        start in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0f64, 1e6..1e9f64], 12),
    ) {
        let (graph, seeds) = (graph(12, &links), [(0, 1.0)]);
        let cold = page_rank(&graph, &PageRankOptions::default(), Teleport::Seeds(&seeds), None).unwrap();
        let warm = page_rank(&graph, &PageRankOptions::default(), Teleport::Seeds(&seeds), Some(&start)).unwrap();
        let away: f64 = warm.values.iter().zip(&cold.values).map(|(w, c)| (w - c).abs()).sum();
        prop_assert!(warm.values.iter().all(|value| *value >= 0.0));
        prop_assert!(warm.converged && away <= warm.error_bound + cold.error_bound, "{} away", away);
    }
}
