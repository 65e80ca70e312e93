use proptest::prelude::*;

use super::*;
use crate::random::Random;

fn read(text: &str) -> Result<Sessions, RankingError> {
    let mut sessions = Sessions::default();
    sessions.read("log".as_ref(), text.as_bytes()).map(|()| sessions)
}

/// Returns sessions over four results in random order. `click` decides, in order of positions, from the result, the
/// position, and a random number generator, whether the user clicks; `None` ends the session.
fn simulate(
    count: usize,
    mut click: impl FnMut(usize, usize, Option<usize>, &mut Random) -> Option<bool>,
) -> Sessions {
    let mut random = Random::new(3);
    let mut text = String::new();
    for _ in 0..count {
        let mut order = [0, 1, 2, 3];
        random.shuffle(&mut order);
        let (mut clicks, mut last) = (Vec::new(), None);
        for (position, &result) in order.iter().enumerate() {
            match click(result, position, last, &mut random) {
                Some(true) => {
                    clicks.push(position.to_string());
                    last = Some(position);
                }
                Some(false) => {}
                None => break,
            }
        }
        let names = order.map(|result| format!("\"d{result}\"")).join(",");
        text.push_str(&format!(
            "{{\"query\":\"q\",\"results\":[{names}],\"clicks\":[{}]}}\n",
            clicks.join(",")
        ));
    }
    read(&text).unwrap()
}

const ATTRACTIVE: [f64; 4] = [0.8, 0.6, 0.4, 0.2];

/// Returns the number of a result.
fn pair(sessions: &Sessions, result: usize) -> u32 {
    sessions.pairs.iter().position(|(_, name)| *name == format!("d{result}")).unwrap() as u32
}

#[test]
fn the_position_based_model_separates_attractiveness_from_position() {
    const EXAMINED: [f64; 4] = [1.0, 0.7, 0.4, 0.2];
    let data = simulate(20_000, |result, position, _, random| {
        Some(random.unit() < ATTRACTIVE[result] * EXAMINED[position])
    });
    let model = ClickModel::train(ClickModelKind::Pbm, &data);
    for (position, propensity) in model.propensities(&data).into_iter().enumerate() {
        assert!((propensity - EXAMINED[position]).abs() < 0.05, "{position}: {propensity}");
    }
    for (result, expected) in ATTRACTIVE.iter().enumerate() {
        assert!((model.relevance(pair(&data, result)) - expected).abs() < 0.05);
    }
    let weights = inverse_propensity_weights(&[1.0, 0.5, 0.01], 20.0);
    assert_eq!(weights, [1.0, 2.0, 20.0]);
}

#[test]
fn the_cascade_model_counts_until_the_first_click() {
    let data = read(concat!(
        "{\"query\":\"q\",\"results\":[\"a\",\"b\"],\"clicks\":[1]}\n",
        "{\"query\":\"q\",\"results\":[\"a\",\"b\"],\"clicks\":[0]}\n",
        "{\"query\":\"q\",\"results\":[\"a\",\"b\"],\"clicks\":[]}\n",
    ))
    .unwrap();
    let model = ClickModel::train(ClickModelKind::Cascade, &data);
    assert!((model.relevance(0) - 2.0 / 5.0).abs() < 1e-12, "1 of 3, with one of each added");
    assert!((model.relevance(1) - 2.0 / 4.0).abs() < 1e-12, "not examined in the second session");
    let marginal = model.marginal(&[0, 1]);
    assert!((marginal[1] - 0.6 * 0.5).abs() < 1e-12);
}

#[test]
fn the_dynamic_bayesian_network_recovers_its_parameters() {
    const SATISFYING: [f64; 4] = [0.3, 0.7, 0.5, 0.9];
    const PERSISTENCE: f64 = 0.8;
    let mut stopped = false;
    let data = simulate(40_000, |result, position, _, random| {
        stopped = position > 0 && stopped;
        if stopped {
            return None;
        }
        let clicks = random.unit() < ATTRACTIVE[result];
        let satisfied = clicks && random.unit() < SATISFYING[result];
        stopped = satisfied || random.unit() >= PERSISTENCE;
        Some(clicks)
    });
    let ClickModel::Chain(model) = ClickModel::train(ClickModelKind::Dbn, &data) else { panic!("a chain") };
    assert!((model.persistence() - PERSISTENCE).abs() < 0.05, "{}", model.persistence());
    for (result, (attractive, satisfying)) in ATTRACTIVE.iter().zip(SATISFYING).enumerate() {
        let pair = pair(&data, result);
        assert!((model.attractiveness(pair) - attractive).abs() < 0.05, "{result}");
        assert!((model.satisfaction(pair) - satisfying).abs() < 0.1, "{result}");
    }
}

