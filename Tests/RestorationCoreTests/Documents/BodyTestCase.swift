import ArchiveCodec
import Foundation
import RestorationKit
import TestSupport
import XCTest

/// A node with a text, which says of itself what a test wants.
@MainActor
class Page: @MainActor RestorableNode {
  class var stateTracking: StateTracking { .always }

  var name: String
  var text: String { didSet { changed() } }
  var below: [any RestorableNode] = [] { didSet { changed() } }
  /// Whom the node refers to.
  var friends: [any StateRestoring] = [] { didSet { changed() } }
  var throwsInEncode = false { didSet { changed() } }
  /// Called before the text is read.
  var onDecode: (() throws -> Void)?
  private(set) var wasDecoded = false
  /// The text that a launch types into the page after its restore; nil if that types nothing.
  var typed: String?

  var restorationIdentifier: String? { name }
  var restorationChildren: [any RestorableNode] { below }

  init(_ name: String, _ text: String = "default", below: [any RestorableNode] = []) {
    (self.name, self.text, self.below) = (name, text, below)
  }

  struct Failure: Error {}

  func changed() {}

  func encodeRestorableState(with coder: StateEncoder) throws {
    if throwsInEncode { throw Failure() }
    coder.encode(text, forKey: "value")
    if !friends.isEmpty { coder.encode(friends, forKey: "friends") }
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    try onDecode?()
    text = try coder.decode(forKey: "value")
    wasDecoded = true
  }
}

/// One that says when it changes.
@MainActor
class TellingPage: Page {
  override class var stateTracking: StateTracking { .invalidated }

  override func changed() { invalidateRestorableState() }
}

/// A class that has nothing to do with pages.
@MainActor
final class Board: @MainActor RestorableNode {
  let name: String
  var text: String

  var restorationIdentifier: String? { name }

  init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  func encodeRestorableState(with coder: StateEncoder) { coder.encode(text, forKey: "value") }

  func decodeRestorableState(with coder: StateDecoder) throws {
    text = try coder.decode(forKey: "value")
  }
}

/// Launches of an app whose stored bodies are looked at.
@MainActor
class BodyTestCase: XCTestCase {
  var launch = Launch()

  override func setUp() async throws { launch = Launch() }

  /// A keeper of a launch in which the class of a page has a version.
  func keeper(
    version: Int = 1, delegate: (any StateDelegate)? = nil,
    making factory: ((RestorationPath, StateDecoder) throws -> (any StateRestoring)?)? = nil
  ) throws -> StateKeeper {
    let keeper = try launch.keeper(delegate: delegate)
    let steps = migrations(to: version)
    try keeper.register(
      Page.self, as: "Page", version: version, migrations: steps, restoration: factory)
    try keeper.register(TellingPage.self, as: "TellingPage")
    return keeper
  }

  /// A delegate that gives a friend.
  func friendly(_ friend: Page) -> TestDelegate {
    let delegate = TestDelegate()
    delegate.onNode = { path, _ in path.identifier == "friend" ? friend : nil }
    return delegate
  }

  /// Saves nodes in a launch of its own.
  func save(_ roots: [any RestorableNode], version: Int = 1) async throws {
    let keeper = try keeper(version: version)
    let report = try await keeper.save(roots)
    XCTAssertEqual(report.problems, [])
    await keeper.close()
  }

  /// Restores nodes, types into them, and saves them in a launch of its own.
  func relaunch(_ roots: [any RestorableNode], version: Int = 1) async throws {
    let keeper = try keeper(version: version)
    _ = try await keeper.restore(into: roots)
    for case let page as Page in roots { page.text = page.typed ?? page.text }
    _ = try await keeper.save(roots)
    await keeper.close()
  }

  /// The texts of an element as they are stored: the own one first, then the unread ones, newest first.
  func texts(_ path: String) throws -> [String?] {
    guard let element = try launch.storedRecords()?[path] else { return [] }
    let own = element.state == nil ? [] : [try element.value]
    return own + (try element.kept.map { try $0.state?.decodeIfPresent(forKey: "value") })
  }

  /// All texts that are stored, wherever they are.
  func allTexts() throws -> [String] {
    let records = try launch.archive()?.readAll() ?? []
    return try records.compactMap { try $0.content.get().decodeIfPresent(forKey: "value") }.sorted()
  }
}
