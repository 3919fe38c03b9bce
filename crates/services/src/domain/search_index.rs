//! Services prepared for searching: filters, relevance, and what to relax when nothing is left. Preparing them costs more
//! than a search, so a store keeps an index for as long as its services stay the same.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::keywords::{Field, Intent, fold};
use super::limits::{MAX_LIST_ENTRIES, MAX_SEARCH_BYTES};
use super::money::Cents;
use super::preferences::{PreferenceLevel, PreferenceLevels};
use super::search::{AppliedFilters, SearchEntry, SearchQuery, SearchReport, ServiceItem};

/// Services prepared for searching, newest first.
#[derive(Debug)]
pub struct SearchIndex {
    services: Vec<IndexedService>,
    /// The texts of all services, each once: many share their tasks, categories and tags.
    fields: Vec<Field>,
}

/// A service, with the positions of its texts among the fields.
#[derive(Debug)]
struct IndexedService {
    entry: SearchEntry,
    name: usize,
    sponsor: usize,
    task: Option<usize>,
    category: Vec<usize>,
    tags: Vec<usize>,
}

impl SearchIndex {
    /// Prepares services, which are in their order of age, newest first.
    #[must_use]
    pub fn new(entries: Vec<SearchEntry>) -> Self {
        let (mut positions, mut fields) = (HashMap::new(), Vec::new());
        let mut position = |text: &str| match positions.get(text) {
            Some(position) => *position,
            None => {
                fields.push(Field::new(text));
                positions.insert(text.to_owned(), fields.len() - 1);
                fields.len() - 1
            }
        };
        let index = |entry: SearchEntry| IndexedService {
            name: position(&entry.item.name),
            sponsor: position(&entry.item.sponsor),
            task: entry.item.required_task.as_deref().map(&mut position),
            category: entry.item.category.iter().map(|each| position(each)).collect(),
            tags: entry.item.tags.iter().map(|each| position(each)).collect(),
            entry,
        };
        Self { services: entries.into_iter().map(index).collect(), fields }
    }

    /// The number of services.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.services.len()
    }

    /// Whether there is no service.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.services.is_empty()
    }

    /// Searches the services that are available, by their positions. `preferences` are those of a known user.
    #[must_use]
    pub fn search(
        &self,
        query: &SearchQuery,
        preferences: Option<&PreferenceLevels>,
        is_available: impl Fn(usize) -> bool,
    ) -> SearchReport {
        let filters = Filters {
            keyword: query.q.as_ref().map(|q| fold(q.trim()).into_owned()),
            category: query.category.as_ref().map(|category| fold(category.trim()).into_owned()),
            budget: query.max_budget_cents,
            intent: query.intent.as_ref().map(|intent| Intent::parse(intent)),
            preferences,
            fields: &self.fields,
            matching: vec![OnceCell::new(); if query.intent.is_some() { self.fields.len() } else { 0 }],
        };
        let is_scored = query.max_budget_cents.is_some() || query.intent.is_some() || preferences.is_some();
        let available = self.services.iter().enumerate().filter(|(position, _)| is_available(*position));
        let available: Vec<_> = available.map(|(_, service)| service).collect();
        let passes =
            |service: &&IndexedService| Filter::ALL.iter().all(|filter| filters.passes(*filter, service));
        let found: Vec<_> = available.iter().copied().filter(passes).collect();
        let applied_filters = is_scored.then(|| applied(query, preferences));
        if found.is_empty() {
            return nothing_found(&available, query, &filters, applied_filters);
        }
        let total_count = found.len();
        let mut scored: Vec<_> =
            found.into_iter().map(|service| (is_scored.then(|| filters.score(service)), service)).collect();
        if is_scored {
            // The sort is stable, so that equal scores stay in their order of age.
            scored.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
        }
        scored.truncate(query.limit.get());
        let mut services: Vec<ServiceItem> = Vec::with_capacity(scored.len());
        let mut bytes = 0;
        for (score, service) in scored {
            bytes += service.entry.item.text_bytes();
            if bytes > MAX_SEARCH_BYTES && !services.is_empty() {
                break;
            }
            services.push(ServiceItem { relevance_score: score, ..service.entry.item.clone() });
        }
        let message = match (total_count, services.len()) {
            (1, _) => "1 service was found.".to_owned(),
            (total, shown) if shown < total => {
                format!("{total} services were found; the first {shown} are shown.")
            }
            (total, _) => format!("{total} services were found."),
        };
        SearchReport { services, total_count, message, applied_filters, available_categories: None }
    }
}

/// Searches entries, which are in their order of age, newest first. `preferences` are those of a known user.
#[must_use]
pub fn search(
    entries: Vec<SearchEntry>,
    query: &SearchQuery,
    preferences: Option<&PreferenceLevels>,
) -> SearchReport {
    SearchIndex::new(entries).search(query, preferences, |_| true)
}

/// The filters of a search in comparable form.
struct Filters<'a> {
    keyword: Option<String>,
    category: Option<String>,
    budget: Option<Cents>,
    intent: Option<Intent>,
    preferences: Option<&'a PreferenceLevels>,
    fields: &'a [Field],
    /// Whether each field matches the intent, as far as it was asked.
    matching: Vec<OnceCell<bool>>,
}

/// A filter that a search can relax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    Keyword,
    Category,
    Budget,
    Intent,
    Preferences,
}

