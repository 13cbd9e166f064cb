import ArchiveCodec
import Foundation
import RestorationKit
import RestorationSharing
import RestorationTesting
import TestSupport

// MARK: Nodes

/// A node whose values have names.
@MainActor
class CrossNode: @MainActor RestorableNode {
  /// How the nodes of the run tell of changes.
  static var tracking = StateTracking.invalidated
  class var stateTracking: StateTracking { tracking }

  struct Broken: Error {}

  let restorationIdentifier: String?
  var restorationChildren: [any RestorableNode] = [] { didSet { invalidateRestorableState() } }
  var values: [String: String] = [:] { didSet { invalidateRestorableState() } }
  var throwsInEncode = false { didSet { invalidateRestorableState() } }
  /// Called at the end of its decoding.
  var onDecode: (() throws -> Void)?

  required init(_ identifier: String) {
    restorationIdentifier = identifier
  }

  func encodeRestorableState(with coder: StateEncoder) throws {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { coder.encode(value, forKey: key) }
    if throwsInEncode { throw Broken() }
  }

  func decodeRestorableState(with coder: StateDecoder) throws {
    values = [:]
    for key in coder.keys { values[key] = try coder.decode(String.self, forKey: key) }
    for child in coder.restoredChildren where !contains(child) { restorationChildren.append(child) }
    try onDecode?()
  }

  func contains(_ node: any RestorableNode) -> Bool { restorationChildren.contains { $0 === node } }
}

/// A node of a class that the second launch does not know.
@MainActor
final class CrossKept: CrossNode {}

/// A node of a class that has an older version in the second launch.
@MainActor
final class CrossNewer: CrossNode {}

/// A node of a class that has another name from the second launch on.
@MainActor
final class CrossRenamed: CrossNode {}

// MARK: What is crossed

/// A feature of a node, which is crossed with another one.
@MainActor
struct Crossing {
  let name: String
  var makes: CrossNode.Type = CrossNode.self
  /// What the restore of launch 2 says of it, if what is above it is back.
  var restored = ElementOutcome.restored(by: .existing)
  var restoredNotes: Set<ReportNote> = []
  /// What the saves of launch 2 say of it.
  var saved = ElementOutcome.saved
  var savedNotes: Set<ReportNote> = []
  /// What happens to it in launch 2, if it is there.
  var act: (Visit, CrossNode) -> Void = { _, node in node.values["value"] = "2" }
  /// What launch 3 says of its state as launch 2 has stored it.
  var later = ElementOutcome.restored(by: .existing)

  /// Whether what launch 1 has stored stays in launch 2.
  var keepsWhatIsStored: Bool { saved != .saved }

  /// Whether launch 2 has decoded it.
  var isDecoded: Bool { restored == .restored(by: .existing) }
}

extension Crossing {
  static let kept = Crossing(
    name: "kept", makes: CrossKept.self, restored: .unknownRestorationClass("CrossKept"),
    restoredNotes: [.kept], saved: .keptAsStored, act: { _, _ in },
    later: .restored(by: .restorationClass))

  static let lastState = Crossing(
    name: "last state", saved: .savedWithLastState,
    savedNotes: [.encodeFailed("Broken")],
    act: { _, node in
      node.values["value"] = "never stored"
      node.throwsInEncode = true
    })

  static let late = Crossing(name: "late", restored: .notFound, restoredNotes: [.kept])

  static let newer = Crossing(
    name: "newer", makes: CrossNewer.self,
    restored: .newerVersion(by: .existing, stored: 2, known: 1), saved: .keptAsStored,
    act: { _, _ in })

  static let skipped = Crossing(
    name: "skipped", restored: .skipped, restoredNotes: [.kept], saved: .keptAsStored,
    act: { _, _ in })

  static let moved = Crossing(
    name: "moved",
    act: { visit, node in
      visit.tree.move(node)
      node.values["value"] = "2"
    })

  static let renamed = Crossing(name: "renamed", makes: CrossRenamed.self)

  static let all = [
    kept, lastState, late, newer, skipped, moved, renamed,
  ]
}

/// A feature of the whole state.
enum StateWide: String, CaseIterable {
  /// Another machine has saved meanwhile, and the state of this one stays.
  case conflictOurs = "conflict, ours stays"
  /// Another machine has saved meanwhile, and its state stays.
  case conflictTheirs = "conflict, theirs stays"
  /// A launch saves before it restores, and the next one puts back what was stored.
  case putBack = "put back"
  case closedWindow = "closed window"

  var isConflict: Bool { self == .conflictOurs || self == .conflictTheirs }
}

/// Where the nodes of two features are.
enum Placement: String, CaseIterable {
  case siblings
  case secondBelowFirst = "the second below the first"
  case firstBelowSecond = "the first below the second"
}

