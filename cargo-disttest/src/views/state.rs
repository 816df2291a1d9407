//! How far a scenario has come on its way from the plan to a test.

/// The state of the test file of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// `author` cannot write it, for this reason.
    NotAuthorable(String),
    /// `author` can write it, and has not.
    NotAuthored,
    /// The file is not what the plan says any more.
    Drifted,
    /// The file was edited outside of its regions, or is not ours.
    Edited(String),
    /// Written; these regions wait to be filled.
    Unfilled(Vec<String>),
    /// Written and filled.
    Filled,
}

impl State {
    /// One word for a column and for programs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            State::NotAuthorable(_) => "not-authorable",
            State::NotAuthored => "not-authored",
            State::Drifted => "drifted",
            State::Edited(_) => "edited",
            State::Unfilled(_) => "unfilled",
            State::Filled => "filled",
        }
    }

    /// The word with what there is to know.
    pub(crate) fn sentence(&self) -> String {
        match self {
            State::NotAuthorable(why) => format!("cannot be authored: {why}"),
            State::NotAuthored => "authorable, not authored yet".to_owned(),
            State::Drifted => "drifted: the plan has changed since it was authored".to_owned(),
            State::Edited(why) => format!("edited by hand: {why}"),
            State::Unfilled(regions) => format!("authored, unfilled: {}", regions.join(", ")),
            State::Filled => "authored and filled".to_owned(),
        }
    }
}
