//! The elements of HTML by what they do to the text around them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an element does to the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It begins a row, even inside a table cell.
    RowBlock,
    /// It begins a row, except at the start and at the end of a table cell.
    Block,
    /// It separates the words before and after it in another way.
    Separator,
    /// It stands inside a line of text, or shows no text.
    Inline,
}

const ROW_BLOCKS: &str = "table caption ul ol dl dt dd menu blockquote figure hr";
const BLOCKS: &str = "address article aside body center details dialog dir div fieldset figcaption footer form frameset \
    head header hgroup html legend main nav optgroup option p search section select summary tbody tfoot \
    thead";
const SEPARATORS: &str = "br h1 h2 h3 h4 h5 h6 li listing pre td th tr";
const INLINE: &str = "a abbr area audio b bdi bdo big button canvas cite code col colgroup data del dfn em embed font i \
    iframe img input ins kbd label link map mark meta noscript object param path picture q rp rt ruby s \
    samp script slot small source span strike strong style sub sup svg template textarea time track tt u \
    var video wbr";

static EFFECTS: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| {
    let lists = [
        (ROW_BLOCKS, Effect::RowBlock),
        (BLOCKS, Effect::Block),
        (SEPARATORS, Effect::Separator),
        (INLINE, Effect::Inline),
    ];
    let effects = |(names, effect): (&'static str, Effect)| names.split(' ').map(move |name| (name, effect));
    lists.into_iter().flat_map(effects).collect()
});

/// Whether an element begins a row even inside a table cell.
pub fn is_row_block(name: &str) -> bool {
    EFFECTS.get(name) == Some(&Effect::RowBlock)
}

/// Whether an element begins a row, except at the start and at the end of a table cell.
pub fn is_block(name: &str) -> bool {
    EFFECTS.get(name) == Some(&Effect::Block)
}

/// Whether a name is that of an element, and if so, whether the element separates the words before and after it.
pub fn separates_words(name: &str) -> Option<bool> {
    EFFECTS.get(name).map(|effect| *effect != Effect::Inline)
}
