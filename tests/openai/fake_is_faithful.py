"""The official Python client against the fake API. FAKE_OPENAI names the fake's executable."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import get_args

import openai
from openai import OpenAI
from openai.types.responses import (
    Response,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseReasoningItem,
    ResponseStreamEvent,
)
from openai.types.responses.response_function_web_search import ActionOpenPage, ActionSearch
from openai.types.responses.response_output_text import AnnotationURLCitation
from pydantic import TypeAdapter, ValidationError

KEY = "fake-key-for-tests-0123456789abcdefghij"
MODEL = "gpt-6.1-terra"
SEARCH = {
    "tools": [{"type": "web_search", "user_location": {"type": "approximate", "timezone": "Asia/Tokyo"}}],
    "include": ["web_search_call.action.sources"],
    "text": {"verbosity": "medium"},
    "reasoning": {"effort": "medium"},
    "store": False,
}
# A question with "plainly" is answered without what the client's strict mode refuses: a source that is no URL,
# an item and two events of types that nobody knows, and a search that has begun and has no action yet.
PLAIN = "東京の天気, plainly\n(recent)"
ODD = "東京の天気"
UNKNOWN_EVENTS = {"keepalive", "response.something_new"}


@contextlib.contextmanager
def fake() -> Iterator[str]:
    """Starts the fake and gives its address."""
    with subprocess.Popen([os.environ["FAKE_OPENAI"]], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def cited(response: Response) -> list[str]:
    """Checks the citations of the last message, and gives their URLs."""
    message = response.output[-1]
    assert isinstance(message, ResponseOutputMessage), message
    content = message.content[0]
    assert content.type == "output_text" and response.output_text == content.text
    for citation in content.annotations:
        assert isinstance(citation, AnnotationURLCitation), citation
        part = content.text[citation.start_index : citation.end_index]
        assert part == f"([{citation.title}]({citation.url}))", part
    return [citation.url for citation in content.annotations]


def check_plain(client: OpenAI) -> None:
    response = client.responses.create(model=MODEL, input="HTTP 404 の意味\nlatest news", **SEARCH)
    assert response.status == "completed" and response.error is None
    assert response.model == f"{MODEL}-2026-08-01", response.model
    assert [item.type for item in response.output] == ["message"]
    assert cited(response) == [] and response.output_text
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response.reasoning.effort == "medium" and response.text.verbosity == "medium"
    assert response.tools[0].type == "web_search" and response._request_id


def check_search(client: OpenAI, question: str) -> None:
    response = client.responses.create(model=MODEL, input=question, **SEARCH)
    search, page, thought = response.output[:3]
    assert isinstance(search, ResponseFunctionWebSearch) and isinstance(page, ResponseFunctionWebSearch)
    assert isinstance(search.action, ActionSearch) and search.action.queries
    assert isinstance(page.action, ActionOpenPage) and page.action.url
    assert isinstance(thought, ResponseReasoningItem)
    assert len(search.action.sources) == (2 if question == PLAIN else 3)
    urls = cited(response)
    assert len(urls) == 2 and all(url.endswith("?utm_source=openai") for url in urls)

    without = client.responses.create(model=MODEL, input=question, **{**SEARCH, "include": []})
    assert without.output[0].action.sources is None

    tool = {"type": "web_search", "filters": {"allowed_domains": ["example.jp"]}}
    within = client.responses.create(model=MODEL, input=question, tools=[tool], tool_choice="required")
    assert all(url.startswith("https://www.example.jp/page") for url in cited(within))


def check_raw(client: OpenAI) -> None:
    raw = client.responses.with_raw_response.create(model=MODEL, input=PLAIN, **SEARCH)
    for name in ["x-request-id", "openai-processing-ms", "x-ratelimit-remaining-requests"]:
        assert raw.headers.get(name), name
    body = json.loads(raw.text)
    response = Response.model_validate(body)
    # What the types did not take in would be left over at the top.
    assert not response.model_extra or set(response.model_extra) <= {"store"}, response.model_extra
    assert {"store", "usage", "truncation", "completed_at"} <= set(body)

    raw = client.responses.with_raw_response.create(model=MODEL, input=ODD, **SEARCH)
    try:
        Response.model_validate(json.loads(raw.text))
    except ValidationError as error:
        places = {tuple(detail["loc"][:2]) for detail in error.errors()}
        # The source that is no URL, and the item of a type that nobody knows.
        assert places == {("output", 0), ("output", 3)}, places
    else:
        raise AssertionError("the oddities are gone")


def check_stream(client: OpenAI, question: str) -> None:
    events = list(client.responses.create(model=MODEL, input=question, stream=True, **SEARCH))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    adapter = TypeAdapter(ResponseStreamEvent)
    for event in events:
        if event.type in UNKNOWN_EVENTS:
            assert question == ODD
        elif question == PLAIN:
            adapter.validate_python(event.to_dict())
        else:
            # The class is the one made for this event, not one that the client fell back on.
            assert event.type in get_args(type(event).model_fields["type"].annotation), event
    if question == ODD:
        assert UNKNOWN_EVENTS <= {event.type for event in events}
    last = events[-1]
    assert last.type == "response.completed"
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == last.response.output_text and len(cited(last.response)) == 2
    annotations = [event for event in events if event.type == "response.output_text.annotation.added"]
    assert len(annotations) == 2


def check_stream_helper(client: OpenAI) -> None:
    with client.responses.stream(model=MODEL, input=PLAIN, **SEARCH) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        response = stream.get_final_response()
    assert text == response.output_text and len(cited(response)) == 2


def check_models(client: OpenAI) -> None:
    models = {model.id: model.shutdown_date for model in client.models.list()}
    assert models["o3"] == "2026-12-11" and models[MODEL] is None


def check_refusals(client: OpenAI) -> None:
    def refused(kind: type[openai.APIStatusError], code: str | None, param: str | None, **fields: object) -> None:
        try:
            client.responses.create(**{"model": MODEL, "input": "x", **fields})
        except openai.APIStatusError as error:
            assert type(error) is kind, (error, kind)
            assert (error.code, error.param, error.type) == (code, param, "invalid_request_error"), error
            assert error.request_id
        else:
            raise AssertionError(f"{fields} was taken")

    bad = openai.BadRequestError
    refused(bad, "unknown_parameter", "foo", extra_body={"foo": 1})
    refused(bad, "unknown_parameter", "text.foo", text={"foo": 1})
    refused(bad, "invalid_type", "store", store="no")
    refused(bad, "invalid_value", "include[0]", include=["sources"])
    refused(bad, "invalid_value", "tools[0].type", tools=[{"type": "web"}])
    tool = {"type": "web_search", "filters": {"allowed_domains": [1]}}
    refused(bad, "invalid_type", "tools[0].filters.allowed_domains[0]", tools=[tool])
    refused(bad, None, "tools", tools=[{"type": "web_search"}], reasoning={"effort": "minimal"})
    refused(bad, "unsupported_parameter", "temperature", temperature=0.5)
    refused(bad, "unsupported_parameter", "reasoning.effort", model="azure-mine", reasoning={"effort": "low"})
    refused(bad, "model_not_found", "model", model="gpt-7")
    refused(openai.NotFoundError, "model_not_found", "model", model="gpt-3.5-turbo")
    stranger = client.with_options(api_key="sk-proj-somebody-else-0123456789")
    try:
        stranger.models.list()
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key" and "somebody-else" not in str(error), error
    else:
        raise AssertionError("a stranger was let in")


def main() -> None:
    with fake() as url:
        lax = OpenAI(api_key=KEY, base_url=url, max_retries=0, timeout=20)
        # It raises on whatever its types do not describe.
        strict = OpenAI(
            api_key=KEY, base_url=url, max_retries=0, timeout=20, _strict_response_validation=True
        )
        checks: dict[str, Callable[[], None]] = {
            "plain": lambda: check_plain(strict),
            "search": lambda: check_search(strict, PLAIN),
            "search with oddities": lambda: check_search(lax, ODD),
            "raw": lambda: check_raw(lax),
            "stream": lambda: check_stream(strict, PLAIN),
            "stream with oddities": lambda: check_stream(lax, ODD),
            "stream helper": lambda: check_stream_helper(strict),
            "models": lambda: check_models(strict),
            "refusals": lambda: check_refusals(strict),
        }
        for name, check in checks.items():
            check()
            print(f"ok {name}", flush=True)


if __name__ == "__main__":
    main()
