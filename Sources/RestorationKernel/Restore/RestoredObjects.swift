internal import ArchiveCodec

/// The objects of a restore, and the bodies that they are given.
final class RestoredObjects {
  let document: Document
  private let paths: StoredPaths
  private let readBody: (UInt64) throws(ArchiveError) -> KeyedDecoder?
  // The tables belong to one run, which is at one element at a time.
  @safe @exclusivity(unchecked) private var objects: [(any StateRestoring)?]
  @safe @exclusivity(unchecked) private var nodes: [(any RestorableNode)?]
  private var slots = KeyTable()
  private var slotsByID: KeyTable?
  /// The bodies that are given in place of the stored ones; nil where nobody gets to see one.
  var given: [Int32: KeyedDecoder?] = [:]
  private(set) var mended: [Int32: MendedFields] = [:]
  /// The bodies that could not be read when they were asked for.
  private(set) var unreadable: [Int32: ArchiveError] = [:]
  /// Finds the objects of elements that this restore does not restore.
  var other: (Int32) -> (any StateRestoring)? = { _ in nil }
  /// The tabs that were selected, and are not back.
  var tabsToCome: [(tabs: any RestorableTabs, id: UInt64)] = []

  init(
    _ document: Document,
    _ readBody: @escaping (UInt64) throws(ArchiveError) -> KeyedDecoder?
  ) {
    (self.document, self.readBody) = (document, readBody)
    paths = StoredPaths(document)
    objects = Array(repeating: nil, count: document.elements.count)
    nodes = Array(repeating: nil, count: document.elements.count)
  }

  func object(at slot: Int32) -> (any StateRestoring)? { objects[Int(slot)] }

  func node(at slot: Int32) -> (any RestorableNode)? { nodes[Int(slot)] }

  func isBack(_ slot: Int32) -> Bool { slot == Document.tree || objects[Int(slot)] != nil }

  /// Notes the object of an element; returns the element that it is already, if there is one.
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at slot: Int32
  ) -> Int32? {
    let key = UInt64(addressOf: object)
    if let other = slots[key] { return other }
    slots.set(key, slot)
    (objects[Int(slot)], nodes[Int(slot)]) = (object, node)
    return nil
  }

  func set(_ view: any RestorableView, at slot: Int32) { objects[Int(slot)] = view }

  func contains(_ object: any StateRestoring) -> Bool { slots[UInt64(addressOf: object)] != nil }

  /// The body that an element has stored; nil if there is none.
  func body(_ record: UInt64, of slot: Int32) -> KeyedDecoder? {
    do throws(ArchiveError) {
      return try readBody(record)
    } catch {
      unreadable[slot] = error
      return nil
    }
  }

  /// Lets all objects go; coders that hooks have kept find nothing any more.
  func forget() {
    (objects, nodes) = ([], [])
    slots = KeyTable()
    tabsToCome = []
  }

  private func slot(ofID id: UInt64) -> Int32? {
    if slotsByID == nil {
      var table = KeyTable(expecting: document.elements.count)
      for (slot, element) in document.elements.enumerated() where element.id != 0 {
        table.set(element.id, Int32(slot))
      }
      slotsByID = table
    }
    return id == 0 ? nil : slotsByID?[id]
  }
}

extension RestoredObjects: RestoredReferences {
  subscript(record: UInt64) -> (any StateRestoring)? {
    objects.isEmpty ? nil : slot(ofID: record).flatMap { object(at: $0) ?? other($0) }
  }

  func node(_ record: UInt64) -> (any RestorableNode)? {
    nodes.isEmpty ? nil : slot(ofID: record).flatMap { anyNode(at: $0) }
  }

  func note(_ fields: MendedFields, at place: Int) {
    let slot = Int32(place)
    if mended[slot] == nil { mended[slot] = fields } else { mended[slot]?.add(fields) }
  }

  /// Fields that did not fit are those of a decoding that counts.
  func forgetMended(at slot: Int32) { mended[slot] = nil }

  func path(at place: Int) -> RestorationPath { paths[Int32(place)] }

  func state(at place: Int) -> KeyedDecoder? {
    let slot = Int32(place)
    if !given.isEmpty, let body = given[slot] { return body }
    let element = document[slot]
    return element.body == .none ? nil : body(element.bodyRecord, of: slot)
  }

  func builtIn(at place: Int) -> KeyedDecoder? {
    do throws(ArchiveError) {
      return try state(at: place)?.container(forKey: BuiltInKey.container)
    } catch {
      // The app has a value of its own under the key.
      return nil
    }
  }

  func children(at place: Int) -> [any RestorableNode] { nodes(below: place, .child) }

  func presented(at place: Int) -> (any RestorableNode)? { nodes(below: place, .presented).first }

  private func nodes(below place: Int, _ role: Role) -> [any RestorableNode] {
    guard !nodes.isEmpty, place > Document.tree else { return [] }
    return document[Int32(place)].children.compactMap { child in
      document[child].place.role == role ? anyNode(at: child) : nil
    }
  }

  private func anyNode(at slot: Int32) -> (any RestorableNode)? {
    node(at: slot) ?? other(slot) as? any RestorableNode
  }
}
