extension StateKeeper {
  /// Makes an object known that nodes can refer to.
  ///
  /// It is saved if something that is saved refers to it, and found again under
  /// its identifier and ``RestorableObject/restorationParent``. Register it
  /// before you restore, or give it an object restoration class. The keeper
  /// does not keep it alive.
  ///
  /// - Parameters:
  ///   - object: The object. The last identifier that it is given counts.
  ///   - identifier: Its name among those of the same parent, stable across
  ///     launches. An empty one, or one of more than 1 KiB, is as good as none.
  public func registerObject(
    _ object: any RestorableObject, restorationIdentifier identifier: String
  ) {
    registry.registerObject(object, identifier: identifier)
  }

  /// Registers an object restoration class, so that archives can name it.
  ///
  /// - Parameters:
  ///   - type: The type that makes objects.
  ///   - name: The name in archives; the type's own name if nil.
  ///   - aliases: Names that it had in earlier versions.
  ///   - version: The version of the state that its objects write; at least 1.
  ///   - migrations: Steps from every older version that is still read.
  /// - Throws: ``RestorationError`` with `nameTaken` or `invalidMigrations`.
  public func register(
    objectClass type: any ObjectRestoration.Type, as name: String? = nil, aliases: [String] = [],
    version: Int = 1, migrations: [StateMigration] = []
  ) throws(RestorationError) {
    try registry.register(
      type, as: name, aliases: aliases, version: version, migrations: migrations
    ) { try type.object(at: $0, coder: $1) }
  }

  /// Registers a class of objects with what makes them.
  ///
  /// The closure stands for an object restoration class where making an object
  /// needs more than the archive.
  ///
  /// - Parameters:
  ///   - type: The class of the objects.
  ///   - name: The name in archives; the type's own name if nil.
  ///   - aliases: Names that it had in earlier versions.
  ///   - version: The version of the state that its objects write; at least 1.
  ///   - migrations: Steps from every older version that is still read.
  ///   - factory: Makes or finds the object of a path, or returns nil to leave it
  ///     out. The keeper keeps it alive.
  /// - Throws: ``RestorationError`` with `nameTaken` or `invalidMigrations`.
  public func register(
    objectClass type: any StateRestoring.Type, as name: String? = nil, aliases: [String] = [],
    version: Int = 1, migrations: [StateMigration] = [],
    restoration factory:
      @escaping (RestorationPath, StateDecoder) throws -> (any StateRestoring)?
  ) throws(RestorationError) {
    try registry.register(
      type, as: name, aliases: aliases, version: version, migrations: migrations,
      makesItsObjects: true, factory: factory)
  }

  /// Registers a class of views or objects that others make, to give its state
  /// names and versions.
  ///
  /// - Parameters:
  ///   - type: The class of the views or objects.
  ///   - name: The name in archives; the type's own name if nil.
  ///   - aliases: Names that it had in earlier versions.
  ///   - version: The version of the state that its objects write; at least 1.
  ///   - migrations: Steps from every older version that is still read.
  /// - Throws: ``RestorationError`` with `nameTaken` or `invalidMigrations`.
  public func register(
    stateOf type: any StateRestoring.Type, as name: String? = nil, aliases: [String] = [],
    version: Int = 1, migrations: [StateMigration] = []
  ) throws(RestorationError) {
    try registry.register(
      type, as: name, aliases: aliases, version: version, migrations: migrations, factory: nil)
  }
}
