/// The program while it runs: it passes events to the screens and shows the top one.
@MainActor package final class App {
  package enum Ending: Hashable, Sendable {
    case quit
    case inputEnded
    case signal(Int32)
  }

  package let navigation: NavigationStack
  /// Called after every event, the last one too, and at least four times a second.
  package var afterEvent: (@MainActor (InputEvent) -> Void)?
  /// A sentence for the user, shown over the last rows from the next event on.
  package var notice: String?

  private let console: any Console
  private let log: ScreenLog?
  private var shown: Canvas?

  package init(navigation: NavigationStack, console: any Console, log: ScreenLog? = nil) {
    self.navigation = navigation
    self.console = console
    self.log = log
  }

  /// Runs until the user quits, the input ends, or a signal comes.
  package func run() async -> Ending {
    show()
    while let event = await console.nextEvent() {
      let ending = handle(event)
      if ending == nil { show() }
      afterEvent?(event)
      if let ending { return ending }
      // Keys may come without a pause, and others wait for the main actor too.
      await Task.yield()
    }
    return .inputEnded
  }

  private func handle(_ event: InputEvent) -> Ending? {
    switch event {
    case .key(.control("c")), .key(.control("q")): return .quit
    case .key(let key): return handle(key)
    case .terminated(let signal): return .signal(signal)
    case .resized:
      shown = nil
      return nil
    case .tick: return nil
    }
  }

  private func handle(_ key: Key) -> Ending? {
    let bodySize = ScreenFrame(size: console.size).bodySize
    switch navigation.top.handle(key, size: bodySize) {
    case .stay: break
    case .push(let screen): navigation.push(screen)
    case .pop: navigation.pop()
    case .quit: return .quit
    }
    return nil
  }

  private func show() {
    let canvas = ScreenFrame(size: console.size).draw(navigation, notice: notice)
    guard canvas != shown else { return }
    console.show(canvas)
    log?.append(canvas)
    shown = canvas
  }
}
