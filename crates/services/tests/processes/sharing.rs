//! Two processes at once.

use crate::support::Scene;

pub fn same_key() {
    let scene = Scene::new(1000);
    let helpers = [(); 2].map(|()| scene.start(&["same-key", "25", "50"]));
    let lines: Vec<_> = helpers.into_iter().flat_map(|helper| helper.rest()).collect();
    let with = |word: &str| lines.iter().filter_map(|line| line.strip_prefix(word)).collect::<Vec<_>>();
    let (called, outputs) = (with("called "), with("output "));
    assert_eq!((called.len(), outputs.len()), (1, 50), "{lines:?}");
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    assert_eq!((scene.reserved(), scene.payments("settled")), (0, 1));
    assert_eq!(scene.number("SELECT budget_remaining_cents FROM campaigns"), 990);
}

pub fn one_budget() {
    let scene = Scene::new(200);
    let helpers = [(); 2].map(|()| scene.start(&["spend", "40", "5"]));
    let mut done = 0;
    for mut helper in helpers {
        let count = helper.next("done", 1);
        done += count[0].parse::<i64>().expect("a number");
    }
    assert_eq!((done, scene.reserved(), scene.payments("settled")), (20, 0, 20));
    assert_eq!(scene.number("SELECT budget_remaining_cents FROM campaigns"), 0);
}
