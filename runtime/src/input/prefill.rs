//! Values that a form has before the person fills it in.

use super::{Field, Form, Input};

/// A value that can stand in the form for a `T` beforehand: a `T`, a string literal for a `String`,
/// a bare value for an `Option`.
#[diagnostic::on_unimplemented(
    message = "this is not a value for the answer `{T}`",
    label = "expected a value of the answer's own type",
    note = "a string literal does for a `String`, and a bare value for an `Option`"
)]
pub trait Prefill<T> {
    #[doc(hidden)]
    fn prefill(self, form: &mut Form);
}

impl<T: Input> Prefill<T> for T {
    fn prefill(self, form: &mut Form) {
        self.fill(form);
    }
}

impl<T: Field> Prefill<Option<T>> for T {
    fn prefill(self, form: &mut Form) {
        form.fill_value(&self);
    }
}

impl Prefill<String> for &str {
    fn prefill(self, form: &mut Form) {
        form.fill_value(&self.to_owned());
    }
}

impl Prefill<Option<String>> for &str {
    fn prefill(self, form: &mut Form) {
        form.fill_value(&self.to_owned());
    }
}

/// The value of a field of a form.
#[derive(Debug)]
pub struct Filled<'a, T>(pub &'a T);

impl<T: Field> Filled<'_, T> {
    /// Fills in the field `name` beforehand.
    pub fn fill(self, form: &mut Form, name: &str) {
        form.fill(name, self.0);
    }
}

/// For a type that cannot be a field, of which all is said where the form is read.
pub trait FilledPlain: Sized {
    /// Does nothing.
    fn fill(self, _: &mut Form, _: &str) {}
}

impl<T> FilledPlain for Filled<'_, T> {}
