extension SceneHost {
  /// Shows a value in the scene that already shows an equal one, or else in a new scene.
  ///
  /// - Parameters:
  ///   - value: The value. It is stored with the scene.
  ///   - role: What the scene is for.
  ///   - configurationName: The configuration of scenes for such values.
  /// - Returns: The scene, which is active.
  /// - Throws: ``RestorationError`` with `noConfiguration`, `archive`, or
  ///   `unsupportedValue` if the value cannot be encoded.
  @discardableResult
  public func open<Value: Hashable & Codable>(
    showing value: Value, _ role: SceneRole = .windowApplication, configurationName: String? = nil
  ) async throws(RestorationError) -> RestorableScene {
    let shown = openSessions.first { session in
      session.role == role
        && (configurationName == nil || session.configurationName == configurationName)
        && session.windowValue(Value.self) == value
    }
    if let shown { return try await connect(shown) }
    guard let configuration = defaultConfiguration(role, configurationName) else {
      throw .noConfiguration(role, configurationName)
    }
    let session = SceneSession(configuration)
    try session.setWindowValue(value)
    return try await open(session)
  }
}

extension SceneSession {
  /// The value that the session shows.
  ///
  /// - Parameter type: Its type.
  /// - Returns: The last value that was set; nil if there is none, or if it does
  ///   not decode as this type any more.
  public func windowValue<Value: Codable>(_ type: Value.Type = Value.self) -> Value? {
    // What does not decode is as good as none here, and stays stored.
    content.windowValue.flatMap { try? $0.decode(type) }
  }

  /// Replaces the value that the session shows; it is stored with the next save.
  ///
  /// - Parameter value: The new value.
  /// - Throws: ``RestorationError`` with `unsupportedValue` if it cannot be
  ///   encoded; nothing is changed then.
  public func setWindowValue(_ value: some Codable) throws(RestorationError) {
    do {
      let stored = try StoredValue(value)
      change(.windowValue) { $0.windowValue = stored }
      scene?.needsSave = true
    } catch {
      throw RestorationError(.unsupportedValue, "The value cannot be stored: \(error.reason)")
    }
  }
}
