extension Restoration {
  /// Lets what a closure makes have values of a scene: a ``Restored`` that is declared in it
  /// has its key below the scene.
  ///
  ///     Restoration.scope(scene) { EditorView() }
  ///
  /// A value that is made once, as a static one, belongs to the scene below which it is first
  /// used. Use a ``RestoredValue`` for what belongs to the app.
  ///
  /// - Parameters:
  ///   - scene: The scene; nil for the app.
  ///   - body: Makes a part of the interface.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws.
  public static func scope<Result, Failure: Error>(
    _ scene: RestorableScene?, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do {
      return try ValueStore.$scope.withValue(scene?.values) { try body() }
    } catch let error as Failure {
      throw error
    } catch {
      preconditionFailure("The closure threw another error than it declares: \(error)")
    }
  }
}
