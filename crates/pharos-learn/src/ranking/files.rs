//! Model files: the own format, a JSON object with `format` and `version`, and those of other programs.
//!
//! | format | programs | models |
//! |---|---|---|
//! | pharos | this one | all |
//! | lightgbm | LightGBM (text), Vespa | trees |
//! | xgboost | XGBoost (`dump_model` as JSON), OpenSearch, Vespa | trees |
//! | ranklib | RankLib (ensemble), OpenSearch | trees |
//! | solr | Solr | trees, linear |
//! | opensearch | OpenSearch and Elasticsearch LTR plug-ins | trees, linear |
//!
//! A model file is untrusted: its size is bounded, and a model that could not score every row is rejected.

mod lightgbm;
mod nested;
mod ranklib;
mod solr;
mod xgboost;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RankingError;
use super::data::letor::MAX_FEATURE;
use super::model::{RankingModel, Scorer, TrainingSize};

/// Largest accepted model file. Ten thousand trees of 31 leaves have about 60 MB.
const MAX_BYTES: u64 = 256 << 20;

const FORMAT: &str = "pharos-ranking-model";

/// Version of the own format. Files of a newer version are rejected.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Written<'m> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    model: &'m RankingModel,
}

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// Format of a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    Pharos,
    LightGbm,
    XgBoost,
    RankLib,
    Solr,
    OpenSearch,
}

impl ModelFormat {
    /// Names of all formats.
    pub const NAMES: [(&str, Self); 6] = [
        ("pharos", Self::Pharos),
        ("lightgbm", Self::LightGbm),
        ("xgboost", Self::XgBoost),
        ("ranklib", Self::RankLib),
        ("solr", Self::Solr),
        ("opensearch", Self::OpenSearch),
    ];
}

impl FromStr for ModelFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown format `{name}`: use one of {}", names.join(", "))
        })
    }
}

/// Formats a model. Fails if the format cannot hold it.
pub fn format(model: &RankingModel, format: ModelFormat) -> Result<String, String> {
    if format == ModelFormat::Pharos {
        let written = Written { format: FORMAT, version: VERSION, model };
        return serde_json::to_string(&written).map(|text| text + "\n").map_err(|error| error.to_string());
    }
    if model.normalisation != super::data::normalise::Normalisation::None {
        return Err(
            "other programs do not apply the normalisation of the model: train with normalisation none"
                .into(),
        );
    }
    match (format, &model.scorer) {
        (ModelFormat::LightGbm, Scorer::Trees(trees)) => Ok(lightgbm::format(trees)),
        (ModelFormat::XgBoost, Scorer::Trees(trees)) => {
            xgboost::format(trees).map(|json| json.to_string() + "\n")
        }
        (ModelFormat::RankLib, Scorer::Trees(trees)) => ranklib::format(trees),
        (ModelFormat::Solr, scorer) => solr::format(scorer),
        (ModelFormat::OpenSearch, scorer) => solr::format_opensearch(scorer),
        _ => Err("this format holds trees only".to_owned()),
    }
}

/// Writes a model in the own format.
pub fn write(path: &Path, model: &RankingModel) -> Result<(), RankingError> {
    write_as(path, model, ModelFormat::Pharos)
}

/// Writes a model in a format.
pub fn write_as(path: &Path, model: &RankingModel, kind: ModelFormat) -> Result<(), RankingError> {
    let bad = |problem| RankingError::ModelFile { path: path.to_path_buf(), problem };
    let text = format(model, kind).map_err(bad)?;
    let write = || -> std::io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.flush()
    };
    write().map_err(RankingError::io("write", path))
}

