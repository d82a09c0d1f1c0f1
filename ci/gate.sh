#!/bin/sh
# What ci/action.yml and ci/gitlab.yml run: motecrypt ci, with its outputs in a folder. It works by hand, too.
#   CONFIG  the motecrypt.toml (default: motecrypt.toml)
#   BASE    the commit to compare with (default: the target branch of the change, else that of the file)
#   OUT     the folder of summary.md, junit.xml, bencher.json (default: motecrypt-ci)
# The exit code is that of motecrypt ci: 1 for a regression, 2 for a misconfiguration.
set -eu
# In a container the checkout may belong to another user, and only the container knows its path.
count=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$count=safe.directory" "GIT_CONFIG_VALUE_$count=${GITHUB_WORKSPACE:-$PWD}"
export GIT_CONFIG_COUNT=$((count + 1))
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${OUT:-motecrypt-ci}
base=${BASE:-}
[ -n "$base" ] || [ -z "${GITHUB_BASE_REF:-}" ] || base=origin/$GITHUB_BASE_REF
[ -n "$base" ] || base=${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}
mkdir -p "$out"
rm -f "$out/summary.md" "$out/junit.xml" "$out/bencher.json" # those of an earlier run
set -- --config "${CONFIG:-motecrypt.toml}"
[ -z "$base" ] || set -- "$@" --base "$base"
status=0
"$here/../motecrypt" ci "$@" --markdown "$out/summary.md" --junit "$out/junit.xml" --bencher "$out/bencher.json" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -e "$out/summary.md" ]; then
    cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
