//! The declaration of an operation: one method of one route, as its clients see it. Schemas are functions here, so that a
//! router whose document nobody asks for generates none.

use std::collections::BTreeSet;

use annai_core::{JsonObject, schema};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::schemas::{self, Component};

/// Which key an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The key of the GPT actions.
    Gpt,
    /// The key of the sponsors.
    Sponsor,
    /// None.
    Public,
}

/// What an operation answers with when it succeeds.
pub struct Reply {
    pub status: u16,
    pub description: &'static str,
    pub content: Content,
    /// Headers, with their descriptions.
    pub headers: Vec<(&'static str, &'static str)>,
}

/// The body of a reply.
pub enum Content {
    /// JSON of this type.
    Json(fn() -> Component),
    /// A text of this media type.
    Text(&'static str),
}

impl Reply {
    /// JSON with status 200.
    pub fn json<T: JsonSchema>(description: &'static str) -> Self {
        let content = Content::Json(schemas::reply::<T>);
        Self { status: 200, description, content, headers: Vec::new() }
    }

    /// JSON with status 201.
    pub fn created<T: JsonSchema>(description: &'static str) -> Self {
        Self { status: 201, ..Self::json::<T>(description) }
    }

    /// A text with status 200.
    pub const fn text(media_type: &'static str, description: &'static str) -> Self {
        Self { status: 200, description, content: Content::Text(media_type), headers: Vec::new() }
    }

    /// The reply with a header, which it may have.
    pub fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.headers.push((name, description));
        self
    }
}

/// One or more parameters.
pub enum Parameters {
    /// The parameter of the path.
    Path {
        /// Its name.
        name: &'static str,
        /// What it is.
        description: &'static str,
        /// The schema of its type.
        schema: fn() -> JsonObject,
    },
    /// The members of a type, whose schema this is, in the query.
    Query(fn() -> JsonObject),
    /// The header `Idempotency-Key`.
    IdempotencyKey,
}

impl Parameters {
    /// The parameters as the document shows them.
    pub fn values(&self) -> Vec<Value> {
        match self {
            Self::Path { name, description, schema } => vec![json!({
                "name": name, "in": "path", "description": description, "required": true, "schema": schema(),
            })],
            Self::Query(schema) => query_parameters(&schema()),
            Self::IdempotencyKey => vec![json!({
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A key of the caller's choice for doing this at most once. A request that is repeated with it within 24 hours gets the first reply again.",
                "required": false,
                "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
            })],
        }
    }
}

fn query_parameters(schema: &JsonObject) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|each| each == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, property): (&String, &Value)| {
        let mut schema = property.as_object().cloned().unwrap_or_default();
        let description = schema.shift_remove("description");
        json!({
            "name": name, "in": "query", "description": description, "required": is_required(name),
            "schema": schema,
        })
    };
    properties.map(parameter).collect()
}

/// An operation.
pub struct Operation {
    pub id: &'static str,
    pub access: Access,
    pub summary: &'static str,
    pub description: &'static str,
    pub parameters: Vec<Parameters>,
    pub body: Option<fn() -> Component>,
    pub reply: Reply,
    /// The statuses of its failures.
    pub failures: BTreeSet<u16>,
}

impl Operation {
    /// An operation without parameters and body.
    pub fn new(
        id: &'static str,
        access: Access,
        [summary, description]: [&'static str; 2],
        reply: Reply,
    ) -> Self {
        let failures = match access {
            Access::Gpt | Access::Sponsor => BTreeSet::from([401, 403, 429, 500, 503]),
            Access::Public => BTreeSet::from([429, 500]),
        };
        let (parameters, body) = (Vec::new(), None);
        Self { id, access, summary, description, parameters, body, reply, failures }
    }

    /// Adds the parameter of the path.
    pub fn path<T: JsonSchema>(self, name: &'static str, description: &'static str) -> Self {
        self.with(Parameters::Path { name, description, schema: schema::of_input::<T> }).fails([404])
    }

    /// Adds the members of a type as parameters of the query.
    pub fn query<T: JsonSchema>(self) -> Self {
        self.with(Parameters::Query(schema::of_input::<T>))
    }

    /// Accepts the header `Idempotency-Key`.
    pub fn idempotent(self) -> Self {
        self.with(Parameters::IdempotencyKey).fails([409])
    }

    /// Reads a JSON body.
    pub fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(schemas::request::<T>);
        self.fails([400, 413, 415])
    }

    /// May also fail with these statuses.
    pub fn fails<const N: usize>(mut self, statuses: [u16; N]) -> Self {
        self.failures.extend(statuses);
        self
    }

    fn with(mut self, parameters: Parameters) -> Self {
        self.parameters.push(parameters);
        self.fails([400])
    }
}
