/// The state that all encoders of one Codable value share.
final class EncodingSession {
  let userInfo: [CodingUserInfoKey: any Sendable]
  let forms = CodableForms()
  /// The writer of the value, then the writers of nested containers, which have bytes
  /// of their own until their place is known.
  private var writers: [ValueWriter]
  private var callDepth = 0
  /// The writer that has written last, and the names that the others used then,
  /// if they were counted.
  private var writing: ValueWriter?
  private var knownUse: Int?

  init(_ writer: ValueWriter, userInfo: [CodingUserInfoKey: any Sendable]) {
    writers = [writer]
    self.userInfo = userInfo
  }

  /// Runs one `encode(to:)`; values that nest too deeply are refused here,
  /// before the call stack runs out.
  func call(_ limits: ArchiveLimits, _ body: () throws -> Void) throws {
    guard callDepth < limits.callLimit else {
      throw ArchiveError(.limitExceeded, subject: "depth")
    }
    callDepth += 1
    defer { callDepth -= 1 }
    try body()
  }

  func makeWriter(like writer: ValueWriter) -> ValueWriter {
    let new = ValueWriter(limits: writer.limits, symbols: writer.symbols, depth: writer.depth)
    // Moved to a local variable for the change, see ``ValueEncoder``.
    var changed = writers
    writers = []
    changed.append(new)
    writers = changed
    return new
  }

  struct Mark {
    let bytes: ValueWriter.Mark
    let writerCount: Int
  }

  func mark(_ writer: ValueWriter) -> Mark {
    noteWriting(writer)
    return Mark(bytes: writer.mark, writerCount: writers.count)
  }

  private func noteWriting(_ writer: ValueWriter) {
    if writer !== writing { (writing, knownUse) = (writer, nil) }
  }

  /// Removes the bytes that were written since the mark, also in nested containers that
  /// were made since; older nested containers keep their bytes.
  func goBack(_ writer: ValueWriter, to mark: Mark) {
    dropWriters(after: mark.writerCount)
    noteWriting(writer)
    // Without new names no other writer can use one of them.
    let isNewNamed = writer.symbols.count > mark.bytes.symbolCount
    writer.goBack(to: mark.bytes, keptSymbolCount: isNewNamed ? symbolsUsedByOthers : 0)
    writer.failure = nil
  }

  /// The names that other writers use besides the present one.
  ///
  /// There may be many writers, so they are asked once as long as the present writer stays.
  private var symbolsUsedByOthers: Int {
    if let knownUse { return knownUse }
    let use = writers.lazy.filter { $0 !== self.writing }.map(\.symbolsUsed).max() ?? 0
    knownUse = use
    return use
  }

  private func dropWriters(after count: Int) {
    guard writers.count > count else { return }
    writers = Array(writers[..<count])
    knownUse = nil
  }

  /// Runs the body with a writer of its own that writes names inline, so that
  /// the bytes depend on the value alone.
  func withInlineNames<Result>(
    like writer: ValueWriter, _ body: (ValueWriter) throws -> Result
  ) rethrows -> Result {
    let count = writers.count
    defer { dropWriters(after: count) }
    let symbols = SymbolCollector(limits: writer.limits, isInline: true)
    return try body(ValueWriter(limits: writer.limits, symbols: symbols, depth: writer.depth))
  }
}