/// What is as the app likes it, so each pair is run in two ways.
enum CrossManner: String, CaseIterable {
  /// Nodes say when they change, a late one comes between the saves of launch 2, and what is
  /// below a skipped one is built in launch 3.
  case telling
  /// Nodes are asked, a late one comes before the saves, and what is below a skipped one is
  /// built with it.
  case asked
}

// MARK: Places

/// The features of a run, and where their nodes are.
@MainActor
struct CrossPlan {
  let features: [Crossing]
  let placement: Placement
  let manner: CrossManner
  /// The features whose nodes have moved.
  var moved: Set<Int> = []
  /// The features whose nodes have come with a late one.
  var arrived: Set<Int> = []

  func above(_ place: Int) -> Int? {
    switch placement {
    case .siblings: nil
    case .secondBelowFirst: place == 1 ? 0 : nil
    case .firstBelowSecond: place == 0 ? 1 : nil
    }
  }

  func below(_ place: Int) -> Int? { features.indices.first { above($0) == place } }

  func path(_ place: Int) -> RestorationPath {
    let isMoved = moved.contains(place)
    let parent = isMoved ? RestorationPath(["root", "elsewhere"]) : above(place).map(path)
    return (parent ?? RestorationPath(["root"])).appending(["a", "b"][place])
  }

  func isFeature(_ place: Int?, _ crossings: Crossing...) -> Bool {
    guard let place else { return false }
    return crossings.contains { $0.name == features[place].name }
  }

  /// Whether what is above it is not back in launch 2, so that what happens to a node happens
  /// to this one in launch 1 or 3.
  func isCutOff(_ place: Int) -> Bool { isFeature(above(place), .kept, .skipped) }

  /// Whether its node is back in launch 2 by now.
  func isThere(_ place: Int) -> Bool {
    let isMissing = isFeature(place, .kept, .late) || isCutOff(place)
    return arrived.contains(place) || !isMissing && (above(place).map(isThere) ?? true)
  }

  /// Whether launch 2 stores nothing new of it.
  func staysAsStored(_ place: Int) -> Bool {
    features[place].keepsWhatIsStored || isCutOff(place)
  }

  /// Whether its hook throws in the save in which what is above it has moved.
  ///
  /// A restore notes no node by itself as long as nothing is kept, so the first save finds nodes by parent and name.
  /// There such a node is a new element, of which no older state is known.
  func isNewElement(_ place: Int) -> Bool {
    isFeature(place, .lastState) && isFeature(above(place), .moved)
  }

  /// Whether the node is built before the restore of a launch.
  func isBuilt(_ place: Int, in launch: Int) -> Bool {
    let isLate = isFeature(place, .late)
    if isFeature(place, .kept) { return launch == 1 }
    if launch == 2, isLate || isFeature(above(place), .kept) { return false }
    if launch == 2, isCutOff(place) { return manner == .asked }
    return !(launch == 3 && isLate && isCutOff(place))
  }

  func tree(_ launch: Int) -> CrossTree {
    let tree = CrossTree()
    tree.nodes = features.enumerated().map { place, feature in
      feature.makes.init(["a", "b"][place])
    }
    for place in features.indices where isBuilt(place, in: launch) {
      container(place, tree).restorationChildren.append(tree.nodes[place])
    }
    return tree
  }

  func container(_ place: Int, _ tree: CrossTree) -> CrossNode {
    moved.contains(place) ? tree.elsewhere : above(place).map { tree.nodes[$0] } ?? tree.root
  }
}

// MARK: Launches

/// The nodes of a launch.
@MainActor
final class CrossTree {
  let root = CrossNode("root")
  let other = CrossNode("other")
  let elsewhere = CrossNode("elsewhere")
  /// Those with features, in their order.
  var nodes: [CrossNode] = []

  init() {
    root.restorationChildren = [other, elsewhere]
  }

  /// All that the root leads to.
  var nodesInPlace: [CrossNode] {
    var found = [root]
    var place = 0
    while place < found.count {
      found += found[place].restorationChildren.compactMap { $0 as? CrossNode }
      place += 1
    }
    return found
  }

  func move(_ node: CrossNode) {
    for parent in [root] + nodes { parent.restorationChildren.removeAll { $0 === node } }
    elsewhere.restorationChildren.append(node)
  }
}

/// What a version of the app knows of its classes.
enum CrossVersion {
  case first, second, third
}

/// A launch, with a keeper alone or with a window.
@MainActor
final class Visit {
  let keeper: StateKeeper
  let tree: CrossTree
  private let host: SceneHost?
  private var scene: RestorableScene?

  init(_ keeper: StateKeeper, _ tree: CrossTree, _ version: CrossVersion, hasWindow: Bool) throws {
    (self.keeper, self.tree) = (keeper, tree)
    host = hasWindow ? SceneHost(keeper) : nil
    if version != .second {
      try keeper.register(CrossKept.self) { path, _ in
        tree.nodes.first { $0.restorationIdentifier == path.identifier }
      }
    }
    let steps = migrations(to: version == .second ? 1 : 2)
    try keeper.register(CrossNewer.self, version: steps.count + 1, migrations: steps)
    if version == .first {
      try keeper.register(CrossRenamed.self, as: "Old")
    } else {
      try keeper.register(CrossRenamed.self, as: "New", aliases: ["Old"])
    }
    host?.closedSceneCount = 10
    host?.register(
      SceneConfiguration {
        let delegate = TestSceneDelegate()
        delegate.roots = [tree.root]
        return delegate
      })
  }

