"""Drives the example servers with FastMCP's own client, and checks what comes back.

usage: drive.py DEPLOY_URL CONFORMANCE_URL

Prints a line for each check, and ends with exit code 1 at the first that fails.
"""

import argparse
import asyncio
import faulthandler
import sys
from typing import Any

import fastmcp_tasks  # from now on each Client declares tasks
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp_tasks import call_tool_task
from mcp import MCPError

LIMIT = 90  # seconds, for everything
STEP = 20  # seconds, for one call
TASKS = "io.modelcontextprotocol/tasks"
MISSING_CAPABILITY = -32021

APPROVAL = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "description": "Go ahead?"},
        "reason": {"type": "string", "description": "Kept in the audit log."},
    },
    "required": ["approve"],
}


class Failed(Exception):
    """A check did not hold."""


class WithoutTasks(Client):
    """A client that does not declare the tasks extension."""

    _auto_internal_extensions = False


class Person:
    """Answers what a server asks, and remembers it."""

    def __init__(self, *answers: Any):
        self.answers = list(answers)
        self.questions: list[str] = []

    async def __call__(self, message: str, _type: Any, _params: Any, _context: Any) -> Any:
        self.questions.append(message)
        if not self.answers:
            raise Failed(f"a question too many: {message}")
        return self.answers.pop(0)


DECLINED = ElicitResult(action="decline")


def ok(what: str) -> None:
    print(f"ok {what}", flush=True)


def equal(what: str, got: Any, expected: Any) -> None:
    if got != expected:
        raise Failed(f"{what}: expected {expected!r}, got {got!r}")


def text(result: Any) -> str:
    """The text of a result that is no error and has nothing else in it."""
    equal("isError", result.is_error, False)
    equal("kinds of content", [block.type for block in result.content], ["text"])
    return result.content[0].text


async def error_of(call: Any, kind: type[Exception]) -> Any:
    """The exception of this kind that the call ends with."""
    try:
        result = await call
    except kind as error:
        return error
    raise Failed(f"expected an error, got {result!r}")


async def deploy_approved(url: str) -> None:
    person = Person({"approve": True, "reason": "tested"})
    async with Client(url, elicitation_handler=person, timeout=STEP) as client:
        equal("protocol version", client.protocol_version, "2026-07-28")
        equal("declared by the server", client.server_capabilities.extensions, {TASKS: {}})
        ok("the server speaks 2026-07-28 and declares tasks")

        task = await call_tool_task(client, "deploy", {"service": "web", "region": "eu-north-1"})
        equal("status", task.create_result.status, "working")
        equal("ttlMs", task.create_result.ttl_ms, 24 * 60 * 60 * 1000)
        equal("pollIntervalMs", task.create_result.poll_interval_ms, 2000)
        ok("deploy becomes a task")

        waiting = await task.wait(state="input_required", timeout=STEP)
        equal("keys of the questions", list(waiting.input_requests), ["approval"])
        question = waiting.input_requests["approval"]
        equal("method", question["method"], "elicitation/create")
        equal("mode", question["params"].get("mode", "form"), "form")
        equal("schema", question["params"]["requestedSchema"], APPROVAL)
        ok("deploy asks for an approval")

        result = await task.result()
        equal("questions", person.questions, ["Deploy web with one host in eu-north-1 to eu-north-1?"])
        expected = {"release": "web with one host in eu-north-1, release 1", "reason": "tested"}
        equal("structured content", result.structured_content, expected)
        equal("release, read by the output schema", result.data.release, expected["release"])
        equal("status", (await task.status()).status, "completed")
        ok("deploy goes on when it is approved")


async def deploy_in_one_call(url: str) -> None:
    person = Person({"approve": True})
    async with Client(url, elicitation_handler=person, timeout=STEP) as client:
        result = await client.call_tool("deploy", {"service": "web"})
        expected = {"release": "web with one host in eu-west-1, release 1", "reason": None}
        equal("structured content", result.structured_content, expected)
        ok("call_tool drives the task by itself, without the optional values")


async def deploy_refused(url: str) -> None:
    person = Person(DECLINED, {"approve": False})
    async with Client(url, elicitation_handler=person, timeout=STEP) as client:
        task = await call_tool_task(client, "deploy", {"service": "web"})
        error = await error_of(task.result(), ToolError)
        if "declined" not in str(error):
            raise Failed(f"the tool's error does not say that the person declined: {error}")
        final = await task.status()
        equal("status", final.status, "completed")
        equal("isError", final.result["isError"], True)
        ok("deploy ends with the tool's error when the question is declined")

        error = await error_of(client.call_tool("deploy", {"service": "web"}), ToolError)
        equal("the tool's error", str(error), "not approved")
        ok("deploy ends with the tool's error when it is not approved")


