//! `annai campaigns`: the campaigns of the sponsors, what remains of their budgets, and whether the books balance.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use annai_core::{ToolError, Toolset as _};
use annai_services::domain::campaign::{Campaign, CampaignDraft};
use annai_services::store::{PageRequest, Store};
use annai_services::{ServicesError, ServicesToolset};

use clap::Subcommand;
use serde_json::json;

use super::local_session::LocalSession;
use super::terminal::plain;
use super::{Failure, print};
use crate::app::App;

/// The width of the bar that shows the rest of a budget, in characters.
const BAR: i64 = 20;

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
    --budget 500 --service answer_quick --role developer --tag maps";

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
    /// A role that users need one of; may be repeated [default: everybody]
    #[arg(long, value_name = "ROLE", value_delimiter = ',')]
    role: Vec<String>,
    /// A word to find it by; may be repeated
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    tag: Vec<String>,
}

pub(super) fn run(app: &App, check: bool, command: Option<&CampaignsCommand>) -> Result<(), Failure> {
    let draft = match command {
        Some(CampaignsCommand::New(new)) => Some(new.draft()?),
        None => None,
    };
    if let (None, None, Some(path)) = (&draft, &app.services.database_url, &app.services.database_path)
        && !Path::new(path).exists()
    {
        return Ok(print(&format!("There are no campaigns: the database {path} does not exist yet.\n"))?);
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
            let store = toolset.open().await?.local()?.store();
            match draft {
                Some(draft) => {
                    let mut text = String::from("Created:\n");
                    write_head(&mut text);
                    write_row(&mut text, &store.create_campaign(draft, None).await?);
                    Ok(print(&text)?)
                }
                None if check => check_books(store).await,
                None => list(store).await,
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
            None => ask(option, question)?
                .parse()
                .map_err(|_| Failure::usage(format!("{option}: expected a number of US cents, such as 50"))),
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

async fn check_books(store: &dyn Store) -> Result<(), Failure> {
    let violations = store.check_books().await?;
    if violations.is_empty() {
        return Ok(print("All budgets balance.\n")?);
    }
    let mut text = String::new();
    for violation in &violations {
        let _ = writeln!(text, "{}", plain(&violation.to_string()));
    }
    print(&text)?;
    Err(Failure::new(format!("{} budgets do not balance", violations.len())))
}

async fn list(store: &dyn Store) -> Result<(), Failure> {
    let mut request = PageRequest::default();
    let mut text = String::new();
    loop {
        let page = store.campaigns(request).await?;
        page.entries.iter().for_each(|campaign| write_row(&mut text, campaign));
        match page.next {
            Some(cursor) => request = PageRequest { cursor: Some(cursor), ..PageRequest::default() },
            None => break,
        }
    }
    if text.is_empty() {
        return Ok(print("There are no campaigns.\n")?);
    }
    let mut table = String::new();
    write_head(&mut table);
    Ok(print(&(table + &text))?)
}

/// The columns of the table. The last ones are as wide as they are.
fn write_head(text: &mut String) {
    let bar = usize::try_from(BAR).unwrap_or_default();
    let _ = writeln!(text, "{:bar$}  {:>12}  {:>12}  {:>9}  campaign", "budget", "left", "of", "a run");
}

fn write_row(text: &mut String, campaign: &Campaign) {
    let (remaining, total) = (campaign.budget_remaining_cents, campaign.budget_total_cents);
    let filled = if total.get() == 0 { 0 } else { remaining.get() * BAR / total.get() };
    let bar: String = (0..BAR).map(|place| if place < filled { '█' } else { '░' }).collect();
    let (remaining, total) = (remaining.to_string(), total.to_string());
    let a_run = campaign.subsidy_per_call_cents.to_string();
    let state = if campaign.active { "" } else { " (inactive)" };
    let (name, sponsor) = (plain(&campaign.name), plain(&campaign.sponsor));
    let services = plain(&campaign.target_tools.join(", "));
    let _ = writeln!(
        text,
        "{bar}  {remaining:>12}  {total:>12}  {a_run:>9}  {name} — {sponsor}{state}: {services}  {}",
        campaign.id
    );
}

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::new(error.message())
    }
}
