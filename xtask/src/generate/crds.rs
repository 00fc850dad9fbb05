//! The CustomResourceDefinitions as the chart ships them.

use anyhow::{Context, Result};

use super::{COMMAND, Generated};

pub fn files() -> Result<Vec<Generated>> {
    palladion_api::crd::all()
        .iter()
        .map(|definition| {
            let name = &definition.spec.names.plural;
            // By way of JSON, whose maps are sorted: the file changes only with the types.
            let value = serde_json::to_value(definition)
                .with_context(|| format!("writing the definition of {name}"))?;
            let yaml = palladion_api::yaml::to_string(&value)
                .with_context(|| format!("writing the definition of {name}"))?;
            let content =
                format!("# Generated from the Rust types by `{COMMAND}`. Do not edit.\n{yaml}");
            Ok(Generated::new(format!("charts/palladion/files/crds/{name}.yaml"), content))
        })
        .collect()
}
