"""The entry point: find the commands, run one, turn what goes wrong into a message and a code."""

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import proxyaudit
import proxyaudit.cli
from proxyaudit.cli.common import DEBUG, is_debugging, say_bug, say_user_error
from proxyaudit.cli.streams import is_stdout_bad, open_streams, output_failed, reader_gone
from proxyaudit.core.errors import UserError
from proxyaudit.report.encoding import adapt_streams

# The order of the help: as one uses them. A command that is not named here comes last.
_ORDER = ("demo", "record", "import", "audit", "list", "show", "diff", "rule", "replay")
INTERRUPTED = 130


def build() -> typer.Typer:
    """The application, with every module of this package that has a `register`."""
    app = typer.Typer(
        name="proxyaudit",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        # Plain help: rich with its Markdown and its highlighter takes longer than all the rest.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    names = [module.name for module in pkgutil.iter_modules(proxyaudit.cli.__path__)]
    for name in sorted(names, key=_place):
        register = getattr(importlib.import_module(f"proxyaudit.cli.{name}"), "register", None)
        if register is not None:
            register(app)
    return app


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"proxyaudit {proxyaudit.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an internal error.")
    ] = False,
) -> None:
    """Who lost the context: the harness, the proxy, the server or the model?

    Start with `proxyaudit demo`, or put the recorder in between: `proxyaudit record`.
    """
    if debug:
        os.environ[DEBUG] = "1"


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code: 0 fine, 1 findings, 2 could not run, 130 interrupted."""
    try:
        build()(list(arguments), prog_name="proxyaudit")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BrokenPipeError:
        return reader_gone()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _failed(error)
    return 0


def _user_error(error: BaseException) -> UserError | None:
    """The user's mistake in an error, also where tasks that ran together wrapped it in groups."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_user_error, error.exceptions)), None)
    return error if isinstance(error, UserError) else None


def _failed(error: Exception) -> int:
    if isinstance(error, OSError) and is_stdout_bad(error):
        return output_failed(error)
    mistake = _user_error(error)
    if mistake is not None:
        say_user_error(mistake)
        return 2
    if is_debugging():
        traceback.print_exc()
    say_bug(error)
    return 2


def main() -> None:
    """The console script."""
    if not open_streams():
        sys.exit(2)
    adapt_streams()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = reader_gone()
    except OSError as error:
        code = output_failed(error)
    sys.exit(code)


if __name__ == "__main__":
    main()
