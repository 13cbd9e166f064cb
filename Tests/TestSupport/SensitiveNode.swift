package import RestorationKit

/// A node that encodes what its closure says, and tells what came back.
@MainActor
package class SensitiveNode: @MainActor RestorableNode {
  package class var stateTracking: StateTracking { .always }

  package var restorationIdentifier: String?
  package var restorationClass: (any NodeRestoration.Type)?
  package var restorationChildren: [any RestorableNode] = []
  package var encode: (StateEncoder) throws -> Void
  package var decode: (StateDecoder) throws -> Void = { _ in }
  package private(set) var encodeCount = 0
  /// The value that is stored for some time.
  package var value: String?
  /// How long, in seconds.
  package var duration: Int
  /// What the last restore found; nil if nothing was restored.
  package private(set) var found: Found?

  package struct Found: Equatable {
    package let value: String?
    package let isThere: Bool
    package let keys: [String]

    package init(_ value: String?, isThere: Bool, keys: [String]) {
      (self.value, self.isThere, self.keys) = (value, isThere, keys)
    }
  }

  package init(
    _ identifier: String, value: String? = nil, duration: Int = 60,
    encode: @escaping (StateEncoder) throws -> Void = { _ in }
  ) {
    restorationIdentifier = identifier
    self.value = value
    self.duration = duration
    self.encode = encode
  }

  package func encodeRestorableState(with coder: StateEncoder) throws {
    encodeCount += 1
    coder.encode(value, forKey: "value", sensitivity: .expiring(after: .seconds(duration)))
    try encode(coder)
  }

  package func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decodeIfPresent(forKey: "value")
    found = Found(value, isThere: coder.contains("value"), keys: coder.keys)
    try decode(coder)
  }
}

/// One that says when it has changed.
@MainActor
package final class TrackedSensitiveNode: SensitiveNode {
  override package class var stateTracking: StateTracking { .invalidated }
}
