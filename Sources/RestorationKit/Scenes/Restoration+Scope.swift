extension Restoration {
  /// Lets what a closure makes have values of a scene: a ``Restored`` that is declared in it
  /// has its key below the scene.
  ///
  ///     let view = Restoration.scope(scene) { EditorView() }
  ///
  /// A value that is made once, as a static one, belongs to the scene below which it is first
  /// used. Use a ``RestoredValue`` for what belongs to the app.
  ///
  /// - Parameters:
  ///   - scene: The scene; nil for the app.
  ///   - body: Makes a part of the interface.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  public static func scope<Made, Failure: Error>(
    _ scene: RestorableScene?, _ body: () throws(Failure) -> Made
  ) throws(Failure) -> Made {
    // The error keeps its type only as a value.
    let made = ValueStore.$scope.withValue(scene?.values) {
      Result { () throws(Failure) in try body() }
    }
    return try made.get()
  }
}
