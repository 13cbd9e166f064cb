public import ArchiveCodec
public import RestorationKit
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoredState {
  /// One element of a stored state, without its values.
  public struct Element: Hashable, Sendable {
    /// The number of the element's record.
    public let record: UInt64

    /// The kind of the element.
    public let kind: ElementKind

    /// The part that the element has for the one above it.
    public let role: Role

    /// Where the element is; for an unplaced element, the part of the path that is known.
    public let path: RestorationPath

    /// The name of the element's class.
    public let className: String

    /// The name of the class that makes the element; nil if none was named.
    public let restorationClassName: String?

    /// The version of the element's state.
    public let version: Int

    /// The size of the element's record in bytes.
    public let byteCount: Int

    /// When a save first kept the element because it was not back; nil if it is not kept.
    public let keptSince: Date?

    /// Whether the state of the element is from an earlier save, because a later one
    /// could not be encoded.
    public let hasLastState: Bool
  }

  /// The relation of an element to the element above.
  ///
  /// More roles may come; handle unknown ones.
  public enum Role: String, Hashable, Codable, Sendable {
    /// The element is a root.
    case root
    /// The element above contains it.
    case child
    /// The element is a view of the one above.
    case view
    /// The element above presents it.
    case presented
    /// Other elements only refer to it.
    case referred
    /// The element above cannot be read, or does not name this one.
    case unplaced
  }

  /// A record that cannot be used, and why.
  public struct Problem: Hashable, Sendable {
    /// The number of the record.
    public let record: UInt64

    /// The error that the record was read with.
    public let error: ArchiveError
  }

  /// The elements of a state in the order of the tree.
  ///
  /// An outline takes about 40 bytes for each element, and its identifier. The values
  /// are not in memory.
  public struct Outline: Sendable {
    /// The first damage of the file; nil if every byte is as it was sealed.
    public let damage: ArchiveError?

    /// The records that cannot be used; no more than a hundred of them.
    public let problems: [Problem]

    /// How many records cannot be used.
    public let problemCount: Int

    /// The size of the record of the application in bytes.
    public let applicationByteCount: Int

    private let rows: OutlineRows

    /// How many elements there are.
    public var count: Int { rows.count }

    init(_ reader: consuming OutlineReader, damage: ArchiveError?) {
      self.damage = damage
      (problems, problemCount) = (reader.problems, reader.problemCount)
      applicationByteCount = reader.applicationByteCount
      rows = reader.rows
    }

    /// Gives the elements: each after its parent and after its elder siblings.
    ///
    /// Unplaced elements come last.
    ///
    /// - Parameter body: Takes an element; an error of it ends the iteration.
    /// - Complexity: O(*n*) in the number of elements; memory for the ancestors of one
    ///   element.
    public func forEach(_ body: (Element) throws -> Void) rethrows {
      var above: [(index: Int, path: RestorationPath)] = []
      for index in rows.order.lazy.map({ Int($0) }) {
        let parent = rows.parent(of: index)
        while let last = above.last, last.index != parent { above.removeLast() }
        let path = (above.last?.path ?? RestorationPath())
          .appending(rows.identifier(of: index), siblingIndex: rows.siblingIndex(of: index))
        above.append((index, path))
        try body(rows.element(at: index, path))
      }
    }

    /// The element of a record; nil if there is none that can be read.
    ///
    /// - Parameter record: The number of the record.
    /// - Returns: The element.
    /// - Complexity: O(log *n* + *d*) for *n* elements, at the depth *d*.
    public func element(ofRecord record: UInt64) -> Element? {
      guard let index = rows.index(of: record) else { return nil }
      var line = [index]
      while let next = rows.parent(of: line[line.count - 1]) { line.append(next) }
      let path = line.reversed().reduce(RestorationPath()) { path, index in
        path.appending(rows.identifier(of: index), siblingIndex: rows.siblingIndex(of: index))
      }
      return rows.element(at: index, path)
    }
  }

  /// Reads the elements, and checks every byte on the way.
  ///
  /// Damage ends nothing: readable elements are there, and the rest is among the
  /// problems. If the record that names the roots is among them, no element has a place.
  ///
  /// - Parameter progress: Called now and then with the number of records that have
  ///   been read.
  /// - Returns: The elements.
  /// - Throws: The errors of `progress`.
  /// - Complexity: O(*n* log *n*) in the records, O(*m*) in the bytes; memory for one
  ///   chunk or record and, during the reading, about 64 bytes for each record and its
  ///   identifier.
  public func outline(
    progress: ((_ recordCount: Int) throws -> Void)? = nil
  ) throws -> Outline {
    var reader = OutlineReader(of: archive)
    var count = 0
    let damage = try archive.salvage { record in
      reader.take(record)
      count += 1
      if count.isMultiple(of: 1 << 12) { try progress?(count) }
    }
    reader.place(isDamaged: damage != nil)
    return Outline(reader, damage: damage)
  }
}
