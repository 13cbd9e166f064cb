#pragma once

#if !__has_include(<gtk/gtk.h>)
#error "GTK 4 is missing, which the trait GTK needs. Install it: apt install libgtk-4-dev"
#endif

#include <gtk/gtk.h>
#include <glib-unix.h>

#ifdef GDK_WINDOWING_X11
#include <gdk/x11/gdkx.h>
#endif

// A function with any number of arguments, which Swift cannot call.
static inline void emit_layout(GdkFrameClock *clock) { g_signal_emit_by_name(clock, "layout"); }
