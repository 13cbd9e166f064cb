internal import ArchiveCodec

/// Asks the objects that never say when they change, and them alone, whether they say
/// something else than in the last walk.
///
/// A poll changes nothing: no row and no record. It goes down through the nodes that the
/// rows know, and stops at the first difference, since the save after it finds the others.
final class PreservationPoll: StateEncoding {
  private struct Asked {
    let object: any StateRestoring
    let number: RowNumber
  }

  private let rows: Rows
  private let said: LastSaid
  private let types: TypeTable
  private let objects: ObjectTable
  private let encoder: KeyedEncoder
  private var stack: [Asked] = []

  init(_ rows: Rows, _ said: LastSaid, types: TypeTable, objects: ObjectTable) {
    self.rows = rows
    self.said = said
    self.types = types
    self.objects = objects
    encoder = said.builder.makeEncoder()
  }

  /// Whether a save would find a difference.
  ///
  /// - Complexity: O(*n*) in the objects that never say when they change.
  func findsChange(below roots: [any RestorableNode]) -> Bool {
    guard said.roots == LastSaid.hash(of: roots, objects), add(roots, rows.whole.roots[...]) else {
      return true
    }
    for number in rows.hearing.askedAlone
    where rows[number].hearing.isAskedAlone && isPlaced(number) {
      if let object = rows.object(of: number) {
        stack.append(Asked(object: object, number: number))
      }
    }
    while let asked = stack.popLast() {
      if isChanged(asked) { return true }
    }
    return false
  }

  private func isPlaced(_ number: RowNumber) -> Bool {
    rows[number].met.walk == rows.run.walk && rows[number].met.status == .placed
  }

  private func isChanged(_ asked: Asked) -> Bool {
    let (object, number) = (asked.object, asked.number)
    let info = types.info(of: object)
    guard info.type == rows[number].type?.type else { return true }
    let shape = said.shape(of: object, rows[number].kind, info, objects)
    if let last = said.shapes[number], last != shape.hash { return true }
    // Saves do not ask an object without a hash either.
    if let last = said.states[number], last != state(of: object, number, info) { return true }
    if let last = said.probes[number], !isSame(last, object, number, info) { return true }
    let presented = [rows[number].below.presented].compactMap(\.self)
    guard add(shape.children, rows.children(of: number)),
      add([shape.presented].compactMap(\.self), presented[...])
    else { return true }
    return !addViews(shape.views, of: number)
  }

  /// Goes on to nodes that have a place; false if a node that says when it changes is another
  /// object now, whose state nobody has heard.
  private func add(_ nodes: [any RestorableNode], _ known: ArraySlice<RowNumber>) -> Bool {
    var known = known
    // Only the children of a stack or split have equal names, and are counted.
    let isCounting = known.contains { rows[$0].siblingIndex != 0 }
    var counts: [String: Int32] = [:]
    for node in nodes {
      let identifier = objects.identifier(of: node)
      var index: Int32 = 0
      if isCounting, let identifier {
        index = counts[identifier, default: 0]
        counts[identifier] = index + 1
      }
      // Nodes without a row of their name were left out. A node is not looked for by its address:
      // nodes may be made anew whenever they are asked for.
      guard let number = known.first, rows[number].identifier == identifier,
        rows[number].siblingIndex == 0 || rows[number].siblingIndex == index
      else { continue }
      known.removeFirst()
      guard add(node, number) else { return false }
    }
    return true
  }

  private func addViews(
    _ views: [(identifier: String, view: any RestorableView)], of number: RowNumber
  ) -> Bool {
    var known = rows.views(of: number)
    for (identifier, view) in views {
      guard let number = known.first, rows[number].identifier == identifier else { continue }
      known.removeFirst()
      guard add(view, number) else { return false }
    }
    return true
  }

  private func add(_ object: any StateRestoring, _ number: RowNumber) -> Bool {
    guard isPlaced(number) else { return true }
    if rows[number].hearing.isTracked { return rows.object(of: number) === object }
    stack.append(Asked(object: object, number: number))
    return true
  }

  // MARK: State

  /// An object that throws counts as changed: the save that follows finds out why.
  private func isSame(
    _ last: StateProbe, _ object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) -> Bool {
    do {
      return try last.isSame(as: StateProbe(object, at: rows.path(of: number), info.traits))
    } catch {
      return false
    }
  }

  private func state(
    of object: any StateRestoring, _ number: RowNumber, _ info: TypeInfo
  ) -> RecordFingerprint {
    do {
      try said.builder.begin(record: number.record, with: encoder)
      defer { said.builder.abandon() }
      let container = encoder.beginContainer(forKey: NodeRecord.stateKey)
      let attempt = encoder.beginAttempt()
      let coder = StateEncoder(self, encoder)
      coder.open(number)
      defer { coder.close() }
      try coder.encodeAll(of: object, info)
      try encoder.endAttempt(attempt)
      encoder.endContainer(container)
      return encoder.fingerprint(of: container)
    } catch {
      return .unknown
    }
  }

  func path(of number: RowNumber?) -> RestorationPath { rows.path(of: number) }

  /// The number that the walk gave to the object, or a number that the walk gave to no object.
  func reference(
    to object: any StateRestoring, from number: RowNumber?, key: String
  ) -> UInt64? {
    if let placed = rows.placed(object) { return placed.record }
    guard objects.canBeReferred(object) else { return nil }
    if let known = rows.number(of: object) { return known.record }
    return NodeRecord.application
  }

  func register(_ object: any RestorableObject, identifier: String) {}

  func note(_ note: ReportNote, _ number: RowNumber?) {}
}
