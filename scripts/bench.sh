#!/bin/sh
# The main job, short: real benchmarks over real commits through asv, compared and published.
set -eu
export PATH="$(cd "$BIN" && pwd):$PATH"
# asv's own name for this machine: the results folder has other machines' too.
machine=$(uname -n)
asv machine --yes >/dev/null
commits=$(git rev-list --first-parent -n "$COMMITS" HEAD)
newest=$(echo "$commits" | head -n 1)
oldest=$(echo "$commits" | tail -n 1)
list=$(mktemp)
trap 'rm -f "$list"' EXIT
echo "$commits" >"$list"
echo "== asv run: $(echo "$commits" | wc -l) commits"
status=0
asv run "HASHFILE:$list" --machine "$machine" --bench "$SHORT" --interleave-rounds -a rounds=2 -a repeat=5 --show-stderr || status=$?
if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
    exit "$status"
fi
echo "== asv compare"
asv compare "$oldest" "$newest" --machine "$machine"
echo "== dcu-asv compare: the same verdicts with intervals"
compared=0
dcu-asv compare "$oldest" "$newest" --machine "$machine" --fail-on none || compared=$?
if [ "$compared" -ne 0 ] && [ "$compared" -ne 4 ]; then
    exit "$compared"
fi
echo "== asv publish"
asv publish
echo
echo "The history is in $(pwd)/html: open $(pwd)/html/dcu/index.html in a browser,"
echo "or serve it, asv's own pages too, with 'asv preview' ($BIN/asv preview)."
if [ "$status" -ne 0 ]; then
    echo "Some benchmarks failed on some commits; they are marked 'failed' above."
fi
exit "$status"
