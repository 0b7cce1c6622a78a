#!/usr/bin/env bash
# Makes the release tarballs in dist/, for each architecture, with their
# checksums. The same commit always gives the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VERSION=${VERSION:-$(git describe --tags --always --dirty)}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export VERSION CGO_ENABLED=0 GOOS=linux

rm -rf dist
for GOARCH in amd64 arm64; do
	export GOARCH
	name=agentwrap-$VERSION-linux-$GOARCH
	tools/build.sh "dist/$name/prebuilt"
	mkdir -p "dist/$name/tools"
	cp -r tools/install "dist/$name/tools/"
	cp -r install.sh systemd docs README.md CHANGELOG.md LICENSE "dist/$name/"
	tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C dist -c "$name" | gzip -9n >"dist/$name.tar.gz"
	rm -r "dist/$name"
done
(cd dist && sha256sum -- *.tar.gz | tee SHA256SUMS)
