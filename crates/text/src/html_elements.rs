//! The elements of HTML by what they do to the text around them.

/// Elements that begin a row even inside a table cell.
pub fn is_row_block(name: &str) -> bool {
    matches!(
        name,
        "table" | "caption" | "ul" | "ol" | "dl" | "dt" | "dd" | "menu" | "blockquote" | "figure" | "hr"
    )
}

/// Elements that begin a row, except at the start and at the end of a table cell.
pub fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "body"
            | "center"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "fieldset"
            | "figcaption"
            | "footer"
            | "form"
            | "frameset"
            | "head"
            | "header"
            | "hgroup"
            | "html"
            | "legend"
            | "main"
            | "nav"
            | "optgroup"
            | "option"
            | "p"
            | "search"
            | "section"
            | "select"
            | "summary"
            | "tbody"
            | "tfoot"
            | "thead"
    )
}

/// Elements that separate the words before and after them.
pub fn separates_words(name: &str) -> bool {
    let is_other = matches!(
        name,
        "br" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "listing" | "pre" | "td" | "th" | "tr"
    );
    is_other || is_block(name) || is_row_block(name)
}

/// Elements that stand inside a line of text, and those that show no text.
pub fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "area"
            | "audio"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "button"
            | "canvas"
            | "cite"
            | "code"
            | "col"
            | "colgroup"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "embed"
            | "font"
            | "i"
            | "iframe"
            | "img"
            | "input"
            | "ins"
            | "kbd"
            | "label"
            | "link"
            | "map"
            | "mark"
            | "meta"
            | "noscript"
            | "object"
            | "param"
            | "path"
            | "picture"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "script"
            | "slot"
            | "small"
            | "source"
            | "span"
            | "strike"
            | "strong"
            | "style"
            | "sub"
            | "sup"
            | "svg"
            | "template"
            | "textarea"
            | "time"
            | "track"
            | "tt"
            | "u"
            | "var"
            | "video"
            | "wbr"
    )
}
