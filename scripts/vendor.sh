#!/bin/sh
# Fetches the published site's JavaScript and CSS from the npm registry into the package, pinned, with its licences.
# Only needed to change a version: what it fetches is kept in the repository.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
vendor=$here/dcu_asv_ext/site/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE VERSION FILE...: the files, without their folders
fetch() {
    name=$1 version=$2
    shift 2
    (cd "$work" && npm pack --silent "$name@$version" >/dev/null)
    mkdir -p "$work/$name" "$vendor/$name-$version"
    tar xzf "$work/$name-$version.tgz" -C "$work/$name"
    for file in "$@"; do
        cp "$work/$name/package/$file" "$vendor/$name-$version/"
    done
    chmod -R u=rwX,go=rX "$vendor/$name-$version"
}

rm -rf "$vendor"
fetch jquery 3.3.1 dist/jquery.min.js LICENSE.txt
fetch flot 0.8.3 jquery.flot.js jquery.flot.time.js jquery.flot.selection.js jquery.flot.categories.js LICENSE.txt
# Its licence stands at the top of the file itself, and in package.json.
fetch flot-orderbars 1.0.0 js/jquery.flot.orderBars.js package.json
fetch stupid-table-plugin 1.1.3 stupidtable.min.js LICENSE
fetch blueimp-md5 2.19.0 js/md5.min.js LICENSE.txt
fetch bootstrap 3.1.1 dist/js/bootstrap.min.js dist/css/bootstrap.min.css LICENSE
