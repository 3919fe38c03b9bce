//! The table of all routes: the handler of each, and what the OpenAPI document says about it.

use super::openapi::{Access, Operation, Reply, Route, Routes, YAML, page as openapi_page};
use super::pages::PageParameters;
use super::session::{OptionalSessionParameter, SessionParameter};
use super::{auth, campaigns, dashboard, preferences, privacy, run, search, sponsored_apis, tasks, user};
use crate::domain::campaign::{CampaignDraft, CampaignPatch};
use crate::domain::ids::{CampaignId, SponsoredApiId};
use crate::domain::preferences::{PreferencesReport, PreferencesSaved};
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::sponsored_api::{SponsoredApiDraft, SponsoredApiPatch};
use crate::domain::task::{CompletionReport, TaskCompletion, TaskDetails};
use crate::domain::text::Name;
use crate::domain::user::{SignInReport, UserStatus};
use crate::runs::RunReport;
use crate::store::Dashboard;

/// The statuses of a run that nobody pays for, that is in progress already, or whose service fails.
const RUN_FAILURES: [u16; 4] = [402, 409, 428, 502];

/// The declarations of all routes.
pub fn all() -> Vec<Route> {
    [gpt(), runs(), sponsors(), pages()].into_iter().flat_map(|routes| routes.declared).collect()
}

/// The routes behind the gate of the GPT actions. Where a tool does the same, the operation has its name.
pub fn gpt() -> Routes {
    people(Routes::default())
        .get(
            "/gpt/services",
            search::search,
            Operation::new(
                "search_services",
                Access::Gpt,
                [
                    "Search for services",
                    "Finds campaigns and sponsored APIs that fit all given filters. With a budget, an intent or a session the results have a relevance score and the best come first.",
                ],
                Reply::json::<SearchReport>("The services that fit."),
            )
            .query::<SearchQuery>()
            .query::<OptionalSessionParameter>(),
        )
        .get(
            "/gpt/tasks/{campaign_id}",
            tasks::details,
            Operation::new(
                "get_task_details",
                Access::Gpt,
                [
                    "Show the task of a campaign",
                    "Shows what a user does for a campaign before it pays: the task, the fields of its form, and whether the user has completed it.",
                ],
                Reply::json::<TaskDetails>("The task."),
            )
            .path::<CampaignId>("campaign_id", "The campaign.")
            .query::<SessionParameter>(),
        )
        .post(
            "/gpt/tasks/{campaign_id}/complete",
            tasks::complete,
            Operation::new(
                "complete_task",
                Access::Gpt,
                [
                    "Complete the task of a campaign",
                    "Records the completed task together with the user's consents. Ask the user for each consent first. Completing a task twice returns the first completion, with the new consents.",
                ],
                Reply::json::<CompletionReport>("The completion, and whether the campaign pays now."),
            )
            .path::<CampaignId>("campaign_id", "The campaign.")
            .body::<tasks::CompleteRequest>(),
        )
        .post(
            "/tasks/complete",
            tasks::complete_legacy,
            Operation::new(
                "complete_task_legacy",
                Access::Gpt,
                [
                    "Complete a task (older path)",
                    "Does the same as complete_task with the campaign in the body, and returns the stored completion.",
                ],
                Reply::json::<TaskCompletion>("The completion as it is stored."),
            )
            .body::<tasks::LegacyCompleteRequest>()
            .fails([404]),
        )
}

