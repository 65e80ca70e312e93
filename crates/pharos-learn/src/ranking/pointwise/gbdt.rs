//! Boosted regression trees on grades (MART, Friedman 2001; for ranking: Cossock & Zhang 2006).

use crate::metrics::gain;
use crate::ranking::RankingError;
use crate::ranking::data::RankingData;
use crate::ranking::model::Scorer;
use crate::ranking::parameters::{Parameter, Parameters};
use crate::ranking::train::Watch;
use crate::ranking::trees::boost::{Objective, boost};
use crate::ranking::trees::{Gradient, tree_parameters};

/// Parameters beside those of trees.
pub(crate) const PARAMETERS: [Parameter; 1] =
    [Parameter::whole("predict-gain", 0, 0, 1, "1 to predict 2^grade − 1 instead of the grade")];

/// Trains trees that predict the grade of a result by least squares.
pub(crate) fn train(
    data: &RankingData,
    parameters: &Parameters,
    watch: &mut Watch<'_>,
) -> Result<Scorer, RankingError> {
    let of_gain = parameters.whole("predict-gain") != 0;
    let target = |&grade: &u32| if of_gain { gain(grade) } else { f64::from(grade) };
    let objective = SquaredError { targets: data.grades().iter().map(target).collect() };
    Ok(Scorer::Trees(boost(data, &objective, &tree_parameters::options(parameters), watch)?))
}

/// ½ (score − target)².
struct SquaredError {
    targets: Vec<f64>,
}

impl Objective for SquaredError {
    fn base(&self) -> f64 {
        self.targets.iter().sum::<f64>() / self.targets.len().max(1) as f64
    }

    fn gradients(&self, scores: &[f64], out: &mut [Gradient]) {
        for ((gradient, score), target) in out.iter_mut().zip(scores).zip(&self.targets) {
            *gradient = Gradient { first: (score - target) as f32, second: 1.0 };
        }
    }
}
