#[allow(clippy::unused_async)]
/// Deploys a service after a person approved the plan.
///
/// Waits for as long as it takes.
pub async fn deploy(ctx: &mut Ctx, service: String, region: String) -> Result<Deployed> {
    let plan = ctx.step("plan", make_plan(&service, &region)).await?;
    let approval: Approval = ctx
        .input(format!("Deploy {plan} to {region}?"))
        .at(const {
            &::siding::__private::Point::new("approval").worded(2995197932295475050u64)
        })
        .await?;
    let (name, sure): (String, bool) = ctx
        .input_all(("Name?", "Sure?"))
        .at_all(const {
            &[
                ::siding::__private::Point::new("name").worded(12120324101733262042u64),
                ::siding::__private::Point::new("sure").worded(11841634015424400808u64),
            ]
        })
        .await?;
    if !ctx
        .input::<bool>("Really?")
        .at(const {
            &::siding::__private::Point::new("really").worded(3374310356307622330u64)
        })
        .key("really")
        .await?
    {
        return Err(ToolError::new("not approved"));
    }
    let release = ctx
        .step(
            "apply",
            ::siding::__private::step_block(async {
                let plan = check(&plan)?;
                if plan.is_empty() {
                    return ::siding::__private::step_result(apply(&plan).await);
                }
                Ok(plan)
            }),
        )
        .await?;
    Ok(Deployed { release })
}
#[allow(non_camel_case_types)]
///The tool `deploy`, to be registered with `Server::tool` or `tools!`.
pub struct deploy {}
#[automatically_derived]
#[allow(trivial_bounds)]
impl ::siding::Tool for deploy
where
    Ctx: ::siding::__private::Context,
{
    type State = ::siding::__private::StateOf<Ctx>;
    fn definition() -> ::siding::__private::Definition {
        ::siding::__private::Definition::new("deploy", ::siding::Mode::Required)
            .description(
                "Deploys a service after a person approved the plan.\n\nWaits for as long as it takes.",
            )
            .ttl_ms(86400000u64)
            .poll_ms(2000u64)
            .destructive(true)
            .operations(
                &[
                    ("step", "plan"),
                    ("input", "approval"),
                    ("input", "name"),
                    ("input", "sure"),
                    ("input", "really"),
                    ("step", "apply"),
                ],
            )
    }
    fn run<'a>(
        inputs: &mut ::siding::__private::Inputs<'a>,
        ctx: ::core::option::Option<&'a mut ::siding::Ctx<Self::State>>,
    ) -> ::core::option::Option<::siding::__private::Call<'a>> {
        #[allow(unused_imports)]
        use ::siding::__private::{EncodePlain as _, PeelPlain as _};
        let output = ::siding::__private::Probe::<Result<Deployed>>::new()
            .peel()
            .output();
        inputs.returns(&output);
        let argument_1 = inputs
            .argument::<
                String,
            >(
                ::siding::__private::Arg::new("service")
                    .description("Service to deploy."),
            );
        let argument_2 = inputs
            .argument::<
                String,
            >(
                ::siding::__private::Arg::new("region")
                    .description("Region to deploy to.")
                    .default(::siding::__private::default::<String, _>("eu-west-1")),
            );
        let (
            ::core::option::Option::Some(ctx),
            ::core::option::Option::Some(argument_1),
            ::core::option::Option::Some(argument_2),
        ) = (ctx, argument_1, argument_2) else {
            return ::core::option::Option::None;
        };
        ::core::option::Option::Some(
            ::siding::__private::call(async move {
                output
                    .finish(
                        deploy(
                                ::siding::__private::context::<Ctx>(ctx),
                                argument_1,
                                argument_2,
                            )
                            .await,
                    )
            }),
        )
    }
}
