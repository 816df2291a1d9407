//! How a command can end, and the exit status of each end.

use std::process::ExitCode as Status;

/// The exit statuses of every verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// 0: done and clean.
    Done,
    /// 1: the answer is no.
    No,
    /// 2: wrong usage or unreadable input.
    Usage,
    /// 3: nothing could be concluded.
    Inconclusive,
    /// 4: nothing ran, or the plan lacks what a run needs.
    Blocked,
    /// 70: a bug of ours.
    Bug,
}

impl ExitCode {
    /// All of them, in the order of their numbers.
    pub const ALL: [ExitCode; 6] =
        [ExitCode::Done, ExitCode::No, ExitCode::Usage, ExitCode::Inconclusive, ExitCode::Blocked, ExitCode::Bug];

    /// The number.
    pub fn number(self) -> u8 {
        match self {
            ExitCode::Done => 0,
            ExitCode::No => 1,
            ExitCode::Usage => 2,
            ExitCode::Inconclusive => 3,
            ExitCode::Blocked => 4,
            ExitCode::Bug => 70,
        }
    }
}

impl From<ExitCode> for Status {
    fn from(code: ExitCode) -> Status {
        Status::from(code.number())
    }
}

/// Why a command ended the way it did: every end that a user can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Everything asked for is done.
    Clean,
    /// A plan breaks a rule of the format.
    PlanErrors,
    /// A file stands in the way and nobody said what to do with it.
    Conflict,
    /// A change that needs no plan.
    NotNeeded,
    /// A target path is refused.
    UnsafeTarget,
    /// A skeleton of the plan is refused; the other files were written.
    SkeletonRefused,
    /// The test files are not what the plan says, or have unfilled regions.
    Drift,
    /// A scenario found a violation.
    Violation,
    /// A scenario passed, but below the tier that was asked for.
    TierNotMet,
    /// Something that the plan requires of its environment is missing.
    Lacking,
    /// Something of a killed run is still there.
    LeftBehind,
    /// Somebody ended the questions before the last one.
    Ended,
    /// A flag or an argument is wrong.
    WrongUsage,
    /// A file cannot be read, or is not what it should be.
    Unreadable,
    /// A file cannot be written.
    Unwritable,
    /// Runs took place, but what they show is not enough for an answer.
    NothingConcluded,
    /// What a session says does not follow from its files.
    Contradicted,
    /// A scenario that was asked for did not run.
    NotRun,
    /// The plan lacks an oracle or budgets.
    PlanNotRunnable,
    /// An invariant of this program broke.
    Bug,
}

impl End {
    /// The exit status of this end.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            End::Clean => ExitCode::Done,
            End::PlanErrors
            | End::Conflict
            | End::NotNeeded
            | End::UnsafeTarget
            | End::SkeletonRefused
            | End::Drift
            | End::Violation
            | End::Contradicted
            | End::TierNotMet
            | End::Lacking
            | End::LeftBehind
            | End::Ended => ExitCode::No,
            End::WrongUsage | End::Unreadable | End::Unwritable => ExitCode::Usage,
            End::NothingConcluded => ExitCode::Inconclusive,
            End::NotRun | End::PlanNotRunnable => ExitCode::Blocked,
            End::Bug => ExitCode::Bug,
        }
    }
}

/// An end that needs a message.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the command ended.
    pub end: End,
    /// What went wrong, and what to do about it.
    pub message: String,
}

impl Failure {
    /// A failure of kind `end`.
    pub(crate) fn new(end: End, message: impl Into<String>) -> Failure {
        Failure { end, message: message.into() }
    }
}

/// What a command comes to: an end that has said all there is to say, or a failure still to be printed.
pub(crate) type Outcome = Result<End, Failure>;
