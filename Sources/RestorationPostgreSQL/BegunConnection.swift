#if PostgreSQL
internal import RestorationLibc
internal import CPostgreSQL

/// A connection that libpq has begun, on its way to the pool.
///
/// It is `@unchecked Sendable` because one owner at a time has it.
@safe
struct BegunConnection: @unchecked Sendable {
  let connection: OpaquePointer

  /// Begins a connection; nil if there is no memory for it.
  ///
  /// This may wait until a name is resolved: libpq has no other way.
  init?(to server: [(keyword: String, value: String)]) {
    // The last ones count. The store relies on the encoding.
    let options =
      [("fallback_application_name", "RestorationKit")] + server + [("client_encoding", "UTF8")]
    var keywords: [UnsafePointer<CChar>?] = unsafe []
    var values: [UnsafePointer<CChar>?] = unsafe []
    for (keyword, value) in options {
      unsafe keywords.append(UnsafePointer(strdup(keyword)))
      unsafe values.append(UnsafePointer(strdup(value)))
    }
    defer {
      unsafe (keywords + values).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
    }
    let connection = unsafe PQconnectStartParams(keywords + [nil], values + [nil], 0)
    guard let connection = unsafe connection else { return nil }
    unsafe self.connection = unsafe connection
    // Only so does a failed connection say its SQLSTATE.
    unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    // Otherwise libpq prints what the server has to note.
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
  }

  var hasFailed: Bool { unsafe PQstatus(connection) == CONNECTION_BAD }

  var message: String { unsafe String(cString: PQerrorMessage(connection)) }

  /// Ends a connection that no pool has taken.
  func close() { unsafe PQfinish(connection) }
}

/// Asks a server to end what it does for a connection.
@safe
final class Cancellation: @unchecked Sendable {
  private let cancel: OpaquePointer

  init(_ cancel: OpaquePointer) {
    unsafe self.cancel = unsafe cancel
  }

  deinit {
    unsafe PQfreeCancel(cancel)
  }

  /// Waits until the server has heard it, which libpq has no other way for before version 17.
  func send() {
    var message: [CChar] = Array(repeating: 0, count: 256)
    unsafe PQcancel(cancel, &message, CInt(message.count))
  }
}

/// Calls with the addresses of arrays, which are valid during the call; none is nil.
@unsafe
func withPointers<Result>(
  to arrays: ArraySlice<[UInt8]>, after pointers: [UnsafePointer<CChar>?] = unsafe [],
  _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
  guard let array = arrays.first else { return unsafe body(pointers) }
  return unsafe (array.isEmpty ? [0] : array).withUnsafeBytes { bytes in
    let pointer = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    return unsafe withPointers(to: arrays.dropFirst(), after: pointers + [pointer], body)
  }
}
#endif
