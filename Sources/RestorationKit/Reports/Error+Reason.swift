internal import RestorationFoundation

extension Error {
  /// The words for the error in a report.
  ///
  /// Reports are printed and sent, and an error may hold text that a user typed. So an
  /// error appears with the description that its author chose for it. Any other error
  /// appears with its type and its case, and a Codable error with the place and the type.
  package var reason: String {
    switch self as any Error {
    case EncodingError.invalidValue(let value, let context):
      sentence(
        "A \(type(of: value)) cannot be encoded", context.codingPath,
        because: context.underlyingError)
    case DecodingError.keyNotFound(let key, let context):
      sentence("There is no value", context.codingPath + [key])
    case DecodingError.valueNotFound(let type, let context):
      sentence("A \(type) is missing", context.codingPath, because: context.underlyingError)
    case DecodingError.typeMismatch(let type, let context):
      sentence("There is no \(type)", context.codingPath, because: context.underlyingError)
    case DecodingError.dataCorrupted(let context):
      sentence(
        "The value", context.codingPath, " cannot be decoded", because: context.underlyingError)
    case let error as any CustomStringConvertible: error.description.withoutUserInfo
    default: (self as? any LocalizedError)?.errorDescription ?? typeAndCase
    }
  }

  private var typeAndCase: String {
    let mirror = Mirror(reflecting: self)
    // Words for debugging are not chosen for reports. The compiler believes that any
    // Error conforms to CustomDebugStringConvertible, but not that Any does.
    let hasWords = (self as Any) is any CustomDebugStringConvertible
    guard mirror.displayStyle == .enum, !hasWords else { return "\(type(of: self))" }
    // An enum without a description prints only the name of a case without values.
    return "\(type(of: self)).\(mirror.children.first?.label ?? "\(self)")"
  }
}

extension String {
  /// The text without the user info that an error of Foundation prints after its domain
  /// and code: the user info names files.
  fileprivate var withoutUserInfo: String {
    guard hasPrefix("Error Domain=") else { return self }
    let domainAndCode = prefix { $0 != "\"" }
    return String(domainAndCode.last == " " ? domainAndCode.dropLast() : domainAndCode)
  }
}

/// Says what is wrong at a place, and why.
private func sentence(
  _ what: String, _ path: [any CodingKey], _ end: String = "", because cause: (any Error)? = nil
) -> String {
  let place = path.isEmpty ? "" : " at \(path.map(\.stringValue).joined(separator: "/"))"
  // Stops at a Codable error: a chain of causes may be of any length.
  let isCodable = cause is EncodingError || cause is DecodingError
  return what + place + end + "." + (isCodable ? "" : cause.map { " \($0.reason)" } ?? "")
}
