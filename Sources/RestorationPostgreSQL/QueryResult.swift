#if PostgreSQL
internal import CPostgreSQL
internal import RestorationFoundation

/// What the server has answered to one command.
///
/// It is `@unchecked Sendable` because nobody changes a `PGresult` once libpq has given it away,
/// and it is freed with the last reference. So large values are copied by whoever asked, and not
/// on the queue of the connections.
@safe
final class QueryResult: @unchecked Sendable {
  private let result: OpaquePointer

  init(_ result: OpaquePointer) {
    unsafe self.result = unsafe result
  }

  deinit {
    unsafe PQclear(result)
  }

  /// The five characters that say what went wrong; nil if nothing did.
  var errorCode: String? {
    switch unsafe PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: nil
    default: field("C") ?? "XX000"
    }
  }

  /// What went wrong, in the words of the server.
  var errorMessage: String { field("M") ?? "an answer that makes no sense" }

  var rowCount: Int { Int(unsafe PQntuples(result)) }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    unsafe PQgetisnull(result, CInt(row), CInt(column)) != 0
  }

  func text(_ row: Int, _ column: Int) -> String {
    unsafe String(decoding: value(row, column), as: UTF8.self)
  }

  /// A number that the server sent in binary, whichever width it has there.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    let value = unsafe value(row, column)
    guard let first = unsafe value.first else { return 0 }
    let sign: Int64 = first & 0x80 == 0 ? 0 : -1
    return unsafe value.reduce(sign) { $0 << 8 | Int64($1) }
  }

  func uuid(_ row: Int, _ column: Int) -> UUID? {
    let value = unsafe value(row, column)
    guard value.count == MemoryLayout<uuid_t>.size else { return nil }
    return unsafe UUID(uuid: value.loadUnaligned(as: uuid_t.self))
  }

  func byteCount(_ row: Int, _ column: Int) -> Int {
    Int(unsafe PQgetlength(result, CInt(row), CInt(column)))
  }

  func append(_ row: Int, _ column: Int, to bytes: inout [UInt8]) {
    unsafe bytes.append(contentsOf: value(row, column))
  }

  @unsafe
  private func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(result, CInt(row), CInt(column)), count: byteCount(row, column))
  }

  private func field(_ name: Unicode.Scalar) -> String? {
    unsafe PQresultErrorField(result, CInt(name.value)).map { unsafe String(cString: $0) }
  }
}
#endif
