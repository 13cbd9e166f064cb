internal import ArchiveCodec

/// The forms of a document, as this version of the app reads them: the classes that they name now, what
/// makes their objects, and how older bodies are migrated.
final class FormReader {
  /// A form is asked for each element, so it is not copied (benchmark: restore nodes).
  final class Reading {
    let stored: Form
    let className: String
    let restorationClassName: String?
    /// Makes the objects of the restoration class; nil if nothing is registered under its name.
    let factory: TypeTable.Factory?
    fileprivate let version: StateVersion

    /// Whether bodies have the version of this version of the app.
    var isCurrent: Bool { stored.version == version.number }

    fileprivate init(_ form: Form, _ types: TypeTable, currentName: (String) -> String) {
      stored = form
      className = currentName(form.className)
      restorationClassName = form.restorationClassName.map(currentName)
      factory = restorationClassName.flatMap { types.registration(named: $0)?.factory }
      version = types.version(ofClass: className, restoredBy: restorationClassName)
    }
  }

  private let types: TypeTable
  private let forms: [Form]
  private let delegate: (any StateDelegate)?
  /// The names that classes have now.
  private var names: [String: String] = [:]
  private var readings: [Reading] = []
  /// The registrations that the readings are of.
  private var changeCount = -1

  init(_ document: Document, _ types: TypeTable, _ delegate: (any StateDelegate)?) {
    (self.types, forms, self.delegate) = (types, document.head.forms, delegate)
  }

  subscript(form: Int32) -> Reading {
    // A hook may register a class, so that another one is found from then on.
    if types.changeCount != changeCount {
      changeCount = types.changeCount
      readings = forms.map { Reading($0, types, currentName: currentName) }
    }
    return readings[Int(form)]
  }

  /// The name that a class has now; of the app, nothing but the delegate's hook is called, once for each name.
  private func currentName(of stored: String) -> String {
    if let known = names[stored] { return known }
    let isOwn = types.registration(named: stored) != nil
    let other = isOwn ? nil : delegate?.currentClassName(forStored: stored)
    let name = other.flatMap { types.registration(named: $0) == nil ? nil : $0 } ?? stored
    names[stored] = name
    return name
  }

  /// The name of an object's class, if another class was saved, whatever that is called now.
  func otherClass(of object: any StateRestoring, _ info: TypeInfo, _ form: Reading) -> String? {
    // Most objects have the very class (benchmark: restore nodes).
    info.name == form.className || types.isObject(object, ofClassNamed: form.className)
      ? nil : info.name
  }

  /// Reads a body of a form, an older one by its migrations.
  func read(
    _ body: Result<KeyedDecoder, ArchiveError>, _ form: Int32, unread: ReadBody.Unread?
  ) -> ReadBody {
    var (version, known) = (self[form].stored.version, self[form].version)
    guard case .success(let stored) = body, version != known.number else {
      return ReadBody(unread: unread, body: body)
    }
    guard let steps = known.steps(from: version) else {
      return ReadBody(unread: unread, withheld: known.refusal(of: version))
    }
    let (copy, first) = (MigratingState(stored), version)
    do {
      for step in steps {
        version = step.from
        try step.change(copy)
      }
      return ReadBody(unread: unread, body: .success(try copy.finish()), migratedFrom: first)
    } catch {
      return ReadBody(
        unread: unread, withheld: .migrationFailed(by: nil, from: version, error.reason))
    }
  }
}

/// A body that an object may be given, as this version of the app reads it.
package struct ReadBody {
  typealias Unread = (id: UInt64, reason: Kept.Reason)

  /// Nil for the element's own body.
  let unread: Unread?
  /// The values, or why the record does not open; nil if nobody gets to see the body.
  var body: Result<KeyedDecoder, ArchiveError>?
  var migratedFrom: Int?
  /// The outcome of an element with a body that nobody gets to see, as long as there is no object.
  var withheld: ElementOutcome?

  var isReadable: Bool { (try? body?.get()) != nil }

  /// Decides in which order the bodies of an element are offered: the first that its object decodes
  /// counts.
  ///
  /// A body of which the decoding threw comes before all others, so that an object that cannot take its
  /// state now throws; of those the newest. Then comes the own body, which is the newest of all, and of the
  /// others the newest.
  ///
  /// - Parameters:
  ///   - bodies: The unread bodies, oldest first, and the own body last, if there is one.
  ///   - isLate: Whether the object asks for what it has not taken: then the newest comes first.
  /// - Returns: Places in the array; none if nobody can read any of them.
  package static func order(
    _ bodies: [(unread: Kept.Reason?, isReadable: Bool)], isLate: Bool = false
  ) -> [Int] {
    let readable = bodies.indices.reversed().filter { bodies[$0].isReadable }
    if isLate { return readable }
    let rest = readable.first { bodies[$0].unread != .decodeThrew }
    return readable.filter { bodies[$0].unread == .decodeThrew } + [rest].compactMap(\.self)
  }
}

extension StateVersion {
  /// Why nobody gets to see a body of a version that no migration begins with.
  func refusal(of stored: Int) -> ElementOutcome {
    stored > number
      ? .newerVersion(by: nil, stored: stored, known: number)
      : .migrationFailed(by: nil, from: stored, "there is no migration from this version")
  }
}