/// The routes behind the same gate that wait for the upstreams of services.
pub fn runs() -> Routes {
    Routes::default()
        .post(
            "/gpt/services/{service}/run",
            run::run,
            Operation::new(
                "run_service",
                Access::Gpt,
                [
                    "Run a service",
                    "Runs a service that a sponsor pays for, and returns its output. If it fails with status 428, complete the task that the error names and run the service again.",
                ],
                Reply::json::<RunReport>("The output of the service, and who paid."),
            )
            .path::<Name>("service", "The key of the service, from `service_keys` of a search.")
            .idempotent()
            .body::<run::RunBody>()
            .fails(RUN_FAILURES),
        )
        .post(
            "/proxy/{service}/run",
            run::run_proxy,
            Operation::new(
                "run_service_proxy",
                Access::Gpt,
                [
                    "Run a service (older path)",
                    "Does the same as run_service; its reply has no message.",
                ],
                Reply::json::<run::ProxyReport>("The output of the service, and who paid."),
            )
            .path::<Name>("service", "The key of the service.")
            .idempotent()
            .body::<run::RunBody>()
            .fails(RUN_FAILURES),
        )
        .post(
            "/sponsored-apis/{id}/run",
            run::run_api,
            Operation::new(
                "run_sponsored_api",
                Access::Gpt,
                [
                    "Run a sponsored API (older path)",
                    "Does the same as run_service for a sponsored API that is named by its id. A campaign may pay for it too.",
                ],
                Reply::json::<run::ApiRunReport>("The output of the API, and who paid."),
            )
            .path::<SponsoredApiId>("id", "The sponsored API.")
            .idempotent()
            .body::<run::RunBody>()
            .fails(RUN_FAILURES),
        )
}

fn people(routes: Routes) -> Routes {
    routes
        .post(
            "/gpt/auth",
            auth::sign_in,
            Operation::new(
                "authenticate_user",
                Access::Gpt,
                [
                    "Sign a user in",
                    "Registers or recognizes a user by e-mail address, and returns the session token that other operations take. A session lasts 30 days.",
                ],
                Reply::json::<SignInReport>("The session and the user."),
            )
            .body::<auth::AuthRequest>(),
        )
        .get(
            "/gpt/user/status",
            user::status,
            Operation::new(
                "get_user_status",
                Access::Gpt,
                [
                    "Show the status of a user",
                    "Shows the tasks that a user has completed and the services that sponsors would pay for, with whether each is ready to run.",
                ],
                Reply::json::<UserStatus>("The status."),
            )
            .query::<SessionParameter>(),
        )
        .get(
            "/gpt/preferences",
            preferences::get,
            Operation::new(
                "get_preferences",
                Access::Gpt,
                [
                    "Show the preferences of a user",
                    "Shows which kinds of task a user prefers or avoids. Searches with a session take them into account.",
                ],
                Reply::json::<PreferencesReport>("The preferences."),
            )
            .query::<SessionParameter>(),
        )
        .post(
            "/gpt/preferences",
            preferences::set,
            Operation::new(
                "set_preferences",
                Access::Gpt,
                [
                    "Replace the preferences of a user",
                    "Replaces the kinds of task that a user prefers or avoids. Searches with a session leave out campaigns whose kind of task is avoided.",
                ],
                Reply::json::<PreferencesSaved>("How many preferences were saved."),
            )
            .body::<preferences::PreferencesRequest>(),
        )
}

/// The routes of sponsors, of which everybody may use those that only read campaigns and sponsored APIs.
pub fn sponsors() -> Routes {
    sponsored_api_routes(campaign_routes(Routes::default())).get(
        "/dashboard/sponsor/{campaign_id}",
        dashboard::get,
        Operation::new(
            "get_campaign_dashboard",
            Access::Sponsor,
            [
                "Show what a campaign has achieved",
                "Shows how many users completed the task of a campaign, how many runs it paid for, and what is spent, reserved and left.",
            ],
            Reply::json::<Dashboard>("The dashboard."),
        )
        .path::<CampaignId>("campaign_id", "The campaign."),
    )
}

