#!/bin/sh
# Installs opentabs for this user: downloads the newest release, checks its SHA-256 hash, and puts the program into
# ~/.local/bin. The installation needs no root rights.
#
#   OPENTABS_INSTALL_DIR   the folder of the program (default: ~/.local/bin)
#   OPENTABS_RELEASE_URL   the address of the folder with the release
set -eu

url=${OPENTABS_RELEASE_URL:-{{.URL}}}
dir=${OPENTABS_INSTALL_DIR:-$HOME/.local/bin}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

fetch() { # fetch ADDRESS FILE
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1" || fail "cannot download $1"
  else
    fail "curl or wget is missing: install one of them"
  fi
}

hash_of() { # hash_of FILE
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum or shasum is missing: install one of them"
  fi
}

main() {
  case $url in
    '') fail "set OPENTABS_RELEASE_URL to the address of the folder with the release" ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    *) fail "$url is not encrypted: use an address that starts with https://" ;;
  esac
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "this script supports Linux and macOS, not $(uname -s); see the archives at $url" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) processor=amd64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "there is no release for the processor $(uname -m)" ;;
  esac

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP
  fetch "$url/checksums.txt" "$work/checksums.txt"
  line=$(grep -E "^[0-9a-f]{64}  opentabs_[0-9.]+_${system}_$processor\.tar\.gz\$" "$work/checksums.txt" | head -n 1) ||
    line=
  [ -n "$line" ] || fail "the release at $url has no archive for $system $processor"
  want=${line%% *}
  archive=${line##* }
  fetch "$url/$archive" "$work/$archive"
  got=$(hash_of "$work/$archive")
  [ "$got" = "$want" ] || fail "the checksum of $archive is $got, and checksums.txt lists $want: nothing was installed"

  tar -xzf "$work/$archive" -C "$work" opentabs
  mkdir -p "$dir"
  # A running program cannot be overwritten, but mv can replace the file.
  cp "$work/opentabs" "$dir/.opentabs.new"
  chmod 755 "$dir/.opentabs.new"
  "$dir/.opentabs.new" --version >/dev/null || {
    rm -f "$dir/.opentabs.new"
    fail "the program does not run on this machine: nothing was installed"
  }
  mv -f "$dir/.opentabs.new" "$dir/opentabs"

  echo "$("$dir/opentabs" --version) is installed: $dir/opentabs"
  case :$PATH: in
    *":$dir:"*) echo "Next, run: opentabs setup" ;;
    *)
      echo "$dir is not in your PATH. Add this line to the profile of your shell:"
      echo "  export PATH=\"$dir:\$PATH\""
      case $dir in
        *[!A-Za-z0-9_./+-]*) echo "Next, run: \"$dir/opentabs\" setup" ;;
        *) echo "Next, run: $dir/opentabs setup" ;;
      esac
      ;;
  esac
}

# The call of main is the last line, so that an incomplete download of this script runs nothing.
main
