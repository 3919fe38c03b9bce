//! `annai campaigns`: the campaigns of the sponsors, what remains of their budgets, and whether the books balance.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use annai_core::finding::counted;
use annai_core::{Registry, Toolset as _};
use annai_services::domain::campaign::{Campaign, CampaignDraft};
use annai_services::store::{PageRequest, Store};
use annai_services::{Services, ServicesError, ServicesToolset};

use clap::Subcommand;
use serde_json::json;

use super::call::Format;
use super::local_session::LocalSession;
use super::terminal::cell;
use super::{Failure, print, warn};
use crate::app::App;
use crate::options::Options;

/// The width of the bar that shows the rest of a budget, in characters.
const BAR: i64 = 10;

/// The fields of a campaign, and the options that set them.
const OPTIONS: [(&str, &str); 8] = [
    ("name", "--name"),
    ("sponsor", "--sponsor"),
    ("required_task", "--task"),
    ("subsidy_per_call_cents", "--pays"),
    ("budget_cents", "--budget"),
    ("target_tools", "--service"),
    ("target_roles", "--role"),
    ("tags", "--tag"),
];
const NEW_EXAMPLES: &str = "\
Examples:
  annai campaigns new --name 'Tea survey' --sponsor 'Sencha Co' --task survey \\
    --pays 50 --budget 1000 --service answer
  annai campaigns new --name Maps --sponsor 'Way Co' --task survey --pays 20 \\
    --budget 500 --service answer_quick --role developer --json";

#[derive(Debug, Subcommand)]
pub(super) enum CampaignsCommand {
    /// Create a campaign; what is not given is asked for on a terminal
    #[command(after_help = NEW_EXAMPLES)]
    New(NewCampaign),
}

/// What describes a campaign.
#[derive(Debug, clap::Args)]
pub(super) struct NewCampaign {
    /// The name of the campaign
    #[arg(long)]
    name: Option<String>,
    /// Who pays
    #[arg(long)]
    sponsor: Option<String>,
    /// The task that a user completes first, such as survey
    #[arg(long)]
    task: Option<String>,
    /// The most that the campaign pays for one run, in US cents
    #[arg(long, value_name = "CENTS")]
    pays: Option<i64>,
    /// The budget, in US cents
    #[arg(long, value_name = "CENTS")]
    budget: Option<i64>,
    /// A sponsored API or a tool, such as answer; may be repeated
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    service: Vec<String>,
    /// A role that users need one of [default: everybody]
    #[arg(long, value_name = "ROLE", value_delimiter = ',')]
    role: Vec<String>,
    /// A word to find it by
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    tag: Vec<String>,
    /// Print the campaign as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    app: &App,
    check: bool,
    command: Option<&CampaignsCommand>,
    format: Format,
    options: &Options,
) -> Result<(), Failure> {
    let format = match command {
        Some(CampaignsCommand::New(new)) => Format::new(new.json),
        None => format,
    };
    let draft = match command {
        Some(CampaignsCommand::New(new)) => Some(new.draft()?),
        None => None,
    };
    if let (None, None, Some(path)) = (&draft, &app.services.database_url, &app.services.database_path)
        && !Path::new(path).exists()
    {
        return match (format, check) {
            (Format::Json, true) => print_violations(&[]),
            (Format::Json, false) => print_campaigns(&[]),
            (Format::Text, _) => {
                Ok(print(&format!("There are no campaigns: the database {path} does not exist yet.\n"))?)
            }
        };
    }
    LocalSession::run(app, |session| {
        let toolset = session.registry().toolset::<ServicesToolset>();
        let toolset = toolset.ok_or_else(|| {
            Failure::usage(format!(
                "the toolset {} is not served; leave --toolset out",
                ServicesToolset::NAME
            ))
        })?;
        session.block_on(async {
            match draft {
                Some(draft) => {
                    let services = toolset.open().await?.local()?;
                    let campaign = services.store().create_campaign(draft, None).await?;
                    print(&match format {
                        Format::Json => format!("{:#}\n", json!(campaign)),
                        Format::Text => format!("Created:\n{}", table(std::slice::from_ref(&campaign))),
                    })?;
                    warn_of_unknown_services(services, session.registry(), &campaign, options).await
                }
                None if check => check_books(&*annai_services::inspect(toolset.config())?, format).await,
                None => list(&*annai_services::inspect(toolset.config())?, format).await,
            }
        })
    })
}

