//! A row of figures: those of a facet, of a family of conflict cases, or of all.

use serde_json::{Map, Value, json};

use crate::bootstrap::Estimate;

/// The name of the row for everything in a file.
pub const ALL: &str = "all";

/// The figures of some outcomes.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    /// How many there are of what, beginning with all outcomes.
    pub counts: Vec<(&'static str, usize)>,
    pub figures: Vec<(&'static str, Estimate)>,
}

impl Row {
    /// Whether there are no outcomes.
    pub fn is_empty(&self) -> bool {
        self.counts.first().is_none_or(|(_, count)| *count == 0)
    }

    /// A count or figure by its name; `None` if there is none of this name.
    pub fn get(&self, name: &str) -> Option<Estimate> {
        let figure = self.figures.iter().find(|(known, _)| *known == name).map(|(_, estimate)| *estimate);
        figure.or_else(|| self.has_count(name).then(|| Estimate::count(self.count(name))))
    }

    /// The figure of a column, for tables.
    pub fn figure(&self, name: &str) -> Estimate {
        self.get(name).unwrap_or(Estimate { value: None, interval: None })
    }

    pub fn count(&self, name: &str) -> usize {
        self.counts.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }

    fn has_count(&self, name: &str) -> bool {
        self.counts.iter().any(|(known, _)| *known == name)
    }

    /// The names of all counts and figures.
    pub fn names(&self) -> Vec<&'static str> {
        let counts = self.counts.iter().map(|(name, _)| *name);
        counts.chain(self.figures.iter().map(|(name, _)| *name)).collect()
    }

    /// The row as JSON, with its name under this key.
    pub fn to_json(&self, key: &str) -> Value {
        let mut row = Map::from_iter([(key.to_owned(), self.name.clone().into())]);
        row.extend(self.counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())));
        let figures = self.figures.iter().map(|(name, estimate)| ((*name).to_owned(), json!(estimate)));
        row.insert("figures".to_owned(), Value::Object(figures.collect()));
        Value::Object(row)
    }
}
