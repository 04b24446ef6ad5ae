#!/bin/sh
# Installs what the tests need beside Python: Chromium, Caddy, PostgreSQL, LaTeX, fonts and systemd's checks, each unless it works here. As root on Debian it
# installs them; elsewhere it prints the command, and the tests that need them are skipped with the reason.
set -eu
missing=""
works() { "$@" --version >/dev/null 2>&1; }
latex() { for file in "$@"; do kpsewhich "$file" >/dev/null 2>&1 || return 1; done; }
if ! works chromium && ! works chromium-browser && ! works google-chrome; then missing="$missing chromium"; fi
if ! caddy version >/dev/null 2>&1; then missing="$missing caddy"; fi
if ! command -v ss >/dev/null 2>&1; then missing="$missing iproute2"; fi
if ! works systemd-analyze; then missing="$missing systemd"; fi
postgres=""
for initdb in initdb /usr/lib/postgresql/*/bin/initdb; do if works "$initdb"; then postgres=found; fi; done
if [ -z "$postgres" ]; then missing="$missing postgresql"; fi
if ! works pdflatex || ! latex article.cls booktabs.sty longtable.sty; then missing="$missing texlive-latex-recommended"; fi
if ! works lualatex || ! latex luaotfload.sty; then missing="$missing texlive-luatex"; fi
if ! latex lmodern.sty; then missing="$missing lmodern"; fi
# Screens in Chinese and Hindi are measured in letters, not in boxes.
if [ "$(fc-list :lang=zh 2>/dev/null | wc -l)" = 0 ]; then missing="$missing fonts-wqy-microhei"; fi
if [ "$(fc-list :lang=hi 2>/dev/null | wc -l)" = 0 ]; then missing="$missing fonts-lohit-deva"; fi
if [ -z "$missing" ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # shellcheck disable=SC2086 - a list of package names
    apt-get install -qq -y --no-install-recommends $missing >/dev/null
else
    echo "tests that need$missing will be skipped; on Debian: sudo apt-get install$missing" >&2
fi
