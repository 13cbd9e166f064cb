internal import ArchiveCodec
internal import RestorationFoundation
internal import Dispatch
internal import Synchronization

/// The values of this process and their files, for the end of the process on a thread on which no
/// node can be asked, and for changes while the actor of the nodes is busy.
enum ValuesAtExit {
  private struct Place: Sendable {
    weak var file: StateFile?
    weak var store: ValueStore?
    let environment: ApplicationEnvironment
  }

  private struct Content {
    /// Whether the end of the process stores the values.
    var isBegun = false
    /// The stores of values, by their files; each file has one store at a time.
    var places: [ObjectIdentifier: Place] = [:]
    /// Above this count, stores that are gone are dropped.
    var largestCount = 64
  }

  private static let content = Mutex(Content())

  /// Runs what stores values while the process goes on: all threads that tasks share may be blocked.
  static let queue = DispatchQueue(label: "RestorationKit.ValuesAtExit")

  /// Whether there may be values to store.
  static var isBegun: Bool { content.withLock(\.isBegun) }

  /// Lets the end of the process store the values that are added from now on.
  static func begin() { content.withLock { $0.isBegun = true } }

  static func add(
    _ store: ValueStore, in file: StateFile, _ environment: ApplicationEnvironment
  ) {
    let place = Place(file: file, store: store, environment: environment)
    content.withLock { content in
      guard content.isBegun else { return }
      if content.places.count >= content.largestCount {
        content.places = content.places.filter { $0.value.file != nil && $0.value.store != nil }
        content.largestCount = max(64, 2 * content.places.count)
      }
      content.places[ObjectIdentifier(file)] = place
    }
  }

  /// Forgets all values: a session that has ended by itself leaves nothing to store.
  static func end() { content.withLock { $0 = Content() } }

  /// Stores all values, and blocks the thread meanwhile.
  ///
  /// - Parameters:
  ///   - limit: How long the call waits at most.
  ///   - isLast: Whether the process ends, so that no later save counts.
  static func store(within limit: Duration, isLast: Bool = false) {
    let places = content.withLock { $0.places.values.map(\.self) }
    guard !places.isEmpty, limit > .zero else { return }
    _ = Blocking.call(until: .now + limit.bounded) {
      for place in places {
        guard let file = place.file, let store = place.store else { continue }
        do throws(ArchiveError) {
          _ = try await file.store(store, of: place.environment, now: Date(), isLast: isLast)
        } catch {
          // Nobody is left to be told. The stored state is as it was.
        }
      }
    }
  }
}
