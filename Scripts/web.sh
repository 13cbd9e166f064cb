# Sourced by Scripts/demo: the web catalog on two servers, of which one is killed.
# shellcheck shell=bash disable=SC2154

readonly journey=testTheUserGoesOnAtTheOtherServerWithTheSameTextCursorAndScrollPosition

web_children=()

build_web() {
  has_postgresql || install_postgresql || fail "PostgreSQL is missing. Install it: $postgresql_packages"
  has_browser || install_browser || fail "A browser or nginx is missing. Install: $browser_packages"
  echo "Building the web catalog; the first time takes some minutes."
  run_quietly swift build --package-path "$web" "$@"
}

# A test plays the user, since it compares what is seen as well.
show_web() {
  local pictures=$1
  make_sandbox
  build_web --build-tests
  mkdir -p "$pictures"
  heading "A user, two servers behind nginx, and PostgreSQL"
  echo "A browser signs in, searches, scrolls, opens a product and types into it. Then the server is"
  echo "killed with SIGKILL, and the browser reloads the page, which the other server answers."
  cd "$web" || exit
  CATALOG_TEST_PICTURES=$pictures run_quietly "$root/Scripts/postgres" \
    swift test --skip-build --filter "BrowserTests.FailoverTests/$journey"
  grep -q "Executed 1 test, with 0 failures" "$sandbox/log" || {
    cat "$sandbox/log"
    fail "The test did not run."
  }
  make_pictures_small "$pictures"
  if has_command convert; then
    convert -size 16x16 "xc:$background" "$sandbox/background.png"
    draw_kill "$sandbox/background.png" web-catalog
  fi
  heading "Before and after"
  echo "The same search, text, selection and scroll offsets; not one pixel differs."
  echo "Pictures of it: $pictures/before.png and $pictures/after.png"
}

make_pictures_small() {
  local name
  has_command convert || return 0
  for name in before after; do
    convert "$1/$name.png" -dither None -colors 48 -define png:exclude-chunks=date,time \
      "PNG8:$1/$name.png"
  done
}

# Everything that the site needs, until the user presses Ctrl-C.
serve_web() {
  make_sandbox
  trap end_web EXIT
  trap 'exit 130' INT TERM
  build_web --product web-catalog
  web_catalog=$(swift build --package-path "$web" --show-bin-path)/web-catalog
  start_database
  start_web_server one
  start_web_server two
  start_proxy
  heading "Open http://localhost:$proxy_port/"
  echo "Sign in with any name, search, choose a product, press Edit, and type."
  echo "Then kill a server in another terminal, and reload the page:"
  echo "  kill -9 $server_pid_one    or    kill -9 $server_pid_two"
  echo "The operators' page is /operators; the password is $(cat "$sandbox/token"), the name does not matter."
  echo "Ctrl-C ends all of it, and what was stored is removed."
  wait
}

start_database() {
  mkfifo "$sandbox/database-end"
  "$root/Scripts/postgres" --serve <"$sandbox/database-end" >"$sandbox/database" 2>&1 &
  web_children+=($!)
  # The database ends when this is closed.
  exec 9>"$sandbox/database-end"
  wait_for_web "database" test -s "$sandbox/database"
  database=$(head -n 1 "$sandbox/database")
}

start_web_server() {
  local name=$1
  [ -s "$sandbox/token" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$sandbox/token"
  "$web_catalog" --port 0 --database "$database" --master-key "$sandbox/key" \
    --operators-token "$sandbox/token" >"$sandbox/server-$name" 2>&1 </dev/null 9>&- &
  printf -v "server_pid_$name" %s "$!"
  web_children+=($!)
  wait_for_web server has_opened "$name"
  printf -v "server_port_$name" %s "$(sed -n 's/.*:\([0-9]*\).*/\1/p' "$sandbox/server-$name")"
}

has_opened() {
  local pid=server_pid_$1
  kill -0 "${!pid}" 2>/dev/null || fail "A server has ended. $(cat "$sandbox/server-$1")"
  grep -q "^Open " "$sandbox/server-$1"
}

# The usual one, or the next one that nobody has.
start_proxy() {
  proxy_port=8080
  while answers "$proxy_port"; do proxy_port=$((proxy_port + 1)); done
  mkdir "$sandbox/nginx"
  sed -e "s#@FOLDER@#$sandbox/nginx#g" -e "s#@PORT@#$proxy_port#" \
    -e "s#@SERVERS@#server 127.0.0.1:$server_port_one max_fails=0; server 127.0.0.1:$server_port_two max_fails=0;#" \
    "$web/nginx.conf" >"$sandbox/nginx/nginx.conf"
  # One process has no worker_rlimit_nofile.
  ulimit -S -n 8192 2>/dev/null || true
  PATH=$PATH:/usr/sbin nginx -p "$sandbox/nginx" -e "$sandbox/nginx/log" \
    -c "$sandbox/nginx/nginx.conf" -g "daemon off; master_process off;" 9>&- &
  web_children+=($!)
  wait_for_web "proxy at port $proxy_port" answers "$proxy_port"
}

answers() {
  (exec 8<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

wait_for_web() {
  local what=$1 deadline=$((SECONDS + 30))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || fail "No $what after 30 seconds."
    sleep 0.1
  done
}

end_web() {
  local child
  exec 9>&-
  for child in "${web_children[@]}"; do
    kill "$child" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  remove_sandbox
}
