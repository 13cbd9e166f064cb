# Sourced by every script here: where the package is, how to say things, how to run a step.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
example=$root/Examples/ProductCatalog
desktop=$root/Examples/DesktopCatalog
web=$root/Examples/WebCatalog

has_command() {
  command -v "$1" >/dev/null 2>&1
}

# Colour is for people: never in a file, a pipe or where NO_COLOR asks for none.
wants_colour() {
  [ -t "$1" ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]
}

heading() {
  if wants_colour 1; then
    printf '\n\033[1m== %s\033[0m\n' "$*"
  else
    printf '\n== %s\n' "$*"
  fi
}

complain() {
  if wants_colour 2; then
    printf '\033[31m%s\033[0m\n' "$*" >&2
  else
    printf '%s\n' "$*" >&2
  fi
}

fail() {
  complain "$@"
  exit 1
}

# Prints the comment at the top of the script: the help is the comment.
usage() {
  awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"
}

sandbox=

make_sandbox() {
  [ -z "$sandbox" ] || return 0
  sandbox=$(mktemp -d "${TMPDIR:-/tmp}/restoration-kit.XXXXXX")
  trap remove_sandbox EXIT
}

remove_sandbox() {
  rm -rf "$sandbox"
}

# Shows what a command said only when it failed. Needs a sandbox for the log.
run_quietly() {
  "$@" >"$sandbox/log" 2>&1 || {
    cat "$sandbox/log" >&2
    fail "Failed: $*"
  }
}

# A checkout that belongs to somebody else is usual in a container, and git refuses it there.
# The person has just run a script from it, so it is trusted already.
git_here() {
  git -c "safe.directory=$root" -C "$root" "$@"
}

# Says what is to be installed, and asks if somebody is there to answer.
agrees_to_install() {
  local manager=$1 answer
  shift
  echo "To be installed with $manager: $*"
  { [ -t 0 ] && [ -t 1 ]; } || return 0
  read -r -p "Install this? [y/N] " answer || return 1
  [[ $answer == [yY]* ]]
}

# Installs packages of Debian or Ubuntu where no password is needed. Needs a sandbox for the log.
install_with_apt() {
  local prefix=(env)
  has_command apt-get || return 1
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    prefix=(sudo -n env)
  fi
  agrees_to_install apt-get "${@//--*/}" || return 1
  prefix+=(DEBIAN_FRONTEND=noninteractive)
  # One unreachable mirror fails the update but not always the installation.
  "${prefix[@]}" apt-get update >"$sandbox/log" 2>&1 </dev/null || true
  "${prefix[@]}" apt-get install -y "$@" >>"$sandbox/log" 2>&1 </dev/null
}

# Installs what is named and not here. The package is built with what is here, so this comes before.
install_missing() {
  local tools
  for tools in "$@"; do
    "has_$tools" || "install_$tools" || true
  done
}

finished_steps=()
current_step=

# Runs a command under a heading. The command is not part of a condition, because a condition
# would switch `set -e` off inside it. The exit trap says which step failed instead.
step() {
  local started=$SECONDS
  current_step=$1
  shift
  heading "$current_step"
  "$@"
  finished_steps+=("$current_step ($((SECONDS - started)) s)")
  current_step=
}

# Says a step that cannot run here, and why; the summary says it again.
skip_step() {
  heading "$1"
  complain "Not run: $2"
  finished_steps+=("$1: not run, $2")
}

report_failed_step() {
  [ -z "$current_step" ] || complain "Failed: $current_step. Nothing after it was run."
}

summarise_steps() {
  heading "$1"
  printf '  %s\n' "${finished_steps[@]}"
}

has_gtk() {
  has_command pkg-config && pkg-config --exists gtk4 libsecret-1
}

# A screen that nobody sees, what else a desktop has, and what presses its keys and looks at it.
has_screen() {
  local tool
  for tool in Xvfb openbox dbus-daemon xdotool import compare setpriv gdbus; do
    has_command "$tool" || return 1
  done
  /usr/bin/python3 -c "import dbus, gi" 2>/dev/null
}

readonly gtk_packages="libgtk-4-dev libsecret-1-dev pkg-config"
readonly screen_packages="xvfb openbox xdotool dbus-daemon imagemagick util-linux libglib2.0-bin \
  at-spi2-core fonts-dejavu-core python3-dbus python3-gi gnome-keyring"

# The names are lists of words, so they are left unquoted.
# shellcheck disable=SC2086
install_gtk() {
  echo "GTK 4 is missing."
  install_with_apt --no-install-recommends $gtk_packages && has_gtk
}

# shellcheck disable=SC2086
install_screen() {
  echo "A screen that nobody sees is missing."
  install_with_apt --no-install-recommends $screen_packages && has_screen
}

# Prints its other arguments with the first one between them.
joined() {
  local mark=$1 text=$2 word
  shift 2
  for word in "$@"; do text+=$mark$word; done
  printf '%s\n' "$text"
}

# The traits of the package whose libraries are on this machine, as in SecretService,PostgreSQL.
available_traits() {
  local found=()
  has_command pkg-config || return 0
  ! pkg-config --exists libsecret-1 || found+=(SecretService)
  ! pkg-config --exists libpq || found+=(PostgreSQL)
  ! pkg-config --exists gtk4 || found+=(GTK)
  [ ${#found[@]} -eq 0 ] || joined , "${found[@]}"
}

# Builds a package without warnings, its tests too, and refuses an import that its target does not declare. Its manifest
# makes warnings errors: for another package, which it depends on, the compiler is told to give none, and it does not
# take both. So this is the usual build, and what runs its tests need not build again.
build_strictly() {
  swift build --package-path "$1" --build-tests --explicit-target-dependency-import-check error
}

# The same for this package, with all traits whose libraries are on this machine. A build folder of its own, because
# traits and flags would rebuild everything in the usual one. The first argument is what swift is to do.
in_strict_folder() {
  local command=$1 traits
  shift
  traits=$(available_traits)
  swift "$command" --package-path "$root" --scratch-path "$root/.build/check" ${traits:+--traits "$traits"} \
    --explicit-target-dependency-import-check error -Xswiftc -warnings-as-errors "$@"
}

build_package() {
  in_strict_folder build --build-tests
}

# What the store in a database needs, and a server to try it with.
has_postgresql() {
  has_command pkg-config && pkg-config --exists libpq &&
    { has_command postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; }
}

readonly postgresql_packages="libpq-dev postgresql util-linux pkg-config"

# shellcheck disable=SC2086
install_postgresql() {
  echo "libpq or PostgreSQL is missing."
  install_with_apt --no-install-recommends $postgresql_packages && has_postgresql
}

# A browser that nobody sees, and a proxy.
has_browser() {
  has_command chromium && has_command chromedriver && has_command setpriv &&
    { has_command nginx || [ -x /usr/sbin/nginx ]; }
}

readonly browser_packages="chromium chromium-driver nginx-light fonts-dejavu-core util-linux"

# shellcheck disable=SC2086
install_browser() {
  echo "Chromium or nginx is missing."
  install_with_apt --no-install-recommends $browser_packages && has_browser
}
