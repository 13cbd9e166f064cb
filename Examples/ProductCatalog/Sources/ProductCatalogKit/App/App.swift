/// The program while it runs: it passes events to the windows and shows them.
@MainActor package final class App {
  package enum Ending: Hashable, Sendable {
    case quit
    case inputEnded
    case signal(Int32)
  }

  package let windows: Windows
  /// Who opens and closes windows; without it there is the one that was given.
  package weak var commands: (any WindowCommands)?
  /// Called after every event, the last one too, and at least four times a second.
  package var afterEvent: (@MainActor (InputEvent) -> Void)?
  /// A sentence for the user, shown over the last rows from the next event on.
  package var notice: String?

  private let console: any Console
  private let log: ScreenLog?
  private var shown: Canvas?

  package init(windows: Windows, console: any Console, log: ScreenLog? = nil) {
    self.windows = windows
    self.console = console
    self.log = log
  }

  /// Runs until the user quits, the input ends, or a signal comes.
  ///
  /// Input that has come at once, as a pasted text does, is drawn once.
  package func run() async -> Ending {
    show()
    while let events = await console.nextEvents() {
      for event in events {
        let ending = await handle(event)
        afterEvent?(event)
        if let ending { return ending }
      }
      show()
      // Keys may come without a pause, and others wait for the main actor too.
      await Task.yield()
    }
    return .inputEnded
  }

  private func handle(_ event: InputEvent) async -> Ending? {
    switch event {
    case .key(.control("c")), .key(.control("q")): return .quit
    case .key(.control("n")): await commands?.openWindow()
    case .key(.control("o")): await commands?.focusNextWindow()
    case .key(.control("w")): await closeWindow()
    case .key(.control("r")): await showEarlier()
    case .key(.control("z")): await suspend()
    case .key(let key): return await handle(key)
    case .terminated(let signal): return .signal(signal)
    case .resized, .continued: shown = nil
    case .tick: break
    }
    return nil
  }

  private func closeWindow() async {
    guard windows.all.count > 1, windows.focused?.navigation.top.asksBeforeLeaving() != true else {
      return
    }
    await commands?.closeWindow()
  }

  private func showEarlier() async {
    guard let navigation = windows.focused?.navigation, !(navigation.top is EarlierScreen),
      let sessions = await commands?.earlierSessions()
    else { return }
    navigation.push(EarlierScreen(sessions))
  }

  /// What is stopped may never be continued, so everything is saved before.
  private func suspend() async {
    await commands?.saveWindows()
    console.suspend()
    shown = nil
  }

  private func handle(_ key: Key) async -> Ending? {
    guard let navigation = windows.focused?.navigation else { return nil }
    let bodySize = WindowFrame(size: console.size).bodySize(windows)
    switch navigation.top.handle(key, size: bodySize) {
    case .stay: break
    case .push(let screen): navigation.push(screen)
    case .pop: navigation.pop()
    case .putBack(let session, let screen):
      screen.problem = await commands?.putBack(session)
      if screen.problem == nil { navigation.pop() }
    case .quit: return .quit
    }
    return nil
  }

  private func show() {
    for window in windows.all { window.navigation.top.refresh() }
    let canvas = WindowFrame(size: console.size).draw(windows, notice: notice)
    guard canvas != shown else { return }
    console.show(canvas)
    log?.append(canvas)
    shown = canvas
  }
}
