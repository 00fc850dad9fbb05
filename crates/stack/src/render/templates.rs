//! The templates of a service, parsed once.

use super::variables::Variables;
use super::{FUEL, LONGEST_TEXT};
use crate::words::render::Fault;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use palladion_api::staged::File;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How deep expressions and macros may go.
const DEPTH: usize = 64;

/// The templates of a service.
#[derive(Clone, Debug)]
pub struct Templates {
    environment: Arc<Environment<'static>>,
    files: Vec<String>,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as people see it.
    pub file: String,
    /// Its line, where one is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub fault: Fault,
}

impl Templates {
    /// Parse the templates of all files.
    ///
    /// # Errors
    /// The first that is no template.
    pub fn parse(files: &[File]) -> Result<Self, Problem> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(DEPTH);
        Self::pay(&mut environment);
        // The name of a file says nothing of how to quote in it.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        let mut syntax = SyntaxConfig::builder();
        let syntax = syntax.keep_trailing_newline(true).build();
        environment
            .set_syntax(syntax.expect("should be a syntax: its delimiters are the usual ones"));
        for file in files {
            environment
                .add_template_owned(file.name.clone(), file.template.clone())
                .map_err(|error| problem(&file.name, &error))?;
        }
        let files = files.iter().map(|file| file.name.clone()).collect();
        Ok(Self { environment: Arc::new(environment), files })
    }

    /// The texts of one pod, by file.
    ///
    /// # Errors
    /// The first that cannot be made.
    pub fn render(&self, variables: &Variables) -> Result<BTreeMap<String, String>, Problem> {
        let context = variables.value();
        let mut texts = BTreeMap::new();
        for file in &self.files {
            texts.insert(file.clone(), self.one(file, &context)?);
        }
        Ok(texts)
    }

    /// The text of one file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn one(&self, file: &str, context: &Value) -> Result<String, Problem> {
        let template = self.environment.get_template(file).map_err(|e| problem(file, &e))?;
        let text = template.render(context).map_err(|e| problem(file, &e))?;
        if text.len() > LONGEST_TEXT {
            let fault = Fault::TooLong { bytes: text.len(), most: LONGEST_TEXT };
            return Err(Problem { file: shown(file), line: None, fault });
        }
        Ok(text)
    }
}

/// A file without a name is the key itself.
fn shown(file: &str) -> String {
    match file {
        "" => "<key>".to_string(),
        name => name.to_string(),
    }
}

fn problem(file: &str, error: &Error) -> Problem {
    let fault = match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => Fault::TooMuchWork,
        (ErrorKind::UndefinedError, None) => Fault::Undefined,
        (kind, None) => Fault::Other { why: kind.to_string() },
        (kind, Some(detail)) => Fault::Detailed { why: kind.to_string(), detail: detail.into() },
    };
    Problem { file: shown(file), line: error.line(), fault }
}
