"""Briefs with a disguised answer, and innocent ones."""

from __future__ import annotations

import base64
import codecs
from pathlib import Path

import pytest

from scenario_kit.lint.rules.leaks.brief.language import judge_sentence
from scenario_kit.lint.rules.leaks.brief.obfuscation import find_disguised, find_encoded
from scenario_kit.lint.rules.leaks.brief.text import find_invisible, find_unusual, split_sentences
from scenario_kit.model import Severity
from tests.lint.test_rules import base, lint

_ANSWER = "Service/product-catalog targetPort"


@pytest.mark.parametrize(
    "brief",
    [
        pytest.param(f"Pages fail. {base64.b64encode(_ANSWER.encode()).decode()}", id="base64"),
        pytest.param(f"Pages fail. {base64.urlsafe_b64encode(b'look at carts?').decode()}", id="base64 of URLs"),
        pytest.param(f"Pages fail. {_ANSWER.encode().hex()}", id="hexadecimal"),
        pytest.param(f"Pages fail. {b'catalogue'.hex(' ')}", id="hexadecimal bytes"),
        pytest.param(f"Pages fail. {_ANSWER[::-1]}", id="backwards"),
        pytest.param(f"Pages fail. {codecs.encode('product catalog', 'rot13')}", id="rotated"),
        pytest.param(f"Pages fail. {' '.join(_ANSWER)}", id="letter by letter"),
        pytest.param("Pages fail. p-r-o-d-u-c-t c-a-t-a-l-o-g", id="letters and hyphens"),
        pytest.param("Pages fail. Somebody noted nine, nine, nine, nine.", id="digits in words"),
        pytest.param(
            "Pages fail. Somebody noted 9\ufe0f\u20e39\ufe0f\u20e39\ufe0f\u20e39\ufe0f\u20e3.", id="pictures of keys"
        ),
        pytest.param(
            "Pages fail. \u0421\u0435\u0440\u0432\u0438\u0441 \u0441\u043b\u043e\u043c\u0430\u043d.", id="Russian"
        ),
        pytest.param("Pages fail. See product-catalog-wrong-target-port.", id="name of the scenario"),
        pytest.param("Pages fail, it is catalog-port.", id="name of the fault"),
        pytest.param("Pages fail. Try kubectl get svc product-catalog.", id="as it is typed"),
        pytest.param("Pages fail. Look at the Service product-catalog.", id="kind and name"),
        pytest.param("It forwards to a port on which nothing listens, they say.", id="title of the fault type"),
    ],
)
def test_disguised_answer_in_brief_is_found(brief: str, tmp_path: Path) -> None:
    document = base()
    document["spec"]["brief"] = brief
    assert [f.code for f in lint(document, tmp_path)] == ["SK211"]


@pytest.mark.parametrize(
    "brief",
    [
        pytest.param("Seiten schlagen fehl, seit der Dienst des Katalogs auf einen anderen zeigt.", id="German"),
        pytest.param("Les pages ne marchent pas depuis que le service pointe ailleurs.", id="French"),
    ],
)
def test_unreadable_brief_is_a_warning(brief: str, tmp_path: Path) -> None:
    document = base()
    document["spec"]["brief"] = brief
    assert [(f.code, f.severity) for f in lint(document, tmp_path)] == [("SK211", Severity.WARNING)]


@pytest.mark.parametrize(
    "brief",
    [
        "HighRequestErrorRate fires on Deployment/frontend, Deployment/recommendation and Deployment/checkout.",
        "Ticket 20261122173000: trace 4bf92f3577b34da6a3ce929d0e0e4736 ends with an error since 10:45.",
        "Since v1.2.3-4567890abcdef customers of the Caf\u00e9 de la Gare cannot order. p95 is 900 \u03bcs.",
        "Our catalog service team says that all is well, but pages fail. C. A. R. T. was never answered.",
        "frontend: error rate 12 %. recommendation: error rate 40 %.",
        "Nobody can check out since 10:45; support got 7,763 mails and 8282 calls. They say the delay is okay today.",
        "1\ufe0f\u20e3 Pages fail. 2\ufe0f\u20e3 One, two orders in a hundred go through.",
    ],
)
def test_on_call_page_is_no_disguised_answer(brief: str, tmp_path: Path) -> None:
    document = base()
    document["spec"]["brief"] = brief
    assert not lint(document, tmp_path)


@pytest.mark.parametrize("text", ["ℹ️ Note", "↔️", "〰️", "1️⃣", "👩\u200d💻", "🏳️\u200d🌈", "⚠️", "café", "a\u00a0b"])
def test_emoji_are_visible(text: str) -> None:
    assert list(find_invisible(text)) == []


