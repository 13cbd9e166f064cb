internal import ArchiveCodec
public import RestorationKit
internal import Synchronization

/// One key for each user of a server, sealed under a master key in a store.
///
///     let keys = UserKeys(
///       store: keyStore, master: CredentialKeyProvider("notes-master"))
///     let keeper = try StateKeeper(
///       application: "org.example.notes", name: session,
///       directory: RemoteStateDirectory(stateStore), keys: try await keys.provider(for: user))
///
/// Each key is random. So the key of one user can be destroyed alone, and with it every
/// copy and backup of that user's states. And to change the master key, only the keys
/// are sealed anew, 160 bytes each, and no state.
///
/// Keep the keys in a store of their own: another database, or another prefix of
/// tables. A backup of the states has no keys then, and a removed key is in no backup
/// that is older than those of the keys.
///
/// The store has no names of users. It has a second random key, sealed as the others
/// are, and each user is under a hash with that key. Without a master key nobody can
/// tell which key is whose, or whether somebody is a user. The second key stays when
/// the master key changes.
///
/// Several servers can share the store, and several `UserKeys` may be there at once. Do
/// not let the store read from a replica that may be behind. Keys are kept in guarded
/// memory only, as long as something uses them.
public final class UserKeys: Sendable {
  private struct Loaded {
    var masters: MasterKeys?
    var keyOfNames: ArchiveKey?
    var loading: [Subject: Loading] = [:]
    var loadCount = 0
    /// The keys that a caller may still have.
    var live = WeakObjects<Row, ArchiveKey>()
  }

  /// The owner of a key: the bytes of a user's name, or nil for the key of names.
  private typealias Subject = [UInt8]?

  /// A load that several callers may wait for.
  private struct Loading {
    let number: Int
    let task: Task<ArchiveKey, any Error>
    var waiterCount: Int
  }

  /// A stored key: no version comes twice under a name, so there is never another one.
  private struct Row: Hashable {
    let name: String
    let version: RemoteVersion
  }

  /// The store of the keys.
  public let store: any RemoteStateStore

  private let master: any KeyProvider
  private let former: [any KeyProvider]
  private let loaded = Mutex(Loaded())

  static let rowOfNames = "names"
  static let userPrefix = "user-"
  /// The placeholder that is stored before a key, and that the key replaces.
  ///
  /// So a first write that gets to the store late, when the user was removed, brings no key back.
  static let placeOfKey = Array("none".utf8)
  /// Another server may be faster so often.
  static let tryCount = 10

  /// Creates the keys of the users in a store, which may be empty.
  ///
  /// Neither the store nor a master key is looked at before the first key is needed. Then
  /// the master keys are read once; a key that is missing is an error and is never made.
  ///
  /// - Parameters:
  ///   - store: The store of the sealed keys. Nothing else may be in it.
  ///   - master: The key that seals new keys from now on.
  ///   - former: Other master keys that keys of users may still be sealed under; see
  ///     ``rotate()``.
  public init(
    store: any RemoteStateStore, master: any KeyProvider, former: [any KeyProvider] = []
  ) {
    (self.store, self.master, self.former) = (store, master, former)
  }

  /// Finds the key of a user, or makes it.
  ///
  /// The method asks the store each time, so that a key that was removed is used no
  /// more. Callers who ask for the same user at once share one load. If two servers
  /// make a key for the same user at once, both get the same one. A key that is there
  /// and cannot be read is never replaced.
  ///
  /// - Parameter user: A text that no other user has, compared byte by byte.
  /// - Returns: A provider of that key, for as many keepers as you like.
  /// - Throws: ``/RestorationKit/RestorationError``: `masterKeyMissing`, `masterKeyWrong`,
  ///   `userKeyDamaged`, or `archive` if a master key cannot be read; and the errors of
  ///   the store. After an error of the store, ask again: a key that was made meanwhile
  ///   is found.
  public func provider(for user: String) async throws -> any KeyProvider {
    let key = try await shared(Array(user.utf8)) { keys in
      let name = try await keys.row(of: user)
      guard let key = try await keys.key(at: name, creating: true) else {
        throw RestorationError.userKeyDamaged(name, in: keys.store.location, nil)
      }
      return key
    }
    return key
  }

  /// Destroys the key of a user, and with it all that the key has sealed.
  ///
  /// No state of the user opens after that, nor any copy or backup of one, unless there
  /// is still a backup of the key. A later user of the same name gets another key. End
  /// the user's sessions first, on all servers: a session that has the key in memory,
  /// or waits for it, can use it until its end. The method also removes a key that
  /// cannot be read.
  ///
  /// - Parameter user: The user, as in ``provider(for:)``.
  /// - Returns: False if there was no key.
  /// - Throws: As ``provider(for:)``. After an error of the store call it again.
  @discardableResult
  public func removeUser(_ user: String) async throws -> Bool {
    let name = try await row(of: user)
    // Later callers must not get a key that was loaded before, even if the removal may have failed.
    defer { loaded.withLock { $0.loading[Array(user.utf8)] = nil } }
    for _ in 0..<Self.tryCount {
      guard let stored = try await store.load(name) else { return false }
      guard try await store.remove(name, expecting: stored.version) else { continue }
      return stored.bytes != Self.placeOfKey
    }
    throw Self.busy(name)
  }

  /// The name under which the key of a user is stored.
  func row(of user: String) async throws -> String {
    Self.userPrefix + (try await keyOfNames()).hiddenName(of: user)
  }

  private func keyOfNames() async throws -> ArchiveKey {
    if let key = loaded.withLock({ $0.keyOfNames }) { return key }
    let key = try await shared(nil) { try await $0.loadKeyOfNames() }
    loaded.withLock { $0.keyOfNames = key }
    return key
  }

