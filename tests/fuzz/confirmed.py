"""A file through the verifier; and played certificates that it accepts, confirmed by code that it does not use."""

from tests.fuzz.statements import Certificate, told
from tests.fuzz.target import clear, folder
from tests.validate import plays
from validate import verifier


def reported(content: bytes) -> tuple[Certificate, verifier.Report | None]:
    """What a file holds, and what the verifier says of it: nothing where it refuses it with a clear error.

    Raises:
        AssertionError: for text that a terminal may not show, or a verdict that is not that of the lines.
    """
    path = folder() / "certificate.json"
    path.write_bytes(content)
    certificate: Certificate = {}
    try:
        certificate = verifier.load(str(path))
        report = verifier.verify(certificate)
    except verifier.FormatError as error:
        message = str(error)
        assert message.isprintable() and message.isascii(), "a message that a terminal may not show"  # noqa: PT018
        clear(error)
        return certificate, None
    failed = any(line.startswith("FAIL") for line in report.lines)
    assert report.valid != failed, "the verdict is not that of the lines"
    lines = (*report.claimed, *report.lines)
    assert all(line.isprintable() and line.isascii() for line in lines), "a line that a terminal may not show"
    return certificate, report


def confirmed(certificate: Certificate) -> bool:
    """That an accepted certificate is true, by brute force over all outcomes.

    Raises:
        AssertionError: when it is not true.
    """
    told(certificate)
    assert plays.recomputed(certificate), certificate
    return True
