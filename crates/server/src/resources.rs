//! Converts the registry's resources to the SDK's types.

use std::sync::Arc;

use annai_core::{Call, Denied, ErrorKind, Identity, Registry, ToolError};
use rmcp::model::{
    ErrorCode, ErrorData, ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

/// A resource as an entry of `resources/list`.
pub fn listed(resource: annai_core::Resource) -> Resource {
    let mut listed = Resource::new(resource.uri, resource.name);
    listed.title = Some(resource.title);
    listed.description = Some(resource.description);
    listed.mime_type = Some(resource.mime_type);
    listed.meta = (!resource.meta.is_empty()).then_some(MetaObject(resource.meta));
    listed
}

/// A template as an entry of `resources/templates/list`.
pub fn template(template: annai_core::ResourceTemplate) -> ResourceTemplate {
    let mut listed = ResourceTemplate::new(template.uri_template, template.name);
    listed.title = Some(template.title);
    listed.description = Some(template.description);
    listed.mime_type = Some(template.mime_type);
    listed
}

/// Reads a resource for a caller.
pub async fn read(
    registry: &Arc<Registry>,
    uri: &str,
    identity: &Identity,
    call: Call,
) -> Result<ReadResourceResult, ErrorData> {
    let admitted = registry.admit_resource(uri, identity).map_err(|denied| {
        denied.log_resource(uri, identity, &call.request_id);
        match denied {
            Denied::Unknown => not_found(uri),
            denied => error_data(uri, &ToolError::from(denied)),
        }
    })?;
    let read = admitted.read(call).await.map_err(|error| error_data(uri, &error))?;
    let read = read.ok_or_else(|| not_found(uri))?;
    let meta = (!read.meta.is_empty()).then_some(MetaObject(read.meta));
    let mut contents = vec![ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(read.mime_type),
        text: read.text,
        meta,
    }];
    // Clients hand all contents to the model, so the note is seen where a member of `_meta` would not be.
    contents.extend(read.next.map(|next| ResourceContents::TextResourceContents {
        uri: next.uri,
        mime_type: Some("text/plain".to_owned()),
        text: next.note,
        meta: None,
    }));
    Ok(ReadResourceResult::new(contents))
}

/// A page of the resources that a caller sees.
pub async fn list(
    registry: &Arc<Registry>,
    cursor: Option<&str>,
    identity: &Identity,
    call: Call,
) -> Result<ListResourcesResult, ErrorData> {
    let page = registry.list_resources(cursor, identity, call).await.map_err(|error| {
        let code = match error.kind() {
            ErrorKind::InvalidParameter => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::INTERNAL_ERROR,
        };
        ErrorData::new(code, error.message().to_owned(), None)
    })?;
    let mut result = ListResourcesResult::with_all_items(page.resources.into_iter().map(listed).collect());
    result.next_cursor = page.next_cursor;
    Ok(result)
}

fn not_found(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(
        format!("resource not found: {shown}; resources/list lists the resources"),
        None,
    )
}

fn error_data(uri: &str, error: &ToolError) -> ErrorData {
    let code = match error.kind() {
        ErrorKind::NotFound => return not_found(uri),
        ErrorKind::Internal | ErrorKind::Upstream | ErrorKind::TimedOut => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    ErrorData::new(code, error.message().to_owned(), None)
}
