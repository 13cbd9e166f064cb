internal import ArchiveCodec
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Synchronization

/// The values of this process and where they are stored, for its end on a thread on which no node
/// can be asked.
enum ValuesAtExit {
  private struct Place: Sendable {
    weak var file: StateFile?
    weak var store: ValueStore?
    let environment: ApplicationEnvironment
  }

  private static let places = Mutex<[Place]>([])

  static func add(
    _ store: ValueStore, in file: StateFile, _ environment: ApplicationEnvironment
  ) {
    let place = Place(file: file, store: store, environment: environment)
    places.withLock { places in
      places.removeAll { $0.file == nil || $0.store == nil || $0.file === file }
      places.append(place)
    }
  }

  /// What has ended by itself is stored by nobody.
  static func forget() { places.withLock { $0 = [] } }

  /// Stores all, and blocks the thread meanwhile.
  static func store(within limit: Duration) {
    let places = places.withLock { $0 }
    FileCalls.block(until: .now + limit) {
      for place in places {
        guard let file = place.file, let store = place.store else { continue }
        do throws(ArchiveError) {
          _ = try await file.store(store.change, of: place.environment, now: Date())
        } catch {
          // Nobody is there any more who could be told. What is stored is as it was.
        }
      }
    }
  }
}
