internal import ArchiveCodec

/// How this version of the app reads what is stored: which class a form names now, what makes its objects, and
/// which bodies an object is offered.
extension RestorationRun {
  /// The forms of the document.
  final class Forms {
    /// The names that the delegate says.
    fileprivate var names: [String: String?] = [:]
    fileprivate var readings: [Reading] = []
    /// The registrations that the readings are of.
    fileprivate var changeCount = -1
  }

  /// A form is asked for each element, so it is not copied (benchmark: restore nodes).
  final class Reading {
    let stored: Form
    let className: String
    let restorationClassName: String?
    /// Makes the objects of the restoration class, or else of the class; nil if nothing that does is registered.
    let factory: TypeTable.Factory?
    fileprivate let version: StateVersion
    /// Whether the form is of the version that is known.
    fileprivate let isCurrent: Bool

    fileprivate init(_ form: Form, in run: RestorationRun) {
      stored = form
      className = run.currentName(of: form.className)
      restorationClassName = form.restorationClassName.map(run.currentName)
      let maker = run.types.registrations[restorationClassName ?? className]
      // A class of another kind that has the name makes objects of other classes.
      let makes = restorationClassName != nil || maker?.type is any StateRestoring.Type
      factory = makes ? maker?.factory : nil
      version = run.types.version(ofClass: className, restoredBy: restorationClassName)
      isCurrent = form.version == version.number
    }
  }

  func form(_ number: Int32) -> Reading {
    // A hook may register a class, so that another one is found from then on.
    if types.changeCount != forms.changeCount {
      forms.changeCount = types.changeCount
      forms.readings = document.head.forms.map { Reading($0, in: self) }
    }
    return forms.readings[Int(number)]
  }

  /// The name that a class has now; of the app, nothing but the delegate's hook is called, once for each name.
  private func currentName(of stored: String) -> String {
    guard let delegate, types.registrations[stored] == nil else { return stored }
    let other = forms.names[stored] ?? delegate.currentClassName(forStored: stored)
    forms.names.updateValue(other, forKey: stored)
    return other.flatMap { types.registrations[$0] == nil ? nil : $0 } ?? stored
  }

  /// Decides which bodies an object is offered, and migrates the older ones.
  func chooseBodies(_ slot: Int32, isBack: Bool) {
    let unread = document.kept.bodies.isEmpty ? nil : document.kept.bodies[slot]
    if unread == nil, form(document[slot].place.form).isCurrent { return }
    let element = document[slot]
    var bodies = (unread ?? []).map { read($0.record, $0.form, unread: ($0.id, $0.reason)) }
    // What wrote nothing is migrated as well.
    let own = element.body == .none ? nil : element.bodyRecord
    bodies.append(read(own, element.place.form, unread: nil))
    let untaken = isBack ? document.kept.untaken(slot) : nil
    if let untaken { bodies.removeAll { !untaken.contains($0.unread?.id) } }
    let order = ReadBody.order(bodies.map { ($0.unread?.reason, $0.isReadable) }, isLate: isBack)
    elements[slot].offer(order.isEmpty ? bodies.suffix(1) : order.map { bodies[$0] })
  }

  /// Reads a body of a form, an older one by its migrations.
  private func read(_ record: UInt64?, _ number: Int32, unread: ReadBody.Unread?) -> ReadBody {
    let body = Result { () throws(ArchiveError) in try record.map(elements.body) ?? .empty }
    var (version, known) = (form(number).stored.version, form(number).version)
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
      let changed = try KeyedDecoder.encoding(copy.write)
      return ReadBody(unread: unread, body: .success(changed), migratedFrom: first)
    } catch {
      return ReadBody(unread: unread) { [version] in
        .migrationFailed(by: $0, from: version, error.reason)
      }
    }
  }
}

/// A body that an object may be given, as this version of the app reads it.
package struct ReadBody {
  typealias Unread = (id: UInt64, reason: Kept.Reason)

  /// Nil for the element's own body; small, since each element is asked for it (benchmark: restore 10,000 nodes).
  let unread: Unread?
  /// The values, or why the record does not open; nil if nobody gets to see the body.
  var body: Result<KeyedDecoder, ArchiveError>?
  var migratedFrom: Int?
  /// Why nobody gets to see the body.
  var withheld: ElementOutcome.Refusal?

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
  func refusal(of stored: Int) -> ElementOutcome.Refusal {
    stored > number
      ? { [number] in .newerVersion(by: $0, stored: stored, known: number) }
      : { .migrationFailed(by: $0, from: stored, "there is no migration from this version") }
  }
}
