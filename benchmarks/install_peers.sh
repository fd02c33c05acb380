#!/usr/bin/env bash
# Installs the peers that the benchmarks know, and says what it does:
#
#   benchmarks/install_peers.sh [FOLDER] [--data]
#
# Into FOLDER (default benchmarks/.peers, ignored by git) goes a virtual environment with this project, drake, pin
# (Pinocchio), quantecon, scs, lemkelcp and clarabel. Siconos comes as Debian's python3-siconos and is imported by
# Debian's own /usr/bin/python3 alone; without apt-get, or without the right to use it, the benchmarks say it is missing.
#
# With --data, Siconos' own test problems are taken out of Debian's source package into FOLDER/data/{fc,lcp,mlcp}.
# They are Siconos' data under Siconos' licence and not part of this project. Then:
#
#   WORKBENCH_DATA=FOLDER/data/fc FOLDER/bin/python -m benchmarks
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/benchmarks/.peers
data=no
for argument in "$@"; do
    case $argument in
        --data) data=yes ;;
        -*) echo "unknown option $argument; usage: $0 [FOLDER] [--data]" >&2; exit 2 ;;
        *) folder=$argument ;;
    esac
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
missing=()

say() { printf '== %s\n' "$1"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

siconos() {
    if /usr/bin/python3 -c 'import siconos.numerics' 2>/dev/null; then
        say "Siconos is there"
        return
    fi
    say "Siconos: apt-get install python3-siconos"
    if ! command -v apt-get >/dev/null || ! as_root apt-get update -q >/dev/null ||
        ! as_root apt-get install -y -q --no-install-recommends python3-siconos >/dev/null; then
        missing+=("Siconos (apt-get install python3-siconos, on Debian or Ubuntu)")
    fi
}

# One at a time, so that a peer without a wheel for this Python costs only itself.
packages() {
    [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
    say "this project with its dependencies"
    "$folder/bin/pip" install -q -e "$root[test]"
    for package in clarabel scs drake pin quantecon lemkelcp; do
        say "$package"
        "$folder/bin/pip" install -q "$package" || missing+=("$package")
    done
}

# A deb-src entry of its own, in lists of its own: the system's configuration stays as it is.
problems() {
    say "test problems: Debian's source package of Siconos"
    local work sources
    work=$(mktemp -d)
    sources=$(grep -ls '^Components:.*main' /etc/apt/sources.list.d/*.sources | head -n 1 || true)
    if [ -z "$sources" ] || ! command -v apt-get >/dev/null; then
        missing+=("test problems (no apt sources in the deb822 format to take deb-src from)")
        return
    fi
    sed 's/^Types:.*/Types: deb-src/' "$sources" >"$work/src.sources"
    mkdir -p "$work/lists/partial"
    local apt=(-o "Dir::Etc::sourcelist=$work/src.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
        -o APT::Sandbox::User=root -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    if (cd "$work" && apt-get "${apt[@]}" update -q >/dev/null &&
        apt-get "${apt[@]}" source -q --download-only siconos >/dev/null); then
        for pair in fc:FrictionContact lcp:LCP mlcp:MLCP; do
            mkdir -p "$folder/data/${pair%%:*}"
            tar -xf "$work"/siconos_*.orig.tar.* -C "$folder/data/${pair%%:*}" --wildcards --strip-components=6 \
                "*/numerics/src/${pair##*:}/test/data/*"
        done
        say "test problems are in $folder/data"
    else
        missing+=("test problems (apt-get source siconos)")
    fi
    rm -rf "$work"
}

siconos
packages
[ $data = no ] || problems
if [ ${#missing[@]} -gt 0 ]; then
    printf 'missing: %s\n' "${missing[@]}" >&2
fi
say "run: cd $root && $folder/bin/python -m benchmarks"
