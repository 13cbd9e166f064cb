internal import ArchiveCodec

/// The objects that are back, by the indices of the stored elements and by their records.
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
  /// The node that is back already, and has its nodes; nil in any other restore.
  private weak var standing: (any RestorableNode)?
  private let outline: StoredOutline
  /// The stored values, for as long as the restore takes.
  @safe @exclusivity(unchecked) private var values: StoredValues?
  /// The values that are read instead of the stored ones, for elements that were migrated or are
  /// withheld.
  @safe @exclusivity(unchecked) var replacedValues: [Int: StoredTree.Values] = [:]
  /// The elements whose state is not in all fields the stored one, by index.
  private(set) var mended: [Int: MendedFields] = [:]
  /// The tabs whose selected one is not back, with the record of that one.
  var selectedTabsToCome: [(tabs: any RestorableTabs, record: UInt64)] = []
  /// Why elements keep their state for later, by index; nil is the application.
  private(set) var keptReasons: [Int?: String] = [:]

  /// Makes room for the elements of a tree; this restore may add to the objects that an earlier one
  /// brought back.
  init(
    _ tree: StoredTree, earlier: KeptRecords? = nil, standing: (any RestorableNode)? = nil
  ) {
    (self.earlier, self.standing) = (earlier, standing)
    outline = tree.outline
    values = tree.values
    let rows = outline.rows
    objects = Array(repeating: nil, count: rows.count)
    nodes = Array(repeating: nil, count: rows.count)
    places = RecordPlaces(count: rows.count)
    placesOfObjects = AddressTable(minimumCapacity: rows.count)
    for index in rows.indices { places[rows[index].record] = index }
  }

  subscript(record: UInt64) -> (any StateRestoring)? {
    places[record].flatMap { object(at: $0) } ?? earlier?.object(record)
  }

  func node(_ record: UInt64) -> (any RestorableNode)? {
    places[record].flatMap { node(at: $0) } ?? earlier?.object(record) as? any RestorableNode
  }

  /// The index of the element of a record; nil if the tree has none.
  func place(ofRecord record: UInt64) -> Int? { places[record] }

  func object(at index: Int) -> (any StateRestoring)? {
    index < objects.count ? objects[index] : nil
  }

  func isBack(_ index: Int) -> Bool { index < objects.count && objects[index] != nil }

  func node(at index: Int) -> (any RestorableNode)? {
    index < nodes.count ? nodes[index] : nil
  }

  /// Claims an object for the element at a place.
  ///
  /// If the object was claimed before, nothing changes, and the index of that claim is returned.
  func claim(
    _ object: any StateRestoring, _ node: (any RestorableNode)?, at index: Int
  ) -> Int? {
    if let other = placesOfObjects.find(ObjectIdentifier(object)) { return other }
    placesOfObjects.set(index, for: ObjectIdentifier(object))
    objects[index] = object
    nodes[index] = node
    return nil
  }

  /// Sets the view of an element; a node may have one view for several elements.
  func setView(_ view: any RestorableView, at index: Int) { objects[index] = view }

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
  func note(_ fields: MendedFields, at index: Int) {
    if mended[index] == nil { mended[index] = fields } else { mended[index]?.add(fields) }
  }

  func keep(_ index: Int?, because reason: String) { keptReasons[index] = reason }

  func path(at index: Int) -> RestorationPath { outline.path(of: index) }

  func state(at index: Int) -> KeyedDecoder? {
    if !replacedValues.isEmpty, let values = replacedValues[index] { return values.state }
    return values?.state(at: index)
  }

  func builtIn(at index: Int) -> KeyedDecoder? {
    guard outline.rows[index].builtIn > 0 else { return nil }
    if !replacedValues.isEmpty, let values = replacedValues[index] { return values.builtIn }
    return values?.builtIn(at: index)
  }

  func children(at index: Int) -> [any RestorableNode] {
    if let standing { return standing.restorationChildren }
    return outline.records(outline.rows[index].connections.children).compactMap { node($0) }
  }

  func presented(at index: Int) -> (any RestorableNode)? {
    if let standing { return standing.restorationPresented }
    let record = outline.rows[index].connections.presented
    return record > 0 ? node(record) : nil
  }
}
