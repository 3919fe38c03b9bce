//! The form of segments in the disk cache. What is decoded is checked: a segment that this accepts can be used without
//! further care, whatever the bytes were.

use super::segment::Segment;

/// Line numbers and lengths beyond this occur in no file that is indexed; arithmetic on them could overflow.
const MAX_NUMBER: u32 = 1 << 31;

/// Encodes a segment.
pub fn encode(segment: &Segment) -> Option<Vec<u8>> {
    postcard::to_stdvec(segment).ok()
}

/// Decodes a segment; `None` when the bytes are not a well-formed one. It takes no more memory than a few times the bytes.
pub fn decode(bytes: &[u8]) -> Option<Segment> {
    let (segment, rest) = postcard::take_from_bytes::<Segment>(bytes).ok()?;
    (rest.is_empty() && is_well_formed(&segment)).then(|| segment.with_total_length())
}

/// Whether every reference inside a segment leads to something that exists, and forward only, so that nothing that follows
/// them goes astray or in circles.
fn is_well_formed(segment: &Segment) -> bool {
    has_well_formed_nodes(segment).is_some() && has_well_formed_postings(segment)
}

/// The nodes belong to the files in order, their parents come before them, and their texts follow each other.
fn has_well_formed_nodes(segment: &Segment) -> Option<()> {
    let is = |condition: bool| condition.then_some(());
    let (mut next_node, mut text_end) = (0_u32, 0_u32);
    for (number, file) in (0_u32..).zip(&segment.files) {
        is(file.nodes.start == next_node && file.nodes.end >= next_node)?;
        next_node = file.nodes.end;
        let nodes = segment.nodes.get(file.nodes.start as usize..file.nodes.end as usize)?;
        for (index, node) in (file.nodes.start..).zip(nodes) {
            is(node.file == number)?;
            is(node.parent.is_none_or(|parent| (file.nodes.start..index).contains(&parent)))?;
            is(node.text.start >= text_end && node.text.end >= node.text.start)?;
            is(segment.text.is_char_boundary(node.text.start as usize))?;
            is(segment.text.is_char_boundary(node.text.end as usize))?;
            text_end = node.text.end;
            let numbers =
                [node.heading_lines, node.start_line, node.start_char, node.end_line, node.own_end_line];
            is(node.start_line >= 1 && numbers.iter().all(|number| *number < MAX_NUMBER))?;
            is(node.length < MAX_NUMBER)?;
        }
    }
    is(next_node as usize == segment.nodes.len())
}

/// The keys ascend, each has a list of its own, and no list says that it has more postings than bytes.
fn has_well_formed_postings(segment: &Segment) -> bool {
    let ascends = segment.keys.windows(2).all(|pair| matches!(pair, [one, other] if one < other));
    let first = segment.starts.first().copied().unwrap_or_default();
    let last = segment.starts.last().copied().unwrap_or_default();
    let is_complete = segment.starts.len() == segment.keys.len() + 1 || segment.keys.is_empty();
    let mut lists = segment.starts.windows(2).enumerate();
    ascends
        && is_complete
        && first == 0
        && last as usize == segment.postings.len()
        && lists.all(|(place, bounds)| {
            let &[start, end] = bounds else { return false };
            start <= end && segment.declared_count(place) <= (end - start) as usize
        })
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
