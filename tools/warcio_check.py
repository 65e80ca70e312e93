"""Check that warcio (PyPI) reads WARC files of Pharos, and that Pharos imports files of warcio.

usage: warcio_check.py PHAROS_BINARY
"""

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

PAGES = {
    "http://www.example.org/": "<title>Lighthouse</title><p>The keeper lights the lamp at dusk. <a href=/zh>灯塔</a>",
    "http://www.example.org/zh": "<title>灯塔</title><p>守塔人在黄昏点亮了灯。",
    "http://www.example.org/chunked": "<title>Chunked tower</title><p>It came in pieces.",
}


def chunked(body):
    parts = [body[i : i + 20] for i in range(0, len(body), 20)] + [b""]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


def write_with_warcio(path, compressed):
    """Write records as wget, Heritrix and browsers do: info, requests, responses, some chunked, a revisit, a resource."""
    with open(path, "wb") as output:
        writer = WARCWriter(output, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio"}))
        for url, html in PAGES.items():
            body = html.encode()
            headers = [("Content-Type", "text/html; charset=utf-8")]
            if url.endswith("chunked"):
                headers.append(("Transfer-Encoding", "chunked"))
                body = chunked(body)
            http = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            response = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=http, warc_headers_dict={"WARC-Date": "2026-01-31T12:00:00Z"}
            )
            request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "www.example.org")], is_http_request=True)
            writer.write_record(response)
            writer.write_record(writer.create_warc_record(url, "request", http_headers=request))
        writer.write_record(
            writer.create_revisit_record(
                "http://www.example.org/elsewhere", "sha1:B6QJ6BNJ3R4B23XXMRKZKHLPGJY2VE4O",
                "http://www.example.org/", "2026-01-31T12:00:00Z",
                http_headers=StatusAndHeaders("200 OK", [], protocol="HTTP/1.1"),
            )
        )
        text = "Notes on towers, plainly written.".encode()
        writer.write_record(
            writer.create_warc_record(
                "http://www.example.org/notes.txt", "resource", payload=io.BytesIO(text), warc_content_type="text/plain"
            )
        )


def read_with_warcio(path):
    """Return every response by URL, with digests verified."""
    found = {}
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            body = record.content_stream().read()
            if record.rec_type in ("response", "resource"):
                found[record.rec_headers.get_header("WARC-Target-URI")] = body
    return found


def main(binary):
    def pharos(data, *arguments):
        command = [binary, "--quiet", "--data", str(data), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, timeout=120)
        if done.returncode != 0:
            sys.exit(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    expected = {url: html.encode() for url, html in PAGES.items()}
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for compressed in (True, False):
            source = folder / ("warcio.warc.gz" if compressed else "warcio.warc")
            write_with_warcio(source, compressed)
            data = folder / f"data-{compressed}"
            pharos(data, "import", source)
            hits = json.loads(pharos(data, "--json", "search", "灯塔"))["hits"]
            assert any(hit["url"].endswith("/zh") for hit in hits), hits
            hits = json.loads(pharos(data, "--json", "search", "pieces"))["hits"]
            assert [hit["url"] for hit in hits] == ["http://www.example.org/chunked"], hits

            exported = folder / f"pharos-{compressed}.warc.gz"
            pharos(data, "export", "--format", "warc", "--out", exported)
            for path in [exported, *sorted((data / "library").glob("*.warc.gz"))]:
                found = read_with_warcio(path)
                for url, body in expected.items():
                    assert found.get(url) == body, f"{path.name}: {url}: {found.get(url)!r}"
                    checked += 1
                assert found["http://www.example.org/notes.txt"] == b"Notes on towers, plainly written."
    print(f"warcio: {checked} passed, 0 failed")


if __name__ == "__main__":
    main(sys.argv[1])
