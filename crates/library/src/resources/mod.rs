//! The files of manuals and of the vault as MCP resources, for people who choose what their client attaches to a question.
//!
//! Reading a resource does not count as reading for the proofs of what was read: a client may show it to a person without
//! passing it on to the model.

pub(crate) mod uri;

use annai_core::{
    Access, ErrorKind, JsonObject, NextPart, Resource, ResourcePage, ResourceTemplate, ResourceText,
    ToolError,
};

use self::uri::{Collection, ResourceUri};
use crate::config::LibrarySection;
use crate::paging::{FileKey, Pager};
use crate::reading::{self, Cursor, Expand, Lines, ReadLimits, ReadRequest, read_excerpt};
use crate::scopes::{LIBRARY_READ, READS_VAULT};
use annai_files::fs::{self, RelPath};
use annai_files::manuals::Manuals;
use annai_files::vault::{Vault, visibility};
use annai_search::reference::{CharLimit, Ref, Target};
use annai_text::{ExcerptRequest, Format, Position, format_of};

/// The names of the templates.
const MANUAL_FILE: &str = "manual_file";
const VAULT_FILE: &str = "vault_file";
/// The maximum number of resources on a page. Clients ask for all pages at once when they start, so pages are large.
const PAGE_ITEMS: usize = 500;
/// The maximum size of a page in characters, for long paths.
const PAGE_CHARS: usize = 200_000;

/// Who may read the files of a template.
fn access_to(template: &str) -> Access {
    if template == VAULT_FILE { READS_VAULT } else { Access::Local(LIBRARY_READ) }
}

/// The files of the library, and the settings that limit how they are read.
pub(crate) struct LibraryFiles<'a> {
    pub(crate) manuals: &'a Manuals,
    pub(crate) vault: &'a Vault,
    pub(crate) settings: &'a LibrarySection,
}

/// The templates of the URIs.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri_template: &str, name: &str, title: &str, description: &str, tool| ResourceTemplate {
        uri_template: uri_template.to_owned(),
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        mime_type: "text/plain".to_owned(),
        access: access_to(name),
        tool: Some(tool),
    };
    vec![
        template(
            "manual://{manual_id}/{+path}{?line,char}",
            MANUAL_FILE,
            "A file of a manual / マニュアルのファイル",
            "The text of a file of a manual, from a line on (default 1). A long file has several parts, and each part names the URI of the next.",
            "manual_read",
        ),
        template(
            "vault:///{+path}{?line,char}",
            VAULT_FILE,
            "A file of the vault / 保管庫のファイル",
            "The text of a file of the vault, from a line on (default 1). A long file has several parts, and each part names the URI of the next.",
            "vault_read",
        ),
    ]
}

/// A page of the files that match a template.
pub(crate) fn list(
    files: &LibraryFiles<'_>,
    template: &str,
    cursor: Option<&str>,
) -> Result<ResourcePage, ToolError> {
    let mut pager = Pager::new(&["resources", template], cursor, Some(PAGE_ITEMS), PAGE_CHARS)?;
    let listed = match template {
        MANUAL_FILE => add_manuals(files, &mut pager),
        _ => add_vault(files, &mut pager),
    };
    match listed {
        // There is no such folder yet, so there are no files. A tool says what to set; a list is asked for by clients that
        // only start.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ResourcePage::default()),
        listed => listed?,
    }
    let page = pager.finish(false);
    let resource = |(uri, path): (String, String)| Resource {
        name: path.clone(),
        title: path.rsplit('/').next().unwrap_or_default().to_owned(),
        description: match template {
            MANUAL_FILE => format!("A file of a manual: {path}"),
            _ => format!("A file of the vault: {path}"),
        },
        mime_type: mime_type(&path).to_owned(),
        access: access_to(template),
        meta: JsonObject::new(),
        uri,
    };
    Ok(ResourcePage {
        resources: page.items.into_iter().map(resource).collect(),
        next_cursor: page.next_cursor,
    })
}

type FilePager = Pager<FileKey, (String, String)>;

