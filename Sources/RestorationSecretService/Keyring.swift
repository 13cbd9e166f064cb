#if SecretService
internal import ArchiveCodec
internal import CSecret

/// A session with the Secret Service, for one call of a provider.
///
/// Each call has one of its own. What libsecret shares and remembers is brought up to
/// date by GLib's main loop only, and a process without such a loop would go on with a
/// service that is gone.
@safe
final class Keyring {
  private let service: UnsafeMutablePointer<SecretService>

  /// Starts the service if the bus can.
  ///
  /// - Throws: `ArchiveError` with `keyUnavailable` if there is no bus or no service.
  init() throws(ArchiveError) {
    let opened = try unsafe checked {
      unsafe secret_service_open_sync(
        secret_service_get_type(), nil, SECRET_SERVICE_OPEN_SESSION, nil, $0)
    }
    guard let service = unsafe opened else { throw ArchiveError(.keyUnavailable) }
    unsafe self.service = service
  }

  deinit {
    closeSession()
    unsafe g_object_unref(service)
  }

  /// The service keeps the session until the process leaves the bus, which it shares with
  /// all else that the process does there.
  private func closeSession() {
    let proxy = unsafe UnsafeMutableRawPointer(service).assumingMemoryBound(to: GDBusProxy.self)
    guard let path = unsafe secret_service_get_session_dbus_path(service),
      let connection = unsafe g_dbus_proxy_get_connection(proxy)
    else { return }
    unsafe g_dbus_connection_call(
      connection, g_dbus_proxy_get_name(proxy), path, "org.freedesktop.Secret.Session", "Close",
      nil, nil, G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, nil)
  }

  /// The key, nil if there is none.
  func key(of application: String, unlocking: Bool) throws(ArchiveError) -> ArchiveKey? {
    var items = try items(of: application)
    let collection = try defaultCollection()
    // A service may hide what is in a collection that is locked, so none was found only if
    // the place of the item is open.
    if items.areLocked || items.isEmpty && collection?.isLocked == true {
      guard unlocking else { throw .keyLocked() }
      try unlock(items, collection)
      items = try self.items(of: application)
    }
    return try items.oldest?.key()
  }

  /// Whether a collection is locked, also one that is not the default any more.
  func hasLockedCollection() throws(ArchiveError) -> Bool {
    _ = try unsafe checked { unsafe secret_service_load_collections_sync(service, nil, $0) }
    let list = unsafe secret_service_get_collections(service)
    defer { unsafe g_list_free_full(list, g_object_unref) }
    return unsafe objects(in: list, as: SecretCollection.self)
      .contains { unsafe secret_collection_get_locked($0) != 0 }
  }

  /// Puts a new key into the default collection.
  ///
  /// - Returns: The key that is stored now.
  func makeKey(of application: String, unlocking: Bool) throws(ArchiveError) -> ArchiveKey {
    var collection = try defaultCollection()
    if collection == nil, unlocking { collection = makeCollection() }
    guard let collection else {
      throw ArchiveError(
        .keyUnavailable, subject: "the Secret Service has no default collection")
    }
    // To make an item in a locked collection would ask the user.
    guard !collection.isLocked else { throw .keyLocked() }
    let key = try ArchiveKey()
    try collection.add(key, of: application)
    // The oldest one, if a process has made another one that this one cannot wait for.
    guard let stored = try self.key(of: application, unlocking: false) else {
      throw ArchiveError(.keyUnavailable, subject: "the Secret Service did not store the key")
    }
    return stored
  }

  // MARK: Requests

  private func items(of application: String) throws(ArchiveError) -> KeyItems {
    let attributes = KeyAttributes(application: application)
    return unsafe KeyItems(
      try checked {
        unsafe secret_service_search_sync(
          service, attributes.schema, attributes.table, SECRET_SEARCH_ALL, nil, $0)
      })
  }

  private func defaultCollection() throws(ArchiveError) -> KeyCollection? {
    let collection = try unsafe checked {
      unsafe secret_collection_for_alias_sync(
        service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, nil, $0)
    }
    return unsafe collection.map { unsafe KeyCollection($0) }
  }

  /// Asks the user for a password of a new one; nil if the user gives none, which libsecret
  /// says in the words of an error about paths.
  private func makeCollection() -> KeyCollection? {
    let collection = unsafe secret_collection_create_sync(
      service, "Default keyring", SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_CREATE_NONE, nil,
      nil)
    return unsafe collection.map { unsafe KeyCollection($0) }
  }