async def with_tasks(url: str) -> None:
    person = Person({"confirm": True}, {"name": "Ada"}, {"name": "Grace"})
    async with Client(url, elicitation_handler=person, timeout=STEP) as client:
        equal("greeting", text(await client.call_tool("greet", {"name": "Ada"})), "Hello, Ada!")
        error = await error_of(call_tool_task(client, "greet", {"name": "Ada"}), ToolError)
        if "did not run as a task" not in str(error):
            raise Failed(f"greet as a task: {error}")
        ok("greet answers directly")

        for seconds in (0, 1):
            arguments = {"seconds": seconds, "label": "it"}
            task = await call_tool_task(client, "slow_compute", arguments)
            equal("text", text(await task.result()), f"computed it in {seconds} s")
            ok(f"slow_compute runs {seconds} s as a task")

        for tool, message in {
            "failing_job": "the job failed",
            "protocol_error_job": "the job broke down",
        }.items():
            error = await error_of(client.call_tool(tool), ToolError)
            equal("message", str(error), message)
            ok(f"{tool} fails")

        task = await call_tool_task(client, "confirm_delete", {"filename": "a.txt"})
        equal("text", text(await task.result()), "deleted a.txt")
        equal("questions", person.questions, ["Delete a.txt?"])
        ok("confirm_delete asks")

        task = await call_tool_task(client, "multi_input")
        waiting = await task.wait(state="input_required", timeout=STEP)
        equal("keys of the questions", sorted(waiting.input_requests), ["first", "second"])
        equal("text", text(await task.result()), "Ada and Grace")
        equal("questions", person.questions[1:], ["First name?", "Second name?"])
        ok("multi_input asks two questions at once")

        task = await call_tool_task(client, "slow_compute", {"seconds": 60})
        await task.cancel()
        equal("status", (await task.wait(timeout=STEP)).status, "cancelled")
        error = await error_of(task.result(), ToolError)
        equal("message", str(error), f"Task {task.task_id} was cancelled")
        ok("a running task can be cancelled")


async def without_tasks(url: str) -> None:
    async with WithoutTasks(url, timeout=STEP) as client:
        equal("greeting", text(await client.call_tool("greet", {"name": "Ada"})), "Hello, Ada!")
        for seconds in (0, 1):
            arguments = {"seconds": seconds, "label": "it"}
            result = await client.call_tool("slow_compute", arguments)
            equal("text", text(result), f"computed it in {seconds} s")
        ok("a client without tasks gets the results directly")

        error = await error_of(client.call_tool("failing_job"), MCPError)
        equal("code", error.code, MISSING_CAPABILITY)
        equal("data", error.data, {"requiredCapabilities": {"extensions": {TASKS: {}}}})
        ok("a client without tasks cannot call a tool that needs them")


async def multi_round_trips(url: str) -> None:
    """Questions that come as the result of a call."""
    rounds = {
        WithoutTasks: ("test_input_required_result_elicitation", "without tasks answers"),
        Client: ("test_tool_with_task", "with tasks answers in front of its task"),
    }
    for kind, (tool, what) in rounds.items():
        person = Person({"name": "Ada"})
        async with kind(url, elicitation_handler=person, timeout=STEP) as client:
            answer = text(await client.call_tool(tool))
            equal("number of questions", len(person.questions), 1)
            if "Ada" not in answer:
                raise Failed(f"the answer is not in the result: {answer}")
            ok(f"a client {what} in a second round")


async def drive(deploy: str, conformance: str) -> None:
    await without_tasks(conformance)
    await deploy_approved(deploy)
    await deploy_in_one_call(deploy)
    await deploy_refused(deploy)
    await with_tasks(conformance)
    await multi_round_trips(conformance)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("deploy", metavar="DEPLOY_URL")
    parser.add_argument("conformance", metavar="CONFORMANCE_URL")
    options = parser.parse_args()
    # Should the client hang while it is being stopped.
    faulthandler.dump_traceback_later(LIMIT + 10, exit=True)
    try:
        asyncio.run(asyncio.wait_for(drive(options.deploy, options.conformance), LIMIT))
    except Failed as failed:
        sys.exit(f"FAILED {failed}")
    except MCPError as error:
        sys.exit(f"FAILED with the protocol error {error.code}: {error} {error.data or ''}")
    except (asyncio.TimeoutError, TimeoutError) as error:
        sys.exit(f"FAILED: out of time ({error or f'{LIMIT} s'})")
    except Exception as error:
        sys.exit(f"FAILED with {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