fn campaign_routes(routes: Routes) -> Routes {
    routes
        .get(
            "/campaigns",
            campaigns::list,
            Operation::new(
                "list_campaigns",
                Access::Public,
                ["List campaigns", "Lists all campaigns, newest first, in pages."],
                Reply::json::<campaigns::CampaignList>("A page of campaigns."),
            )
            .query::<PageParameters>()
            .fails([503]),
        )
        .post(
            "/campaigns",
            campaigns::create,
            Operation::new(
                "create_campaign",
                Access::Sponsor,
                [
                    "Create a campaign",
                    "Creates a campaign, which pays for runs of its services by users who have completed its task. It is active at once.",
                ],
                Reply::created::<campaigns::CampaignCreated>("The campaign, and where to find it."),
            )
            .idempotent()
            .body::<CampaignDraft>(),
        )
        .get(
            "/campaigns/discovery",
            campaigns::discover,
            Operation::new(
                "discover_campaigns",
                Access::Public,
                [
                    "List active campaigns for programs",
                    "Lists the active campaigns of a page with the URLs to use them. The next page is named in the header Link.",
                ],
                Reply::json::<campaigns::DiscoveredCampaigns>("The active campaigns of a page.")
                    .header("Link", "The URL of the next page, with `rel=\"next\"`; absent on the last page."),
            )
            .query::<PageParameters>()
            .fails([503]),
        )
        .get(
            "/campaigns/{id}",
            campaigns::get,
            Operation::new(
                "get_campaign",
                Access::Public,
                ["Show a campaign", "Shows a campaign with its task, its services and its budget."],
                Reply::json::<campaigns::CampaignReply>("The campaign."),
            )
            .path::<CampaignId>("id", "The campaign.")
            .fails([503]),
        )
        .patch(
            "/campaigns/{id}",
            campaigns::patch,
            Operation::new(
                "update_campaign",
                Access::Sponsor,
                [
                    "Change a campaign",
                    "Changes the given members of a campaign, adds to its budget, or switches it on or off. The required task cannot be changed.",
                ],
                Reply::json::<campaigns::CampaignReply>("The changed campaign."),
            )
            .path::<CampaignId>("id", "The campaign.")
            .idempotent()
            .body::<CampaignPatch>(),
        )
}

fn sponsored_api_routes(routes: Routes) -> Routes {
    routes
        .get(
            "/sponsored-apis",
            sponsored_apis::list,
            Operation::new(
                "list_sponsored_apis",
                Access::Public,
                ["List sponsored APIs", "Lists all sponsored APIs, newest first, in pages."],
                Reply::json::<sponsored_apis::ApiList>("A page of sponsored APIs."),
            )
            .query::<PageParameters>()
            .fails([503]),
        )
        .post(
            "/sponsored-apis",
            sponsored_apis::create,
            Operation::new(
                "create_sponsored_api",
                Access::Sponsor,
                [
                    "Create a sponsored API",
                    "Creates a service with its price, its upstream and a budget of its own. The upstream and its headers are never shown.",
                ],
                Reply::created::<sponsored_apis::ApiReply>("The sponsored API."),
            )
            .idempotent()
            .body::<SponsoredApiDraft>(),
        )
        .get(
            "/sponsored-apis/{id}",
            sponsored_apis::get,
            Operation::new(
                "get_sponsored_api",
                Access::Public,
                ["Show a sponsored API", "Shows a sponsored API with its price and its own budget."],
                Reply::json::<sponsored_apis::ApiReply>("The sponsored API."),
            )
            .path::<SponsoredApiId>("id", "The sponsored API.")
            .fails([503]),
        )
        .patch(
            "/sponsored-apis/{id}",
            sponsored_apis::patch,
            Operation::new(
                "update_sponsored_api",
                Access::Sponsor,
                [
                    "Change a sponsored API",
                    "Changes the given members of a sponsored API, adds to its own budget, or switches it on or off.",
                ],
                Reply::json::<sponsored_apis::ApiReply>("The changed sponsored API."),
            )
            .path::<SponsoredApiId>("id", "The sponsored API.")
            .idempotent()
            .body::<SponsoredApiPatch>(),
        )
}

/// The pages that describe the server.
pub fn pages() -> Routes {
    Routes::default()
        .get(
            "/privacy",
            privacy::page,
            Operation::new(
                "get_privacy_policy",
                Access::Public,
                ["Show the privacy page", "Shows what is stored about people, as a page for people to read."],
                Reply::text("text/html", "The page."),
            ),
        )
        .get(
            "/.well-known/openapi.yaml",
            openapi_page,
            Operation::new(
                "get_openapi_document",
                Access::Public,
                ["Show this document", "Shows the OpenAPI document of this server."],
                Reply::text(YAML, "The document."),
            ),
        )
}

#[cfg(test)]
#[path = "routes_tests.rs"]
mod tests;
