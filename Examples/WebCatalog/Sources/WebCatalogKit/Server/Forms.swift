import Foundation
import HTTPTypes
import Hummingbird

/// The fields of a form, or the object of a script, with its token.
struct Forms: Sendable {
  let signatures: Signatures

  private struct Token: Decodable {
    let token: String
  }

  private static let mostBytes = 256 << 10

  /// Reads a form that a page of this session sent.
  ///
  /// - Throws: `forged` if its token is not that of the session.
  func read<Fields: Decodable>(
    _ type: Fields.Type, _ request: Request, _ context: SessionContext
  ) async throws -> Fields {
    let body = try await body(request)
    let decoder = URLEncodedFormDecoder()
    do {
      let token = try decoder.decode(Token.self, from: body).token
      guard context.session.isFormToken(token, signatures) else { throw WebProblem.forged }
      return try decoder.decode(type, from: body)
    } catch let problem as WebProblem {
      throw problem
    } catch {
      throw WebProblem.forged
    }
  }

  /// Reads what a link or a form without a token says in an address.
  func read<Fields: Decodable>(
    _ type: Fields.Type, query: String
  ) throws(WebProblem) -> Fields {
    do {
      return try URLEncodedFormDecoder().decode(type, from: query)
    } catch {
      throw .invalid
    }
  }

  /// Reads what the script of a page of this session sent.
  func readJSON<Value: Decodable>(
    _ type: Value.Type, _ request: Request, _ context: SessionContext
  ) async throws -> Value {
    let token = request.headers.first { $0.name.canonicalName == "x-form-token" }?.value ?? ""
    guard context.session.isFormToken(token, signatures) else { throw WebProblem.forged }
    let body = try await body(request)
    do {
      return try JSON.value(type, Array(body.utf8))
    } catch {
      throw WebProblem.invalid
    }
  }

  private func body(_ request: Request) async throws -> String {
    do {
      return String(buffer: try await request.body.collect(upTo: Self.mostBytes))
    } catch let error as any HTTPResponseError {
      throw error
    } catch {
      throw WebProblem.invalid
    }
  }
}
