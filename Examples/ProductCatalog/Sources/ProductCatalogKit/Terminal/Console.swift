/// Where keys come from and screens go.
@MainActor package protocol Console: AnyObject {
  var size: Size { get }

  func show(_ canvas: Canvas)

  /// Waits for the next event, and takes all that are there then; nil when no more can come.
  ///
  /// A tick comes when nothing else does for a while.
  func nextEvents() async -> [InputEvent]?

  /// Stops the program, as far as there is a shell to go back to, until somebody continues it.
  func suspend()
}

enum ConsoleTiming {
  static let tickMilliseconds: Int32 = 200
  static let tickInterval = Duration.milliseconds(tickMilliseconds)
  /// How long a lone escape byte waits for the rest of a sequence.
  static let escapeMilliseconds: Int32 = 50
  /// How long the pieces of a paste are apart at most.
  static let pasteMilliseconds: Int32 = 5
}
