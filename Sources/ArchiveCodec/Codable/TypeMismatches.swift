/// Why a value of one kind is not of a type; the same for all such values.
struct TypeMismatch {
  let subject: String
  let underlying: any Error

  /// Nil for another error.
  ///
  /// The underlying one does not say which value it is: the coding path does.
  init?(_ error: ArchiveError) {
    guard error.code == .typeMismatch, let subject = error.subject else { return nil }
    self.subject = subject
    underlying = ArchiveError(.typeMismatch, subject: subject)
  }
}

/// The types that values were asked for and that their kinds are not.
///
/// A type that tries others in turns asks for most values several times. What
/// does not fit is told again from here, in a fraction of the time that finding
/// it out and putting it into words takes (benchmark: decode probed values).
final class TypeMismatches {
  private static let capacity = 64
  /// Empty, or as many places as the capacity.
  private var known: [(type: ObjectIdentifier, form: UInt8, mismatch: TypeMismatch)?] = []

  /// Most values fit, so reading looks at this first.
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
    // Taken out to be changed, so that reading needs no exclusivity check.
    var changed = known.isEmpty ? Array(repeating: nil, count: Self.capacity) : known
    known = []
    changed[place(identifier, header.form)] = (identifier, header.form, mismatch)
    known = changed
  }

  /// Types are addresses, and have their own 16 bytes at least.
  private func place(_ type: ObjectIdentifier, _ form: UInt8) -> Int {
    Int((UInt(bitPattern: type) >> 4 &+ UInt(form) &* 7) % UInt(Self.capacity))
  }
}
