package import ArchiveCodec
package import RestorationKit

/// What lies in the bytes of a stored state, read without the library that
/// restores it.
package struct StoredRecords {
  /// The record of a node, a view or a registered object.
  package struct Element {
    /// The identifiers from the root on; of equal siblings those after the first
    /// have their number, as in `stack/page[1]`.
    package let path: String
    /// `node`, `view` or `object`.
    package let kind: String
    package let className: String
    /// What the object itself wrote; nil if it was saved without state.
    package let state: KeyedDecoder?
    package let record: UInt64
    /// All that is stored of it.
    let content: KeyedDecoder

    /// What a ``TestNode`` and its like write.
    package var value: String? {
      get throws { try state?.decodeIfPresent(forKey: "value") }
    }

    /// The states that are kept beside its own, newest first.
    package var kept: [Kept] {
      get throws {
        let all = try content.container(forKey: "kept")
        return try (all?.keys ?? []).compactMap { Int($0) }.sorted()
          .compactMap { try all?.container(forKey: "\($0)") }.map { Kept(content: $0) }
      }
    }
  }

  /// A state that is kept beside a later one.
  package struct Kept {
    let content: KeyedDecoder

    /// What its object wrote.
    package var state: KeyedDecoder? {
      get throws { try content.container(forKey: "state") }
    }
  }

  /// Parents first, then their views, children, what they present, and what only
  /// they refer to.
  package private(set) var elements: [Element] = []
  /// Records that have no place in the tree; none in what a save wrote.
  package private(set) var strays: [UInt64] = []
  /// What the application wrote.
  package let application: KeyedDecoder?
  /// What the library wrote in the name of a scene.
  package let host: KeyedDecoder?
  /// What is said of the whole tree.
  private let tree: KeyedDecoder?

  package init(_ archive: Archive) throws {
    var records: [UInt64: KeyedDecoder] = [:]
    for record in try archive.readAll() { records[record.identifier] = try record.content.get() }
    let first = records.removeValue(forKey: 1)
    application = try first?.container(forKey: "state")
    host = try first?.container(forKey: "host")
    tree = records.removeValue(forKey: 2)
    let roots = try tree?.references(forKey: "roots") ?? []
    for root in roots { try take(root, below: "", &records) }
    strays = records.keys.sorted()
  }

  /// Places a record and what lies below it; test trees are shallow.
  private mutating func take(
    _ number: UInt64, below parent: String, _ records: inout [UInt64: KeyedDecoder]
  ) throws {
    guard let record = records.removeValue(forKey: number),
      let node = try record.container(forKey: "node")
    else { return }
    let index = try node.decodeIfPresent(Int.self, forKey: "siblingIndex") ?? 0
    let path =
      (parent.isEmpty ? "" : "\(parent)/") + (try node.decode(forKey: "identifier"))
      + (index == 0 ? "" : "[\(index)]")
    elements.append(
      Element(
        path: path, kind: try node.name(forKey: "kind") ?? "node",
        className: try node.name(forKey: "class") ?? "none",
        state: try record.container(forKey: "state"), record: number, content: record))
    let referred = try records.filter { _, other in
      try other.container(forKey: "node")?.reference(forKey: "referrer") == number
    }
    let below =
      (try node.references(forKey: "views") ?? [])
      + (try node.references(forKey: "children") ?? [])
      + [try node.reference(forKey: "presented")].compactMap(\.self) + referred.keys.sorted()
    for next in below { try take(next, below: path, &records) }
  }

  /// The paths of all elements, and `record N` for what has none.
  package var paths: [String] { elements.map(\.path) + strays.map { "record \($0)" } }

  /// The element at a path; nil if there is none, or more than one.
  package subscript(path: String) -> Element? {
    let found = elements.filter { $0.path == path }
    return found.count == 1 ? found[0] : nil
  }

  /// The paths of the elements that an element refers to under a key.
  package func paths(referredToFrom path: String, forKey key: String) throws -> [String] {
    guard let state = self[path]?.state else { return [] }
    return try self.paths(in: state, forKey: key)
  }

  /// The paths of the elements that are referred to under a key.
  package func paths(in state: KeyedDecoder, forKey key: String) throws -> [String] {
    var numbers: [UInt64] = []
    do throws(ArchiveError) {
      numbers = [try state.reference(forKey: key)].compactMap(\.self)
    } catch {
      numbers = try state.references(forKey: key) ?? []
    }
    return numbers.map { number in
      elements.first { $0.record == number }?.path ?? "record \(number)"
    }
  }
}

