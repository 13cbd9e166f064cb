/// The reason why no value of one kind is of a type.
struct TypeMismatch {
  let subject: String
  let underlying: any Error

  /// Nil for an error with another code.
  ///
  /// The underlying error does not say which value failed: the coding path does.
  init?(_ error: ArchiveError) {
    guard error.code == .typeMismatch, let subject = error.subject else { return nil }
    self.subject = subject
    underlying = ArchiveError(.typeMismatch, subject: subject)
  }
}

/// The types that values were asked for although their kinds do not fit.
///
/// A type that tries others in turns asks for most values several times. A mismatch
/// that is remembered here is reported again in a fraction of the time that finding and
/// describing it takes (benchmark: decode probed values).
final class TypeMismatches {
  private static let capacity = 64
  /// Empty, or as many places as the capacity.
  private var known: [(type: ObjectIdentifier, form: UInt8, mismatch: TypeMismatch)?] = []

  /// Most values fit, so reading looks at this property first.
  var isEmpty: Bool { known.isEmpty }

  func find(_ type: Any.Type, _ header: ValueHeader) -> TypeMismatch? {
    let identifier = ObjectIdentifier(type)
    guard !known.isEmpty, let entry = known[place(identifier, header.form)],
      entry.type == identifier,
      entry.form == header.form
    else { return nil }
    return entry.mismatch
  }

  func add(_ mismatch: TypeMismatch, _ type: Any.Type, _ header: ValueHeader) {
    let identifier = ObjectIdentifier(type)
    // Moved to a local variable for the change, so that reading needs no exclusivity check.
    var changed = known.isEmpty ? Array(repeating: nil, count: Self.capacity) : known
    known = []
    changed[place(identifier, header.form)] = (identifier, header.form, mismatch)
    known = changed
  }

  /// Types are addresses of objects that take 16 bytes or more, so the low four bits say nothing.
  private func place(_ type: ObjectIdentifier, _ form: UInt8) -> Int {
    Int((UInt(bitPattern: type) >> 4 &+ UInt(form) &* 7) % UInt(Self.capacity))
  }
}