  /// The session of the window; nil if none was opened yet.
  private func session() async throws -> SceneSession? {
    guard let host else { return nil }
    if host.openSessions.isEmpty && host.closedSessions.isEmpty { try await host.launch() }
    return host.closedSessions.first ?? host.openSessions.first
  }

  /// Restores, in a window by opening that again.
  func restore() async throws -> RestorationReport? {
    guard let host else { return try await keeper.restore(into: [tree.root]) }
    let session = try await session()
    let scene =
      if let session, session.closedAt != nil {
        try await host.reopen(session)
      } else if let session {
        try await host.connect(session)
      } else {
        try await host.open()
      }
    self.scene = scene
    return scene.restoration
  }

  func restore(late node: CrossNode, below parent: CrossNode) async throws -> RestorationReport {
    guard let scene else { return try await keeper.restore(late: node, below: parent) }
    return try await scene.restore(late: node, below: parent)
  }

  /// Saves; also asks all that is there, if that is wanted.
  func save(askingAll: Bool = false) async throws -> PreservationReport {
    if askingAll { for node in tree.nodesInPlace { node.invalidateRestorableState() } }
    if let host, let scene { return try await host.save(scene) }
    return try await keeper.save([tree.root])
  }

  /// Saves before any restore.
  func saveWithoutRestore() async throws -> PreservationReport {
    guard let host else { return try await keeper.save([tree.root]) }
    scene = try await host.open()
    return try await keeper.save([])
  }

  /// Decides a conflict; for theirs the window goes until the next restore.
  func resolve(keeping choice: ConflictChoice) async throws {
    if choice == .theirs, let host, let scene {
      let report = try await host.disconnect(scene)
      guard report.conflict != nil else { throw CrossNode.Broken() }
      self.scene = nil
    }
    try await keeper.resolveConflict(keeping: choice)
  }

  /// Puts back the oldest moment of a reason; false if there is none.
  func putBack(_ reason: Moment.Reason) async throws -> Bool {
    guard let moment = try await keeper.history().first(where: { $0.reason == reason }) else {
      return false
    }
    if let host { try await host.putBack(moment) } else { try await keeper.putBack(moment) }
    return true
  }

  /// Ends it; a window is closed before, or only let go.
  func end(closingWindow: Bool = true) async throws {
    if let host {
      if let scene {
        if closingWindow {
          try await host.close(scene)
        } else {
          try await host.disconnect(scene)
        }
      }
      await host.close()
    }
    await keeper.close()
  }
}

/// A machine that has a disk, or shares its state through a store.
@MainActor
final class CrossMachine {
  /// The states, or with a store only what is noted of launches.
  private let disk = MemoryStateDirectory()
  private let store: MemoryRemoteStateStore?
  private let keys: MemoryKeyProvider
  private let hasWindow: Bool
  private var process: ProcessDirectory?
  var now = Date(timeIntervalSinceReferenceDate: 800_000_000)

  init(store: MemoryRemoteStateStore?, keys: MemoryKeyProvider, hasWindow: Bool) {
    (self.store, self.keys, self.hasWindow) = (store, keys, hasWindow)
  }

  /// A launch; the process of the one before has ended.
  func visit(_ tree: CrossTree, _ version: CrossVersion) throws -> Visit {
    process?.end()
    let process = ProcessDirectory(disk)
    self.process = process
    let directory: any StateDirectory =
      if let store { RemoteStateDirectory(store, launches: process) } else { process }
    let keeper = try StateKeeper(
      application: Launch.application, directory: directory, keys: keys,
      environment: ApplicationEnvironment(applicationVersion: "11", systemVersion: "6.1"),
      now: { [self] in now })
    return try Visit(keeper, tree, version, hasWindow: hasWindow)
  }

  /// What is on its disk.
  private func bytes() throws -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: try disk.names().compactMap { name in
        disk.memory(named: name).bytes.map { (name, $0) }
      })
  }

  /// A launch that crashes while it decodes a node; false if it does not come to that.
  func crash(_ tree: CrossTree, in node: CrossNode) async throws -> Bool {
    var crashed: [String: [UInt8]]?
    node.onDecode = { [self] in crashed = try bytes() }
    let visit = try visit(tree, .first)
    _ = try await visit.restore()
    process?.end()
    guard let crashed else { return false }
    for name in try disk.names() { disk.memory(named: name).bytes = crashed[name] }
    for (name, bytes) in crashed { disk.memory(named: name).bytes = bytes }
    return true
  }
}
