//! Arguments of `pharos classify`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum ClassifyCommand {
    /// Train a classifier on texts with their classes, or a model of categories on the examples of the data directory
    Train(ClassifyTrainArgs),
    /// Test a classifier on texts with their right classes
    Test(ClassifyTestArgs),
    /// Test training options by cross-validation, or print a learning curve
    Validate(ClassifyValidateArgs),
    /// Classify texts, one per line
    Text(ClassifyTextArgs),
    /// Show or replace the taxonomy of categories
    Taxonomy {
        #[command(subcommand)]
        command: TaxonomyCommand,
    },
    /// Show or add examples of categories
    Examples {
        #[command(subcommand)]
        command: ExamplesCommand,
    },
    /// List the trained models of categories with their figures
    Models,
    /// Deploy a model of categories: pages get their category when they are read
    Deploy(DeployArgs),
    /// Take the last deployment back
    Rollback,
    /// Give all pages their categories by the deployed model, with a new build of the index
    Apply,
    /// Explain the category of a page
    Explain(ExplainCategoryArgs),
    /// Print URL, category and confidence of every page as tab-separated lines
    Export,
    /// Decide the category of a page or site, whatever the model says
    Decide(DecideArgs),
}

#[derive(Subcommand)]
pub(crate) enum TaxonomyCommand {
    /// Print the tree of categories
    Show,
    /// Replace the taxonomy by that of a JSON or CSV file
    ///
    /// CSV has the columns id,parent,en,zh,synonyms; synonyms are separated by |. Ids must not change later, because pages,
    /// examples and decisions refer to them. A taxonomy with a defect is refused as a whole.
    Import(FileArg),
    /// Print the taxonomy as JSON or CSV
    Export(TaxonomyExportArgs),
    /// Install the starter taxonomy with its training texts, if there is no taxonomy yet
    Starter,
}

#[derive(Subcommand)]
pub(crate) enum ExamplesCommand {
    /// Print the examples as CSV
    Show,
    /// Add examples of a category
    Add(AddExamplesArgs),
    /// Add the examples of a file
    ///
    /// The file is CSV with the columns category,kind,value, or has lines of a category, a tab, and a URL or a text.
    Import(FileArg),
    /// Remove all examples of a category
    Remove(RemoveExamplesArgs),
}

#[derive(Args)]
pub(crate) struct FileArg {
    /// File (- for standard input)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args)]
pub(crate) struct TaxonomyExportArgs {
    /// Print CSV instead of JSON
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Args)]
pub(crate) struct AddExamplesArgs {
    /// Id of the category
    pub(crate) category: String,
    /// Kind of the examples
    #[arg(value_enum)]
    pub(crate) kind: ExampleKindArg,
    /// URLs, beginnings of URLs, queries or texts
    #[arg(required = true, value_name = "VALUE")]
    pub(crate) values: Vec<String>,
}

#[derive(Args)]
pub(crate) struct RemoveExamplesArgs {
    /// Id of the category
    pub(crate) category: String,
}

/// Kinds of examples.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExampleKindArg {
    /// A text
    Text,
    /// The URL of a stored page
    Url,
    /// A site, or the beginning of URLs: every page there
    Section,
    /// A query: its best results
    Search,
}

#[derive(Args)]
pub(crate) struct DeployArgs {
    /// Version [default: the newest]
    pub(crate) version: Option<u64>,
}

#[derive(Args)]
pub(crate) struct ExplainCategoryArgs {
    /// URL of a searchable page
    pub(crate) url: String,
}

#[derive(Args)]
pub(crate) struct DecideArgs {
    /// URL of a page, or host of a site
    pub(crate) target: String,
    /// Id of the category, or `none` for no category
    #[arg(required_unless_present = "remove", conflicts_with = "remove")]
    pub(crate) category: Option<String>,
    /// Remove the decision
    #[arg(long)]
    pub(crate) remove: bool,
}

/// Format of files of texts, printed with the help of each command that reads one.
const FORMAT: &str = "\
FILE has a text and a class per line, separated by a tab; of several tabs the last one counts. Column names in the first line, quoted \
fields, a byte order mark and empty lines are recognised. Lines without a class are skipped and counted. Several classes of a text are \
separated by a comma, | or ;, which is detected if the classes also occur alone; --multi-label and --single-label set it. No data \
directory is needed.";

