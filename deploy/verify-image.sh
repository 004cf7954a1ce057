#!/bin/sh
# Verifies an image that `npm run images` made and signed, before it goes into a registry or a cluster:
#
#   deploy/verify-image.sh COSIGN.PUB FOLDER NAME                what lies in FOLDER (oci/ and the signatures)
#   deploy/verify-image.sh COSIGN.PUB FOLDER NAME REFERENCE      what a registry has: needs skopeo
#
# The signature must be COSIGN.PUB's over the image's manifest, both documents must be attested by it for the
# same digest, and each file that the manifest names must have the digest that it says. Prints the digest to
# pin. What the attested documents say goes to FOLDER/verified. Needs cosign 2 or 3 (COSIGN names another).
set -eu

fail() {
  echo "NOT VERIFIED: $*" >&2
  exit 1
}
[ $# -eq 3 ] || [ $# -eq 4 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
key=$1 folder=$2 name=$3 reference=${4:-}
cosign=${COSIGN:-cosign}
case $name in *[!a-z-]*) fail "$name is no name of an image" ;; esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
manifest=$work/manifest.json

if [ -n "$reference" ]; then
  skopeo inspect --raw "docker://$reference" > "$manifest" || fail "cannot read $reference"
else
  entry=$(grep -o "\"digest\": *\"sha256:[0-9a-f]*\",[^{}]*{\"org.opencontainers.image.ref.name\": *\"$name\"" \
    "$folder/oci/index.json") || fail "$folder/oci has no image $name"
  named=$(printf '%s' "$entry" | grep -o 'sha256:[0-9a-f]*' | head -n 1)
  cp "$folder/oci/blobs/sha256/${named#sha256:}" "$manifest"
fi
digest=$(sha256sum "$manifest" | cut -d ' ' -f 1)

"$cosign" verify-blob --key "$key" --insecure-ignore-tlog --bundle "$folder/$name.sigstore.json" \
  "$manifest" 2> "$work/said" || fail "the signature of $name: $(tail -n 1 "$work/said")"
for document in cdx:cyclonedx provenance:slsaprovenance1; do
  bundle=$folder/$name.${document%%:*}.sigstore.json
  "$cosign" verify-blob-attestation --key "$key" --insecure-ignore-tlog --type "${document#*:}" \
    --bundle "$bundle" "$manifest" 2> "$work/said" || fail "$bundle: $(tail -n 1 "$work/said")"
  mkdir -p "$folder/verified"
  sed -n 's/.*"payload": *"\([^"]*\)".*/\1/p' "$bundle" | base64 -d > "$folder/verified/$name.${document%%:*}.json"
done

if [ -z "$reference" ]; then
  for blob in $(grep -o 'sha256:[0-9a-f]*' "$manifest"); do
    found=$(sha256sum "$folder/oci/blobs/sha256/${blob#sha256:}" | cut -d ' ' -f 1)
    [ "$found" = "${blob#sha256:}" ] || fail "a file of $name is not what the manifest says: $blob"
  done
fi
echo "verified: $name@sha256:$digest"
