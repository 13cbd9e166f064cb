import RestorationKit
import RestorationSharing

/// What all servers share besides the states of tabs, each a value as JSON under a name.
struct Entries: Sendable {
  let store: any RemoteStateStore

  private static let mostTries = 50

  func load<Value: Decodable>(
    _ name: String, as type: Value.Type = Value.self
  ) async throws -> (value: Value, version: RemoteVersion)? {
    let stored: RemoteState?
    do {
      stored = try await store.load(name)
    } catch {
      throw WebProblem.unreachable("\(error)")
    }
    guard let stored else { return nil }
    do {
      return (try JSON.value(type, stored.bytes), stored.version)
    } catch {
      throw WebProblem.unavailable(
        "Something in the database is damaged.", "It is the entry “\(name)”. \(error)")
    }
  }

  /// Changes a value; if another server changes it meanwhile, once more from what that stored.
  ///
  /// - Returns: What is stored now; nil if nothing was and there is no initial value.
  @discardableResult
  func update<Value: Codable>(
    _ name: String, from initial: Value? = nil, _ change: (inout Value) throws -> Void
  ) async throws -> Value? {
    for _ in 0..<Self.mostTries {
      let stored = try await load(name, as: Value.self)
      guard var value = stored?.value ?? initial else { return nil }
      try change(&value)
      if try await replace(name, with: value, expecting: stored?.version) { return value }
    }
    throw WebProblem.unavailable("Too many others change the same. Try again.")
  }

  /// Stores a value in place of the one of a version, or of none; false if there is another.
  func replace(
    _ name: String, with value: some Encodable, expecting version: RemoteVersion?
  ) async throws -> Bool {
    let bytes = try JSON.bytes(value)
    do {
      return try await store.replace(name, with: bytes, expecting: version) != nil
    } catch {
      throw WebProblem.notStored("\(error)")
    }
  }

  func remove(_ name: String, expecting version: RemoteVersion) async throws -> Bool {
    do {
      return try await store.remove(name, expecting: version)
    } catch {
      throw WebProblem.notStored("\(error)")
    }
  }

  /// Removes what is stored under a name, whatever it is, also if others change it meanwhile.
  func remove(_ name: String) async throws {
    do {
      while let stored = try await store.load(name) {
        if try await store.remove(name, expecting: stored.version) { return }
      }
    } catch {
      throw WebProblem.notStored("\(error)")
    }
  }

  func removeAll(prefix: String) async throws {
    for name in try await names(prefix: prefix) { try await remove(name) }
  }

  func names(prefix: String) async throws -> [String] {
    do {
      return try await store.names(prefix: prefix)
    } catch {
      throw WebProblem.unreachable("\(error)")
    }
  }
}
