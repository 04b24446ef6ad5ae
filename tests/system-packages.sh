#!/bin/sh
# Installs what the tests need beside Python: Chromium, PostgreSQL and LaTeX. As root on Debian it installs them; elsewhere it
# prints the command, and the tests that need them are skipped with the reason.
set -eu
missing=""
if ! command -v chromium >/dev/null 2>&1; then missing="$missing chromium"; fi
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null 2>&1; then missing="$missing postgresql"; fi
if ! command -v pdflatex >/dev/null 2>&1; then missing="$missing texlive-latex-recommended lmodern"; fi
if [ -z "$missing" ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086 - a list of package names
    apt-get install -qq -y --no-install-recommends $missing >/dev/null
else
    echo "tests that need$missing will be skipped; on Debian: sudo apt-get install$missing" >&2
fi
