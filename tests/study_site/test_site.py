"""The site over HTTP, without scripts: what it shows, what it refuses, what it never shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from study_site.client import Client
from study_site.support import OWNER, SECRET, Clock, open_running, write_study

from usi.study import people
from usi.study.database import study_name
from usi.study.links import Signer
from usi.study.study import Running
from usi.study.web.app import study_app
from usi.study.web.guard import MOST_BYTES, Guard, Pace

starlette = pytest.importorskip("starlette.testclient")


class Site:
    """A study, its site in this process, and links."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.clock = Clock()
        self.running: Running = open_running(write_study(folder, **options), self.clock)  # type: ignore[arg-type]
        self.app = study_app(self.running, secret=SECRET, password=OWNER)
        self.signer = Signer(SECRET, study_name(self.running.database))
        self.http = starlette.TestClient(self.app, raise_server_exceptions=False)

    def link(self, number: int) -> str:
        return f"/i/{self.signer.sign('invitation', number)}"

    def client(self) -> Client:
        return Client(self.http)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "s")
    with made.http:
        yield made
    made.running.database.close()


def test_a_participant_goes_all_the_way_without_scripts(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    assert "ready for the first task" in person.text
    assert person.do_task("my fridge is broken", "yes please")
    assert "You have finished 1 of 2 tasks" in person.text
    assert person.do_task("again")
    assert "Your completion code" in person.text
    code = re.search(r'class="code"[^>]*>([0-9A-F]{10})<', person.text)
    assert code
    person.get(site.link(1))
    assert code[1] in person.text, "the link leads to the end again"


def test_every_page_is_kept_from_caches_frames_and_other_sites(site: Site) -> None:
    for path in ("/", site.link(1), "/owner", "/nowhere", "/static/study.css"):
        response = site.http.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        if not path.startswith("/static"):
            assert response.headers["cache-control"] == "no-store"
            loads = r"""(?:src|href|action|hx-\w+)="(?:https?:)?//"""
            assert not re.search(loads, response.text)
            assert "<script>" not in response.text
            assert " style=" not in response.text
            assert not re.search(r"\son\w+=", response.text)


def test_links_can_not_be_forged_or_guessed(site: Site) -> None:
    good = site.link(1)
    token = good.removeprefix("/i/")
    other = Signer("another-secret-of-32-characters-long", study_name(site.running.database))
    for bad in (
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        "MQ", "1", "../1",
        other.sign("invitation", 1),
        site.signer.sign("participant", 1),
        site.signer.sign("invitation", "1"),
    ):  # fmt: skip
        assert site.http.get(f"/i/{bad}").status_code == 404
    assert site.http.get(f"/p/{token}").status_code == 404, "made for another purpose"


def test_a_form_needs_its_own_token(site: Site) -> None:
    one, two = site.client(), site.client()
    one.get(site.link(1))
    two.get(site.link(2))
    token_of_two = re.search(r'name="csrf" value="([^"]+)"', two.text)
    assert token_of_two
    for token in ("", "x", token_of_two[1]):
        response = site.http.post(
            f"{one.place}/consent", data={"csrf": token, "answer": "yes", "agree": "yes"}
        )
        assert response.status_code == 403
    one.get(one.place)
    assert "/consent" in one.text, "nothing happened"


def test_another_site_can_not_send_a_form(site: Site) -> None:
    person = site.client()
    person.get(site.link(1))
    token = re.search(r'name="csrf" value="([^"]+)"', person.text)
    assert token
    data = {"csrf": token[1], "answer": "yes", "agree": "yes"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ):
        response = site.http.post(f"{person.place}/consent", data=data, headers=headers)
        assert response.status_code == 403, headers
    good = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    response = site.http.post(f"{person.place}/consent", data=data, headers=good)
    assert response.status_code == 200


def test_no_participant_sees_the_talk_of_another(site: Site) -> None:
    one, two = site.client(), site.client()
    one.begin(site.link(1))
    one.post("/next")
    one.say("my secret is mauve")
    talk = one.talk
    two.begin(site.link(2))
    for path in (f"/talk/{talk}/messages", f"/talk/{talk}/events"):
        response = site.http.get(two.place + path)
        assert response.status_code == 404
        assert "mauve" not in response.text
    two.post(f"/talk/{talk}/say", text="intruding", client="x")
    two.post(f"/talk/{talk}/end")
    assert "intruding" not in one.get(one.place)
    assert "mauve" in one.text


def test_what_people_type_is_data(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    person.post("/next")
    hostile = "<script>alert(1)</script> {{7*7}} ${x} %s </li><img src=x onerror=alert(1)> \u202e"
    person.say(hostile)
    person.wait()
    assert "<script>alert" not in person.text
    assert "<img" not in person.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}} ${x} %s" in person.text
    stored = people.messages_of(site.running.database.read(), int(person.talk))
    assert stored[1].body["content"] == hostile


