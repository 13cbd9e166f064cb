/// A console whose keys come from a script and whose screens are printed as plain text.
@MainActor package final class ScriptedConsole: Console {
  package private(set) var size: Size
  private let print: (String) -> Void
  private let staysAfterwards: Bool
  private var steps: ArraySlice<Script.Step>
  private var pause = Duration.zero
  private var shown: Canvas?
  private var printedScreens = 0
  private var isAtEnd = false

  /// - Parameters:
  ///   - script: The keys.
  ///   - size: The size of the screen until the script changes it.
  ///   - staysAfterwards: Whether the program goes on, without keys, when the script has ended.
  ///   - print: What to do with the text of a screen.
  package init(
    _ script: Script, size: Size, staysAfterwards: Bool = false,
    print: @escaping (String) -> Void
  ) {
    self.size = size
    self.staysAfterwards = staysAfterwards
    self.print = print
    steps = script.steps[...]
  }

  package func show(_ canvas: Canvas) {
    shown = canvas
  }

  package func nextEvents() async -> [InputEvent]? {
    while true {
      if let signal = Signals.ending { return [.terminated(signal: signal)] }
      if pause > .zero { return [await pauseBriefly()] }
      guard let step = steps.popFirst() else { return endOfScript().map { [$0] } }
      switch step {
      case .key(let key): return [.key(key)]
      case .paste(let keys): return keys.map(InputEvent.key)
      case .resize(let size): return [resize(to: size)]
      case .wait(let duration): pause = duration
      case .snapshot: printScreen()
      }
    }
  }

  /// Goes on, because a script has no shell to go back to.
  package func suspend() {}

  private func resize(to size: Size) -> InputEvent {
    self.size = size
    return .resized(size)
  }

  private func pauseBriefly() async -> InputEvent {
    let part = min(pause, ConsoleTiming.tickInterval)
    try? await Task.sleep(for: part)
    pause -= part
    return .tick
  }

  private func endOfScript() -> InputEvent? {
    if !isAtEnd { printScreen() }
    isAtEnd = true
    guard staysAfterwards, !Task.isCancelled else { return nil }
    pause = ConsoleTiming.tickInterval
    return .tick
  }

  private func printScreen() {
    printedScreens += 1
    print("--- screen \(printedScreens)\n\(shown?.plainText ?? "")\n")
  }
}
