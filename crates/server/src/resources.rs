//! Converts the registry's resources to the SDK's types.

use std::sync::Arc;

use annai_core::{Call, Denied, ErrorKind, Identity, Registry, ToolError};
use rmcp::model::{
    ErrorCode, ErrorData, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
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
    Ok(ReadResourceResult::new(vec![ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(read.mime_type),
        text: read.text,
        meta,
    }]))
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