#[test]
fn the_right_model_predicts_best() {
    // Examination falls with the distance from the last click.
    let train = |seed_sessions| {
        simulate(seed_sessions, |result, position, last, random| {
            let distance = position - last.map_or(0, |last| last + 1);
            Some(random.unit() < ATTRACTIVE[result] * [0.9, 0.5, 0.2, 0.1][distance])
        })
    };
    let data = train(20_000);
    let figures = |kind| evaluate_clicks(&ClickModel::train(kind, &data), &data);
    let browsing = figures(ClickModelKind::Ubm);
    for (name, kind) in ClickModelKind::NAMES {
        let found = figures(kind);
        assert!(found.log_likelihood <= browsing.log_likelihood + 1e-9, "{name} {found:?} {browsing:?}");
        assert!(found.perplexity_at.iter().all(|perplexity| *perplexity >= 1.0), "{name}");
    }
    assert!(browsing.perplexity < 1.9, "{browsing:?}");
}

#[test]
fn conditional_probabilities_agree_with_marginal_ones() {
    let data = simulate(500, |result, position, _, random| {
        Some(random.unit() < ATTRACTIVE[result] / (position + 1) as f64)
    });
    for (name, kind) in ClickModelKind::NAMES {
        let model = ClickModel::train(kind, &data);
        let results = data.sessions[0].results.clone();
        let mut sums = [0.0; 4];
        let mut total = 0.0;
        for pattern in 0..16_u32 {
            let clicked: Vec<bool> = (0..4).map(|position| pattern >> position & 1 == 1).collect();
            let conditional =
                model.conditional(&Session { results: results.clone(), clicked: clicked.clone() });
            let chance: f64 = conditional
                .iter()
                .zip(&clicked)
                .map(|(p, &clicked)| if clicked { *p } else { 1.0 - p })
                .product();
            total += chance;
            for (sum, &clicked) in sums.iter_mut().zip(&clicked) {
                *sum += if clicked { chance } else { 0.0 };
            }
        }
        assert!((total - 1.0).abs() < 1e-9, "{name}: {total}");
        for (sum, marginal) in sums.iter().zip(model.marginal(&results)) {
            assert!((sum - marginal).abs() < 1e-9, "{name}: {sum} {marginal}");
        }
    }
}

#[test]
fn wrong_lines_are_reported() {
    let message = |text: &str| read(text).unwrap_err().to_string();
    assert!(message("{}\n").starts_with("log, line 1: missing field `query`"));
    let outside = message("\n{\"query\":\"q\",\"results\":[\"a\"],\"clicks\":[1]}\n");
    assert_eq!(outside, "log, line 2: click on position 1 of 1 results");
    assert!(message(&"x".repeat(70_000)).contains("longer than"));
}

proptest! {
    #[test]
    fn garbage_never_panics(text in "(\\{|\\}|\"query\"|\"results\"|\"clicks\"|:|,|\\[|\\]|0|\"a\"|\n){0,40}") {
        let _ = read(&text);
    }

    #[test]
    fn probabilities_stay_in_range(lists in proptest::collection::vec(proptest::collection::vec((0..5_u8, any::<bool>()), 0..6), 0..8)) {
        let mut sessions = Sessions::default();
        for list in lists {
            let names: Vec<String> = list.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let clicks: Vec<String> = list.iter().enumerate().filter(|(_, (_, clicked))| *clicked).map(|(place, _)| place.to_string()).collect();
            let line = format!("{{\"query\":\"q\",\"results\":[{}],\"clicks\":[{}]}}", names.join(","), clicks.join(","));
            sessions.read("log".as_ref(), line.as_bytes()).unwrap();
        }
        for (_, kind) in ClickModelKind::NAMES {
            let model = ClickModel::train(kind, &sessions);
            for session in &sessions.sessions {
                for probability in model.conditional(session).into_iter().chain(model.marginal(&session.results)) {
                    prop_assert!((-1e-9..=1.0 + 1e-9).contains(&probability));
                }
            }
            prop_assert!(evaluate_clicks(&model, &sessions).log_likelihood.is_finite());
        }
    }
}
