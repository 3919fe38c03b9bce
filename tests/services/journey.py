"""The journey to a sponsored answer with the official Python client: journey.py MODE URL|stdio. ANNAI names the executable.

Prints the id of the campaign that paid. `journey.test.mjs` prepares the server and checks the sponsor's side.
"""

import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters

EMAIL = "you@example.com"
CONSENT = {"data_sharing_agreed": True, "purpose_acknowledged": True, "contact_permission": False}


async def journey(client: Client) -> str:
    async def good(tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments or {})
        assert not result.is_error, result
        sentence, rest = (item.text for item in result.content)
        assert result.structured_content == {**json.loads(rest), "message": sentence}, result
        return result.structured_content

    async def refused(tool: str, arguments: dict[str, Any], code: str) -> str:
        result = await client.call_tool(tool, arguments)
        assert result.is_error and result.structured_content is None, result
        assert result.meta["annai/error"]["code"] == code, result
        return result.content[0].text

    found = await good("search_services", {"intent": "tea"})
    campaign = found["services"][0]["service_id"]
    await refused("authenticate_user", {"email": "somebody@example.com", "region": "JP"}, "forbidden")
    user = await good("authenticate_user", {"email": EMAIL, "region": "JP", "roles": ["developer"]})
    task = await good("get_task_details", {"campaign_id": campaign})
    run = {"service": "answer", "input": "本日の東京の天気は？"}
    assert task["required_task"] in await refused("run_service", run, "precondition_required")
    done = {"campaign_id": campaign, "task_name": task["required_task"], "consent": CONSENT}
    assert (await good("complete_task", done))["can_use_service"] is True
    ran = await good("run_service", run)
    assert json.loads(ran["output"])["used_search"] is True, ran
    assert ran["sponsored_by"] == "Sencha Co", ran
    status = await good("get_user_status")
    assert status["user_id"] == user["user_id"] and status["available_services"][0]["ready"] is True, status
    return campaign


async def main() -> None:
    mode, server = sys.argv[1:]
    if server == "stdio":
        arguments = ["--stdio", "--toolset", "services", "--toolset", "answers"]
        server = StdioServerParameters(command=os.environ["ANNAI"], args=arguments, env=dict(os.environ))
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search_services", "run_service", "answer"} <= tools, tools
        prompt = await client.get_prompt("find_sponsored_service", {"service": "answer"})
        assert "answer" in prompt.messages[0].content.text
        print(await journey(client))


asyncio.run(main())
