import Foundation
import Hummingbird
import Mustache

/// The pages, from templates that escape what they show.
package struct Pages: Sendable {
  private let library: MustacheLibrary
  private let files: [String: ByteBuffer]

  package init() async throws {
    guard let folder = Bundle.module.url(forResource: "Resources", withExtension: nil) else {
      throw StartProblem("The folder with the pages is not beside the program.")
    }
    library = try await MustacheLibrary(directory: folder.path)
    var files: [String: ByteBuffer] = [:]
    for name in ["catalog.css", "catalog.js"] {
      files[name] = ByteBuffer(bytes: try Data(contentsOf: folder.appending(path: name)))
    }
    self.files = files
  }

  func page(
    _ template: String, _ content: [String: Any], status: HTTPResponse.Status = .ok
  ) throws -> Response {
    guard let html = library.render(content, withTemplate: template) else {
      throw WebProblem.unavailable("The page “\(template)” is missing.")
    }
    return Response(
      status: status,
      headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
  }

  func file(_ name: String, _ type: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: files[name] ?? ByteBuffer()))
  }

  func json(_ object: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: JSON.text(object))))
  }

  func redirect(to path: String) -> Response {
    Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
  }
}
