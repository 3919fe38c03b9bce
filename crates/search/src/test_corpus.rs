//! Small corpora for the tests of the exploration: views that are indexed from texts by the index itself.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test whose corpus cannot be made fails")]

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use annai_core::Principal;

use crate::conclusion::conflicts::Contradictions;
use crate::context::FindContext;
use crate::context::Thresholds;
use crate::find::request::{FindRequest, SearchBudget};
use crate::find::trace_builder::{TraceMatches, trace_matches};
use crate::index::{CollectionSource, IndexCatalog, View};
use crate::matching::candidate::{Candidate, MatchKind, Signals};
use crate::matching::place::{NodePlace, node_at};
use crate::query::Query;
use crate::query::dictionary::{Dictionary, DictionaryCache};
use crate::query::terms::{Goal, Intent};
use crate::query::wordings::OtherWords;
use crate::query::wordings::wordings_of;
use crate::reference::{NextAction, Target};
use crate::rules::Rules;
use crate::stages::scope::SearchScope;
use crate::stages::{StageOutcome, StagePlan, run_stages};
use crate::trace::reach::FindReach;
use crate::trace::read_ledger::ReadLedger;
use crate::trace::trace_store::TraceStore;
use crate::trace::{Reach, TraceFile, TraceHeading, TraceMatch, TraceRecord};
use annai_core::cancellation::Cancellation;
use annai_files::fs::{Membership, Root, Sha256};
use annai_files::manuals::Manuals;
use annai_files::testing::TempFolder;
use annai_files::vault::{Vault, VaultLimits};
use annai_text::{Markdown, Position, format_of, note_format_of};

/// An instant that no test reaches.
pub fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// The view of a manual with these files, as one segment in the order of the paths.
pub fn manual(name: &str, files: &[(&str, &str)]) -> View {
    let format = |path: &str| format_of(path).unwrap_or(&Markdown);
    view(CollectionSource { name: name.to_owned(), enter: |_, _| Membership::Searched, format }, files)
}

/// The view of a vault with these files.
pub fn vault(files: &[(&str, &str)]) -> View {
    view(
        CollectionSource { name: String::new(), enter: |_, _| Membership::Searched, format: note_format_of },
        files,
    )
}

fn view(source: CollectionSource, files: &[(&str, &str)]) -> View {
    let folder = TempFolder::new(files);
    let root = Arc::new(Root::open(&folder.0).unwrap());
    let collection = IndexCatalog::new(None).collection("test", || source);
    let view = collection.view(root, far_away(), &Cancellation::default()).unwrap();
    assert_eq!((view.pending.len(), view.unsearchable.len()), (0, 0), "the corpus is indexed as a whole");
    view
}

/// Views as one view with a segment for each of them.
pub fn as_segments(views: Vec<View>) -> View {
    let mut views = views.into_iter();
    let mut joined = views.next().unwrap();
    joined.segments.extend(views.flat_map(|view| view.segments));
    joined
}

/// The built-in dictionary, built once for all tests.
pub static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(&[]));

/// A question, parsed with the built-in dictionary.
pub fn query(question: &str) -> Query {
    Query::new(question, None, &DICTIONARY).unwrap()
}

/// The same with an intent.
pub fn query_for(question: &str, intent: Intent) -> Query {
    Query::new(question, Some(intent), &DICTIONARY).unwrap()
}

/// The node that starts on a line of a file.
pub fn place(views: &[View], path: &str, line: u32) -> NodePlace {
    all_places(views).into_iter().find(|place| shown(views, *place) == format!("{path}:{line}")).unwrap()
}

/// Every node, in document order.
pub fn all_places(views: &[View]) -> Vec<NodePlace> {
    let mut places = Vec::new();
    for (view, segments) in (0..).zip(views) {
        for (segment, nodes) in (0..).zip(&segments.segments) {
            places.extend((0..).zip(&nodes.nodes).map(|(node, _)| NodePlace { view, segment, node }));
        }
    }
    places
}

/// A node as `path:line`.
pub fn shown(views: &[View], place: NodePlace) -> String {
    let (segment, node) = node_at(views, place).unwrap();
    format!("{}:{}", segment.file_of(node).unwrap().path, node.start_line)
}

/// A candidate that contains the first term exactly; tests change what matters to them.
pub fn candidate(place: NodePlace) -> Candidate {
    Candidate {
        place,
        score: 1.0,
        signals: Signals::NORMALIZED,
        terms: 1,
        kind: MatchKind::Exact,
        is_outside: false,
    }
}

/// A plan that searches everything with the built-in dictionary and without limits.
pub fn plan<'a>(views: &'a [View], scope: &'a SearchScope<'a>) -> StagePlan<'a> {
    StagePlan {
        views,
        home: None,
        scope,
        max_candidates: None,
        deadline: far_away(),
        dictionary: Some(&DICTIONARY),
        wordings: &[],
    }
}

/// What a question finds in these views.
pub fn outcome(views: &[View], question: &str) -> StageOutcome {
    run_stages(&plan(views, &SearchScope::Everything), query(question))
}

/// What a question finds in these views together with its other wordings.
pub fn outcome_with(
    views: &[View],
    question: &str,
    phrasings: &[&str],
    hypothetical: Option<&str>,
) -> StageOutcome {
    let other_words = OtherWords {
        phrasings: phrasings.iter().map(|text| (*text).to_owned()).collect(),
        hypothetical: hypothetical.map(str::to_owned),
    };
    let query = query(question);
    let wordings = wordings_of(&other_words, question, &query, &DICTIONARY).unwrap();
    let scope = SearchScope::Everything;
    run_stages(&StagePlan { wordings: &wordings, ..plan(views, &scope) }, query)
}

