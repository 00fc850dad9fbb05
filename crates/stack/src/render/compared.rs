//! Filters and tests that compare or search strings. The engine's own are paid by the item,
//! however long it is, so that a template of one line could compute for minutes: here what is
//! compared is short.

use super::Templates;
use crate::words::render::Incomparable;
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters, tests};

/// The weight of what is compared at the most, and of a path to it: names, addresses and
/// versions are far below.
const HEAVIEST: usize = 1024;

/// The weight of a value besides the bytes of its text.
const VALUE: usize = 16;

impl Templates {
    /// Put those that are paid in the place of the engine's own.
    pub(super) fn pay(environment: &mut Environment<'_>) {
        environment.add_filter("min", |state: &mut State, all: Value, how: Kwargs| {
            let all = short(state, &all, how.get("attribute")?)?;
            filters::min(state, all, how)
        });
        environment.add_filter("max", |state: &mut State, all: Value, how: Kwargs| {
            let all = short(state, &all, how.get("attribute")?)?;
            filters::max(state, all, how)
        });
        environment.add_filter("sort", |state: &mut State, all: Value, how: Kwargs| {
            let all = short(state, &all, how.get("attribute")?)?;
            filters::sort(state, all, how)
        });
        environment.add_filter("unique", |state: &mut State, all: Value, how: Kwargs| {
            let all = short(state, &all, how.get("attribute")?)?;
            filters::unique(state, all, how)
        });
        environment.add_filter("groupby", group_by);
        environment.add_filter("dictsort", dict_sort);
        environment
            .add_test("lower", |value: &Value| light(value).map(|()| tests::is_lower(value)));
        environment
            .add_test("upper", |value: &Value| light(value).map(|()| tests::is_upper(value)));
    }
}

fn group_by(
    state: &mut State,
    all: Value,
    attribute: Option<&str>,
    how: Kwargs,
) -> Result<Value, Error> {
    let by = match attribute {
        Some(attribute) => Some(attribute),
        None => how.get("attribute")?,
    };
    filters::groupby(short(state, &all, by)?, attribute, how)
}

fn dict_sort(state: &mut State, map: Value, how: Kwargs) -> Result<Value, Error> {
    if map.kind() == ValueKind::Map {
        let by_value = how.get::<Option<&str>>("by")? == Some("value");
        for key in paid(state, &map)?.try_iter()? {
            light(&if by_value { map.get_item(&key)? } else { key })?;
        }
    }
    filters::dictsort(&map, how)
}

/// The values as a list, if each is short, or what the attributes name of it.
fn short(state: &mut State, all: &Value, attributes: Option<&str>) -> Result<Value, Error> {
    let list = paid(state, all)?;
    let paths = attributes.unwrap_or_default();
    if paths.len() > HEAVIEST {
        return Err(too_heavy());
    }
    for item in list.try_iter()? {
        match attributes {
            None => light(&item)?,
            Some(_) => {
                let mut of_paths = paths.split(',').filter_map(|path| at(&item, path.trim()));
                of_paths.try_for_each(|value| light(&value))?;
            }
        }
    }
    Ok(list)
}

/// The items as a list, each of which is paid.
fn paid(state: &mut State, all: &Value) -> Result<Value, Error> {
    state.apply_filter("list", std::slice::from_ref(all))
}

/// The value at a path of attributes; `None` = there is none.
fn at(item: &Value, path: &str) -> Option<Value> {
    let step = |at: Value, part: &str| match part.parse::<usize>() {
        Ok(index) => at.get_item(&Value::from(index)),
        Err(_) => at.get_attr(part),
    };
    path.split('.').try_fold(item.clone(), step).ok()
}

/// Is a value, with all that is in it, so short that comparing it costs next to nothing?
fn light(value: &Value) -> Result<(), Error> {
    weigh(value, &mut HEAVIEST.clone())
}

fn weigh(value: &Value, left: &mut usize) -> Result<(), Error> {
    let weight = VALUE + value.as_bytes().map_or(0, <[u8]>::len);
    *left = left.checked_sub(weight).ok_or_else(too_heavy)?;
    let is_map = value.kind() == ValueKind::Map;
    if is_map || matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        for item in value.try_iter()? {
            weigh(&item, left)?;
            if is_map {
                weigh(&value.get_item(&item)?, left)?;
            }
        }
    }
    Ok(())
}

fn too_heavy() -> Error {
    let most = HEAVIEST;
    Error::new(ErrorKind::InvalidOperation, Incomparable::Long { most }.to_string())
}
