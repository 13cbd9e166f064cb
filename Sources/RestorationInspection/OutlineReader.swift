internal import ArchiveCodec
internal import RestorationKit
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads the records of elements one after the other, and then orders the elements as a tree.
struct OutlineReader {
  private(set) var rows = OutlineRows()
  private(set) var problems: [StoredState.Problem] = []
  private(set) var problemCount = 0
  private(set) var applicationByteCount = 0

  private let archive: Archive
  /// The numbers of the library's keys.
  ///
  /// All records share them, since they are of one archive.
  private var keys: NodeKeys?
  private var formNumbers: [OutlineRows.Form: UInt32] = [:]
  private var lastForm: (form: OutlineRows.Form, number: UInt32)?
  /// The references of all elements: for each the number of views if it has any, the
  /// views, the children, the presented node, and the referrer.
  private var references = RecordNumbers()
  /// The index at which the references of each element begin.
  private var starts: [UInt32] = []
  private var roots: [UInt64] = []
  /// Whether the record with the roots cannot be read, which is one problem.
  ///
  /// That no element has a place then is not reported for each.
  private var isTreeUnreadable = false

  /// A hostile archive could have as many problems as records.
  private static let largestProblemCount = 100

  init(of archive: Archive) {
    self.archive = archive
    let recordCount = archive.extent.snapshotRecordCount
    rows.records.reserveCapacity(recordCount)
    rows.formNumbers.reserveCapacity(recordCount)
    rows.byteCounts.reserveCapacity(recordCount)
    rows.flags.reserveCapacity(recordCount)
    rows.names.reserveCapacity(recordCount)
    references.reserveCapacity(recordCount)
    starts.reserveCapacity(recordCount + 1)
  }

  private mutating func note(_ record: UInt64, _ error: ArchiveError) {
    problemCount += 1
    guard problems.count < Self.largestProblemCount else { return }
    problems.append(StoredState.Problem(record: record, error: error))
  }

  // MARK: Reading

  mutating func take(_ record: Archive.Record) {
    do throws(ArchiveError) {
      let content = try record.content.get()
      switch record.identifier {
      case NodeRecord.application:
        applicationByteCount = record.byteCount
        _ = try StoredState.Values(content)
        _ = try StoredState.facts(in: content, of: archive)
      case NodeRecord.tree:
        roots = try NodeRecord.roots(in: content)
        try NodeRecord.checkTree(content)
      default: try take(content, record)
      }
    } catch {
      if record.identifier == NodeRecord.tree { isTreeUnreadable = true }
      note(record.identifier, error)
    }
  }

  private mutating func take(
    _ content: KeyedDecoder, _ record: Archive.Record
  ) throws(ArchiveError) {
    let node = try NodeRecord(content, number: record.identifier, &keys)
    guard references.count + node.views.count + node.children.count + 3 <= Int32.max,
      rows.count < Int32.max
    else { throw ArchiveError(.limitExceeded, subject: "references") }
    let form = number(
      of: OutlineRows.Form(
        className: node.className, restorationClassName: node.restorationClassName,
        version: node.version))
    guard rows.names.append(node.identifier) else {
      throw ArchiveError(.limitExceeded, subject: "identifiers")
    }
    var flags = takeReferences(node)
    if node.kind == .view { flags.insert(.isView) }
    if node.kind == .object { flags.insert(.isObject) }
    if node.hasLastState { flags.insert(.hasLastState) }
    if let date = node.keptSince {
      flags.insert(.isKept)
      rows.keptSince[UInt32(rows.count)] = date
    }
    if node.siblingIndex != 0 || !rows.siblingIndices.isEmpty {
      while rows.siblingIndices.count < rows.count { rows.siblingIndices.append(0) }
      rows.siblingIndices.append(Int32(clamping: node.siblingIndex))
    }
    rows.records.append(record.identifier)
    rows.formNumbers.append(form)
    rows.byteCounts.append(UInt32(clamping: record.byteCount))
    rows.flags.append(flags)
  }

  /// Takes the views, the children, the presented node and the referrer of an element.
  ///
  /// - Returns: Which of these the element has.
  private mutating func takeReferences(_ node: NodeRecord) -> OutlineRows.Flags {
    var flags: OutlineRows.Flags = []
    starts.append(UInt32(references.count))
    if !node.views.isEmpty {
      flags.insert(.hasViews)
      references.append(UInt64(node.views.count))
    }
    for record in node.views { references.append(record) }
    for record in node.children { references.append(record) }
    if let presented = node.presented {
      flags.insert(.hasPresented)
      references.append(presented)
    }
    if let referrer = node.referrer {
      flags.insert(.hasReferrer)
      references.append(referrer)
    }
    return flags
  }

  private mutating func number(of form: OutlineRows.Form) -> UInt32 {
    if let lastForm, lastForm.form == form { return lastForm.number }
    let number = formNumbers[form] ?? UInt32(rows.forms.count)
    if number == rows.forms.count {
      rows.forms.append(form)
      formNumbers[form] = number
    }
    lastForm = (form, number)
    return number
  }

