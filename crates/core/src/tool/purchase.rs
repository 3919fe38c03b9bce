//! Buying a call: a sponsor has reserved the price of a tool for somebody, who may then call it without the tool's scope.

use std::sync::Arc;

use super::{Admitted, Denied, Registry, Sponsor};
use crate::{Identity, ToolError};

/// A reserved amount that pays for one call of a tool. Only the type with which a store returns a reservation implements
/// this: whoever holds one has reserved the price, and no plain text or flag can take its place.
pub trait ProofOfReservation {
    /// The tool whose price is reserved.
    fn tool(&self) -> &str;

    /// For whom it is reserved. They stay the identity of the call.
    fn identity(&self) -> &Identity;
}

impl Registry {
    /// Admits a call that a sponsor pays for: the tool's own scope is not required, but its facts must allow a sponsor to
    /// buy it, and the reservation must be for this tool.
    ///
    /// # Errors
    ///
    /// No tool with this name may be bought, or another one was.
    pub fn purchase(
        self: &Arc<Self>,
        name: &str,
        reservation: &impl ProofOfReservation,
    ) -> Result<Admitted, Denied> {
        let tool = self.get(name).ok_or(Denied::Unknown)?;
        match tool.facts.sponsor {
            Sponsor::Input(_) if reservation.tool() == name => {
                Ok(Admitted::new(self.clone(), tool.facts.name, reservation.identity().clone()))
            }
            Sponsor::Input(_) | Sponsor::Never => Err(Denied::Unknown),
        }
    }

    /// Opens the toolset of a tool, so that a missing setting is known before the call is paid for.
    ///
    /// # Errors
    ///
    /// No tool has this name, or the error of [`super::Toolset::open`].
    pub async fn prepare(&self, name: &str) -> Result<(), ToolError> {
        let tool = self.get(name).ok_or(Denied::Unknown)?;
        tool.runner.open().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::{
        Access, Call, Effect, ErrorKind, Facts, Guide, JsonObject, Person, Reply, TokenScope, Tool, Toolset,
        Widget, World,
    };

    /// A toolset that needs a key.
    struct TestSet;

    impl Toolset for TestSet {
        const NAME: &'static str = "test";
        const INSTRUCTIONS: &'static [&'static str] = &[];
        type Config = Option<&'static str>;

        async fn open(key: &Option<&'static str>) -> Result<Self, ToolError> {
            key.map(|_| Self).ok_or_else(|| ToolError::new(ErrorKind::NotConfigured, "set KEY first"))
        }
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Input {
        query: String,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Output {
        answer: String,
        subject: String,
    }

    struct Answer;

    impl Tool for Answer {
        const FACTS: Facts = Facts {
            name: "answer",
            title: "Answer",
            description: "Answers.",
            effect: Effect::Read,
            world: World::Open,
            access: Access::SignedIn(TokenScope::new("answers.use")),
            sponsor: Sponsor::Input("query"),
            status: None,
            widget: Widget::None,
            guide: Guide { when: "asked", safe_defaults: "{}", common_errors: &[] },
        };
        type Set = TestSet;
        type Input = Input;
        type Output = Output;

        async fn run(_: &TestSet, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
            let Identity::Person(person) = call.identity() else { panic!("no person") };
            Ok(Reply::new(Output { answer: input.query, subject: person.subject.clone() }))
        }
    }

    struct Private;

    impl Tool for Private {
        const FACTS: Facts = Facts { name: "private", sponsor: Sponsor::Never, ..Answer::FACTS };
        type Set = TestSet;
        type Input = Input;
        type Output = Output;

        async fn run(_: &TestSet, _: &Call, _: Input) -> Result<Reply<Output>, ToolError> {
            Err(ToolError::internal("it cannot be bought"))
        }
    }

    struct Reserved(&'static str, Identity);

    impl ProofOfReservation for Reserved {
        fn tool(&self) -> &str {
            self.0
        }

        fn identity(&self) -> &Identity {
            &self.1
        }
    }

    fn registry(key: Option<&'static str>) -> Arc<Registry> {
        let mut builder = Registry::builder(Duration::from_secs(5));
        builder.toolset::<TestSet>(key).tool::<Answer>().tool::<Private>();
        builder.build().unwrap()
    }

    fn person() -> Identity {
        let scopes = ["services.execute".to_owned()].into();
        Identity::Person(Arc::new(Person { issuer: "i".into(), subject: "s".into(), email: None, scopes }))
    }

    #[tokio::test]
    async fn a_purchase_admits_without_the_scope_and_keeps_the_identity() {
        let registry = registry(Some("key"));
        assert!(registry.admit("answer", &person()).is_err());
        let admitted = registry.purchase("answer", &Reserved("answer", person())).unwrap();
        let arguments = JsonObject::from_iter([("query".to_owned(), "why".into())]);
        let reply = admitted.call(arguments, Call::new("1")).await.unwrap();
        assert_eq!(reply.output, json!({ "answer": "why", "subject": "s" }));
    }

    #[test]
    fn only_the_reserved_tool_and_only_what_is_for_sale_can_be_bought() {
        let registry = registry(Some("key"));
        for (name, reserved) in [("private", "private"), ("answer", "private"), ("none", "none")] {
            let denied = registry.purchase(name, &Reserved(reserved, person())).err();
            assert_eq!(denied, Some(Denied::Unknown), "{name}");
            // Not even the owner of the machine buys what is not for sale.
            assert!(registry.purchase(name, &Reserved(reserved, Identity::Owner)).is_err(), "{name}");
        }
    }

    #[tokio::test]
    async fn a_missing_setting_is_known_before_the_purchase() {
        let error = registry(None).prepare("answer").await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::NotConfigured, "set KEY first"));
        assert_eq!(registry(Some("key")).prepare("none").await.unwrap_err().kind(), ErrorKind::NotFound);
        assert!(registry(Some("key")).prepare("answer").await.is_ok());
    }
}
