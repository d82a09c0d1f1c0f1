# Shared by ./motecrypt, ./test and ./bench: makes a virtual environment and fills it with pinned packages.
# Sourced, not run. Sets $root and $python; `prepare base dev` installs the locks of those names.

root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
own=$root/.venv
if [ -n "${MOTECRYPT_VENV:-}" ]; then
    venv=$MOTECRYPT_VENV
elif [ -x "$own/bin/python" ] || [ -w "$own" ] || { [ ! -e "$own" ] && [ -w "$root" ]; }; then
    venv=$own
else # a checkout of someone else's
    venv=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/motecrypt/venv
fi
python=$venv/bin/python
os_release=/etc/os-release
journal=/var/lib/dpkg/updates # has files with numbers for names while dpkg works, and after it was stopped
as_root=
command=
[ $# -ne 1 ] || command=$1 # of motecrypt, with nothing behind it
# Only our own source: not the current folder, whose files may be anyone's, and no path that the caller had
# (an empty element of one means the current folder). Every Python that is started from here inherits both.
PYTHONPATH=$root/src
PYTHONSAFEPATH=1
PYTHONDONTWRITEBYTECODE=${PYTHONDONTWRITEBYTECODE:-}
export PYTHONPATH PYTHONSAFEPATH

say() {
    printf 'motecrypt: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 2
}

# Ends all processes that this one has started and that these have, the youngest first; nothing without /proc.
# No subshell: it would be one of them. A subshell that calls this is one of them, too, and stays.
end_all() {
    table=
    self=
    read -r self rest 2>/dev/null </proc/self/stat || true
    for stat in /proc/[0-9]*/stat; do
        read -r line 2>/dev/null <"$stat" || continue
        rest=${line##*) }
        rest=${rest#* }
        pid=${stat#/proc/}
        table="$table ${pid%/stat}:${rest%% *}"
    done
    found=
    parents=$$
    while [ -n "$parents" ]; do
        children=
        for pair in $table; do
            case " $parents " in
            *" ${pair#*:} "*)
                children="$children ${pair%:*}"
                [ "${pair%:*}" = "$self" ] || found="${pair%:*} $found"
                ;;
            esac
        done
        parents=$children
    done
    # shellcheck disable=SC2086
    [ -z "$found" ] || $as_root kill -KILL $found 2>/dev/null || true
}

# Ctrl-C ends all that was started, also what would ignore it or finish first.
stopped() {
    trap '' INT
    end_all
    say "stopped"
    exit 130
}
trap stopped INT

# Waits for a program that runs as a job: a shell does not react while a program is in its foreground.
run() {
    "$@" </dev/null 9<&- &
    wait $!
}

# The line of a log that shows that apt-get did not reach the network, if there is one.
unreached() {
    grep -oE -m 1 "Temporary failure resolving '[^']*'|Could not resolve '[^']*'|(Could not connect|Unable to connect) to [^ ]+|Network is unreachable|No route to host|Connection (timed out|refused|failed)" "$1" | head -n 1
}

# A Python from 3.11 on that can make virtual environments, or nothing. -I, because an older one lacks
# PYTHONSAFEPATH, and must not take `venv` from the current folder either.
find_python() {
    for candidate in "${MOTECRYPT_PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# How to get Python on a system without apt-get, by data/systems.toml.
python_by_hand() {
    # shellcheck disable=SC2046
    for id in $(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' "$os_release" 2>/dev/null | tr -d \"\') $(uname); do
        awk -v id="\"$id\"" '
            /^\[/ { found = 0 }
            /^ids = / { found = index($0, id) }
            found && /^install = / { gsub(/^install = "|"$/, ""); install = $0 }
            found && /^python = / { gsub(/^python = "|"$/, ""); print install " " $0 }
        ' "$root/src/motecrypt/data/systems.toml"
    done | head -n 1
}

install_python() {
    command -v apt-get >/dev/null 2>&1 || {
        how=$(python_by_hand)
        fail "Python 3.11 or newer with venv is missing, and there is no apt-get to get it; install it${how:+ ($how)} and run this again"
    }
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || fail "Python is missing; as root, run: apt-get install --no-install-recommends python3 python3-venv"
        as_root=sudo
    fi
    say "installing python3 and python3-venv with apt-get (about 15 MB)"
    log=$(mktemp)
    for file in "$journal"/[0-9]*; do
        [ ! -e "$file" ] || { # dpkg was stopped; it has to finish first
            run $as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >"$log" 2>&1 || true
            break
        }
    done
    for step in "update" "install -y --no-install-recommends python3 python3-venv"; do
        # shellcheck disable=SC2086
        run $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -qq -o DPkg::Lock::Timeout=300 $step >>"$log" 2>&1 || {
            offline=$(unreached "$log")
            [ -z "$offline" ] || fail "Python cannot be installed: the network cannot be reached ($offline); connect this computer to it and run this again"
            fail "apt-get $step failed: $(tail -n 1 "$log")"
        }
    done
    rm -f "$log"
    # What this command will need of Debian comes while Python's packages do. Failures here are reported
    # later.
    packages=$(needed_later | tr '\n' ' ')
    [ -z "$packages" ] || {
        say "meanwhile, what '$command' needs: $packages"
        # shellcheck disable=SC2086
        "$(find_python)" -P -m motecrypt.build.setup.behind $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
            install -y --no-install-recommends $packages >/dev/null 2>&1 </dev/null 9<&- &
    }
}

# Debian's packages that the command by itself needs on this release, by data/ahead.txt.
needed_later() {
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
    while read -r name where packages; do
        if [ "$name" = "$command" ] && { [ "$where" = any ] || [ "$where" = "$release" ]; }; then
            echo "$packages"
        fi
    done <"$root/src/motecrypt/data/ahead.txt"
}

# Whether the command by itself needs toolchains that come into the cache, by the same file.
needs_toolchains() {
    while read -r name where _; do
        [ "$name" != "$command" ] || [ "$where" != unpacked ] || return 0
    done <"$root/src/motecrypt/data/ahead.txt"
    return 1
}

# Whether the environment is whole, and of the Python it was made with: an upgrade takes its packages away.
made() {
    [ -x "$python" ] && [ "$(cat "$venv/.made" 2>/dev/null)" = "$(readlink -f -- "$python")" ]
}

# Whether the packages of a lock are there, as it now reads.
installed() {
    made && cmp -s "$root/src/motecrypt/data/locks/$1.txt" "$venv/.installed-$1"
}

make_environment() {
    made && return 0
    if [ ! -f "$venv/.made" ] && "$python" -I -m pip --version >/dev/null 2>&1; then
        readlink -f -- "$python" >"$venv/.made" # made by someone else, and sound
        return 0
    fi
    base=$(find_python) || {
        install_python
        base=$(find_python) || fail "Python 3.11 or newer with venv is still missing after apt-get"
    }
    if needs_toolchains && command -v apt-get >/dev/null 2>&1; then # fetched in parallel; failures here are reported later
        nice -n 10 "$base" -m motecrypt.build.toolchain.ahead "$command" </dev/null 2>&1 9<&- | grep --line-buffered '^motecrypt: ' >&2 9<&- &
    fi
    say "making a virtual environment in $venv"
    clear=
    [ -f "$venv/pyvenv.cfg" ] && clear=--clear # half a one, as when the first run was stopped
    run "$base" -I -m venv $clear "$venv" || fail "cannot make a virtual environment in $venv; set MOTECRYPT_VENV to another place"
    readlink -f -- "$python" >"$venv/.made"
}

# prepare NAME...: the packages of src/motecrypt/data/locks/NAME.txt, once for each content of the lock.
prepare() {
    missing=
    for name in "$@"; do
        installed "$name" || missing="$missing $name"
    done
    [ -n "$missing" ] || return 0
    place=$(dirname -- "$venv")
    mkdir -p "$place" 2>/dev/null || fail "cannot make $place for Python's packages; set MOTECRYPT_VENV to another place"
    (
        trap 'end_all; exit 130' INT
        # Two first runs at the same time: the second waits for the first to install.
        if command -v flock >/dev/null 2>&1; then
            exec 9<"$place" && flock 9
        fi
        make_environment
        for name in $missing; do
            installed "$name" && continue
            case $name in
                base) size="about 28 MB, a minute at most, " ;;
                *) size= ;;
            esac
            say "installing Python packages ($name, ${size}pinned and hashed)"
            lock=$root/src/motecrypt/data/locks/$name.txt
            run "$python" -m motecrypt.build.setup.first "$lock" || exit 2
            cp "$lock" "$venv/.installed-$name"
        done
    ) || exit $?
}
