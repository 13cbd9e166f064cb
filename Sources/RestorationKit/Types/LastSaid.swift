internal import ArchiveCodec

/// Hashes of what the objects that never say when they change said in the last walk.
///
/// A poll asks these objects again and compares the hashes. Stored records are not compared, so an
/// element that a walk leaves out, keeps or seals anew is no difference. Every walk begins with no
/// hashes, since the bytes of a state depend on the names that its builder knows.
final class LastSaid {
  /// A builder with the names of the walk; a poll encodes with the builder, and abandons what it
  /// has encoded.
  private(set) var builder = RecordBuilder()
  /// Encodes what the library stores of an object.
  private let scratch = RecordBuilder()
  /// How many views of a node are looked at.
  private let viewLimit: Int

  private(set) var roots = 0
  /// Hashes of what each object contains, and of what the library stores of it.
  private(set) var shapes: [RowNumber: Int] = [:]
  /// What each object encoded; `unknown` of an object that threw.
  private(set) var states: [RowNumber: RecordFingerprint] = [:]
  /// The states of objects whose records have states beside their own, or stay as they are stored.
  private(set) var probes: [RowNumber: StateProbe] = [:]

  init(viewLimit: Int) {
    self.viewLimit = viewLimit
  }

  /// Whether all objects say when they change.
  var isEmpty: Bool { shapes.isEmpty }

  // MARK: Noting

  /// Takes the names that the walk has used, and none of its records.
  func noteNames(of builder: RecordBuilder) { self.builder = builder.emptied() }

  func noteRoots(_ roots: [any RestorableNode], _ objects: ObjectTable) {
    self.roots = Self.hash(of: roots, objects)
  }

  func noteShape(
    of object: any StateRestoring, _ kind: ElementKind, _ info: TypeInfo, _ number: RowNumber,
    _ objects: ObjectTable
  ) {
    shapes[number] = shape(of: object, kind, info, objects).hash
  }

  func noteState(_ fingerprint: RecordFingerprint, _ number: RowNumber) {
    states[number] = fingerprint
    // The fingerprint suffices, so a poll need not ask the object twice.
    probes[number] = nil
  }

  func note(_ probe: StateProbe, _ number: RowNumber) { probes[number] = probe }

  /// Notes that an object threw, unless the object had given the state for its record before.
  func noteFailure(_ number: RowNumber) {
    if states[number] == nil { states[number] = .unknown }
    probes[number] = nil
  }

  // MARK: Hashing

  static func hash(of roots: [any RestorableNode], _ objects: ObjectTable) -> Int {
    var hasher = Hasher()
    for root in roots { hasher.combine(root, objects) }
    return hasher.finalize()
  }

  /// The contents of an object, with a hash of them and of what the library stores of the object.
  struct Shape {
    var children: [any RestorableNode] = []
    var presented: (any RestorableNode)?
    var views: [(identifier: String, view: any RestorableView)] = []
    var hash = 0
  }

  func shape(
    of object: any StateRestoring, _ kind: ElementKind, _ info: TypeInfo, _ objects: ObjectTable
  ) -> Shape {
    var shape = Shape()
    var hasher = Hasher()
    switch kind {
    case .node:
      guard let node = info.node(object) else { break }
      shape.children = node.restorationChildren
      shape.presented = node.restorationPresented
      let below = shape.children + [shape.presented].compactMap(\.self)
      let views = ViewTree.views(node.restorationViews, of: node, besides: below, most: viewLimit)
      shape.views = views ?? []
      hasher.combine(objects.identifier(of: node))
      hasher.combine(node.restorationClass.map { ObjectIdentifier($0) })
      hasher.combine(shape.children.count)
      for node in below { hasher.combine(node, objects) }
      hasher.combine(views?.map(\.identifier))
      for (_, view) in shape.views { hasher.combine(ObjectIdentifier(type(of: view))) }
    case .view: hasher.combine((object as? any RestorableView)?.restorationName)
    case .object:
      hasher.combine(objects.identifier(ofRegistered: object))
      guard let object = object as? any RestorableObject else { break }
      hasher.combine(object.restorationParent.map { ObjectIdentifier($0) })
      hasher.combine(object.objectRestorationClass.map { ObjectIdentifier($0) })
    case .application, .scene: break
    }
    if !info.traits.isDisjoint(with: .hasBuiltInState) {
      hasher.combine(builtInState(of: object, among: shape.children))
    }
    shape.hash = hasher.finalize()
    return shape
  }

  private func builtInState(
    of object: any StateRestoring, among tabs: [any RestorableNode]
  ) -> RecordFingerprint? {
    do {
      let encoder = try scratch.begin(record: NodeRecord.firstNode)
      defer { scratch.abandon() }
      let container = encoder.beginContainer(forKey: NodeRecord.builtInKey)
      BuiltInState.encode(object, with: encoder) { tab in
        tabs.firstIndex { $0 === tab }.map { UInt64($0) + NodeRecord.firstNode }
      }
      encoder.endContainer(container)
      return encoder.fingerprint(of: container)
    } catch {
      return nil
    }
  }
}

extension Hasher {
  /// Combines what is stored of a node in the record of the node that contains it.
  ///
  /// The object itself does not count: a container may make a new node whenever it is asked.
  fileprivate mutating func combine(_ node: any RestorableNode, _ objects: ObjectTable) {
    combine(objects.identifier(of: node))
    combine(ObjectIdentifier(type(of: node)))
  }
}
