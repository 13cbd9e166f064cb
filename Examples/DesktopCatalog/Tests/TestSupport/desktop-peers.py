"""A session manager, a portal and a logind, each on the bus that the environment names.

Reads commands and prints what the app does, one a line. After `kill REPORT PID` it kills that
process with SIGKILL before it prints the report, so that nothing can be stored after it.
"""
import os
import signal
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.gnome.SessionManager"
CLIENT = "org.gnome.SessionManager.ClientPrivate"
PORTAL = "org.freedesktop.portal.Desktop"
SETTINGS = "org.freedesktop.portal.Settings"
COLOR_SCHEME = ("org.freedesktop.appearance", "color-scheme")
LOGIND = "org.freedesktop.login1"
LOGIND_MANAGER = "org.freedesktop.login1.Manager"

kills = {}


def report(word, *details):
    if word in kills:
        os.kill(kills.pop(word), signal.SIGKILL)
    print(word, *details, flush=True)


class Client(dbus.service.Object):
    @dbus.service.signal(CLIENT, signature="u")
    def QueryEndSession(self, flags):
        pass

    @dbus.service.signal(CLIENT, signature="u")
    def EndSession(self, flags):
        pass

    @dbus.service.signal(CLIENT)
    def CancelEndSession(self):
        pass

    @dbus.service.signal(CLIENT)
    def Stop(self):
        pass

    @dbus.service.method(CLIENT, in_signature="bs")
    def EndSessionResponse(self, is_ok, reason):
        report("answered", "yes" if is_ok else "no")


class SessionManager(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="ss", out_signature="o")
    def RegisterClient(self, app, startup):
        report("registered", app)
        return client

    @dbus.service.method(MANAGER, in_signature="o")
    def UnregisterClient(self, path):
        report("unregistered")

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return dbus.UInt32(0)

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return dbus.Dictionary({}, signature="sv")


class Portal(dbus.service.Object):
    scheme = 0

    @dbus.service.method(SETTINGS, in_signature="ss", out_signature="v")
    def Read(self, namespace, key):
        if (namespace, key) != COLOR_SCHEME:
            raise dbus.DBusException(name="org.freedesktop.portal.Error.NotFound")
        # A portal puts one variant into another.
        return dbus.UInt32(self.scheme, variant_level=2)

    @dbus.service.signal(SETTINGS, signature="ssv")
    def SettingChanged(self, namespace, key, value):
        pass

    def set_scheme(self, scheme):
        self.scheme = scheme
        self.SettingChanged(*COLOR_SCHEME, dbus.UInt32(scheme, variant_level=1))


class Logind(dbus.service.Object):
    @dbus.service.method(LOGIND_MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        ours, theirs = os.pipe()
        GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, ours, GLib.IO_HUP, self.released)
        # The message has a copy of its own when it is on its way.
        GLib.idle_add(os.close, theirs)
        report("locked", what, mode)
        return dbus.types.UnixFd(theirs)

    def released(self, descriptor, condition):
        os.close(descriptor)
        report("released")
        return False

    @dbus.service.signal(LOGIND_MANAGER, signature="b")
    def PrepareForSleep(self, is_about_to_sleep):
        pass


def obey(source, condition):
    words = sys.stdin.readline().split()
    if not words:
        loop.quit()
        return False
    commands = {
        "query": lambda: client.QueryEndSession(0),
        "cancel": lambda: client.CancelEndSession(),
        "end": lambda: client.EndSession(0),
        "stop": lambda: client.Stop(),
        "sleep": lambda: logind.PrepareForSleep(True),
        "wake": lambda: logind.PrepareForSleep(False),
        "scheme": lambda: portal.set_scheme(int(words[1])),
        "kill": lambda: kills.update({words[1]: int(words[2])}),
    }
    commands[words[0]]()
    return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
session, system = dbus.SessionBus(), dbus.SystemBus()
for bus in (session, system):
    bus.set_exit_on_disconnect(False)
name = dbus.service.BusName(MANAGER, session)
manager = SessionManager(session, "/org/gnome/SessionManager")
client = Client(session, "/org/gnome/SessionManager/Client1")
portal_name = dbus.service.BusName(PORTAL, session)
portal = Portal(session, "/org/freedesktop/portal/desktop")
if "--without-logind" not in sys.argv:
    logind_name = dbus.service.BusName(LOGIND, system)
    logind = Logind(system, "/org/freedesktop/login1")
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, obey)
print("ready", flush=True)
loop.run()
