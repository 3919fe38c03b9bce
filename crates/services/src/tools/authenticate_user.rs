//! `authenticate_user`: registers the person who signed in, with their region.

use annai_core::{
    Access, Call, Effect, ErrorKind, Facts, Guide, Reply, Sponsor, StatusText, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::email::Email;
use crate::domain::ids::UserId;
use crate::domain::text::{List, Name};
use crate::scopes::USER_WRITE;
use crate::toolset::ServicesToolset;

/// Who registers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthenticateInput {
    /// The user's e-mail address. It must be the one that they signed in with.
    email: Email,
    /// The user's region, such as JP, or `auto`.
    region: Name,
    /// The user's roles, which campaigns target, such as `developer`.
    #[serde(default)]
    roles: List<Name>,
    /// The tools that the user works with.
    #[serde(default)]
    tools_used: List<Name>,
}

/// The registered person. The session token is only in `_meta`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthenticatedUser {
    /// The id of the person.
    user_id: UserId,
    /// Their e-mail address.
    email: String,
    /// Whether this call registered them.
    is_new_user: bool,
    /// A sentence about it.
    message: String,
}

pub struct AuthenticateUser;

impl Tool for AuthenticateUser {
    const FACTS: Facts = Facts {
        name: "authenticate_user",
        title: "ユーザー認証",
        description: "ユーザーを登録または識別する。サービス利用前にメールアドレスとリージョンで登録する。 Register or recognize the user before they use services; the e-mail address must be the one that they signed in with.",
        effect: Effect::Write,
        world: World::Closed,
        access: Access::SignedIn(USER_WRITE),
        sponsor: Sponsor::Never,
        status: Some(StatusText {
            invoking: "ユーザーを認証中...", invoked: "認証が完了しました"
        }),
        widget: Widget::Called,
        guide: Guide {
            when: "The user wants to name their region or roles; otherwise the first call of another tool registers them.",
            safe_defaults: "{\"email\": \"you@example.com\", \"region\": \"auto\"}",
            common_errors: &[("forbidden", "pass the e-mail address that the user signed in with")],
        },
    };
    type Set = ServicesToolset;
    type Input = AuthenticateInput;
    type Output = AuthenticatedUser;

    async fn run(
        set: &ServicesToolset,
        call: &Call,
        input: AuthenticateInput,
    ) -> Result<Reply<AuthenticatedUser>, ToolError> {
        let person = set.people.identify(call)?;
        if input.email.lower() != person.email.lower() {
            return Err(ToolError::new(
                ErrorKind::Forbidden,
                "email: must be the address that you signed in with; nobody can enter the account of somebody else",
            ));
        }
        let AuthenticateInput { region, roles, tools_used, .. } = input;
        let report = set.people.sign_in(&set.backend, &person, region, roles, tools_used).await?;
        let session_token = report.session_token.expose();
        let user = AuthenticatedUser {
            user_id: report.user_id,
            email: report.email,
            is_new_user: report.is_new_user,
            message: report.message,
        };
        Ok(Reply::prose(user, "message").with_meta("session_token", session_token))
    }
}
