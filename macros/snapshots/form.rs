#[automatically_derived]
impl ::siding::Input for Approval {
    fn form() -> ::siding::__private::Form {
        ::siding::__private::form_of(<Self as ::siding::Input>::read)
    }
    fn read(answers: &mut ::siding::__private::Answers) -> ::siding::Result<Self> {
        let field_0 = answers
            .field::<bool>("approve", ::core::option::Option::Some("Go ahead?"));
        let field_1 = answers
            .field::<Option<String>>("why", ::core::option::Option::None);
        ::core::result::Result::Ok(Self {
            approve: field_0?,
            r#type: field_1?,
        })
    }
    fn fill(&self, form: &mut ::siding::__private::Form) {
        #[allow(unused_imports)]
        use ::siding::__private::FilledPlain as _;
        ::siding::__private::Filled(&self.approve).fill(form, "approve");
        ::siding::__private::Filled(&self.r#type).fill(form, "why");
    }
}
#[automatically_derived]
impl ::siding::Choice for Color {
    const OPTIONS: &'static [(&'static str, ::core::option::Option<&'static str>)] = &[
        ("Red", ::core::option::Option::Some("Like fire.")),
        ("Green", ::core::option::Option::None),
    ];
    fn from_index(index: usize) -> Self {
        match index {
            0usize => Self::Red,
            1usize => Self::Green,
            _ => ::siding::__private::no_such_option(),
        }
    }
    fn index(&self) -> usize {
        match self {
            Self::Red => 0usize,
            Self::Green => 1usize,
        }
    }
}
#[automatically_derived]
impl ::siding::Input for Color {
    fn form() -> ::siding::__private::Form {
        ::siding::__private::plain::<Self>()
    }
    fn read(answers: &mut ::siding::__private::Answers) -> ::siding::Result<Self> {
        ::siding::__private::read_plain::<Self>(answers)
    }
    fn fill(&self, form: &mut ::siding::__private::Form) {
        ::siding::__private::fill_plain(self, form);
    }
}
#[automatically_derived]
impl ::siding::Field for Color {
    fn kind() -> ::siding::__private::FieldKind {
        ::siding::__private::choice_kind::<Self>()
    }
    fn read(
        value: ::siding::__private::FieldValue<'_>,
    ) -> ::core::result::Result<Self, ::std::string::String> {
        ::siding::__private::read_choice::<Self>(value)
    }
    fn json(&self) -> ::core::option::Option<::siding::__private::Value> {
        ::siding::__private::choice_json(self)
    }
}