/// What a question finds in these views when the manual with this name was asked for.
pub fn outcome_at_home(views: &[View], home: &str, question: &str) -> StageOutcome {
    let scope = SearchScope::Everything;
    run_stages(&StagePlan { home: Some(home), ..plan(views, &scope) }, query(question))
}

/// The trace of a find of the manuals that found nothing.
pub fn empty_trace() -> TraceRecord {
    TraceRecord {
        target: Target::Manual,
        question: "refund".to_owned(),
        goal: Goal::Answer,
        is_follow_up: false,
        files: Vec::new(),
        headings: Vec::new(),
        matches: Vec::new(),
        ranked: Vec::new(),
        unscanned: Vec::new(),
        unsearchable: Vec::new(),
        conflicts: Vec::new(),
        variants: Vec::new(),
        gaps: Vec::new(),
        reach: Reach::Manuals(FindReach::default()),
        follow_up: NextAction::stop(0.5),
    }
}

/// The trace of what a question found in these views.
pub fn traced(views: &[View], outcome: &StageOutcome) -> TraceRecord {
    let TraceMatches { files, headings, matches, ranked, conflicts, variants } =
        trace_matches(views, outcome, &Contradictions::default());
    let unscanned = outcome.unscanned.clone();
    TraceRecord { files, headings, matches, ranked, conflicts, variants, unscanned, ..empty_trace() }
}

/// A trace of sections of the manual `m`, each of two lines in a file of its own (`0.md`, `1.md` and so on), with these
/// scores and kinds. They are ranked by their scores.
pub fn trace_of(matches: &[(f32, MatchKind)]) -> TraceRecord {
    let file = |(number, _)| TraceFile {
        manual_id: Some("m".into()),
        path: format!("{number}.md"),
        sha256: Sha256::of(b"text"),
        encoding: None,
        is_json: false,
    };
    let found = |(number, (score, kind)): (u32, &(f32, MatchKind))| TraceMatch {
        file: number,
        heading: 0,
        span: Position::line_start(1)..Position::line_start(3),
        ref_line: 1,
        best_line: 2,
        score: *score,
        signals: Signals::NORMALIZED,
        kind: *kind,
        is_outside: false,
        fits_one_read: true,
        json_path: None,
    };
    let mut ranked: Vec<u32> = (0..).zip(matches).map(|(number, _)| number).collect();
    ranked.sort_by(|one, other| matches[*other as usize].0.total_cmp(&matches[*one as usize].0));
    TraceRecord {
        files: matches.iter().enumerate().map(file).collect(),
        headings: vec![TraceHeading { parent: None, title: "A".into() }],
        matches: (0..).zip(matches).map(found).collect(),
        ranked,
        ..empty_trace()
    }
}

/// A library of manuals, as finds see it. Every first folder of a path is a manual.
pub struct TestLibrary {
    manuals: Manuals,
    vault: Vault,
    indexes: IndexCatalog,
    dictionaries: DictionaryCache,
    /// The traces of earlier finds.
    pub traces: TraceStore,
    /// What was handed out.
    pub ledger: ReadLedger,
    _folder: TempFolder,
}

impl TestLibrary {
    /// A library of these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempFolder::new(files);
        let lifetime = Duration::from_secs(600);
        let limits = VaultLimits { max_bytes: 1 << 30, max_files: 1_000, max_file_bytes: 1 << 20 };
        Self {
            manuals: Manuals::new(vec![annai_files::manuals::ManualFolder::Folder(folder.0.clone())]),
            vault: Vault::new(folder.0.clone(), true, limits, &[]),
            indexes: IndexCatalog::new(None),
            dictionaries: DictionaryCache::default(),
            traces: TraceStore::new(100, lifetime),
            ledger: ReadLedger::new(lifetime),
            _folder: folder,
        }
    }

    /// What finds need of it.
    pub const fn context(&self) -> FindContext<'_> {
        FindContext {
            manuals: &self.manuals,
            vault: &self.vault,
            indexes: &self.indexes,
            dictionaries: &self.dictionaries,
            traces: &self.traces,
            ledger: &self.ledger,
            thresholds: Thresholds { candidate_low: 3, file_bias: 0.80 },
            default_manual_id: None,
        }
    }
}

/// A request of the owner, in all manuals and without limits that a test reaches.
pub fn request(question: &str) -> FindRequest {
    FindRequest {
        query: question.into(),
        other_words: OtherWords::default(),
        manual_id: None,
        intent: None,
        goal: None,
        is_fresh: false,
        max_stage: 4,
        hard_max_stage: 4,
        left_out_of: None,
        rules: Rules::default(),
        budget: SearchBudget { max_candidates: None, time: Duration::from_secs(60) },
        owner: Principal::Owner,
    }
}

/// A manual of leave rules.
pub fn leave_rules() -> [View; 1] {
    [manual(
        "m",
        &[
            (
                "kyuka.md",
                "# 休暇規程\n## 第3条 年次有給休暇\n年次有給休暇は毎年与える。\n## 第4条 慶弔休暇\n結婚の休暇。\n",
            ),
            ("rules.md", "# Rules\n## Expense claims\nExpenses are refundable.\n## Installer\nRun it.\n"),
        ],
    )]
}
