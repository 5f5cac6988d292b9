//! What a tool can ask a person for.

pub(crate) mod form;
mod live;
mod prefill;
mod question;
mod questions;
mod wait;

use serde_json::{Map, Value};

pub use self::{
    form::{FieldKind, Form},
    prefill::{Filled, FilledPlain, Prefill},
    question::{Named, Placed, Point, Question, Unnamed},
    questions::{Inputs, Prompts, Questions},
};
use crate::{Result, ToolError};
use form::{Choosable, VALUE, whole};

/// An answer: what `ctx.input` can ask for.
///
/// `bool`, `String`, numbers, unit enums and structs with `#[derive(Input)]`, `Option` of a plain
/// type and `Vec` of a choice. A plain type is asked as a form with the one property `value`.
///
/// ```
/// use siding::prelude::*;
///
/// /// How fast to go.
/// #[derive(Input)]
/// enum Pace {
///     /// One host at a time.
///     Careful,
///     /// All at once.
///     Fast,
/// }
///
/// #[derive(Input)]
/// struct Plan {
///     pace: Pace,
///     /// Left out where nobody has to know.
///     announce_to: Option<String>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be asked for",
    label = "not an answer that a person could give",
    note = "ask for `bool`, `String`, a number, or a type with `#[derive(Input)]`",
    note = "where no type is given, name it: `let answer: bool = ctx.input(..).await?;`"
)]
pub trait Input: Sized + Send {
    /// What the person fills in.
    fn form() -> Form;

    /// Reads what the person filled in.
    ///
    /// # Errors
    ///
    /// Where the answer was given to another form, which is a change of the code that the journal
    /// tells of.
    fn read(answers: &mut Answers) -> Result<Self>;

    /// Fills `form`, which is that of this type, in with this value.
    fn fill(&self, form: &mut Form);
}

/// A field of a form: a plain type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "forms are flat: no structs, maps or lists of other things",
    note = "use `bool`, `String`, a number, an enum with `#[derive(Input)]`, or `Option` or `Vec` of one",
    note = "ask for the parts of a nested value one after the other"
)]
pub trait Field: Sized + Send {
    /// Whether the field must be filled in.
    const REQUIRED: bool = true;

    /// What the field takes.
    fn kind() -> FieldKind;

    /// Reads the value of the field.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    fn read(value: FieldValue<'_>) -> Result<Self, String>;

    /// The value as it stands in an answer; `None` where it is left out.
    fn json(&self) -> Option<Value>;
}

/// A choice: an enum of unit variants with `#[derive(Input)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to choose from",
    label = "not an enum of unit variants with `#[derive(Input)]`",
    note = "a `Vec` in a form holds such an enum; ask for a text as a `String`"
)]
pub trait Choice: Sized + Send {
    /// The options as they stand on the wire, each with a text for the person.
    const OPTIONS: &'static [(&'static str, Option<&'static str>)];

    /// The variant of an option, by its place in [`Choice::OPTIONS`].
    fn from_index(index: usize) -> Self;

    /// The place of this variant in [`Choice::OPTIONS`].
    fn index(&self) -> usize;
}

/// The value of a field, or its absence.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue<'a>(Option<&'a Value>);

impl<'a> FieldValue<'a> {
    fn get(self) -> Result<&'a Value, String> {
        self.0.ok_or_else(|| "it is missing".into())
    }
}

/// A walk over the fields of a form: to describe it, or to read what a person filled in.
#[derive(Debug)]
pub struct Answers(Walk);

#[derive(Debug)]
enum Walk {
    Describe(Form),
    Read(Map<String, Value>),
}

impl Answers {
    pub(crate) const fn new(content: Map<String, Value>) -> Self {
        Self(Walk::Read(content))
    }

    /// The next field; its value where the walk is there to read it.
    ///
    /// # Errors
    ///
    /// Where the answer was given to another form, and always in a walk that describes.
    pub fn field<T: Field>(&mut self, name: &str, description: Option<&str>) -> Result<T> {
        match &mut self.0 {
            Walk::Describe(form) => {
                form.push::<T>(name, description);
                Err(ToolError::new("there is nothing to read yet"))
            }
            Walk::Read(content) => T::read(FieldValue(content.get(name))).map_err(|error| {
                ToolError::new(format!("the field `{name}` cannot be read: {error}"))
            }),
        }
    }
}

/// The value of a choice, as it stands in an answer.
pub fn choice_json<T: Choice>(choice: &T) -> Option<Value> {
    let (value, _) = T::OPTIONS.get(choice.index())?;
    Some((*value).into())
}

/// Fills `form`, which has one field, in with a plain value.
pub fn fill_plain<T: Field>(value: &T, form: &mut Form) {
    form.fill_value(value);
}

/// The form whose fields `read` goes over.
pub fn form_of<T>(read: fn(&mut Answers) -> Result<T>) -> Form {
    let mut answers = Answers(Walk::Describe(Form::default()));
    let _nothing = read(&mut answers);
    match answers.0 {
        Walk::Describe(form) => form,
        Walk::Read(_) => unreachable!("a walk stays what it is"),
    }
}

