#if GTK
internal import CGTK4
internal import Glibc

extension SceneWindows {
  /// Stores the windows when the desktop ends the app or puts the machine to sleep.
  ///
  /// Call it once, before the application runs; it sets `register-session`. From then on these
  /// windows stay until the process ends.
  ///
  /// | what comes | what happens |
  /// |---|---|
  /// | SIGTERM, SIGINT or SIGHUP | ``quit()``; then the signal ends the process as if nobody had caught it |
  /// | a second signal | it ends the process at once |
  /// | the session manager asks whether the session may end | what has changed is stored before it is answered; if the user cancels, the app goes on |
  /// | the session ends | ``quit()`` |
  /// | the machine is about to sleep | what has changed is stored; logind waits for that |
  ///
  /// A key that was typed before counts, also if the app has not seen it yet. Each of these
  /// waits a limited time for the disk: five seconds at the end of the app, four before sleep,
  /// because logind waits for five, and less than one for the session manager, because that
  /// tells the user then that the app does not respond. An app that is left alone needs no
  /// call, because its autosave has stored everything 250 ms after the last change.
  ///
  /// GTK speaks to the session managers of GNOME and Xfce. Without a session manager, a system
  /// bus or logind, what they would say never comes, and that is no error. A signal that the
  /// process ignored before the call, as SIGHUP under `nohup`, stays ignored.
  public func followDesktop() {
    let signals = [SIGTERM, SIGINT, SIGHUP].filter { !isIgnored($0) }
    for number in signals {
      MainLoop.onSignal(number) { [self] in end(by: number, among: signals) }
    }
    setRegistersSession()
    connect(application, "query-end") { [self] in save(within: 0.8) }
    // GTK quits by itself when the session ends.
    connect(application, "shutdown") { [self] in quit() }
    SleepNotice.begin { [self] in save(within: 4) }
  }

  private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    // Closures of C cannot be compared.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func setRegistersSession() {
    var value = GValue()
    // `G_TYPE_BOOLEAN`, which is a macro.
    g_value_init(&value, GType(5 << 2))
    g_value_set_boolean(&value, 1)
    g_object_set_property(application.of(), "register-session", &value)
    g_value_unset(&value)
  }

  private func end(by number: Int32, among signals: [Int32]) {
    // The next one is not caught any more, so that it works also while the disk hangs.
    for number in signals { signal(number, SIG_DFL) }
    connect(application, "shutdown", afterOthers: true) { raise(number) }
    MainLoop.handleInput(atMost: 1)
    quit()
  }

  private func save(within limit: Double) {
    let start = g_get_monotonic_time()
    MainLoop.handleInput(atMost: limit / 2)
    saveNow(within: limit - Double(g_get_monotonic_time() - start) / 1_000_000)
  }
}
#endif