#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct ClassifyTrainArgs {
    /// Texts with their classes (- for standard input) [default: the examples of the data directory]
    #[arg(long, value_name = "FILE", requires = "out")]
    pub(crate) tsv: Option<PathBuf>,
    /// File of the classifier to write
    #[arg(long, value_name = "FILE", requires = "tsv")]
    pub(crate) out: Option<PathBuf>,
    /// Least confidence of a category; pages with less get the category above, or none
    #[arg(long, value_name = "P", default_value_t = 0.5, conflicts_with = "tsv")]
    pub(crate) min_confidence: f32,
    /// Deploy the model at once
    #[arg(long, conflicts_with = "tsv")]
    pub(crate) deploy: bool,
    #[command(flatten)]
    pub(crate) options: ClassifyOptions,
}

#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct ClassifyTestArgs {
    /// Texts with their right classes (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) tsv: PathBuf,
    /// File of the classifier
    #[arg(long, value_name = "FILE")]
    pub(crate) model_file: PathBuf,
    /// Count only top classes: the parts of class names before the first /
    #[arg(long)]
    pub(crate) top: bool,
    /// Number of confusions to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) confusions: usize,
}

#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct ClassifyValidateArgs {
    /// Texts with their classes (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) tsv: PathBuf,
    /// Number of parts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(2..=100))]
    pub(crate) folds: u8,
    /// Print results with up to so many training texts of each class instead, tested on a fifth of the texts
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) curve: Vec<usize>,
    #[command(flatten)]
    pub(crate) options: ClassifyOptions,
}

#[derive(Args)]
pub(crate) struct ClassifyTextArgs {
    /// Texts, one per line (- for standard input)
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// File of the classifier
    #[arg(long, value_name = "FILE")]
    pub(crate) model_file: PathBuf,
    /// Print the terms that decide about each class (linear classifiers)
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Training options")]
pub(crate) struct ClassifyOptions {
    /// Algorithm
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ClassifyModel::Linear)]
    pub(crate) model: ClassifyModel,
    /// Terms [default: n-grams for linear, words for others]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) terms: Option<ClassifyTerms>,
    /// Select features by this score
    #[arg(long, value_enum, value_name = "SCORE")]
    pub(crate) select: Option<ClassifySelection>,
    /// Number of features to keep, or their share as 15%
    #[arg(long, value_name = "N|P%", default_value = "20%", requires = "select")]
    pub(crate) features: String,
    /// Assigned classes: auto, rcut=K (the K best), pcut=X (in proportion to the training), scut (a tuned threshold per class)
    #[arg(long, value_name = "STRATEGY", default_value = "auto")]
    pub(crate) thresholds: String,
    /// Number of neighbours of kNN
    #[arg(short, long, value_name = "K", default_value_t = 20)]
    pub(crate) k: usize,
    /// Cost of an error of the SVM
    #[arg(long, value_name = "C", default_value_t = 1.0)]
    pub(crate) cost: f32,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Texts have several classes with this separator
    #[arg(long, value_name = "SEPARATOR", num_args = 0..=1, default_missing_value = ",", conflicts_with = "single_label")]
    pub(crate) multi_label: Option<char>,
    /// Each text has one class, whatever its name contains
    #[arg(long)]
    pub(crate) single_label: bool,
}

/// Algorithms, as named on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ClassifyModel {
    /// SVM over n-grams, mixed with complement naive Bayes
    Linear,
    /// Linear SVM
    Svm,
    /// Naive Bayes without smoothing
    BayesPlain,
    /// Naive Bayes with Laplace smoothing
    Bayes,
    /// Complement naive Bayes
    BayesComplement,
    /// Prototype per class
    Rocchio,
    /// k nearest neighbours by cosine
    Knn,
    /// k nearest neighbours by Euclidean distance
    KnnEuclid,
    /// k nearest neighbours by Canberra distance
    KnnCanberra,
    /// k nearest neighbours below similar top classes
    KnnHierarchical,
    /// Decision tree per class
    Tree,
}

/// Kinds of terms.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ClassifyTerms {
    /// Segmented words, stemmed, without stop words
    Words,
    /// Words and pairs of words; Han characters, pairs and triples
    NGrams,
}

/// Scores of features.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ClassifySelection {
    /// Document frequency
    Df,
    /// Information gain
    Ig,
    /// Mutual information
    Mi,
    /// χ² statistic
    Chi,
    /// Term strength
    Ts,
}