impl Filter {
    const ALL: [Self; 5] = [Self::Budget, Self::Preferences, Self::Keyword, Self::Category, Self::Intent];

    const fn remedy(self) -> &'static str {
        match self {
            Self::Keyword => "another or no `q`",
            Self::Category => "another or no `category`",
            Self::Budget => "a higher `max_budget_cents`",
            Self::Intent => "another or no `intent`",
            Self::Preferences => "fewer avoided task types in the preferences",
        }
    }
}

impl Filters<'_> {
    fn folded(&self, position: usize) -> &str {
        self.fields.get(position).map_or("", Field::folded)
    }

    fn passes(&self, filter: Filter, service: &IndexedService) -> bool {
        match filter {
            Filter::Keyword => self.keyword.as_ref().is_none_or(|keyword| {
                let has_keyword = |position| self.folded(position).contains(keyword.as_str());
                has_keyword(service.name) || has_keyword(service.sponsor)
            }),
            Filter::Category => self.category.as_ref().is_none_or(|category| {
                service.category.iter().any(|position| self.folded(*position) == category)
            }),
            Filter::Budget => {
                self.budget.is_none_or(|budget| service.entry.item.subsidy_amount_cents <= budget)
            }
            Filter::Intent => self.intent.is_none() || self.intent_fields(service).0 > 0,
            Filter::Preferences => {
                self.preferences.is_none_or(|levels| level(levels, service) != PreferenceLevel::Avoided)
            }
        }
    }

    /// How well a service fits: 0.3 budget, 0.4 intent, 0.3 preference, and one half for what is not given.
    fn score(&self, service: &IndexedService) -> f64 {
        let cost = service.entry.item.subsidy_amount_cents;
        let budget = self.budget.map_or(0.5, |budget| budget_score(cost, budget));
        let intent = self.intent.as_ref().map_or(0.5, |_| {
            let (matched, searchable) = self.intent_fields(service);
            matched as f64 / searchable.max(1) as f64
        });
        let preference = self.preferences.map_or(0.5, |levels| level(levels, service).score());
        let score = 0.3 * budget + 0.4 * intent + 0.3 * preference;
        (score * 10_000.0).round() / 10_000.0
    }

    /// How many fields of a service match the intent, and how many it has: name, task, category and tags.
    fn intent_fields(&self, service: &IndexedService) -> (usize, usize) {
        let any = |positions: &[usize]| {
            (!positions.is_empty()).then(|| positions.iter().any(|position| self.matches_intent(*position)))
        };
        let fields = [
            Some(self.matches_intent(service.name)),
            service.task.map(|position| self.matches_intent(position)),
            any(&service.category),
            any(&service.tags),
        ];
        let searchable = fields.iter().flatten();
        (searchable.clone().filter(|matched| **matched).count(), searchable.count())
    }

    fn matches_intent(&self, position: usize) -> bool {
        let (Some(intent), Some(field)) = (&self.intent, self.fields.get(position)) else { return false };
        match self.matching.get(position) {
            Some(known) => *known.get_or_init(|| intent.matches(field)),
            None => false,
        }
    }
}

fn level(levels: &PreferenceLevels, service: &IndexedService) -> PreferenceLevel {
    service.entry.task_type.as_ref().map_or(PreferenceLevel::Neutral, |task_type| levels.of(task_type))
}

fn budget_score(cost: Cents, budget: Cents) -> f64 {
    if budget == Cents::ZERO {
        return if cost == Cents::ZERO { 1.0 } else { 0.0 };
    }
    (1.0 - cost.get() as f64 / budget.get() as f64).clamp(0.0, 1.0)
}

fn applied(query: &SearchQuery, preferences: Option<&PreferenceLevels>) -> AppliedFilters {
    AppliedFilters {
        budget: query.max_budget_cents,
        intent: query.intent.clone(),
        category: query.category.clone(),
        keyword: query.q.clone(),
        preferences_applied: preferences.is_some_and(|levels| !levels.is_empty()),
    }
}

/// The report of a search without a result: which filter alone stands in the way, and what there is.
fn nothing_found(
    available: &[&IndexedService],
    query: &SearchQuery,
    filters: &Filters<'_>,
    applied_filters: Option<AppliedFilters>,
) -> SearchReport {
    let stands_alone = |filter: Filter, service: &IndexedService| {
        Filter::ALL.iter().all(|other| filters.passes(*other, service) == (*other != filter))
    };
    let remedies: Vec<_> = Filter::ALL
        .into_iter()
        .filter(|filter| available.iter().any(|service| stands_alone(*filter, service)))
        .map(Filter::remedy)
        .collect();
    let message = if available.is_empty() {
        "No sponsored service is available at present.".to_owned()
    } else if remedies.is_empty() {
        "No service fits all filters. Try with fewer of them.".to_owned()
    } else {
        format!("No service fits all filters. Try {}.", remedies.join(", or "))
    };
    let available_categories = query.intent.as_ref().map(|_| {
        let mut categories: Vec<String> = Vec::new();
        for category in available.iter().flat_map(|service| &service.entry.item.category) {
            if categories.len() < MAX_LIST_ENTRIES && !categories.contains(category) {
                categories.push(category.clone());
            }
        }
        categories
    });
    SearchReport { services: Vec::new(), total_count: 0, message, applied_filters, available_categories }
}