/// What is stored of a scene beside its nodes.
package struct StoredScene: Decodable {
  package let activity: UserActivity?
  package let userInfo: [String: PropertyListValue]
}

extension StoredRecords {
  /// All that is stored in words that do not depend on the numbers of records: the
  /// elements by their paths, the tree with its roots, the application and the scene.
  ///
  /// The order of the objects among the roots is left out.
  package var words: [String] { words() }

  /// The same without what is said of elements of some names.
  package func words(withoutThoseOf names: Set<String> = []) -> [String] {
    let paths = Dictionary(
      elements.map { ($0.record, $0.path) }, uniquingKeysWith: { first, _ in first })
    func words(_ values: KeyedDecoder?) -> String {
      (values?.keys ?? []).filter { $0 != "facts" && $0 != "roots" }.sorted()
        .map { "\($0): \(word($0, values))" }.joined(separator: ", ")
    }
    func word(_ key: String, _ values: KeyedDecoder?) -> String {
      guard let values else { return "" }
      if let inner = try? values.container(forKey: key) { return "{\(words(inner))}" }
      if let record = try? values.reference(forKey: key) { return paths[record] ?? "nowhere" }
      if let records = try? values.references(forKey: key) {
        return "\(records.map { paths[$0] ?? "nowhere" })"
      }
      if let name = try? values.name(forKey: key) { return name }
      if let text = try? values.decode(String.self, forKey: key) { return text }
      if let number = try? values.decode(Int.self, forKey: key) { return "\(number)" }
      if let isSo = try? values.decode(Bool.self, forKey: key) { return "\(isSo)" }
      if let numbers = try? values.decode([Double].self, forKey: key) { return "\(numbers)" }
      if let texts = try? values.decode([String].self, forKey: key) { return "\(texts)" }
      return "something else"
    }
    let roots = elements.filter { !$0.path.contains("/") }
    return elements.map { element in
      let name = element.path.split(separator: "/").last?.split(separator: "[").first
      let isLeftOut = name.map { names.contains(String($0)) } ?? false
      return "\(element.kind) \(element.path) \(isLeftOut ? "" : words(element.content))"
    }.sorted() + [
      "roots: \(roots.filter { $0.kind == "node" }.map(\.path)) "
        + "\(roots.filter { $0.kind != "node" }.map(\.path).sorted())",
      "tree: \(words(tree))", "application: \(words(application))", "scene: \(words(host))",
      "strays: \(strays.count)",
    ]
  }
}

extension Launch {
  /// The records of a stored state.
  ///
  /// - Parameter name: Its name, as of a file.
  /// - Returns: What its bytes say; nil if nothing is stored.
  /// - Throws: What opening and reading it throws.
  package func storedRecords(named name: String = "main") throws -> StoredRecords? {
    guard let key = try keys.key(creating: false) else { return nil }
    return try Archive.open(
      store.memory(named: name), key: key, context: ArchiveContext([Self.application, name])
    ).map { try StoredRecords($0) }
  }

  /// The paths of all that is stored; empty if nothing is.
  package func storedPaths() throws -> [String] { try storedRecords()?.paths ?? [] }
}

extension SceneLaunch {
  /// What the file of a scene says beside its nodes; nil if there is no file.
  package func storedScene(_ identifier: String) throws -> StoredScene? {
    try launch.storedRecords(named: "main.scene-\(identifier)")?.host?
      .decode(StoredScene.self, forKey: "scene")
  }
}