  // MARK: Placing

  /// Orders the elements as a restore does.
  ///
  /// - Parameter isDamaged: Whether the file is damaged, which explains elements
  ///   without a place.
  mutating func place(isDamaged: Bool) {
    starts.append(UInt32(references.count))
    sortRecords()
    rows.parents = Array(repeating: -1, count: rows.count)
    rows.order.reserveCapacity(rows.count)
    let referred = referredPlaces()
    place(roots.reversed().compactMap { rows.index(of: $0) }, .root, referred)
    for index in 0..<rows.count where !rows.flags[index].contains(.isPlaced) {
      // Of elements that lie above each other in a circle, one has to come first, or
      // none would be shown.
      self.place([index], .unplaced, referred)
      if !isDamaged, !isTreeUnreadable {
        note(rows.records[index], ArchiveError(.malformed, subject: "not in the tree"))
      }
    }
    (references, starts) = (RecordNumbers(), [])
    noteEqualPaths()
  }

  /// Notes elements with the path of an earlier one: a restore takes only the first.
  private mutating func noteEqualPaths() {
    var hashes: [(hash: Int, index: UInt32)] = []
    hashes.reserveCapacity(rows.count)
    for index in rows.order where rows.flags[Int(index)].role != .unplaced {
      hashes.append((name(at: index).hashValue, index))
    }
    hashes.sort { $0.hash < $1.hash }
    for (last, next) in zip(hashes, hashes.dropFirst()) where last.hash == next.hash {
      guard name(at: last.index) == name(at: next.index) else { continue }
      note(
        rows.records[Int(next.index)], ArchiveError(.malformed, subject: "two nodes of one path"))
    }
  }

  /// A name that no other placed element has in a sound tree.
  private struct Name: Hashable {
    let kind: ElementKind
    let parent: Int?
    let identifier: String
    let index: Int
  }

  private func name(at index: UInt32) -> Name {
    let index = Int(index)
    return Name(
      kind: rows.flags[index].kind, parent: rows.parent(of: index),
      identifier: rows.identifier(of: index), index: rows.siblingIndex(of: index))
  }

  private struct Step {
    let index: UInt32
    let parent: Int32
    let role: StoredState.Role
  }

  private mutating func place(
    _ tops: [Int], _ role: StoredState.Role, _ referred: [(referrer: UInt64, index: UInt32)]
  ) {
    var stack = tops.map { Step(index: UInt32($0), parent: -1, role: role) }
    while let step = stack.popLast() {
      let index = Int(step.index)
      guard !rows.flags[index].contains(.isPlaced) else { continue }
      rows.flags[index].insert(.isPlaced)
      rows.flags[index].role = step.role
      rows.parents[index] = step.parent
      rows.order.append(step.index)
      // A step that is pushed last comes next.
      func push(_ below: Int?, _ role: StoredState.Role) {
        guard let below else { return }
        stack.append(Step(index: UInt32(below), parent: Int32(index), role: role))
      }
      if !referred.isEmpty {
        for below in Self.places(referredBy: rows.records[index], in: referred).reversed() {
          push(Int(below), .referred)
        }
      }
      let flags = rows.flags[index]
      var (first, end) = (Int(starts[index]), Int(starts[index + 1]))
      if flags.contains(.hasReferrer) { end -= 1 }
      if flags.contains(.hasPresented) {
        end -= 1
        push(rows.index(of: references[end]), .presented)
      }
      var viewCount = 0
      if flags.contains(.hasViews) {
        viewCount = Int(references[first])
        first += 1
      }
      for reference in (first..<end).reversed() {
        push(
          rows.index(of: references[reference]), reference < first + viewCount ? .view : .child)
      }
    }
  }

  /// The elements that name a referrer, in the order of the referrers.
  private func referredPlaces() -> [(referrer: UInt64, index: UInt32)] {
    var referred: [(referrer: UInt64, index: UInt32)] = []
    for index in 0..<rows.count where rows.flags[index].contains(.hasReferrer) {
      referred.append((references[Int(starts[index + 1]) - 1], UInt32(index)))
    }
    let records = rows.records
    referred.sort {
      ($0.referrer, records[Int($0.index)]) < ($1.referrer, records[Int($1.index)])
    }
    return referred
  }

  private static func places(
    referredBy record: UInt64, in referred: [(referrer: UInt64, index: UInt32)]
  ) -> [UInt32] {
    var (low, high) = (0, referred.count)
    while low < high {
      let middle = (low + high) / 2
      if referred[middle].referrer < record { low = middle + 1 } else { high = middle }
    }
    return referred[low...].prefix { $0.referrer == record }.map(\.index)
  }

  /// Sorts the records; most archives have them in order already.
  private mutating func sortRecords() {
    let records = rows.records
    guard (1..<max(1, rows.count)).contains(where: { records[$0 - 1] > records[$0] }) else {
      return
    }
    rows.byRecord = (0..<UInt32(rows.count)).map { $0 }
    rows.byRecord.sort { records[Int($0)] < records[Int($1)] }
  }
}
