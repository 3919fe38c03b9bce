//! Icons as MCP shows them. They are part of the message, because a client may not be able to fetch anything from the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::Icon;

/// The icon of the program.
const PROGRAM: &str = include_str!("../icon.svg");

/// An icon from the source text of an SVG image.
pub fn of_svg(svg: &str) -> Icon {
    let source = format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg.trim_end()));
    let mut icon = Icon::new(source);
    icon.mime_type = Some("image/svg+xml".to_owned());
    icon.sizes = Some(vec!["any".to_owned()]);
    icon
}

/// The icon of the program.
pub fn of_program() -> Icon {
    of_svg(PROGRAM)
}
