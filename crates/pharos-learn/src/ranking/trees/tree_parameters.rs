//! Parameters that all models of boosted trees share.

use super::boost::BoostOptions;
use super::grow::GrowOptions;
use crate::ranking::parameters::{Parameter, Parameters};

/// The parameters of boosting and of trees.
pub(crate) const PARAMETERS: [Parameter; 10] = [
    Parameter::whole(
        "trees",
        500,
        1,
        100_000,
        "largest number of trees; validation data selects the best number",
    ),
    Parameter::real("learning-rate", 0.05, 1e-6, 1.0, "factor of leaf values (shrinkage)"),
    Parameter::whole("leaves", 31, 2, 4096, "largest number of leaves of a tree"),
    Parameter::whole("depth", 0, 0, 64, "largest depth of a tree; 0 without limit"),
    Parameter::whole("min-rows", 20, 1, 1_000_000, "smallest number of rows of a leaf"),
    Parameter::real("min-hessian", 1e-3, 0.0, 1e9, "smallest sum of second derivatives of a leaf"),
    Parameter::real("l2", 0.0, 0.0, 1e9, "weight of squared leaf values in the loss"),
    Parameter::real("query-share", 1.0, 0.01, 1.0, "share of queries that each tree is trained on"),
    Parameter::real("feature-share", 1.0, 0.01, 1.0, "share of features that each tree may use"),
    Parameter::whole("seed", 1, 0, u32::MAX, "seed of the random choice of queries and features"),
];

/// Returns the options for these values.
pub(crate) fn options(parameters: &Parameters) -> BoostOptions {
    BoostOptions {
        rounds: parameters.whole("trees"),
        learning_rate: parameters.get("learning-rate"),
        grow: GrowOptions {
            leaves: parameters.whole("leaves"),
            depth: parameters.whole("depth"),
            min_rows: parameters.whole("min-rows"),
            min_hessian: parameters.get("min-hessian"),
            l2: parameters.get("l2"),
        },
        query_share: parameters.get("query-share"),
        feature_share: parameters.get("feature-share"),
        seed: parameters.whole("seed") as u64,
    }
}
