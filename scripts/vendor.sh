#!/bin/sh
# Fetches the published site's JavaScript and CSS from the npm registry into the package, pinned, with its licences.
# Only needed to change a version: what it fetches is kept in the repository.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
site=$here/dcu_asv_ext/site
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch FOLDER PACKAGE VERSION FILE...: the files, without their folders
fetch() {
    vendor=$1 name=$2 version=$3
    shift 3
    (cd "$work" && npm pack --silent "$name@$version" >/dev/null)
    mkdir -p "$work/$name" "$vendor/$name-$version"
    tar xzf "$work/$name-$version.tgz" -C "$work/$name"
    for file in "$@"; do
        cp "$work/$name/package/$file" "$vendor/$name-$version/"
    done
    chmod -R u=rwX,go=rX "$vendor/$name-$version"
}

# Of asv's pages.
asv=$site/vendor
rm -rf "$asv"
fetch "$asv" jquery 3.3.1 dist/jquery.min.js LICENSE.txt
fetch "$asv" flot 0.8.3 jquery.flot.js jquery.flot.time.js jquery.flot.selection.js jquery.flot.categories.js LICENSE.txt
# Its licence stands at the top of the file itself, and in package.json.
fetch "$asv" flot-orderbars 1.0.0 js/jquery.flot.orderBars.js package.json
fetch "$asv" stupid-table-plugin 1.1.3 stupidtable.min.js LICENSE
fetch "$asv" blueimp-md5 2.19.0 js/md5.min.js LICENSE.txt
fetch "$asv" bootstrap 3.1.1 dist/js/bootstrap.min.js dist/css/bootstrap.min.css LICENSE

# Of our own.
ours=$site/pages/vendor
rm -rf "$ours"
fetch "$ours" uplot 1.6.32 dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE
fetch "$ours" fflate 0.8.3 umd/index.js LICENSE

# Of their tests.
tests=$here/tests/pages/vendor
rm -rf "$tests"
fetch "$tests" axe-core 4.14.1 axe.min.js LICENSE
