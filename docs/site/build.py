"""Build the site: the manual, the reference from docstrings and the gallery of examples.

    pip install ".[docs]" && python docs/site/build.py --serve

Runs every example (some ten minutes of one core; `--without-examples` shows their code alone) and writes plain files, which
need no server, to build/site. Warnings are errors. `--serve` shows them at 127.0.0.1.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import tempfile
from pathlib import Path

from api import write_reference
from gallery import write_gallery
from pages import ROOT, write_pages
from sphinx.cmd.build import build_main


def build(out: Path, *, examples: bool, jobs: int) -> int:
    """Write the site to `out`; the exit code of Sphinx."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as temporary:
        source, work = Path(temporary) / "source", Path(temporary) / "work"
        (source / "_static").mkdir(parents=True)
        shutil.copy(here / "conf.py", source)
        shutil.copy(here / "site.css", source / "_static")
        write_gallery(source, work, running=examples, jobs=jobs)
        write_reference(source)
        write_pages(source)
        shutil.rmtree(out, ignore_errors=True)
        return build_main(["-W", "--keep-going", "-q", "-b", "html", str(source), str(out)])


def serve(folder: Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/index.html (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "site", help="where to write (default: build/site)"
    )
    parser.add_argument("--without-examples", action="store_true", help="do not run the examples")
    parser.add_argument("--jobs", type=int, default=1, help="examples that run at a time")
    parser.add_argument("--serve", action="store_true", help="show the site at 127.0.0.1 when it is built")
    parser.add_argument("--port", type=int, default=0, help="of --serve; any free one by default")
    args = parser.parse_args()
    code = build(args.out, examples=not args.without_examples, jobs=args.jobs)
    if code == 0:
        print(f"{args.out / 'index.html'}: {sum(1 for _ in args.out.glob('*.html'))} pages")
        if args.serve:
            serve(args.out, args.port)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
