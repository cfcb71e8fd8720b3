#!/usr/bin/env bash
# Debian packages without rights and without installing them. Sourced by scripts that unpack what they fetch.

# private_apt FOLDER: sets the array `apt` to an apt-get with lists, downloads and status of its own in FOLDER, and the sources of this
# machine. Fails where there is no apt-get.
private_apt() {
  command -v apt-get >/dev/null || return
  mkdir -p "$1"/{state/lists/partial,cache/archives/partial}
  : > "$1/status"
  # shellcheck disable=SC2034
  apt=(apt-get -q -q -o Dir::State="$1/state" -o Dir::Cache="$1/cache" -o Dir::State::status="$1/status"
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o APT::Install-Recommends=0)
}
