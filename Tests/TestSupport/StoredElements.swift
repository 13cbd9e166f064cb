package import ArchiveCodec
package import RestorationKit

/// What lies in the bytes of a stored state, read without the library that
/// restores it.
package struct StoredRecords {
  /// A node, a view or a registered object.
  package struct Element {
    /// The identifiers from the root on; of equal siblings those after the first
    /// have their number, as in `stack/page[1]`.
    package let path: String
    /// The same without the element that has referred first, where only references lead to one.
    let freePath: String
    /// `node`, `view` or `object`.
    package let kind: String
    package let className: String
    /// The body; nil if there is none.
    package let state: KeyedDecoder?
    /// The identifier.
    package let record: UInt64
    /// The class, who makes it, and the version.
    package let form: String

    /// What a ``TestNode`` and its like write.
    package var value: String? {
      get throws { try state?.decodeIfPresent(forKey: "value") }
    }

    /// The unread bodies, newest first.
    package let kept: [Kept]
  }

  /// A body that nobody could read, beside a later one.
  package struct Kept {
    package let state: KeyedDecoder?
  }

  /// Parents first, then what is below them.
  package private(set) var elements: [Element] = []
  /// Records that have no place in the tree; none in what a save wrote.
  package private(set) var strays: [UInt64] = []
  /// What the application wrote.
  package let application: KeyedDecoder?
  /// The bodies of the application that it could not read, newest first.
  package private(set) var keptOfApplication: [Kept] = []
  private let forms: [String]

  package init(_ archive: Archive) throws {
    var records: [UInt64: KeyedDecoder] = [:]
    for record in try archive.readAll() { records[record.identifier] = try record.content.get() }
    application = records.removeValue(forKey: .max - 4)
    let stored = records.removeValue(forKey: .max - 2)
    let classes: [String] = try stored?.decode(forKey: "classes") ?? []
    let makers: [String] = try stored?.decode(forKey: "makers") ?? []
    let versions: [Int] = try stored?.decode(forKey: "versions") ?? []
    forms = classes.indices.map { "\(classes[$0]) \(makers[$0]) \(versions[$0])" }
    var unread: [UInt64: [Kept]] = [:]
    if let kept = records.removeValue(forKey: .max - 1) {
      let owners: [UInt64] = try kept.decode(forKey: "owners")
      let ids: [UInt64] = try kept.decode(forKey: "ids")
      // One without an identifier is the element itself.
      for (owner, id) in zip(owners, ids) where id > 0 {
        unread[owner, default: []].insert(
          Kept(state: records.removeValue(forKey: id * 2)), at: 0)
      }
    }
    keptOfApplication = unread[0] ?? []
    // In the order of the walk.
    var left: [(parent: UInt64, path: String, freePath: String, element: Element?)] = [
      (0, "", "", nil)
    ]
    while let (parent, path, freePath, element) = left.popLast() {
      if let element { elements.append(element) }
      guard let contents = records.removeValue(forKey: parent * 2 + 1) else { continue }
      let steps: [Int64] = try contents.decode(forKey: "ids")
      let names: [String] = try contents.decode(forKey: "names")
      let numbers: [Int] = try contents.decode(forKey: "forms")
      let roles: [UInt8]? = try contents.decodeIfPresent(forKey: "roles")
      let siblings: [Int]? = try contents.decodeIfPresent(forKey: "siblings")
      var id: UInt64 = 0
      let below = steps.indices.map { place in
        id &+= UInt64(bitPattern: steps[place])
        let index = siblings?[place] ?? 0
        let name = names[place] + (index == 0 ? "" : "[\(index)]")
        let role = Int((roles?[place] ?? 0) & 0x7F)
        let own = (path.isEmpty ? "" : "\(path)/") + name
        let free =
          3...4 ~= role ? "referred \(name)" : (freePath.isEmpty ? "" : "\(freePath)/") + name
        let kind = ["node", "node", "view", "object", "node", "scene"][role]
        let element = Element(
          path: own, freePath: free, kind: kind, className: classes[numbers[place]],
          state: records.removeValue(forKey: id * 2), record: id, form: forms[numbers[place]],
          kept: unread[id] ?? [])
        return (id, own, free, Optional(element))
      }
      left += below.reversed()
    }
    strays = records.keys.sorted()
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

extension StoredRecords {
  /// All that is stored in words that do not depend on the numbers of records: the
  /// elements by their paths, and the application.
  package var words: [String] { words(withoutThoseOf: [], by: \.path) }

  /// The same without what is said of elements of some names, and without who is above those that only
  /// references reach: that is a matter of the past.
  package func words(withoutThoseOf names: Set<String>) -> [String] {
    words(withoutThoseOf: names, by: \.freePath)
  }

  /// What a body says, in words.
  package func words(of body: KeyedDecoder?) -> String { words(of: body, paths(by: \.path)) }

  private func paths(by path: KeyPath<Element, String>) -> [UInt64: String] {
    Dictionary(
      elements.map { ($0.record, $0[keyPath: path]) }, uniquingKeysWith: { first, _ in first })
  }

  private func words(of values: KeyedDecoder?, _ paths: [UInt64: String]) -> String {
    (values?.keys ?? []).sorted().map { "\($0): \(word($0, values, paths))" }
      .joined(separator: ", ")
  }

  private func word(_ key: String, _ values: KeyedDecoder?, _ paths: [UInt64: String]) -> String {
    guard let values else { return "" }
    if let inner = try? values.container(forKey: key) { return "{\(words(of: inner, paths))}" }
    if let record = try? values.reference(forKey: key) { return paths[record] ?? "nowhere" }
    if let records = try? values.references(forKey: key) {
      return "\(records.map { paths[$0] ?? "nowhere" })"
    }
    if let text = try? values.decode(String.self, forKey: key) { return text }
    if let number = try? values.decode(Int.self, forKey: key) { return "\(number)" }
    if let isSo = try? values.decode(Bool.self, forKey: key) { return "\(isSo)" }
    if let numbers = try? values.decode([Double].self, forKey: key) { return "\(numbers)" }
    if let texts = try? values.decode([String].self, forKey: key) { return "\(texts)" }
    return "something else"
  }

  private func words(
    withoutThoseOf names: Set<String>, by path: KeyPath<Element, String>
  ) -> [String] {
    let paths = paths(by: path)
    return elements.map { element in
      let name = element.path.split(separator: "/").last?.split(separator: "[").first
      let isLeftOut = name.map { names.contains(String($0)) } ?? false
      return "\(element.kind) \(element[keyPath: path]) \(element.form) "
        + (isLeftOut ? "" : words(of: element.state, paths))
    }.sorted() + [
      "application: \(words(of: application, paths))", "strays: \(strays.count)",
    ]
  }
}

extension Launch {
  /// The records of a stored state.
  ///
  /// - Parameters:
  ///   - name: Its name, as of a file.
  ///   - state: The name that it was saved under, if that is another one.
  /// - Returns: What its bytes say; nil if nothing is stored.
  /// - Throws: What opening and reading it throws.
  package func storedRecords(
    named name: String = "main", as state: String? = nil
  ) throws -> StoredRecords? {
    guard let key = try keys.key(creating: false) else { return nil }
    return try Archive.open(
      store.memory(named: name), key: key,
      context: ArchiveContext([Self.application, state ?? name])
    ).map { try StoredRecords($0) }
  }

  /// The paths of all that is stored; empty if nothing is.
  package func storedPaths() throws -> [String] { try storedRecords()?.paths ?? [] }
}

extension StateKeeper {
  /// A save, each of which stores all that has changed.
  package func saveEverything(
    _ roots: [any RestorableNode]
  ) async throws(RestorationError) -> PreservationReport {
    try await save(roots)
  }
}