  /// Makes a key of names only in an empty store: a new one would hide all keys that are there.
  private func loadKeyOfNames() async throws -> ArchiveKey {
    for _ in 0..<Self.tryCount {
      if let key = try await key(at: Self.rowOfNames, creating: false) { return key }
      guard try await !store.names(prefix: Self.userPrefix).isEmpty else {
        if let key = try await key(at: Self.rowOfNames, creating: true) { return key }
        continue
      }
      // A server that was faster has stored its key of names before that of a user, so
      // the key of names must be there now.
    }
    throw RestorationError.userKeyDamaged(Self.rowOfNames, in: store.location, nil)
  }

  private func key(at name: String, creating: Bool) async throws -> ArchiveKey? {
    let masters = try await masterKeys()
    for _ in 0..<Self.tryCount {
      let stored = try await store.load(name)
      if let stored, stored.bytes != Self.placeOfKey {
        let row = Row(name: name, version: stored.version)
        if let key = loaded.withLock({ $0.live[row] }) { return key }
        let key = try masters.open(stored.bytes, name, in: store.location).key
        loaded.withLock { $0.live[row] = key }
        return key
      }
      guard creating else { return nil }
      var place = stored?.version
      if place == nil {
        place = try await store.replace(name, with: Self.placeOfKey, expecting: nil)
      }
      guard let place else { continue }
      let key = try ArchiveKey().packed()
      let sealed = try masters.seal(key, name)
      if let version = try await store.replace(name, with: sealed, expecting: place) {
        loaded.withLock { $0.live[Row(name: name, version: version)] = key }
        return key
      }
    }
    throw Self.busy(name)
  }

  /// The master keys, read once.
  func masterKeys() async throws -> MasterKeys {
    if let masters = loaded.withLock({ $0.masters }) { return masters }
    let masters = try await MasterKeys(master, former)
    loaded.withLock { $0.masters = masters }
    return masters
  }

  static func busy(_ name: String) -> RemoteStoreError {
    RemoteStoreError(
      .unavailable,
      "The key “\(name)” was stored and removed again and again meanwhile, or a replica of the"
        + " store is behind. Try again.")
  }

  /// The result of the body, shared by all callers who ask before it is there.
  ///
  /// The body is cancelled when all of its callers are.
  private func shared(
    _ subject: Subject, _ body: @escaping @Sendable (UserKeys) async throws -> ArchiveKey
  ) async throws -> ArchiveKey {
    let loading = loaded.withLock { loaded in
      if var loading = loaded.loading[subject] {
        loading.waiterCount += 1
        loaded.loading[subject] = loading
        return loading
      }
      loaded.loadCount += 1
      let number = loaded.loadCount
      let task = Task {
        defer { self.leave(subject, number) { $0 = 0 } }
        return try await body(self)
      }
      let loading = Loading(number: number, task: task, waiterCount: 1)
      loaded.loading[subject] = loading
      return loading
    }
    return try await withTaskCancellationHandler {
      try await loading.task.value
    } onCancel: {
      if leave(subject, loading.number, { $0 -= 1 }) { loading.task.cancel() }
    }
  }

  /// Lets go of a load when no caller waits for it any more.
  ///
  /// - Returns: Whether the load was let go.
  @discardableResult
  private func leave(
    _ subject: Subject, _ number: Int, _ change: (inout Int) -> Void
  ) -> Bool {
    loaded.withLock { loaded in
      guard var loading = loaded.loading[subject], loading.number == number else { return false }
      change(&loading.waiterCount)
      loaded.loading[subject] = loading.waiterCount > 0 ? loading : nil
      return loading.waiterCount <= 0
    }
  }
}

/// The master keys of a server.
struct MasterKeys: Sendable {
  private let current: ArchiveKey
  private let former: [ArchiveKey]

  /// Reads the keys off the caller's actor, since a provider may wait.
  @concurrent
  init(_ master: any KeyProvider, _ former: [any KeyProvider]) async throws(RestorationError) {
    current = try Self.key(of: master)
    self.former = try former.map(Self.key)
  }

  private static func key(of provider: any KeyProvider) throws(RestorationError) -> ArchiveKey {
    let key: ArchiveKey?
    do throws(ArchiveError) {
      key = try provider.key(creating: false)
    } catch {
      throw RestorationError(error)
    }
    guard let key else { throw .masterKeyMissing(at: provider.location) }
    return key
  }

  func seal(_ key: ArchiveKey, _ name: String) throws(RestorationError) -> [UInt8] {
    do throws(ArchiveError) {
      return try SealedKey(key, under: current, context: Self.context(name)).bytes
    } catch {
      throw RestorationError(error)
    }
  }

  /// The key, and whether it is sealed under the current master key.
  func open(
    _ bytes: [UInt8], _ name: String, in location: String
  ) throws(RestorationError) -> (key: ArchiveKey, isCurrent: Bool) {
    do throws(ArchiveError) {
      let sealed = try SealedKey(bytes)
      for (place, master) in ([current] + former).enumerated() {
        if let key = try sealed.open(with: master, context: Self.context(name)) {
          return (key, place == 0)
        }
      }
    } catch {
      switch error.code {
      case .keyDamaged, .wrongContext, .damaged:
        throw .userKeyDamaged(name, in: location, error)
      default: throw RestorationError(error)
      }
    }
    throw .masterKeyWrong(name, in: location)
  }

  /// The context has the name of the row, so that the key of one user opens under no other name.
  private static func context(_ name: String) -> ArchiveContext {
    ArchiveContext(["RestorationKit.UserKeys", name])
  }
}
