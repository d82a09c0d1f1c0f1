# Shared by ./motecrypt, ./test and ./bench: makes a virtual environment and fills it with pinned packages.
# Sourced, not run. Sets $root and $python; `prepare base dev` installs the locks of those names.

root=$(cd -- "$(dirname -- "$0")" && pwd)
if [ -w "$root" ] || [ -d "$root/.venv" ]; then
    venv=${MOTECRYPT_VENV:-$root/.venv}
else
    venv=${MOTECRYPT_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/motecrypt/venv}
fi
python=$venv/bin/python
PYTHONPATH=$root/src${PYTHONPATH:+:$PYTHONPATH}
PYTHONDONTWRITEBYTECODE=${PYTHONDONTWRITEBYTECODE:-}
export PYTHONPATH

say() {
    printf 'motecrypt: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 2
}

# A Python from 3.11 on that can make virtual environments, or nothing.
find_python() {
    for candidate in "${MOTECRYPT_PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

install_python() {
    command -v apt-get >/dev/null 2>&1 || fail "Python 3.11 or newer with venv is missing, and there is no apt-get to get it; install it and run this again"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || fail "Python is missing; as root, run: apt-get install --no-install-recommends python3 python3-venv"
        as_root=sudo
    fi
    say "installing python3 and python3-venv with apt-get (about 15 MB)"
    log=$(mktemp)
    for step in "update" "install -y --no-install-recommends python3 python3-venv"; do
        # shellcheck disable=SC2086
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 $step >"$log" 2>&1 ||
            fail "apt-get $step failed: $(tail -n 1 "$log")"
    done
    rm -f "$log"
}

# prepare NAME...: the packages of src/motecrypt/data/locks/NAME.txt, once for each content of the lock.
prepare() {
    for name in "$@"; do
        lock=$root/src/motecrypt/data/locks/$name.txt
        stamp=$venv/.installed-$name
        if [ -f "$stamp" ] && cmp -s "$lock" "$stamp" && [ -x "$python" ]; then
            continue
        fi
        if [ ! -x "$python" ]; then
            base=$(find_python) || {
                install_python
                base=$(find_python) || fail "Python 3.11 or newer with venv is still missing after apt-get"
            }
            say "making a virtual environment in $venv"
            "$base" -m venv "$venv" || fail "cannot make a virtual environment in $venv"
        fi
        say "installing Python packages ($name, pinned and hashed)"
        "$python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
            -r "$lock" || fail "pip could not install $lock"
        cp "$lock" "$stamp"
    done
}