impl NewCampaign {
    /// The campaign, with what is missing asked for.
    fn draft(&self) -> Result<CampaignDraft, Failure> {
        let text = |given: &Option<String>, option: &str, question: &str| match given {
            Some(text) => Ok(text.clone()),
            None => ask(option, question),
        };
        let cents = |given: Option<i64>, option: &str, question: &str| match given {
            Some(cents) => Ok(cents),
            None => ask_for_cents(option, question),
        };
        let name = text(&self.name, "--name", "Name of the campaign")?;
        let sponsor = text(&self.sponsor, "--sponsor", "Who pays")?;
        let task = text(&self.task, "--task", "Task that a user completes first, such as survey")?;
        let pays = cents(self.pays, "--pays", "The most that it pays for one run, in US cents")?;
        let budget = cents(self.budget, "--budget", "Budget in US cents")?;
        let services = match self.service.is_empty() {
            true => ask("--service", "Services that it pays for, separated by commas")?
                .split(',')
                .map(|key| key.trim().to_owned())
                .collect(),
            false => self.service.clone(),
        };
        let draft = json!({
            "name": name, "sponsor": sponsor, "required_task": task, "subsidy_per_call_cents": pays,
            "budget_cents": budget, "target_tools": services, "target_roles": self.role, "tags": self.tag,
        });
        serde_path_to_error::deserialize(draft).map_err(|error| {
            let path = error.path().to_string();
            let option = OPTIONS.iter().find(|(field, _)| path.starts_with(field)).map(|(_, option)| *option);
            Failure::usage(format!("{}: {}", option.unwrap_or(&path), error.inner()))
        })
    }
}

/// Asks for an amount on the terminal, again if it is none.
fn ask_for_cents(option: &str, question: &str) -> Result<i64, Failure> {
    loop {
        let answer = ask(option, question)?;
        match answer.parse() {
            Ok(cents) => return Ok(cents),
            Err(_) if answer.is_empty() => {
                return Err(Failure::usage(format!("{option}: expected a number of US cents, such as 50")));
            }
            Err(_) => writeln!(io::stderr(), "A whole number of US cents, such as 50, please.")?,
        }
    }
}

/// Asks a question on the terminal. Without a terminal, the option is required.
fn ask(option: &str, question: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "{option} is required; `annai campaigns --help` shows an example"
        )));
    }
    write!(io::stderr(), "{question}: ")?;
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Warns of services that nobody can run, because neither a tool nor a sponsored API has their key: most likely a typing
/// error.
async fn warn_of_unknown_services(
    services: &Services,
    registry: &Registry,
    campaign: &Campaign,
    options: &Options,
) -> Result<(), Failure> {
    let offers = services.tool_offers(registry);
    let mut unknown: Vec<_> = campaign
        .target_tools
        .iter()
        .filter(|key| offers.get(key).is_none() && !offers.is_left_out(key))
        .collect();
    let mut request = PageRequest::default();
    while !unknown.is_empty() {
        let page = services.store().sponsored_apis(request).await?;
        unknown.retain(|key| page.entries.iter().all(|api| api.service_key != **key));
        let Some(cursor) = page.next else { break };
        request = PageRequest { cursor: Some(cursor), ..PageRequest::default() };
    }
    for key in unknown {
        let meant = registry.closest_tool(key).filter(|tool| offers.get(tool).is_some());
        let meant = meant.map(|tool| format!("; did you mean `{tool}`?")).unwrap_or_default();
        let problem = format!(
            "no tool and no sponsored API has the key `{key}`, so people would do the task for nothing{meant}"
        );
        warn(options, &problem);
    }
    Ok(())
}

