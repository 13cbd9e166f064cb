internal import ArchiveCodec

/// The objects that are back, by the places of the stored elements and by their records.
final class RestoredObjects: RestoredReferences {
  // The tables belong to the run, which is at one element at a time, so the check whether two
  // accesses meet is not needed.
  @safe @exclusivity(unchecked) private var objects: [(any StateRestoring)?]
  /// The objects of `objects` as nodes: a cast takes longer than most of what is done with a node.
  @safe @exclusivity(unchecked) private var nodes: [(any RestorableNode)?]
  @safe @exclusivity(unchecked) private var places: RecordPlaces
  @safe @exclusivity(unchecked) private var placesOfObjects: AddressTable
  /// The records of an earlier restore, with the objects that it brought back.
  private var earlier: KeptRecords?
  private let outline: StoredOutline
  /// The stored values, for as long as the restore takes.
  @safe @exclusivity(unchecked) private var values: StoredValues?
  /// The values that are read instead of the stored ones, for elements that were migrated or are
  /// withheld.
  @safe @exclusivity(unchecked) var replacedValues: [Int: StoredTree.Values] = [:]
  /// The elements whose state is not in all fields the stored one, by place.
  private(set) var mended: [Int: MendedFields] = [:]

  /// Makes room for the elements of a tree; this restore may add to the objects that an earlier one
  /// brought back.
  init(_ tree: StoredTree, earlier: KeptRecords? = nil) {
    self.earlier = earlier
    outline = tree.outline
    values = tree.values
    let rows = outline.rows
    objects = Array(repeating: nil, count: rows.count)
    nodes = Array(repeating: nil, count: rows.count)
    places = RecordPlaces(count: rows.count)
    placesOfObjects = AddressTable(minimumCapacity: rows.count)
    for place in rows.indices { places[rows[place].record] = place }
  }

  subscript(record: UInt64) -> (any StateRestoring)? {
    places[record].flatMap { object(at: $0) } ?? earlier?.object(record)
  }

  func node(_ record: UInt64) -> (any RestorableNode)? {
    places[record].flatMap { node(at: $0) } ?? earlier?.object(record) as? any RestorableNode
  }

  func object(at place: Int) -> (any StateRestoring)? {
    place < objects.count ? objects[place] : nil
  }

  func isBack(_ place: Int) -> Bool { place < objects.count && objects[place] != nil }

  func node(at place: Int) -> (any RestorableNode)? {
    place < nodes.count ? nodes[place] : nil
  }

  /// Claims an object for the element at a place.
  ///
  /// If the object was claimed before, nothing changes, and the place of that claim is returned.
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at place: Int
  ) -> Int? {
    if let other = placesOfObjects.find(ObjectIdentifier(object)) { return other }
    placesOfObjects.set(place, for: ObjectIdentifier(object))
    objects[place] = object
    nodes[place] = node
    return nil
  }

  /// Sets the view of an element; a node may have one view for several elements.
  func setView(_ view: any RestorableView, at place: Int) { objects[place] = view }

  /// Whether an object was claimed.
  func contains(_ object: any StateRestoring) -> Bool {
    placesOfObjects[ObjectIdentifier(object)] != nil
  }

  func forget() {
    (objects, nodes) = ([], [])
    placesOfObjects = AddressTable()
    earlier = nil
    values = nil
    replacedValues = [:]
  }
}

// MARK: - For coders

extension RestoredObjects {
  func note(_ fields: MendedFields, at place: Int) {
    if mended[place] == nil { mended[place] = fields } else { mended[place]?.add(fields) }
  }

  func path(at place: Int) -> RestorationPath { outline.path(of: place) }

  func state(at place: Int) -> KeyedDecoder? {
    if !replacedValues.isEmpty, let values = replacedValues[place] { return values.state }
    return values?.state(at: place)
  }

  func builtIn(at place: Int) -> KeyedDecoder? {
    guard outline.rows[place].builtIn > 0 else { return nil }
    if !replacedValues.isEmpty, let values = replacedValues[place] { return values.builtIn }
    return values?.builtIn(at: place)
  }

  func children(at place: Int) -> [any RestorableNode] {
    outline.records(outline.rows[place].connections.children).compactMap { node($0) }
  }

  func presented(at place: Int) -> (any RestorableNode)? {
    let record = outline.rows[place].connections.presented
    return record > 0 ? node(record) : nil
  }
}