/// Reads a model.
pub fn read(path: &Path) -> Result<RankingModel, RankingError> {
    let file = File::open(path).map_err(RankingError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(RankingError::io("read", path))?;
    let bad = |problem: String| RankingError::ModelFile { path: path.to_path_buf(), problem };
    if bytes.len() as u64 > MAX_BYTES {
        return Err(bad(format!("larger than {MAX_BYTES} bytes")));
    }
    parse(&bytes).map_err(bad)
}

/// Parses and checks a model of any format, which is detected.
pub fn parse(bytes: &[u8]) -> Result<RankingModel, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not a ranking model: not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let (name, scorer) = match text.as_bytes().first() {
        Some(b'{') => {
            let head: serde_json::Value =
                serde_json::from_str(text).map_err(|error| format!("not a ranking model: {error}"))?;
            if head.get("class").is_some() {
                ("solr", solr::parse(&head)?)
            } else if head.get("model").is_some() {
                ("opensearch", solr::parse_opensearch(&head)?)
            } else {
                return parse_own(text);
            }
        }
        Some(b'[') => ("xgboost", Scorer::Trees(xgboost::parse(text)?)),
        Some(b'<' | b'#') => ("ranklib", Scorer::Trees(ranklib::parse(text)?)),
        _ if text.starts_with("tree") => ("lightgbm", Scorer::Trees(lightgbm::parse(text)?)),
        _ => return Err("not a ranking model of a known format".to_owned()),
    };
    let model = RankingModel {
        algorithm: name.to_owned(),
        normalisation: Default::default(),
        parameters: Default::default(),
        trained_on: TrainingSize::default(),
        validation: None,
        scorer,
    };
    model.validate()?;
    Ok(model)
}

fn parse_own(text: &str) -> Result<RankingModel, String> {
    let header: Header =
        serde_json::from_str(text).map_err(|error| format!("not a ranking model: {error}"))?;
    if header.format != FORMAT {
        return Err(format!("format `{}` is not `{FORMAT}`", header.format));
    }
    if header.version > VERSION {
        return Err(format!(
            "version {} is newer than this program, which reads up to {VERSION}",
            header.version
        ));
    }
    let model: RankingModel =
        serde_json::from_str(text).map_err(|error| format!("not a ranking model: {error}"))?;
    model.validate()?;
    Ok(model)
}