async fn check_books(store: &dyn Store, format: Format) -> Result<(), Failure> {
    let rows = store.check_rows().await?;
    let violations = match rows.is_empty() {
        true => store.check_books().await?,
        // A damaged database may have no budgets that can be read.
        false => store.check_books().await.unwrap_or_default(),
    };
    if format == Format::Json {
        let rows = rows.iter().map(ToString::to_string);
        return print_violations(&rows.chain(violations.iter().map(ToString::to_string)).collect::<Vec<_>>());
    }
    if rows.is_empty() && violations.is_empty() {
        return Ok(print("All budgets balance.\n")?);
    }
    let mut text = String::new();
    for problem in &rows {
        let _ = writeln!(text, "{}", cell(&problem.to_string()));
    }
    for violation in &violations {
        let _ = writeln!(text, "{}", cell(&violation.to_string()));
    }
    print(&text)?;
    let found = [(violations.len(), "wrong budget"), (rows.len(), "wrong row")];
    let found = found.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what));
    Err(Failure::new(format!("{} found", found.collect::<Vec<_>>().join(" and "))))
}

/// Prints what is wrong with the books as JSON; the exit status is 1 when something is.
fn print_violations(violations: &[String]) -> Result<(), Failure> {
    print(&format!("{:#}\n", json!({ "balanced": violations.is_empty(), "violations": violations })))?;
    if violations.is_empty() { Ok(()) } else { Err(Failure::new("")) }
}

async fn list(store: &dyn Store, format: Format) -> Result<(), Failure> {
    let mut request = PageRequest::default();
    let mut campaigns = Vec::new();
    loop {
        let page = store.campaigns(request).await?;
        campaigns.extend(page.entries);
        match page.next {
            Some(cursor) => request = PageRequest { cursor: Some(cursor), ..PageRequest::default() },
            None => break,
        }
    }
    match format {
        Format::Json => print_campaigns(&campaigns),
        Format::Text if campaigns.is_empty() => Ok(print("There are no campaigns.\n")?),
        Format::Text => Ok(print(&table(&campaigns))?),
    }
}

/// Prints campaigns as JSON, as `GET /campaigns` returns them.
fn print_campaigns(campaigns: &[Campaign]) -> Result<(), Failure> {
    Ok(print(&format!("{:#}\n", json!({ "campaigns": campaigns })))?)
}

/// A table of campaigns. Its columns fit 80 characters with a short name; a second line has the rest.
fn table(campaigns: &[Campaign]) -> String {
    let bar = usize::try_from(BAR).unwrap_or_default();
    let mut text = String::new();
    let _ = writeln!(text, "{:bar$}  {:>12}  {:>12}  {:>9}  campaign", "budget", "left", "of", "a run");
    campaigns.iter().for_each(|campaign| write_row(&mut text, campaign));
    text
}

fn write_row(text: &mut String, campaign: &Campaign) {
    let (remaining, total) = (campaign.budget_remaining_cents, campaign.budget_total_cents);
    let filled = if total.get() == 0 { 0 } else { remaining.get() * BAR / total.get() };
    let bar: String = (0..BAR).map(|place| if place < filled { '█' } else { '░' }).collect();
    let (remaining, total) = (remaining.to_string(), total.to_string());
    let a_run = campaign.subsidy_per_call_cents.to_string();
    let state = if campaign.active { "" } else { " (inactive)" };
    let (name, sponsor) = (cell(&campaign.name), cell(&campaign.sponsor));
    let services = cell(&campaign.target_tools.join(", "));
    let _ = writeln!(text, "{bar}  {remaining:>12}  {total:>12}  {a_run:>9}  {name}{state}");
    let indent = " ".repeat(bar.chars().count());
    let _ = writeln!(text, "{indent}  {}  {sponsor}: {services}", campaign.id);
}

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        Self::new(error.for_operator())
    }
}
