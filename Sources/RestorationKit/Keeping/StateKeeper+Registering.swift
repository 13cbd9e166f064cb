extension StateKeeper {
  /// Registers a class of nodes, views or objects, so that archives can name it.
  ///
  /// The closure makes nodes or objects of the class. Use it instead of a
  /// restoration class where making one needs more than the archive, such as a
  /// model. Without a closure the class makes them itself if it conforms to
  /// ``RestorationClass``. A class with neither gets its names, its version and its
  /// migrations: a class of views, or of nodes that are made elsewhere.
  ///
  ///     try keeper.register(DetailScreen.self) { path, coder in
  ///       let id = try coder.decode(UUID.self, forKey: "product")
  ///       return catalog.product(id).map { DetailScreen($0) }
  ///     }
  ///
  /// The registration counts for objects of exactly this class; register
  /// subclasses by themselves. A closure goes before the class's own conformance. A
  /// root that is given to a restore goes before a closure.
  /// Names have no module in them: two types of one name need different names here.
  ///
  /// A migration leads from its version to the next one. It runs in a restore, before a factory or an object
  /// sees the state, and changes a copy: the stored state stays as it is until the next save. If it throws,
  /// the object is restored without state, the report says why, and saves keep the stored state.
  ///
  ///     try keeper.register(DetailScreen.self, version: 2, migrations: [
  ///       1: { state in
  ///         try state.rename("name", to: "title")
  ///         try state.encode(state.decodeIfPresent(Int.self, forKey: "zoom") ?? 100, forKey: "zoom")
  ///       }
  ///     ])
  ///
  /// - Parameters:
  ///   - type: The class.
  ///   - name: The name in archives; the type's own name if nil.
  ///   - aliases: Names that the class had in earlier versions.
  ///   - version: The version of the state that is written; at least 1.
  ///   - migrations: A migration from every older version that is still read.
  ///   - restoration: Makes or finds the node or object of a path. Nil drops the
  ///     element together with all below it; if the closure throws, the element is kept
  ///     for a later launch. The keeper keeps the closure alive.
  /// - Throws: ``RestorationError`` with `nameTaken` or `invalidMigrations`.
  public func register(
    _ type: any StateRestoring.Type, as name: String? = nil, aliases: [String] = [],
    version: Int = 1, migrations: [Int: (MigratingState) throws -> Void] = [:],
    restoration: ((RestorationPath, StateDecoder) throws -> (any StateRestoring)?)? = nil
  ) throws(RestorationError) {
    // Cast here, on the caller's actor: the cast to an isolated conformance succeeds on
    // any other thread as well, and would let code of the main actor run off it. The first cast of a
    // class takes long, so it is made only where it counts.
    let maker = restoration == nil ? type as? any RestorationClass.Type : nil
    try types.register(
      type, as: name, aliases: aliases, version: version, migrations: migrations,
      factory: restoration.map { .init(make: $0) } ?? maker.map { .init(make: $0.object) },
      isNamedBySaves: restoration != nil)
  }

  /// Registers a restoration class that makes nodes or objects of other classes.
  ///
  /// The other classes name this one as their ``RestorableNode/restorationClass`` or
  /// ``RestorableObject/objectRestorationClass``. The parameters are those of
  /// ``register(_:as:aliases:version:migrations:restoration:)``. Version and migrations
  /// count for the objects that the class makes if their own class is not registered.
  ///
  /// - Throws: ``RestorationError`` with `nameTaken` or `invalidMigrations`.
  public func register(
    restorationClass type: any RestorationClass.Type, as name: String? = nil,
    aliases: [String] = [], version: Int = 1,
    migrations: [Int: (MigratingState) throws -> Void] = [:]
  ) throws(RestorationError) {
    try types.register(
      type, as: name, aliases: aliases, version: version, migrations: migrations,
      factory: .init(make: type.object))
  }

  /// Registers a storyboard, so that archives can name it.
  ///
  /// - Parameter storyboard: The storyboard; its nodes are recognized in a save.
  /// - Throws: ``RestorationError`` with `nameTaken`.
  public func register(_ storyboard: Storyboard) throws(RestorationError) {
    try types.register(storyboard)
  }

  /// Makes an object known that nodes can refer to.
  ///
  /// A save stores the object if a node or object that is saved refers to it, and a
  /// restore finds it again under its identifier and
  /// ``RestorableObject/restorationParent``. Register the object before you restore, or
  /// give it an object restoration class. The keeper does not keep the object alive.
  ///
  /// - Parameters:
  ///   - object: The object. The last identifier that it is given counts.
  ///   - identifier: The name of the object among the objects of the same parent,
  ///     stable across launches. An empty one, or one of more than 1 KiB, is as good as
  ///     none.
  public func registerObject(
    _ object: any RestorableObject, restorationIdentifier identifier: String
  ) {
    objects.register(object, identifier: identifier)
  }
}