def test_too_much_too_fast_too_large(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    person.post("/next")
    person.say("x" * 2001)
    assert person.status == 422
    assert "too long" in person.text
    response = site.http.post(
        f"{person.place}/talk/{person.talk}/say", content=b"text=" + b"x" * (MOST_BYTES + 1),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )  # fmt: skip
    assert response.status_code == 413

    def body() -> Iterator[bytes]:
        for _ in range(3):
            yield b"x" * (MOST_BYTES // 2)

    response = site.http.post(
        f"{person.place}/talk/{person.talk}/say", content=body(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )  # fmt: skip
    assert response.status_code == 413, "a body without a length is counted as it comes"
    for n in range(12):
        person.post(f"/talk/{person.talk}/say", text=f"m{n}", client=f"c{n}")
        if person.status == 429:
            break
        person.get(person.place)
    assert person.status == 429


def test_a_lecture_hall_may_begin_at_once_and_a_flood_is_stopped() -> None:
    guard = Guard(None, root_path="", refuse=lambda status: None)
    assert all(guard.an_address.allows("192.0.2.1") for _ in range(200 * 10))
    assert not all(guard.an_address.allows("192.0.2.1") for _ in range(2000))
    assert guard.an_address.allows("192.0.2.2")


def test_forms_of_one_person_have_a_pace_and_those_of_others_do_not_suffer(site: Site) -> None:
    one, other = site.client(), site.client()
    one.begin(site.link(1))
    other.begin(site.link(2))
    for _ in range(60):
        one.post("/next")
        if one.status == 429:
            break
    assert one.status == 429
    assert "wait" in one.text
    other.post("/next")
    assert other.status == 200


def test_a_bucket_lets_through_what_it_says() -> None:
    now = [0.0]
    pace = Pace(a_second=2.0, at_once=3, most=2, clock=lambda: now[0])
    assert [pace.allows("a") for _ in range(4)] == [True, True, True, False]
    assert pace.allows("b")
    now[0] = 0.5
    assert [pace.allows("a") for _ in range(2)] == [True, False]
    pace.allows("c")
    assert len(pace._buckets) == 2


def test_the_same_message_sent_twice_is_kept_once(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    person.post("/next")
    for _ in range(3):
        person.say("only once", client="same")
    stored = people.messages_of(site.running.database.read(), int(person.talk))
    assert [m.body["content"] for m in stored if m.body["role"] == "user"] == ["only once"]


def test_old_forms_change_nothing(site: Site) -> None:
    """The back button shows an old page, and its form is sent again."""
    person = site.client()
    person.get(site.link(1))
    consent = person.text
    person.begin(site.link(1))
    person.do_task("help me")
    before = person.get(person.place)
    token = re.search(r'name="csrf" value="([^"]+)"', consent)
    assert token
    for path, fields in (
        ("/consent", {"answer": "no"}),
        ("/understood", {"answer": "2", "try": "0"}),
        ("/talk/2/say", {"text": "late", "client": "late"}),
        ("/talk/2/survey", {"task_success": "1"}),
        ("/talk/2/end", {}),
    ):
        response = site.http.post(
            f"{person.place}{path}", data={"csrf": token[1], **fields}, follow_redirects=True
        )
        assert response.status_code in (200, 409)
    assert person.get(person.place) == before
    survey = site.running.database.read().execute("select survey from talk where id = 2").fetchone()
    assert "Yes - Task completed" in survey[0]


def test_withdrawing_through_the_site(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    person.do_task("forget this sentence")
    person.get(f"{person.place}/withdraw")
    place = person.place
    person.post("/withdraw")
    assert "You have withdrawn" in person.text
    assert "You have withdrawn" in person.get(place)
    for path in site.running.place.folder.glob("study.sqlite*"):
        assert b"forget this sentence" not in path.read_bytes()


def test_who_does_not_agree_leaves_nothing(site: Site) -> None:
    person = site.client()
    person.get(site.link(1))
    person.post("/consent", answer="yes")
    assert person.status == 422
    person.post("/consent", answer="no")
    assert "You have not agreed" in person.text
    row = site.running.database.read().execute("select state, consented from participant")
    assert [tuple(r) for r in row] == [("declined", None)]


def test_recruiting_parameters(tmp_path: Path) -> None:
    site = Site(
        tmp_path / "s",
        more='[recruiting]\nparameters = ["PROLIFIC_PID", "SESSION_ID"]\nid = "PROLIFIC_PID"\n'
        '[completion]\ncode = "C1"\nredirect = "https://panel.example/done?cc={code}"\n',
    )
    with site.http:
        person = site.client()
        person.begin("/?PROLIFIC_PID=5f0a&SESSION_ID=s1&EXTRA=x")
        person.do_task("one")
        person.do_task("two")
        assert 'href="https://panel.example/done?cc=C1"' in person.text
        assert "Your completion code" in site.client().get("/?PROLIFIC_PID=5f0a&SESSION_ID=s1")
        assert site.http.get("/?PROLIFIC_PID=5f0a&SESSION_ID=other").status_code == 403
        assert site.http.get("/?SESSION_ID=s1").status_code == 404
    site.running.database.close()


@pytest.mark.parametrize("path", ["/study", ""])
def test_behind_a_proxy_that_strips_the_path_or_not(tmp_path: Path, path: str) -> None:
    running = open_running(write_study(tmp_path / "s"))
    app = study_app(running, secret=SECRET, password=OWNER, root_path="/study")
    signer = Signer(SECRET, study_name(running.database))
    with starlette.TestClient(app) as http:
        response = http.get(f"{path}/i/{signer.sign('invitation', 1)}", follow_redirects=False)
        assert response.headers["location"].startswith("/study/p/")
        page = http.get(response.headers["location"].removeprefix("" if path else "/study"))
        assert page.status_code == 200
        assert 'href="/study/static/study.css' in page.text
        assert http.get(f"{path}/static/study.css").status_code == 200
    running.database.close()


def test_the_owners_page_is_behind_the_password(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    person.do_task("I need help with my fridge")
    talk = (
        site.running.database.read()
        .execute("select id from talk where batch is not null")
        .fetchone()[0]
    )
    for path in ("/owner", f"/owner/talk/{talk}"):
        assert "fridge" not in site.http.get(path).text
    assert site.http.post("/owner/export", data={"csrf": ""}).status_code == 403
    page = site.http.get("/owner").text
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token
    wrong = site.http.post("/owner/enter", data={"csrf": token[1], "password": "x"})
    assert wrong.status_code == 403
    right = site.http.post("/owner/enter", data={"csrf": token[1], "password": OWNER})
    assert "Cells filled" in right.text
    assert "1 of 6" in right.text
    read = site.http.get(f"/owner/talk/{talk}").text
    assert "I need help with my fridge" in read
    token = re.search(r'name="csrf" value="([^"]+)"', read)
    assert token
    done = site.http.post(
        f"/owner/talk/{talk}/exclude", data={"csrf": token[1], "reason": "=a test"}
    )
    assert "=a test" in done.text
    forged = site.http.post(f"/owner/talk/{talk}/include", data={"csrf": "x"})
    assert forged.status_code == 403
    site.http.post(f"/owner/talk/{talk}/include", data={"csrf": token[1]})
    archive = site.http.post("/owner/export", data={"csrf": token[1]})
    assert archive.headers["content-type"] == "application/zip"
    assert archive.content[:2] == b"PK"


def test_passwords_can_not_be_tried_at_will(site: Site) -> None:
    codes = [
        site.http.post("/owner/enter", data={"password": f"guess {n}"}).status_code
        for n in range(8)
    ]
    assert codes[0] == 403
    assert codes[-1] == 429


def test_strange_addresses_are_answered(site: Site) -> None:
    person = site.client()
    person.begin(site.link(1))
    for path in ("/talk/9999999999999999999999/messages", "/talk/abc/say", "/%00", "/../../etc"):
        assert site.http.get(f"{person.place}{path}").status_code in (404, 405, 500)
    assert site.http.get("/static/../study.sqlite").status_code == 404
    assert site.http.get("/static/vendor/htmx.min.js").status_code == 200
    assert site.http.delete(person.place).status_code in (403, 405)