/// Returns the number of a feature from its name in another program: the digits at its end, as in `f12`, `Column_12`.
fn feature_number(name: &str) -> Result<u32, String> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    match digits.parse() {
        Ok(number) if number <= MAX_FEATURE => Ok(number),
        _ => Err(format!("feature `{}` has no number at its end", name.chars().take(40).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ranking::data::RankingData;
    use crate::ranking::train::{Algorithm, Training, train};

    fn model() -> (RankingModel, RankingData) {
        let mut text = String::new();
        for query in 0..40 {
            for row in 0..10 {
                let grade = (query * 7 + row) % 3;
                text.push_str(&format!("{grade} qid:{query} 1:{} 2:0.{row} 3:NULL\n", grade * 2 + row % 2));
            }
        }
        let data = RankingData::parse(text.as_bytes()).unwrap();
        let parameters = [("trees".to_owned(), 5.0)].into();
        let training = Training { parameters, ..Training::default() };
        (train(Algorithm::LambdaMart, &training, &data, None).unwrap().model, data)
    }

    #[test]
    fn a_model_is_the_same_after_reading() {
        let (model, data) = model();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.json");
        write(&path, &model).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read, model);
        assert_eq!(read.score(&data), model.score(&data));
    }

    #[test]
    fn trees_move_to_other_formats_and_back() {
        let (model, data) = model();
        let scores = model.score(&data);
        for (name, kind) in ModelFormat::NAMES {
            let text = format(&model, kind).unwrap();
            let read = parse(text.as_bytes()).unwrap_or_else(|problem| panic!("{name}: {problem}\n{text}"));
            for (found, expected) in read.score(&data).iter().zip(&scores) {
                assert!((found - expected).abs() < 1e-6, "{name}: {found} {expected}");
            }
        }
    }

    #[test]
    fn linear_models_move_to_solr_and_opensearch() {
        let (_, data) = model();
        let model = train(Algorithm::Ridge, &Training::default(), &data, None).unwrap().model;
        let scores = model.score(&data);
        for kind in [ModelFormat::Solr, ModelFormat::OpenSearch] {
            let read = parse(format(&model, kind).unwrap().as_bytes()).unwrap();
            // Without the constant part of the score, the order is the same.
            let shift = read.score(&data)[0] - scores[0];
            for (found, expected) in read.score(&data).iter().zip(&scores) {
                assert!((found - expected - shift).abs() < 1e-6);
            }
        }
        assert!(format(&model, ModelFormat::RankLib).unwrap_err().contains("trees only"));
    }

    #[test]
    fn models_of_other_programs_are_read() {
        let xgboost = r#"[{"nodeid":0,"split":"f2","split_condition":0.5,"yes":1,"no":2,"missing":2,
            "children":[{"nodeid":1,"leaf":-1.5},{"nodeid":2,"leaf":2}]}]"#;
        let ranklib = "## LambdaMART\n## No. of trees = 1\n\n<ensemble>\n\t<tree id=\"1\" weight=\"0.1\">\n\t\t<split>\n\
            <feature> 2 </feature><threshold> 0.5 </threshold><split pos=\"left\"><output> -1.0 </output></split>\n\
            <split pos=\"right\"><output>1.0</output></split></split></tree></ensemble>";
        let solr = r#"{"class":"org.apache.solr.ltr.model.MultipleAdditiveTreesModel","name":"m",
            "features":[{"name":"f2"}],"params":{"trees":[{"weight":"0.5","root":{"feature":"f2","threshold":"0.5",
            "left":{"value":"-100"},"right":{"value":"50"}}}]}}"#;
        let score = |text: &str, value: f32| parse(text.as_bytes()).unwrap().score_row(&[0.0, 0.0, value]);
        assert_eq!(
            [0.4, 0.5, 0.6].map(|value| score(xgboost, value)),
            [-1.5, 2.0, 2.0],
            "less than goes left"
        );
        assert_eq!(score(xgboost, f32::NAN), 2.0);
        assert_eq!([0.4, 0.5, 0.6].map(|value| score(ranklib, value)), [-0.1, -0.1, 0.1], "up to goes left");
        assert_eq!([0.5, 0.6].map(|value| score(solr, value)), [-50.0, 25.0]);
    }

    #[test]
    fn malformed_models_of_other_programs_are_rejected() {
        for text in [
            "[]",
            "[1]",
            r#"[{"leaf":"x"}]"#,
            r#"[{"split":"f1","split_condition":1,"yes":1,"no":1,"children":[]}]"#,
            "<ensemble>",
            "<ensemble></ensemble>",
            "<ensemble><tree weight=\"x\"><split><output>1</output></split></tree></ensemble>",
            "<tree><split><feature>1</feature></split></tree>",
            "tree\n",
            "tree\nTree=0\nnum_leaves=2\n",
            r#"{"class":"x"}"#,
            r#"{"model":1}"#,
            "word",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn other_files_are_rejected() {
        assert!(parse(b"{}").unwrap_err().contains("missing field `format`"));
        assert!(parse(br#"{"format":"x","version":1}"#).unwrap_err().contains("format `x`"));
        let newer = format!(r#"{{"format":"{FORMAT}","version":99}}"#);
        assert!(parse(newer.as_bytes()).unwrap_err().contains("newer than this program"));
        let missing = read("no/such/model".as_ref()).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read no/such/model: "), "{missing}");
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(place in 0..5_000_usize, byte: u8) {
            let (model, data) = model();
            for (_, kind) in ModelFormat::NAMES {
                let mut bytes = format(&model, kind).unwrap().into_bytes();
                let place = place % bytes.len();
                bytes[place] = byte;
                if let Ok(model) = parse(&bytes) {
                    prop_assert_eq!(model.score(&data).len(), data.len());
                }
            }
        }
    }
}
