"""The official Python client over stdio and HTTP. ANNAI and FIXTURE name the executables, OPENAI_… the API."""

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import Iterator

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError


@contextlib.contextmanager
def listening(command: str) -> Iterator[str]:
    """Starts a server over HTTP and gives its address."""
    arguments = [command, "--http", "127.0.0.1:0"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = (json.loads(line) for line in process.stderr)
            yield next(line["url"] for line in lines if line.get("msg") == "listening")
        finally:
            process.terminate()
            process.stderr.read()


async def with_fixture(server: StdioServerParameters | str, mode: str, protocol: str) -> None:
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        assert client.protocol_version == protocol, client.protocol_version
        # A pinned version asks nobody, so the server has not said its name.
        assert mode == protocol or client.server_info.name == "fixture"
        tools = (await client.list_tools()).tools
        assert len(tools) > 15 and all(tool.description for tool in tools)

        result = await client.call_tool("strict", {"query": "案内", "limit": 3})
        assert result.structured_content["query"] == "案内", result
        failed = await client.call_tool("strict", {"query": "x", "limit": 99})
        assert failed.is_error and "from 1 to 10" in failed.content[0].text

        steps: list[float] = []

        async def step(done: float, total: float | None, message: str | None) -> None:
            steps.append(done)

        await client.call_tool("test_tool_with_progress", {}, progress_callback=step)
        assert steps == [0, 50, 100], steps

        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert "unknown tool" in str(error), error

        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        assert "arg1='a'" in prompt.messages[0].content.text
        resource = await client.read_resource("test://static-text")
        assert resource.contents[0].text.startswith("This is the content")


async def with_annai(server: StdioServerParameters | str, mode: str) -> None:
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        assert mode.startswith("20") or client.server_info.name == "annai"
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False, tool.name

        steps: list[str | None] = []

        async def step(done: float, total: float | None, message: str | None) -> None:
            steps.append(message)

        asked = await client.call_tool("answer", {"query": "weather in Tokyo"}, progress_callback=step)
        assert asked.structured_content["used_search"] is True, asked
        first, second = (json.loads(item.text) for item in asked.content)
        assert list(first) == ["answer", "used_search", "citations", "model"], first
        assert {**first, **second} == asked.structured_content
        assert steps and steps[0] == "asking gpt-6.1-terra", steps
        found = await client.call_tool("chatgpt_o3_search", {"query": "rust", "limit": 1})
        assert len(found.structured_content["results"]) == 1, found


async def main() -> None:
    passed = 0
    annai, fixture = os.environ["ANNAI"], os.environ["FIXTURE"]
    with listening(annai) as annai_url, listening(fixture) as fixture_url:
        for mode, protocol in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]:
            for server in [StdioServerParameters(command=fixture), fixture_url]:
                await with_fixture(server, mode, protocol)
                passed += 1
            for server in [StdioServerParameters(command=annai, args=["--stdio"], env=dict(os.environ)), annai_url]:
                await with_annai(server, mode)
                passed += 1
            print(f"python client, {mode}: ok")
    print(f"{passed} passed, 0 failed")


asyncio.run(main())
