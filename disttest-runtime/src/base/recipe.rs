//! Recipes: the settings of a checker or a model as data, from which it can be made again. Code has none.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Settings as data, with the name of what they make. Written and read by this crate; other versions of it may know less.
pub type Recipe = Value;

/// What to make, and its settings.
#[derive(Serialize, Deserialize)]
struct Written {
    make: String,
    #[serde(default)]
    of: Value,
}

/// The recipe of `what` with these settings; `None` when they hold code.
pub(crate) fn of<T: Serialize>(what: &str, settings: &T) -> Option<Recipe> {
    let of = serde_json::to_value(settings).ok()?;
    serde_json::to_value(Written { make: what.to_owned(), of }).ok()
}

/// What `recipe` makes, and the settings of it.
pub(crate) fn read(recipe: &Recipe) -> Result<(String, Value), String> {
    let recipe = Written::deserialize(recipe).map_err(|error| format!("no recipe: {error}"))?;
    Ok((recipe.make, recipe.of))
}

/// Settings, read back.
pub(crate) fn settings<T: DeserializeOwned>(settings: &Value) -> Result<T, String> {
    T::deserialize(settings).map_err(|error| format!("settings that this version does not know: {error}"))
}

/// Serializes a place for code that holds none; with code in it there is no recipe.
pub(crate) fn no_code<T, S: Serializer>(code: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match code {
        None => serializer.serialize_none(),
        Some(_) => Err(serde::ser::Error::custom("code has no recipe")),
    }
}