@pytest.mark.parametrize("text", ["a\ufe0f", "a\u200db", "\u2060", "x\U000e0041", "😀\ufe01", "so\u00adft"])
def test_invisible_characters_are_found(text: str) -> None:
    assert len(list(find_invisible(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "ｃａｒｔ fails",
        "\U0001d41c\U0001d41a\U0001d42b\U0001d42d fails",
        "ᶜᵃʳᵗ fails",
        "\U0001f1e8\U0001f1e6\U0001f1f7\U0001f1f9\U0001f1f8 fails",
        "⠉⠁⠗⠞ fails",
        "c\u0332a\u0332r\u0332t\u0332 fails",
        "the cart\x1b[31m fails",
    ],
    ids=ascii,
)
def test_signs_for_letters_are_found(text: str) -> None:
    assert len(list(find_unusual(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Pages of Shop™ fail since 10 ℃, at 5 km² – ½ of them, № 3, in 🇩🇪 and 🇫🇷.",
        "The café’s naïve coördinator in Łódź (Đà Nẵng) cannot pay.\n\tOrders: ﬁve of ten.",
        "cafe\u0301 and re\u0301sume\u0301 pages fail.",
    ],
)
def test_usual_signs_are_accepted(text: str) -> None:
    assert list(find_unusual(text)) == []


def test_encoded_answer_is_found() -> None:
    run = base64.b64encode(b"targetPort 9999").decode().rstrip("=")
    assert list(find_encoded(f"see {run}.")) == [(run, "targetPort 9999")]
    assert not list(find_encoded("recommendation frontend-proxy-is-down 0123456789abcdef"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Look: C a r t, now", ["cart"]),
        ("A b or c d", []),
        ("c4rt is slow", ["cart"]),
        ("The cart is slow since 10:30, for 30 % & 4 @ once.", []),
        ("Carol said so. All is slow. Rates are low. Try again.", ["cart"]),
        ("-.-. .- .-. -", ["cart"]),
        ("charlie alfa romeo tango", ["cart"]),
        ("xzig", ["cart"]),
        ("(vsty)", ["cart"]),
    ],
)
def test_name_in_disguise_is_found(text: str, names: list[str]) -> None:
    assert list(find_disguised(text, ["cart"])) == names


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("surgxfw-fdwdorj", id="shifted by three"),
        pytest.param("Pages of fdwdorj", id="one word of it"),
        pytest.param("[tpfivy vsyspmh", id="keys to the right"),
        pytest.param("call 7763828 22825 64", id="keys of a telephone"),
        pytest.param("the prdct-ctlg", id="without vowels"),
        pytest.param("a pro duct cata log", id="torn"),
        pytest.param("Oductpray Atalogcay", id="Pig Latin"),
        pytest.param("\u0183ol\u0250\u0287\u0250\u0254-\u0287\u0254npo\u0279d", id="upside down"),
        pytest.param("peoPle heRe cOmplain anD wonder whUt beComes of iT.", id="capitals within words"),
        pytest.param("Papa Romeo Oscar Delta Uniform Charlie Tango", id="half of it, spelled"),
    ],
)
def test_name_of_several_words_in_disguise_is_found(text: str) -> None:
    assert list(find_disguised(f"Pages fail. {text}", ["product-catalog"])) == ["product-catalog"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Nobody can check out, and the front end is slow.", "checkout"),
        ("Nobody can check out, and the front end is slow.", "frontend"),
        ("The product catalog and the product  catalogue are slow.", "product-catalog"),
        ("The recommend ations are late.", "recommendation"),
        ("Order 776382 of 08:22 and 2825 others are lost.", "product-catalog"),
        ("Today they may say that the way is okay.", "way"),
    ],
)
def test_prose_is_no_disguise(text: str, name: str) -> None:
    assert list(find_disguised(text, [name])) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nobody can order, and it is not the network.", []),
        ("La page est lente", ["la", "est"]),
        ("Nobody can order. Der Warenkorb ist abgeschaltet.", ["der", "ist"]),
        ("frontend: error rate 12 %.", []),
        ("El sitio no funciona desde las diez", ["el", "desde", "las"]),
        ("\u5546\u54c1 pages fail", ["\u5546\u54c1"]),
    ],
)
def test_non_english_words_are_reported(text: str, words: list[str]) -> None:
    assert [word for sentence in split_sentences(text) for word in judge_sentence(sentence)] == words