/// The form of a plain type: one field called `value`.
pub fn plain<T: Field>() -> Form {
    form_of(read_plain::<T>)
}

/// Reads an answer to the form of [`plain`].
///
/// # Errors
///
/// Where the answer was given to another form.
pub fn read_plain<T: Field>(answers: &mut Answers) -> Result<T> {
    answers.field(VALUE, None)
}

/// Stands for the variant of an index that no option has.
///
/// # Panics
///
/// Always; the index of an option comes from its place among the options.
pub fn no_such_option<T>() -> T {
    unreachable!("an index of an option")
}

/// What a field of the choice `T` takes.
pub fn choice_kind<T: Choice>() -> FieldKind {
    FieldKind::Choice(options::<T>())
}

/// Reads a field of the choice `T`.
///
/// # Errors
///
/// Where the value is none of the options.
pub fn read_choice<T: Choice>(value: FieldValue<'_>) -> Result<T, String> {
    option_of(value.get()?)
}

fn options<T: Choice>() -> Vec<Choosable> {
    let choosable = |(value, title): &(&str, Option<&str>)| Choosable {
        value: (*value).into(),
        title: title.map(Into::into),
    };
    T::OPTIONS.iter().map(choosable).collect()
}

fn option_of<T: Choice>(value: &Value) -> Result<T, String> {
    let text = value.as_str().ok_or("it is not a string")?;
    let index = T::OPTIONS.iter().position(|(option, _)| *option == text);
    index
        .map(T::from_index)
        .ok_or_else(|| format!("`{text}` is none of the options"))
}

/// Makes plain types answers of their own.
macro_rules! plain_answers {
    ($(impl[$($generic:ident: $bound:ident)?] for $ty:ty;)*) => {$(
        impl$(<$generic: $bound>)? Input for $ty {
            fn form() -> Form {
                plain::<Self>()
            }

            fn read(answers: &mut Answers) -> Result<Self> {
                read_plain(answers)
            }

            fn fill(&self, form: &mut Form) {
                fill_plain(self, form);
            }
        }
    )*};
}

plain_answers! {
    impl[] for bool;
    impl[] for String;
    impl[F: Field] for Option<F>;
    impl[C: Choice] for Vec<C>;
}

impl Field for bool {
    fn kind() -> FieldKind {
        FieldKind::Boolean
    }

    fn read(value: FieldValue<'_>) -> Result<Self, String> {
        value
            .get()?
            .as_bool()
            .ok_or_else(|| "it is not `true` or `false`".into())
    }

    fn json(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl Field for String {
    fn kind() -> FieldKind {
        FieldKind::Text
    }

    fn read(value: FieldValue<'_>) -> Result<Self, String> {
        let text = value.get()?.as_str().ok_or("it is not a string")?;
        Ok(text.into())
    }

    fn json(&self) -> Option<Value> {
        Some(self.as_str().into())
    }
}

impl<F: Field> Field for Option<F> {
    const REQUIRED: bool = false;

    fn kind() -> FieldKind {
        F::kind()
    }

    fn read(value: FieldValue<'_>) -> Result<Self, String> {
        value
            .0
            .map(|present| F::read(FieldValue(Some(present))))
            .transpose()
    }

    fn json(&self) -> Option<Value> {
        self.as_ref().and_then(Field::json)
    }
}

impl<C: Choice> Field for Vec<C> {
    fn kind() -> FieldKind {
        FieldKind::Choices(options::<C>())
    }

    fn read(value: FieldValue<'_>) -> Result<Self, String> {
        let values = value.get()?.as_array().ok_or("it is not a list")?;
        values.iter().map(option_of).collect()
    }

    fn json(&self) -> Option<Value> {
        self.iter().map(choice_json).collect()
    }
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        plain_answers! { impl[] for $ty; }

        impl Field for $ty {
            fn kind() -> FieldKind {
                // What the type cannot hold is refused before it is taken; what no JSON number
                // could be needs no bound.
                FieldKind::Integer {
                    minimum: i64::try_from($ty::MIN).ok().filter(|least| *least != i64::MIN),
                    maximum: i64::try_from($ty::MAX).ok(),
                }
            }

            fn read(value: FieldValue<'_>) -> Result<Self, String> {
                let number = whole(value.get()?).ok_or("it is not a whole number")?;
                number.try_into().map_err(|_| format!("{number} is too large or too small"))
            }

            fn json(&self) -> Option<Value> {
                Some((*self).into())
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

macro_rules! floats {
    ($($ty:ident)*) => {$(
        plain_answers! { impl[] for $ty; }

        impl Field for $ty {
            fn kind() -> FieldKind {
                FieldKind::Number
            }

            #[expect(clippy::allow_attributes, reason = "only one of the two types casts")]
            #[allow(clippy::cast_possible_truncation, reason = "an `f32` was asked for")]
            fn read(value: FieldValue<'_>) -> Result<Self, String> {
                let number = value.get()?.as_f64().ok_or("it is not a number")?;
                Ok(number as $ty)
            }

            fn json(&self) -> Option<Value> {
                serde_json::Number::from_f64((*self).into()).map(Value::Number)
            }
        }
    )*};
}

floats! { f32 f64 }
