extension Error {
  /// What a report says of the error.
  ///
  /// An `EncodingError` holds the value that could not be encoded, and reports are
  /// printed and sent, so of that one it is the type, the place and the cause.
  var reason: String {
    guard case .invalidValue(let value, let context)? = self as? EncodingError else {
      return "\(self)"
    }
    let path = context.codingPath.map(\.stringValue).joined(separator: "/")
    return "A \(type(of: value)) cannot be encoded\(path.isEmpty ? "" : " at \(path)")."
      + " \(context.debugDescription)"
  }
}
