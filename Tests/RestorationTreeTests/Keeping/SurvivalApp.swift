import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A node that says when it has changed.
@MainActor
class SurvivalItem: @MainActor RestorableNode {
  class var stateTracking: StateTracking { .invalidated }

  let name: String
  /// That of the app that it lives in.
  let version: Int
  var value = "" { didSet { invalidateRestorableState() } }
  var below: [SurvivalItem] = [] { didSet { invalidateRestorableState() } }
  /// What is stored of it and this version of the app has not seen.
  var unread: SavedNode?

  required init(_ name: String, version: Int) {
    self.name = name
    self.version = version
  }

  var key: String { "value" }

  var restorationIdentifier: String? { name }
  var restorationChildren: [any RestorableNode] { below }

  func encodeRestorableState(with coder: StateEncoder) throws {
    coder.encode(value, forKey: key)
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    value = try coder.decode(forKey: key)
  }
}

/// A node that says nothing of its changes.
@MainActor
final class PlainItem: SurvivalItem {
  override class var stateTracking: StateTracking { .always }
}

/// A node whose class has another version in each version of the app.
@MainActor
final class VersionedItem: SurvivalItem {
  static let versions = 1...3
  private static func key(_ version: Int) -> String { "value of version \(version)" }
  override var key: String { Self.key(version) }

  static func migrations(to version: Int) -> Migrations {
    TestSupport.migrations(to: version) { try $1.rename(key($0), to: key($0 + 1)) }
  }
}

/// What a save has written of a node.
struct SavedNode: CustomStringConvertible {
  var path: String
  var value: String
  /// Nil for a class that has one version only.
  var version: Int?

  var description: String { "\(path) \(version ?? 0) \(value.prefix(20))" }

  func isSeen(by version: Int) -> Bool { self.version ?? 0 <= version }
}

/// What each save has written, and nil for a discard.
typealias StateLog = SurvivalLog<[SavedNode]?>

/// A process of the app.
@MainActor
final class SurvivalOwner {
  let process: DiskProcess
  let keeper: StateKeeper
  let version: Int
  let delegate = TestDelegate()
  private(set) var root: SurvivalItem
  private var made: [String: SurvivalItem] = [:]
  private var decodedNumber: String?
  var number = 0
  /// Whether no item can be made.
  var lacksItems = false

  init(_ process: DiskProcess, keys: any KeyProvider, version: Int, _ limits: ArchiveLimits) throws
  {
    self.process = process
    self.version = version
    root = SurvivalItem("root", version: version)
    keeper = try StateKeeper(
      application: Launch.application, directory: process, keys: keys,
      environment: ApplicationEnvironment(applicationVersion: "\(version)", systemVersion: "1"),
      limits: limits,
      now: { Date(timeIntervalSince1970: 1_800_000_000) })
    // The histories end more restores than any app does.
    keeper.policy.crashThreshold = .max
    keeper.delegate = delegate
    delegate.onWillEncode = { [unowned self] in $0.encode("\(number)", forKey: "number") }
    delegate.onDidDecode = { [unowned self] in
      decodedNumber = try $0.decodeIfPresent(forKey: "number")
    }
    for (type, name) in [
      (SurvivalItem.self, "SurvivalItem"), (PlainItem.self, "PlainItem"),
    ] {
      try keeper.register(type, as: name) { [unowned self] path, _ in try make(type, path) }
    }
    try keeper.register(
      VersionedItem.self, as: "VersionedItem", version: version,
      migrations: VersionedItem.migrations(to: version)
    ) { [unowned self] path, _ in try make(VersionedItem.self, path) }
  }

  private struct Missing: Error {}

  private func make(_ type: SurvivalItem.Type, _ path: RestorationPath) throws -> SurvivalItem {
    guard path.parent?.identifier != nil else { return root }
    if lacksItems { throw Missing() }
    let item = type.init(path.identifier ?? "", version: version)
    made[path.description] = item
    if let parent = path.parent { made[parent.description]?.below.append(item) }
    return item
  }

  /// Restores into a tree of its own; which save it was of, nil if nothing is there.
  func restore() async throws -> (RestorationReport, number: String?) {
    root = SurvivalItem("root", version: version)
    made = ["root": root]
    decodedNumber = nil
    let report = try await keeper.restore(into: [root])
    return (report, decodedNumber)
  }

  /// All nodes in their order, each with its path.
  var items: [(path: String, item: SurvivalItem)] {
    var found: [(String, SurvivalItem)] = []
    var rest = [("root", root)]
    while let (path, item) = rest.popLast() {
      found.append((path, item))
      rest += item.below.reversed().map { ("\(path)/\($0.name)", $0) }
    }
    return found
  }

  var nodes: [SavedNode] {
    items.map { path, item in
      item.unread
        ?? SavedNode(
          path: path, value: item.value, version: item is VersionedItem ? version : nil)
    }
  }
}
