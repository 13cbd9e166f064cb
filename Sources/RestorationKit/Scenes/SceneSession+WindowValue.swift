extension SceneSession {
  /// The value that the session shows.
  ///
  /// - Parameter type: Its type.
  /// - Returns: The last value that was set; nil if there is none, or if it does
  ///   not decode as this type any more.
  public func windowValue<Value: Codable>(_ type: Value.Type = Value.self) -> Value? {
    // A value of another type is as good as none here, and stays stored.
    node.content.windowValue.flatMap { try? $0.decode(type) }
  }

  /// Replaces the value that the session shows; it is stored with the next save.
  ///
  /// - Parameter value: The new value.
  /// - Throws: ``RestorationError`` with `unsupportedValue` if it cannot be
  ///   encoded; nothing is changed then.
  public func setWindowValue(_ value: some Codable) throws(RestorationError) {
    do {
      node.content.windowValue = try ValueContent(value)
      scene?.needsSave = true
    } catch {
      throw RestorationError(.unsupportedValue, "The value cannot be stored: \(error.reason)")
    }
  }
}
