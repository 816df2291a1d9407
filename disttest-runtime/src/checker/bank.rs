//! Banks: transfers within, so that every read of all accounts adds up to the same total.

use super::ahead::{Parts, ahead};
use super::inquiry::{Group, Inquiry, Witness, acknowledged, brief, by_key, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{History, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Checks snapshots of accounts among which only `transfer`s happen: each completed `read` answers an object from account
/// to balance (or a list of balances, or of `[account, balance]` pairs), and is one of
///
/// - `unexpected-key`: it shows an account that is none of them;
/// - `nil-balance`: an account has no balance;
/// - `wrong-total`: the balances do not add up to the total;
/// - `negative-value`: a balance is negative, unless that is allowed;
/// - right.
///
/// Accounts and total are those given, or else those of the read that completed first: then reads contradict each
/// other, and which one is wrong remains open. Needs: `output` of each read. O(balances read), constant memory beside
/// the grouping. After Jepsen's `jepsen.tests.bank`; the first of the four that a read breaks is reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bank {
    accounts: Option<BTreeSet<String>>,
    total: Option<i64>,
    negative: bool,
}

/// Kinds, most telling first.
const RANKS: &[&str] = &["wrong-total", "negative-value", "nil-balance", "unexpected-key"];

impl Bank {
    /// Accounts and total are those of the first read; negative balances are violations.
    pub fn new() -> Bank {
        Bank::default()
    }

    /// The accounts there are.
    pub fn accounts<A: Into<String>>(mut self, accounts: impl IntoIterator<Item = A>) -> Bank {
        self.accounts = Some(accounts.into_iter().map(Into::into).collect());
        self
    }

    /// What all balances add up to.
    pub fn total(mut self, total: i64) -> Bank {
        self.total = Some(total);
        self
    }

    /// Balances may be negative.
    pub fn allow_negative(mut self) -> Bank {
        self.negative = true;
        self
    }
}

/// A balance as a read shows it; `None` for null.
type Balance = Option<i128>;

/// Calls `each` with every account and balance that `output` shows, until it says false; `Err` says what is no balance.
fn balances<'v>(output: &'v Value, mut each: impl FnMut(Account<'v>, Balance) -> bool) -> Result<(), String> {
    let mut show = |account: Account<'v>, balance: &Value| match balance {
        Value::Null => Ok(each(account, None)),
        balance => match balance.as_i64().map(i128::from).or_else(|| balance.as_u64().map(i128::from)) {
            Some(balance) => Ok(each(account, Some(balance))),
            None => Err(format!("a balance is a whole number, not {}", brief(&balance.to_string()))),
        },
    };
    match output {
        Value::Object(accounts) => {
            for (account, balance) in accounts {
                if !show(Account::Named(account), balance)? {
                    break;
                }
            }
        }
        Value::Array(entries) => {
            for (at, entry) in entries.iter().enumerate() {
                let go_on = match entry.as_array().map(Vec::as_slice) {
                    Some([account, balance]) => show(Account::Value(account), balance)?,
                    _ => show(Account::At(at), entry)?,
                };
                if !go_on {
                    break;
                }
            }
        }
        other => return Err(format!("a read of a bank answers its balances, not {}", brief(&other.to_string()))),
    }
    Ok(())
}

/// How a read names an account.
#[derive(Clone, Copy)]
enum Account<'v> {
    Named(&'v str),
    Value(&'v Value),
    At(usize),
}

impl Account<'_> {
    fn name(self) -> String {
        match self {
            Account::Named(name) => name.to_owned(),
            Account::Value(Value::String(name)) => name.clone(),
            Account::Value(value) => value.to_string(),
            Account::At(at) => at.to_string(),
        }
    }

    fn is(self, name: &str) -> bool {
        match self {
            Account::Named(named) => named == name,
            Account::Value(Value::String(named)) => named == name,
            other => other.name() == name,
        }
    }
}

fn problem(op: &Op) -> Option<String> {
    match op.op_type.as_str() {
        "transfer" => None,
        "read" if acknowledged(op) => balances(&op.output, |_, _| true).err(),
        "read" => None,
        other => Some(format!("`{other}` is none of transfer, read")),
    }
}

impl Checker for Bank {
    fn name(&self) -> &str {
        "bank"
    }

