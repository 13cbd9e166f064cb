/// Where a process is killed that is in the midst of something.
package struct KillPoint: CustomStringConvertible {
  /// How many changes of the disk are made before the last one.
  package let callCount: Int
  /// How much of the last one is made.
  package let extent: FaultyDisk.Extent

  package var description: String { "killed after \(callCount) changes and \(extent) of the next" }
}

/// How a process ends.
package enum ProcessEnd {
  case kill
  case powerCut(FaultyDisk.Remains)
}

/// A short life of an app: some operations, an end in the midst of the last one, an end in the midst
/// of the launch after it, and a launch.
///
/// A subclass has the app, and says what may come back.
@MainActor
open class ShortHistory<Operation: CaseIterable> {
  package let operations: [Operation]
  package let disk = FaultyDisk(seed: 0)
  package let keys = MemoryKeyProvider()
  package var process: DiskProcess
  /// The calls in which the last operation and the launch after it have ended; nil if they were done.
  package private(set) var lastCall: FaultyDisk.Call?
  package private(set) var lastCallOfLaunch: FaultyDisk.Call?
  /// What must not be.
  package private(set) var problem: String?
  package var story: [String] { told.map { $0() } }
  /// Put into words when somebody asks, which is seldom.
  private var told: [() -> String] = []
  private var kill: KillPoint?

  /// - Parameters:
  ///   - operations: At least one.
  ///   - whole: The same history without a kill, which knows what its last operation brings; nil if
  ///     this is that one.
  public required init(_ operations: [Operation], after whole: ShortHistory?) {
    self.operations = operations
    process = disk.process()
  }

  // MARK: The app

  /// Makes what every history begins with, up to a launch.
  open func prepare() async throws { fatalError() }

  /// Does something; ``arm()`` comes right before it.
  open func perform(_ operation: Operation) async throws { fatalError() }

  /// Launches the app in the present process, and checks what comes back.
  open func launch() async throws { fatalError() }

  /// Lets the states go, so that all that is left over is swept.
  open func close() async { fatalError() }

  /// What the last launch has found, to be compared; nil if it has found nothing.
  open var found: String? { fatalError() }

  /// The power is about to be cut.
  open func willCutPower() {}

  // MARK: Running

  /// Runs the operations, and ends the process.
  ///
  /// - Parameters:
  ///   - kill: Where the last operation ends; nil if the process ends after it.
  ///   - end: How the processes end.
  ///   - second: Where the launch after it ends; nil if it does not.
  /// - Throws: If the beginning of the history fails; else ``problem`` says what was wrong.
  package func run(
    _ kill: KillPoint? = nil, _ end: ProcessEnd = .kill, _ second: KillPoint? = nil
  ) async throws {
    try await prepare()
    for operation in operations.dropLast() { await note(operation) }
    self.kill = kill
    if let last = operations.last { await note(last) }
    lastCall = process.lastCall
    if kill != nil, lastCall == nil { return }
    self.kill = second
    finish(end)
    await launchArmed()
    if process.hasEnded {
      lastCallOfLaunch = process.lastCall
      finish(end)
      await launchArmed()
    }
    let before = found
    await close()
    finish(.kill)
    await launchArmed()
    if found != before { fail("\(found ?? "nothing") came back after \(before ?? "nothing")") }
  }

  private func note(_ operation: Operation) async {
    guard !process.hasEnded else { return }
    tell("\(operation)")
    do {
      try await perform(operation)
    } catch {
      if !process.hasEnded { fail("\(operation) has failed: \(error)") }
    }
  }

  package func launchArmed() async {
    process = disk.process()
    do {
      try await launch()
      if !process.hasEnded { process.disarm() }
    } catch {
      if !process.hasEnded { fail("launch has failed: \(error)") }
    }
  }

  package func finish(_ end: ProcessEnd) {
    process.end()
    switch end {
    case .kill: tell("killed")
    case .powerCut(let remains):
      tell("power cut")
      willCutPower()
      disk.cutPower(leaving: remains)
    }
  }

  /// Whether the next operation is to be killed.
  package var isArmed: Bool { kill != nil }

  package func arm() {
    guard let kill else { return }
    process.arm(.endAt(kill.extent), after: kill.callCount)
    self.kill = nil
  }

  package func tell(_ what: @autoclosure @escaping () -> String) { told.append(what) }

  package func fail(_ what: String) {
    if problem == nil { problem = what }
    tell("FAILED: \(what)")
  }
}
