#!/usr/bin/env bash
# ./beryl install and ./beryl uninstall.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: ./beryl install [--prefix FOLDER] [--monitor] [--server] [--force] [--build FOLDER]
       ./beryl uninstall [--prefix FOLDER]
  --prefix FOLDER  where to: FOLDER/bin, FOLDER/share/man and so on (~/.local)
  --monitor        beryl-monitor too, with units for systemd; it always comes along if it is built
  --server         beryl-server too, likewise
  --force          overwrite files that ./beryl install did not write
  --build FOLDER   install what is built there, and build nothing
uninstall removes what install wrote, which FOLDER/share/beryl/installed-files lists.
TEXT
}

fail() {
  local status=$1
  shift
  printf '%s\n' "beryl $verb: $1" "${@:2}" >&2
  exit "$status"
}

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
verb=$1 prefix=~/.local build= services=() force=0
shift
while (($#)); do
  case $verb:$1 in
    *:-h | *:--help) usage; exit 0 ;;
    *:--prefix=* | install:--build=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
    *:--prefix | install:--build)
      [[ -n ${2-} ]] || fail 2 "$1 takes a folder" "See ./beryl $verb --help"
      if [[ $1 == --prefix ]]; then prefix=$2; else build=$2; fi
      shift ;;
    install:--monitor | install:--server) services+=("${1#--}") ;;
    install:--force) force=1 ;;
    *:-*) fail 2 "unknown option '${1%%=*}'" "See ./beryl $verb --help" ;;
    *) fail 2 "stray argument '$1'; did you mean --prefix $1?" "See ./beryl $verb --help" ;;
  esac
  shift
done
prefix=$(realpath -ms -- "$prefix")
list=share/beryl/installed-files

# The list has a path below the prefix in each line; a folder that install made ends with /.
listed=()
if [[ -e $prefix/$list ]]; then
  mapfile -t listed <"$prefix/$list"
  for path in "${listed[@]}"; do
    if [[ $path == /* || /$path/ == */../* ]]; then
      fail 1 "$prefix/$list names '$path', which is not below $prefix; nothing was changed"
    fi
  done
fi

# remove PATH...: as in the list. Folders go if nothing else is in them, the innermost first.
remove() {
  local path
  for path; do
    if [[ $path != */ ]]; then rm -f -- "$prefix/$path"; fi
  done
  printf '%s\n' "$@" | grep '/$' | sort -r | while IFS= read -r path; do
    rmdir --ignore-fail-on-non-empty -- "$prefix/$path" 2>/dev/null || true
  done || true
}

if [[ $verb == uninstall ]]; then
  ((${#listed[@]})) ||
    fail 1 "nothing is installed in $prefix: there is no $prefix/$list" 'Give the --prefix that it was installed with.'
  files=$(printf '%s\n' "${listed[@]}" | grep -cv '/$')
  [[ -w $prefix/${list%/*} ]] || fail 1 "cannot change $prefix: uninstall as the user who installed"
  remove "${listed[@]}"
  echo "removed $files files below $prefix"
  exit
fi

given=$build
: "${build:=$root/build/release}"
for service in monitor server; do
  if [[ -x $build/beryl-$service ]]; then services+=("$service"); fi
done
mapfile -t services < <(printf '%s\n' "${services[@]}" | sort -u | sed '/^$/d')
components=(beryl "${services[@]/#/beryl-}")
if [[ -z $given ]]; then
  source "$root/tools/setup.sh"
  ensure_packages "$root/tools/packages-install.txt"
  # Builds what is missing or old.
  "$root/beryl" --help >/dev/null
  for service in "${services[@]}"; do
    case $service in server) verb_of=serve ;; *) verb_of=$service ;; esac
    "$root/beryl" "$verb_of" --help >/dev/null
  done
else
  for component in "${components[@]}"; do
    [[ -x $build/$component ]] || fail 1 "there is no $component in $build"
  done
fi

# Everything is made elsewhere first, so that nothing is touched unless all of it can be.
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
stage=$scratch/stage log=$scratch/log
for component in "${components[@]}"; do
  DESTDIR=$stage cmake --install "$build" --prefix "$prefix" --component "$component" --strip \
    >"$log" 2>&1 || fail 1 "cannot install what is in $build:" "$(tail -n 20 "$log")"
done
# Files that root creates in a user's build folder would block that user's next build.
if ((EUID == 0)); then
  chown -R --reference="$build/CMakeCache.txt" -- "$build"/{installed,install_manifest_*.txt}
fi
cd -- "$stage$prefix"
mkdir -p -- "${list%/*}"
touch -- "$list"
mapfile -t files < <(find . -type f -printf '%P\n' | sort)
mapfile -t folders < <(find . -mindepth 1 -type d -printf '%P/\n' | sort)

declare -A ours=()
for path in "${listed[@]}"; do ours[$path]=1; done
foreign=()
for path in "${files[@]}"; do
  if [[ (-e $prefix/$path || -L $prefix/$path) && -z ${ours[$path]-} ]]; then foreign+=("$path"); fi
done
if ((${#foreign[@]} && !force)); then
  fail 1 "these files in $prefix are not from ./beryl install; nothing was changed" \
    "${foreign[@]/#/  }" 'Choose another --prefix, or overwrite them with --force.'
fi

made=()
for path in "${folders[@]}"; do
  if [[ ! -d $prefix/$path || -n ${ours[$path]-} ]]; then made+=("$path"); fi
done
printf '%s\n' "${made[@]}" "${files[@]}" >"$list"
# The list goes first: what was copied can be removed even if copying stops half way.
for path in "$list" "${files[@]}"; do
  mkdir -p -- "$prefix/${path%/*}" && cp --remove-destination -- "$path" "$prefix/$path" ||
    fail 1 "cannot write $prefix/$path" 'Choose another --prefix, or install as a user who may write there.'
done
# What an earlier version had and this one has not.
for path in "${made[@]}" "${files[@]}"; do unset "ours[$path]"; done
if ((${#ours[@]})); then remove "${!ours[@]}"; fi

echo "installed $("$prefix/bin/beryl" --version) in $prefix:"
printf '  %s\n' "${files[@]}" | sed 's|/man1/.*|/man1/*|' | uniq
echo "./beryl uninstall --prefix ${prefix@Q} removes them"
found=$(command -v beryl || true)
if [[ ! $found -ef $prefix/bin/beryl ]]; then
  echo "your shell finds ${found:-no beryl}; add this to its profile:"
  echo "  export PATH=\"$prefix/bin:\$PATH\""
fi
