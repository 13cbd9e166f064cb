#pragma once

#include <gtk/gtk.h>
#include <glib-unix.h>

#ifdef GDK_WINDOWING_X11
#include <gdk/x11/gdkx.h>
#endif