    fn model(&self) -> Option<&str> {
        Some("bank")
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "lost or doubled transfers: the total is the same without them".to_owned(),
            "stale snapshots, and snapshots in an order that no time explains".to_owned(),
            "accounts that a read leaves out while they hold nothing".to_owned(),
        ];
        if self.total.is_none() {
            list.push("a total that was wrong from the first read on".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("bank", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let mut list = problems(history, problem);
        if !history.ops().iter().any(|op| op.op_type == "read" && acknowledged(op)) {
            list.extend(history.ops().first().map(|op| format!("no completed read (first operation {})", op.op_id)));
        }
        list
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for group in by_key(history) {
            if !self.judge(&group, &mut inquiry) {
                break;
            }
        }
        inquiry.answer(self, RANKS, "no read of the accounts could have contradicted")
    }
}

/// What reads are held to.
struct Books {
    /// Sorted.
    accounts: Vec<String>,
    total: i128,
    /// The read these are from, if they were not given.
    from: Option<u64>,
}

impl Books {
    fn knows(&self, at: usize, account: Account<'_>) -> bool {
        // Reads mostly show the accounts in the order they are sorted in.
        self.accounts.get(at).is_some_and(|name| account.is(name))
            || self.accounts.binary_search(&account.name()).is_ok()
    }
}

impl Bank {
    /// False when limits say to stop.
    fn judge(&self, group: &Group<'_>, inquiry: &mut Inquiry<'_>) -> bool {
        let mut reads: Vec<&Op> = Vec::new();
        for op in ahead(&group.ops, Parts::Names).copied() {
            match op.op_type.as_str() {
                "read" if acknowledged(op) => reads.push(op),
                "read" | "transfer" => {}
                other => {
                    let why = format!("`{other}` is none of transfer, read");
                    inquiry.undecided(format!("the history does not fit: operation {}: {why}", op.op_id));
                    return true;
                }
            }
        }
        let Some(first) = reads.iter().copied().min_by_key(|op| (op.complete_ts, op.op_id)) else { return true };
        inquiry.evidence.partitions += 1;
        inquiry.evidence.consumed += group.ops.len() as u64;
        let books = match self.books(first) {
            Ok(books) => books,
            Err(why) => {
                inquiry.undecided(format!("the history does not fit: operation {}: {why}", first.op_id));
                return true;
            }
        };
        for read in ahead(&reads, Parts::Outputs).copied() {
            if !inquiry.go_on(1 + books.accounts.len() as u64, 8 * group.ops.len() as u64) {
                return false;
            }
            match self.audit(&books, read) {
                Err(why) => {
                    inquiry.undecided(format!("the history does not fit: operation {}: {why}", read.op_id));
                    return true;
                }
                // A read is not compared with itself.
                Ok(None) => inquiry.evidence.fired += u64::from(books.from != Some(read.op_id) || !self.negative),
                Ok(Some(wrong)) => {
                    inquiry.evidence.fired += 1;
                    let ops = match (&wrong.against_books, books.from) {
                        (true, Some(from)) if from != read.op_id => vec![read.op_id, from],
                        _ => vec![read.op_id],
                    };
                    let explanation = format!("{}: {}.", told(read), wrong.why);
                    inquiry.found(wrong.kind, group.key, || Witness { ops, explanation });
                }
            }
        }
        true
    }

    fn books(&self, first: &Op) -> Result<Books, String> {
        let (mut accounts, mut total) = (BTreeSet::new(), 0);
        balances(&first.output, |account, balance| {
            accounts.insert(account.name());
            total += balance.unwrap_or(0);
            true
        })?;
        let given = self.accounts.is_some() && self.total.is_some();
        Ok(Books {
            accounts: self.accounts.clone().unwrap_or(accounts).into_iter().collect(),
            total: self.total.map_or(total, i128::from),
            from: (!given).then_some(first.op_id),
        })
    }

    /// The first thing that is wrong with `read`.
    fn audit(&self, books: &Books, read: &Op) -> Result<Option<Wrong>, String> {
        let (mut at, mut total) = (0, 0);
        let (mut stranger, mut nil, mut negative) = (None, None, None);
        balances(&read.output, |account, balance| {
            if stranger.is_none() && !books.knows(at, account) {
                stranger = Some(account.name());
            }
            at += 1;
            match balance {
                None => nil = nil.take().or_else(|| Some(account.name())),
                Some(balance) => {
                    total += balance;
                    if balance < 0 && negative.is_none() {
                        negative = Some((account.name(), balance));
                    }
                }
            }
            true
        })?;
        let whose = |what: &str| match books.from {
            Some(from) => format!("{what} of the first read (operation {from})"),
            None => what.to_owned(),
        };
        let wrong = |kind, against_books, why| Some(Wrong { kind, against_books, why });
        Ok(if let Some(account) = stranger {
            wrong(
                "unexpected-key",
                self.accounts.is_none(),
                format!("account {account:?} is none of the accounts{}", whose("")),
            )
        } else if let Some(account) = nil {
            wrong("nil-balance", false, format!("account {account:?} has no balance"))
        } else if total != books.total {
            let what = whose("the total");
            wrong(
                "wrong-total",
                self.total.is_none(),
                format!("the balances add up to {total}, {what} is {}", books.total),
            )
        } else if let Some((account, balance)) = negative.filter(|_| !self.negative) {
            wrong("negative-value", false, format!("account {account:?} holds {balance}"))
        } else {
            None
        })
    }
}

struct Wrong {
    kind: &'static str,
    /// The witness needs the read that the books are from.
    against_books: bool,
    why: String,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::reference::{said, seeds};
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;
    use serde_json::json;

    fn check(bank: &Bank, text: &str, expect: &str) {
        let answer = bank.check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    #[test]
    fn every_read_adds_up() {
        let bank = Bank::new().accounts(["a", "b"]).total(10);
        for (expect, text) in [
            ("valid", r#"c1 read - -> {"a":4,"b":6} [0..1]"#),
            (
                "valid",
                r#"c1 transfer - {"from":"a","to":"b","amount":3} [0..1]
                c1 read - -> {"a":1,"b":9} [2..3]"#,
            ),
            ("valid", r#"c1 read - -> [["a",4],["b",6]] [0..1]"#),
            ("wrong-total [0]", r#"c1 read - -> {"a":4,"b":5} [0..1]"#),
            ("negative-value [0]", r#"c1 read - -> {"a":-4,"b":14} [0..1]"#),
            ("nil-balance [0]", r#"c1 read - -> {"a":null,"b":10} [0..1]"#),
            ("unexpected-key [0]", r#"c1 read - -> {"a":4,"c":6} [0..1]"#),
            (
                "wrong-total [1], negative-value [0]",
                "c1 read - -> [[\"a\",-1],[\"b\",11]] [0..1]\nc1 read - -> {\"a\":1} [2..3]",
            ),
            ("unknown", ""),
            ("unknown", "c1 read - [0..]"),
            ("unknown", "c1 read - !refused [0..1]"),
            ("unknown", "c1 read - -> null [0..1]"),
            ("unknown", r#"c1 read - -> {"a":4.5,"b":5.5} [0..1]"#),
            ("unknown", r#"c1 transfer - {"from":"a","to":"b","amount":3} [0..1]"#),
            ("unknown", "c1 read - -> {\"a\":4,\"b\":6} [0..1]\nc1 close - [2..3]"),
        ] {
            check(&bank, text, expect);
        }
        check(&bank.allow_negative(), r#"c1 read - -> {"a":-4,"b":14} [0..1]"#, "valid");
    }

    #[test]
    fn without_books_the_first_read_is_what_others_contradict() {
        let two = |second: &str| format!("c1 read - -> {{\"0\":4,\"1\":6}} [0..5]\nc2 read - -> {second} [1..9]");
        check(&Bank::new(), &two(r#"{"0":10,"1":0}"#), "valid");
        check(&Bank::new(), &two("[10,0]"), "valid");
        check(&Bank::new(), &two("[10,1]"), "wrong-total [1, 0]");
        check(&Bank::new(), &two(r#"{"0":4,"1":6,"2":0}"#), "unexpected-key [1, 0]");
        check(&Bank::new().total(11), &two("[10,0]"), "wrong-total [0], wrong-total [1]");
        check(&Bank::new().allow_negative(), r#"c1 read - -> {"0":4} [0..5]"#, "unknown");
        check(&Bank::new(), "c1 read a -> [1,2] [0..1]\nc1 read b -> [3] [2..3]\nc1 read a -> [3] [4..5]", "valid");
    }

    /// What is wrong with a read, in so many words.
    fn reference(read: &Op) -> Option<&'static str> {
        let balances = read.output.as_object().unwrap();
        let known: Vec<i64> = balances.values().filter_map(Value::as_i64).collect();
        if balances.keys().any(|key| !["a", "b", "c"].contains(&key.as_str())) {
            Some("unexpected-key")
        } else if known.len() < balances.len() {
            Some("nil-balance")
        } else if known.iter().sum::<i64>() != 6 {
            Some("wrong-total")
        } else if known.iter().any(|balance| *balance < 0) {
            Some("negative-value")
        } else {
            None
        }
    }

    #[test]
    fn random_reads_are_judged_as_the_definition_says() {
        let bank = Bank::new().accounts(["a", "b", "c"]).total(6);
        let mut kinds = BTreeSet::new();
        for seed in seeds(3000) {
            let mut rng = Rng::stream(seed, "bank");
            let mut text = String::new();
            for at in 0..1 + rng.below(4) {
                let a = rng.below(6) as i64;
                let b = rng.below(6) as i64;
                let mut read = json!({"a": a, "b": b, "c": 6 - a - b});
                match rng.below(12) {
                    0 => read["b"] = json!(b + 1),
                    1 => read["b"] = Value::Null,
                    2 => read["d"] = json!(0),
                    _ => {}
                }
                text.push_str(&format!("c1 read - -> {read} [{}..{}]\n", 2 * at, 2 * at + 1));
            }
            let history = history(&text).unwrap();
            let mut expect: Vec<(&str, u64)> =
                history.ops().iter().filter_map(|op| Some((reference(op)?, op.op_id))).collect();
            let outcome = bank.check(&history, &Unlimited).outcome;
            let mut got: Vec<(&str, u64)> = match &outcome {
                Outcome::Invalid { violations } => violations.iter().map(|v| (v.anomaly.as_str(), v.ops[0])).collect(),
                Outcome::Valid => Vec::new(),
                Outcome::Unknown { why } => panic!("{why}"),
            };
            expect.sort_unstable();
            got.sort_unstable();
            assert_eq!(got, expect, "{text}");
            kinds.extend(expect.into_iter().map(|(kind, _)| kind));
        }
        assert_eq!(kinds.len(), 4);
    }
}
