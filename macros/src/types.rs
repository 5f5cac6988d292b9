//! What can be told from the spelling of a type alone.

use syn::visit::Visit;
use syn::{Lifetime, Type, TypeFnPtr, TypeImplTrait, TypeTraitObject};

/// What keeps a type from being written in the expansion, or from living as long as a call.
#[derive(Default)]
pub(crate) struct Spelling<'a> {
    pub(crate) impl_trait: Option<&'a TypeImplTrait>,
    pub(crate) named_lifetime: Option<&'a Lifetime>,
}

impl<'a> Spelling<'a> {
    pub(crate) fn of(ty: &'a Type) -> Self {
        let mut spelling = Self::default();
        spelling.visit_type(ty);
        spelling
    }
}

impl<'a> Visit<'a> for Spelling<'a> {
    fn visit_lifetime(&mut self, lifetime: &'a Lifetime) {
        if lifetime.ident != "_" {
            self.named_lifetime.get_or_insert(lifetime);
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'a TypeImplTrait) {
        self.impl_trait.get_or_insert(ty);
    }

    /// The bounds of a trait object say what is in it; only a borrow is of interest.
    fn visit_type_trait_object(&mut self, _: &'a TypeTraitObject) {}

    /// Its lifetimes are its own.
    fn visit_type_fn_ptr(&mut self, _: &'a TypeFnPtr) {}
}
