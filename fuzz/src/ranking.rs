//! Learning to rank: any bytes are rejected as training data, model or sessions, or can be used and written again.

use pharos_learn::ranking::clicks::{ClickModel, ClickModelKind, Sessions, evaluate_clicks};
use pharos_learn::ranking::data::{RankingData, letor};
use pharos_learn::ranking::files::{self, ModelFormat};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    if let Ok(data) = RankingData::parse(bytes) {
        let mut written = Vec::new();
        letor::write(&data, &mut written).expect("a vector takes all bytes");
        let again = RankingData::parse(&written[..]).expect("written data is valid");
        assert_eq!((data.grades(), data.queries()), (again.grades(), again.queries()));
    }
    if let Ok(model) = files::parse(bytes) {
        for row in [&[][..], &[0.0, 1.5, f32::NAN, -3.0, 1e30]] {
            model.score_row(row);
        }
        for (_, format) in ModelFormat::NAMES {
            if let Ok(text) = files::format(&model, format) {
                assert!(format != ModelFormat::Pharos || files::parse(text.as_bytes()).is_ok());
            }
        }
    }
    let mut sessions = Sessions::default();
    if sessions.read("sessions".as_ref(), bytes).is_ok() {
        for (_, kind) in ClickModelKind::NAMES {
            let figures = evaluate_clicks(&ClickModel::train(kind, &sessions), &sessions);
            assert!(figures.log_likelihood.is_finite());
        }
    }
}
