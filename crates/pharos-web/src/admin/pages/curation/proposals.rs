//! Synonyms proposed by the last build, which operators accept or reject.

use axum::response::{IntoResponse as _, Response};
use pharos_mining::refusals::{Refusal, Refusals};
use pharos_mining::synonyms::read_proposals;
use pharos_query::curation::records::CurationError;
use pharos_query::curation::synonyms::{SynonymSets, add_synonyms};
use pharos_store::DataDir;

use super::messages::CurationMessages;
use super::{PATH, describe_error, spawn_blocking};
use crate::admin::action::Action;
use crate::admin::action_log::ActionOutcome;
use crate::messages::fill;
use crate::state::ServiceError;

/// Maximum number of proposals shown.
const MAX_SHOWN: usize = 20;

/// A proposal as shown.
pub(super) struct ProposalRow {
    pub(super) words: [String; 2],
    pub(super) reason: String,
    pub(super) queries: [String; 2],
}

/// Returns the proposals that are not decided, the best supported first.
pub(super) fn open_proposals(data: &DataDir, synonyms: &str, m: &CurationMessages) -> Vec<ProposalRow> {
    let (sets, _) = SynonymSets::parse(synonyms);
    let proposals = read_proposals(data).unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read the proposed synonyms");
        Vec::new()
    });
    let open = proposals.into_iter().filter(|proposal| {
        let [a, b] = &proposal.words;
        !sets.are_synonyms(a, b)
    });
    let row = |proposal: pharos_mining::synonyms::SynonymProposal| ProposalRow {
        reason: fill(
            m.proposal_reason,
            &[&proposal.visits.to_string(), &format!("{:.0}", 100.0 * proposal.similarity)],
        ),
        words: proposal.words,
        queries: proposal.queries,
    };
    open.take(MAX_SHOWN).map(row).collect()
}

/// Accepts or rejects a proposal.
pub(super) async fn decide(action: &Action) -> Result<Response, ServiceError> {
    let (m, lang) = (CurationMessages::for_lang(action.visitor.lang), action.visitor.lang);
    let [a, b] = ["a", "b"].map(|name| action.form.text(name).trim().to_string());
    let (name, good) = match action.form.text("do") {
        "accept" => ("curation.accept-synonyms", m.did_accept_synonyms),
        "reject" => ("curation.reject-synonyms", m.did_reject_synonyms),
        _ => return Ok(axum::http::StatusCode::NOT_FOUND.into_response()),
    };
    let accepts = name == "curation.accept-synonyms";
    let subject = format!("{a}, {b}");
    let decided = spawn_blocking(&action.app, move |service| {
        let models = service.data.models();
        let done = if accepts {
            add_synonyms(&models, &a, &b)
        } else {
            let path = models.display().to_string();
            let failed = |source| CurationError::Io { what: "write", path, source };
            Refusals::add(&models, [Refusal::synonyms(&a, &b)]).map(|()| true).map_err(failed)
        };
        service.search.processor().reload_curation();
        Ok(done)
    });
    match decided.await? {
        Ok(false) => Ok(action.fail(PATH, m.bad_few)),
        Ok(true) => {
            action.record(name, &subject, "", ActionOutcome::Done).await;
            Ok(action.succeed(PATH, good))
        }
        Err(error) => {
            action.record(name, &subject, "", ActionOutcome::Refused(&error.to_string())).await;
            Ok(action.fail(PATH, describe_error(&error, m, lang)))
        }
    }
}
