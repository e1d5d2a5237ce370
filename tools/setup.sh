# Sourced by ./beryl and ./check.

# ensure_packages LIST...: installs what is missing of the Debian packages named in the list files.
# Touches apt only if something is missing. Talks on stderr; fails with the command to run by hand.
ensure_packages() {
  local wanted missing
  wanted=$(sed 's/#.*//' "$@")
  # Elsewhere than on Debian the equivalents go by other names; a failing build says what it lacks.
  command -v dpkg-query >/dev/null || return 0

  # shellcheck disable=SC2086  # a list of words
  missing=$(comm -23 <(printf '%s\n' $wanted | sort) <(
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
      sed -n 's/^installed //p' | sort))
  [[ -n $missing ]] || return 0
  missing=${missing//$'\n'/ }

  if ((EUID == 0)) || command -v sudo >/dev/null; then
    echo "installing $missing" >&2
    # shellcheck disable=SC2086
    _install $missing && return
  fi
  echo 'error: could not install the packages that Beryl needs. As root, run:' >&2
  echo "  apt-get update && apt-get install $missing" >&2
  return 1
}

_install() {
  local log status=0
  log=$(mktemp)
  # The lists of a fresh machine are empty or old: update them when the first try fails.
  { _apt_get install "$@" || { _apt_get update && _apt_get install "$@"; }; } >"$log" 2>&1 ||
    status=1
  if ((status)); then tail -n 10 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

_apt_get() {
  local as_root=()
  if ((EUID != 0)); then as_root=(sudo); fi
  if [[ ! -t 0 ]]; then as_root+=(${as_root:+-n}); fi # nobody is there to type a password
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@"
}
