// A store of one's own, two devices that share a state, and a conflict.

import ArchiveCodec
import RestorationKit
import RestorationSharing

/// What a service with four calls comes to; here it is a dictionary.
///
/// Two strings are equal if they show the same characters; two names are so if their bytes are.
actor Bucket: RemoteStateStore {
  nonisolated let location = "bucket"
  private var objects: [[UInt8]: RemoteState] = [:]
  private var writeCount = 0

  func load(_ name: String) -> RemoteState? { objects[Array(name.utf8)] }

  func replace(
    _ name: String, with bytes: [UInt8], expecting version: RemoteVersion?
  ) -> RemoteVersion? {
    guard load(name)?.version == version else { return nil }
    writeCount += 1
    let new = RemoteVersion("\(writeCount)")
    objects[Array(name.utf8)] = RemoteState(bytes: bytes, version: new)
    return new
  }

  func remove(_ name: String, expecting version: RemoteVersion) -> Bool {
    guard load(name)?.version == version else { return false }
    objects[Array(name.utf8)] = nil
    return true
  }

  func names(prefix: String) -> [String] {
    objects.keys.filter { $0.starts(with: prefix.utf8) }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

@MainActor
final class NoteScreen: @MainActor StatefulNode {
  let restorationIdentifier = "note"
  var restorableState = ""
}

@MainActor
struct Device {
  let screen = NoteScreen()
  let keeper: StateKeeper

  init(_ name: String, _ store: Bucket, _ keys: any KeyProvider) throws {
    keeper = try StateKeeper(
      application: "org.example.notes", directory: RemoteStateDirectory(store), keys: keys,
      environment: ApplicationEnvironment(deviceName: name))
  }

  func write(_ text: String) async throws -> PreservationReport {
    screen.restorableState = text
    return try await keeper.save([screen])
  }
}

let store = Bucket()
let keys = try ArchiveKey()

let desk = try Device("desk", store, keys)
_ = try await desk.write("Begun at the desk.")

// Another device has what the first one has saved.
let phone = try Device("phone", store, keys)
_ = try await phone.keeper.restore(into: [phone.screen])
print("Phone:", phone.screen.restorableState)
_ = try await phone.write("Changed on the phone.")

// Nothing is overwritten that nobody has seen.
let report = try await desk.write("Changed at the desk.")
if let conflict = report.conflict {
  print("Conflict:", conflict)
  try await desk.keeper.resolveConflict(keeping: .theirs)
  _ = try await desk.keeper.restore(into: [desk.screen])
}
print("Desk:", desk.screen.restorableState)
let conflicts = try await desk.keeper.history().filter { $0.reason == .conflict }
print("Conflicts in the history:", conflicts.count)