  /// Asks the user for the passwords.
  ///
  /// - Throws: `ArchiveError` with `keyLocked` if the user did not give them.
  private func unlock(_ items: KeyItems, _ collection: KeyCollection?) throws(ArchiveError) {
    var objects = unsafe g_list_copy(items.list)
    defer { unsafe g_list_free(objects) }
    if items.isEmpty, let collection {
      unsafe objects = g_list_prepend(objects, collection.collection)
    }
    let count = try unsafe checked {
      unsafe secret_service_unlock_sync(service, objects, nil, nil, $0)
    }
    guard unsafe count == g_list_length(objects) else { throw .keyLocked() }
  }
}

/// How the item of an application is found.
@safe
private final class KeyAttributes {
  let schema: UnsafeMutablePointer<SecretSchema>?
  let table: OpaquePointer?

  init(application: String) {
    let types = unsafe g_hash_table_new(g_str_hash, g_str_equal)
    unsafe table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)
    // A string is type 0.
    let name = unsafe g_strdup("application")
    unsafe g_hash_table_insert(types, name, nil)
    unsafe schema = secret_schema_newv("org.restorationkit.Key", SECRET_SCHEMA_NONE, types)
    unsafe g_hash_table_unref(types)
    unsafe g_hash_table_insert(table, name, g_strdup(application))
  }

  deinit {
    unsafe secret_schema_unref(schema)
    unsafe g_hash_table_unref(table)
  }
}

/// The items that a search has found: one, unless somebody copied it.
@safe
private final class KeyItems {
  let list: UnsafeMutablePointer<GList>?

  init(_ list: UnsafeMutablePointer<GList>?) {
    unsafe self.list = unsafe list
  }

  deinit {
    unsafe g_list_free_full(list, g_object_unref)
  }

  var isEmpty: Bool { unsafe list == nil }

  /// Whether one of them is: the oldest cannot be told while its collection is locked.
  var areLocked: Bool { all.contains(where: \.isLocked) }

  var oldest: KeyItem? {
    all.min { ($0.created, $0.path) < ($1.created, $1.path) }
  }

  private var all: [KeyItem] {
    unsafe objects(in: list, as: SecretItem.self).map { unsafe KeyItem(self, $0) }
  }
}

@safe
private struct KeyItem {
  // Keeps the item.
  private let items: KeyItems
  private let item: UnsafeMutablePointer<SecretItem>

  init(_ items: KeyItems, _ item: UnsafeMutablePointer<SecretItem>) {
    self.items = items
    unsafe self.item = unsafe item
  }

  var isLocked: Bool { unsafe secret_item_get_locked(item) != 0 }

  /// In seconds.
  var created: guint64 { unsafe secret_item_get_created(item) }

  var path: String {
    let proxy = unsafe UnsafeMutableRawPointer(item).assumingMemoryBound(to: GDBusProxy.self)
    return unsafe g_dbus_proxy_get_object_path(proxy).map { unsafe String(cString: $0) } ?? ""
  }

  func key() throws(ArchiveError) -> ArchiveKey {
    _ = try unsafe checked { unsafe secret_item_load_secret_sync(item, nil, $0) }
    guard let value = unsafe secret_item_get_secret(item) else {
      throw ArchiveError(.keyUnavailable, subject: "the Secret Service did not give the secret")
    }
    defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
    var count: gsize = 0
    let bytes = unsafe secret_value_get(value, &count)
    // The value is memory of this call alone, locked and wiped by libsecret, too.
    return try unsafe ArchiveKey(
      moving: UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: bytes), count: Int(count)))
  }
}

/// The collection that the user has chosen for new items.
@safe
private final class KeyCollection {
  let collection: UnsafeMutablePointer<SecretCollection>

  init(_ collection: UnsafeMutablePointer<SecretCollection>) {
    unsafe self.collection = unsafe collection
  }

  deinit {
    unsafe g_object_unref(collection)
  }

  var isLocked: Bool { unsafe secret_collection_get_locked(collection) != 0 }

  func add(_ key: ArchiveKey, of application: String) throws(ArchiveError) {
    let attributes = KeyAttributes(application: application)
    // Copied from guarded memory into that of libsecret.
    let secret = unsafe key.withBytes { bytes in
      unsafe secret_value_new(
        bytes.baseAddress?.assumingMemoryBound(to: CChar.self), gssize(bytes.count),
        "application/octet-stream")
    }
    guard let value = unsafe secret else {
      throw ArchiveError(.keyUnavailable, subject: "libsecret has no memory for the key")
    }
    defer { unsafe secret_value_unref(UnsafeMutableRawPointer(value)) }
    let item = try unsafe checked {
      unsafe secret_item_create_sync(
        collection, attributes.schema, attributes.table, "Key of the saved state of \(application)",
        value, SECRET_ITEM_CREATE_NONE, nil, $0)
    }
    if let item = unsafe item { unsafe g_object_unref(item) }
  }
}
#endif