fn add_manuals(files: &LibraryFiles<'_>, pager: &mut FilePager) -> Result<(), ToolError> {
    for id in files.manuals.ids()? {
        for path in files.manuals.get(&id)?.files()? {
            let key = FileKey { manual_id: id.clone(), path: path.clone() };
            pager.add(key, || (ResourceUri::manual(&id, &path).to_string(), format!("{id}/{path}")));
        }
    }
    Ok(())
}

fn add_vault(files: &LibraryFiles<'_>, pager: &mut FilePager) -> Result<(), ToolError> {
    for path in fs::files(&files.vault.root()?.top()?, &|path, _| visibility(path))?.files {
        let key = FileKey { manual_id: String::new(), path: path.clone() };
        pager.add(key, || (ResourceUri::vault(&path).to_string(), path));
    }
    Ok(())
}

/// The text of a file from a place on; `None` when the URI is not that of a file.
pub(crate) fn read(files: &LibraryFiles<'_>, uri: &str) -> Result<Option<ResourceText>, ToolError> {
    let Some(uri) = ResourceUri::parse(uri) else { return Ok(None) };
    let part = match &uri.collection {
        Collection::Manual(id) => read_manual(files, id, &uri)?,
        Collection::Vault => read_vault(files, &uri)?,
    };
    let next = part.next.map(|start| {
        let (first, last, total) = (part.first_line, part.last_line, part.total_lines);
        let next = ResourceUri { start: Some(start), ..uri.clone() }.to_string();
        let note = format!("These were lines {first} to {last} of {total}. The text goes on: read {next}");
        NextPart { uri: next, note }
    });
    let mime_type = mime_type(&uri.path).to_owned();
    Ok(Some(ResourceText { mime_type, text: part.text, meta: JsonObject::new(), next }))
}

/// A part of a file, and where the file goes on.
struct FilePart {
    text: String,
    first_line: u64,
    last_line: u64,
    total_lines: u64,
    next: Option<Cursor>,
}

fn read_manual(files: &LibraryFiles<'_>, id: &str, uri: &ResourceUri) -> Result<FilePart, ToolError> {
    let start = uri.start.map_or(1, |start| start.start_line);
    let place = Ref::new(Target::Manual, Some(id.to_owned()), uri.path.clone(), Some(start));
    let request = ReadRequest {
        place: &place,
        scope: None,
        lines: Some(Lines { start, end: None }),
        cursor: uri.start,
        limits: ReadLimits { max_chars: Some(usize::MAX), ..ReadLimits::default() },
        expand: Expand::default(),
        runs_on: false,
    };
    let part = reading::read(files.manuals, files.settings, &request)?;
    let cursor = |next: Position| Cursor { start_line: next.line.into(), char: Some(next.char.into()) };
    Ok(FilePart {
        first_line: part.start_line as u64,
        last_line: part.end_line as u64,
        total_lines: part.total_lines as u64,
        next: part.next_cursor.map(cursor),
        text: part.text,
    })
}

fn read_vault(files: &LibraryFiles<'_>, uri: &ResourceUri) -> Result<FilePart, ToolError> {
    let path = RelPath::parse(&uri.path)?;
    let first_line = uri.start.map_or(1, |start| start.start_line);
    let first_char = uri.start.map_or(0, |start| start.position().char as usize);
    let max_chars = CharLimit::new(Some(usize::MAX), files.settings.hard_max_chars).max_chars;
    let request = ExcerptRequest { first_line, first_char, last_line: u64::MAX, max_chars };
    let excerpt = read_excerpt(files.vault, &path, request, "line")?.excerpt;
    let cursor = |(line, char): (u64, usize)| Cursor { start_line: line, char: Some(char as u64) };
    Ok(FilePart {
        first_line,
        last_line: excerpt.last_line,
        total_lines: excerpt.total_lines,
        next: excerpt.next.map(cursor),
        text: excerpt.text,
    })
}

/// The media type of the text that reading a file returns.
fn mime_type(path: &str) -> &'static str {
    format_of(path).map_or("text/plain", Format::media_type)
}
