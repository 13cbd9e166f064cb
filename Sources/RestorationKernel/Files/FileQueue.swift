package import ArchiveCodec
internal import Dispatch
internal import Synchronization

/// The queue before a file: one call after the other, in the order in which they were made.
///
/// Calls that wait for a disk have a thread of their own. A state in memory waits for none, and a
/// change of threads would take longer than the call.
package final class FileQueue: Sendable {
  private let file: Mutex<StateFile>
  private let queue: DispatchQueue?

  /// - Parameter source: The source of the file.
  package init(_ source: StateFile.Source) {
    file = Mutex(StateFile(source))
    queue =
      source.directory is MemoryStateDirectory
      ? nil : DispatchQueue(label: "RestorationKit.StateFile", qos: .userInitiated)
  }

  private func perform<Result: Sendable>(
    _ call: @Sendable (StateFile) throws(ArchiveError) -> Result
  ) -> Swift.Result<Result, ArchiveError> {
    file.withLock { file in .init { () throws(ArchiveError) in try call(file) } }
  }

  /// Calls the file; the thread of the caller is free meanwhile.
  package func run<Result: Sendable>(
    _ call: @escaping @Sendable (StateFile) throws(ArchiveError) -> Result
  ) async throws(ArchiveError) -> Result {
    guard let queue else { return try perform(call).get() }
    return try await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.perform(call)) }
    }.get()
  }

  /// Calls the file, and blocks the thread of the caller until all calls before are done, too.
  package func runNow<Result: Sendable>(
    _ call: @Sendable (StateFile) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard let queue else { return try perform(call).get() }
    return try queue.sync { perform(call) }.get()
  }

  /// Calls the file, and waits for nothing.
  package func enqueue(_ call: @escaping @Sendable (StateFile) -> Void) {
    guard let queue else { return file.withLock { call($0) } }
    queue.async { self.file.withLock { call($0) } }
  }
}
