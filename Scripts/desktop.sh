# Sourced by Scripts/demo: the GTK app, killed on a screen that nobody sees.
# shellcheck shell=bash disable=SC2154

pid=
servers=()
readonly background="#c9d6e6" margin=24

show_desktop() {
  pictures=$1
  make_sandbox
  has_gtk || install_gtk || fail "GTK 4 is missing. Install it: $gtk_packages"
  echo "Building the app; the first time takes some minutes."
  run_quietly swift build --package-path "$desktop" --product desktop-catalog
  desktop_catalog=$(swift build --package-path "$desktop" --show-bin-path)/desktop-catalog
  if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    hand_over_desktop
  else
    has_screen || install_screen || fail "Without a display this needs: $screen_packages"
    trap end_desktop EXIT
    demonstrate_desktop
  fi
}

hand_over_desktop() {
  local status=0
  remove_sandbox
  # The app replaces this shell and keeps its process id.
  # shellcheck disable=SC2016
  bash -c 'echo "Kill it from another terminal with: kill -9 $$"; exec "$0"' "$desktop_catalog" ||
    status=$?
  [ "$status" -eq 137 ] || exit "$status"
  echo "The app was killed. Run this again to see everything where it was."
}

demonstrate_desktop() {
  mkdir -p "$pictures"
  move_home_into_sandbox
  start_screen
  heading "The app in the middle of an edit, in the second of two windows"
  start_desktop_catalog
  on_screen resize_window
  press Tab Down Down Down Down Down ctrl+2
  press ctrl+n
  on_screen resize_window
  # The window manager places windows by the size that they begin with.
  end_app || true
  start_desktop_catalog
  press Tab Down Down Down Down Down Down Down Down ctrl+e
  press Tab
  on_screen xdotool type --delay 20 " $typed."
  press shift+ctrl+Left shift+ctrl+Left
  take_picture before

  kill_app
  wait_for_screen "end of the windows" shows_no_window
  take_picture_of_kill
  start_desktop_catalog
  heading "The app started again"
  take_picture after
  compare_pictures
}

# Nothing on the screen moves by itself, so that two pictures of one thing are equal.
start_screen() {
  mkdir -p "$XDG_CONFIG_HOME/gtk-4.0"
  printf '%s\n' '[Settings]' gtk-cursor-blink=false gtk-enable-animations=false \
    gtk-overlay-scrolling=false gtk-hint-font-metrics=true >"$XDG_CONFIG_HOME/gtk-4.0/settings.ini"
  export GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none GSETTINGS_BACKEND=memory
  Xvfb -displayfd 3 -screen 0 1200x720x24 -nocursor -nolisten tcp -noreset \
    3>"$sandbox/display" >/dev/null 2>&1 &
  servers+=($!)
  wait_for_screen "screen" test -s "$sandbox/display"
  DISPLAY=:$(cat "$sandbox/display")
  dbus-daemon --session --nofork --print-address=3 3>"$sandbox/bus" >/dev/null 2>&1 &
  servers+=($!)
  wait_for_screen "session bus" test -s "$sandbox/bus"
  DBUS_SESSION_BUS_ADDRESS=$(cat "$sandbox/bus")
  export DISPLAY DBUS_SESSION_BUS_ADDRESS
  printf '%s\n' "<openbox_config xmlns='http://openbox.org/3.4/rc'><margins>" \
    "<top>$margin</top><bottom>$margin</bottom><left>$margin</left><right>$margin</right>" \
    "</margins></openbox_config>" >"$sandbox/openbox.xml"
  openbox --sm-disable --config-file "$sandbox/openbox.xml" >/dev/null 2>&1 &
  servers+=($!)
  wait_for_screen "window manager" has_window_manager
  # The pointer is where no window is, so that it is over no widget.
  xdotool mousemove 1199 719
  convert -size 16x16 "xc:$background" "$sandbox/background.png"
  # It says that it has failed when it has not.
  display -window root "$sandbox/background.png" || true
  bare=$(import -window root rgb:- | cksum)
}

has_window_manager() {
  xdotool get_num_desktops >/dev/null 2>&1
}

shows_no_window() {
  [ "$bare" = "$(import -window root rgb:- | cksum)" ]
}

start_desktop_catalog() {
  wait_for_screen "end of the windows" shows_no_window
  "$desktop_catalog" >"$sandbox/output" 2>&1 </dev/null &
  pid=$!
  wait_for_screen "window with the keyboard" has_keyboard
  wait_for_screen "screen that stands still" stands_still
}

has_keyboard() {
  [ "$(xdotool getactivewindow getwindowpid 2>/dev/null)" = "$pid" ]
}

resize_window() {
  xdotool getactivewindow windowsize 760 480
}

press() {
  on_screen xdotool key --delay 20 "$@"
}

# Does something, and waits until what it changes is to be seen and stored.
on_screen() {
  local before
  before=$(look)
  "$@"
  wait_for_screen "change after: $*" looks_otherwise_than "$before"
  wait_for_screen "screen that stands still" stands_still
}

looks_otherwise_than() {
  [ "$(look)" != "$1" ]
}

# The app saves a few times a second.
stands_still() {
  local before
  before=$(look)
  sleep 0.7
  [ "$before" = "$(look)" ]
}

# Tells one screen, and what is stored with it, from another one.
look() {
  import -window root rgb:- | cksum
  local file
  file=$(state_file)
  [ -z "$file" ] || cksum "$file"
}

wait_for_screen() {
  local what=$1 deadline=$((SECONDS + 30))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || give_up "No $what after 30 seconds."
    sleep 0.1
  done
}

# One for people, and an exact one to be compared.
take_picture() {
  import -window root "$sandbox/$1.png"
  convert "$sandbox/$1.png" -trim +repage -bordercolor "$background" -border $margin -dither None -colors 64 \
    -define png:exclude-chunks=date,time "PNG8:$pictures/$1.png"
  echo "A picture of it: $pictures/$1.png"
}

# The screen without the app, and in its place the command that has ended it.
take_picture_of_kill() {
  import -window root "$sandbox/killed.png"
  draw_kill "$sandbox/killed.png" desktop-catalog
}

# Draws a terminal onto a picture, which gets the size of the one before the kill. Pages show it small.
draw_kill() {
  local width height
  read -r width height < <(identify -format "%w %h\n" "$pictures/before.png")
  convert "$1" -background "$background" -gravity center -extent "${width}x$height" \
    -fill "#1e1e1e" -draw "roundrectangle 40,$((height / 2 - 110)) $((width - 40)),$((height / 2 + 110)) 12,12" \
    -gravity west -font DejaVu-Sans-Mono -pointsize 50 \
    -fill "#deddda" -annotate +70-40 "\$ pkill -9 $2" -fill "#f5c211" -annotate +70+40 "Killed" \
    -dither None -colors 64 -define png:exclude-chunks=date,time "PNG8:$pictures/killed.png"
  echo "A picture of it: $pictures/killed.png"
}

compare_pictures() {
  heading "Before and after"
  local differences
  differences=$(compare -metric AE "$sandbox/before.png" "$sandbox/after.png" null: 2>&1) || true
  [ "$differences" = 0 ] || fail "Pixels that differ: $differences."
  echo "Not one pixel differs."
}

end_desktop() {
  local server
  [ -z "$pid" ] || end_app || true
  for server in "${servers[@]}"; do
    kill "$server" 2>/dev/null || true
  done
  remove_sandbox
}
