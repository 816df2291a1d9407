//! Budgets laid out as tables or lists, as the line of factors that they stand for.

use super::fields::bullet;

/// The factors of a table or a list; `None` for a text that is neither.
pub(super) fn on_one_line(text: &str) -> Option<String> {
    from_table(text).or_else(|| from_list(text))
}

/// A budget in a list, one factor an item.
fn from_list(text: &str) -> Option<String> {
    let items: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| bullet(line.trim()).map(|(_, item)| item))
        .collect::<Option<_>>()?;
    (items.len() > 1).then(|| items.join(" × "))
}

/// A budget in a table, `| nodes | 3 |` a row or one row under the names of the dimensions, as `nodes: 3 × …`.
fn from_table(text: &str) -> Option<String> {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_prefix('|').map(|row| row.trim_end_matches('|').split('|').map(str::trim).collect()))
        .collect::<Option<_>>()?;
    let (head, body) = rows.split_first()?;
    let (rule, body) = body.split_first()?;
    if !rule.iter().all(|cell| cell.contains('-') && cell.chars().all(|c| "-: ".contains(c))) {
        return None;
    }
    let named = |name: &str, value: &str| format!("{name}: {value}");
    let pairs: Vec<String> = match body {
        [row] if row.len() == head.len() && row.len() > 2 => {
            head.iter().zip(row).map(|(name, value)| named(name, value)).collect()
        }
        rows => rows
            .iter()
            .map(|row| match row[..] {
                [name, value] => Some(named(name, value)),
                _ => None,
            })
            .collect::<Option<_>>()?,
    };
    Some(pairs.join(" × "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_become_a_line_and_prose_stays() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(on_one_line(text).as_deref(), expect, "{text}");
        check("| a | b |\n|---|---|\n| nodes | 3 |\n| seeds | 1 |", Some("nodes: 3 × seeds: 1"));
        check("| nodes | seeds | faults |\n|---|:-:|---|\n| 3 | 1 | 2 |", Some("nodes: 3 × seeds: 1 × faults: 2"));
        check("- 3 nodes\n- 1 seed", Some("3 nodes × 1 seed"));
        check("1. 3 nodes\n2. 1 seed", Some("3 nodes × 1 seed"));
        check("3 nodes\n- 1 seed", None);
        check("3 nodes × 1 seed", None);
        check("| 3 nodes | 1 seed |", None);
        check("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |", None);
        check("", None);
    }
}
