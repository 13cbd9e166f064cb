public import RestorationFoundation

/// What is in a file, as its bytes: a text in UTF-8, or bytes.
///
/// Conform a document of your own to it.
public protocol FileContent: Codable, Equatable, Sendable {
  /// Reads the bytes of a file.
  ///
  /// - Parameter bytes: All bytes of the file.
  /// - Throws: Any error if they are not of this kind.
  init(fileBytes bytes: Data) throws

  /// The bytes of a file with this content.
  ///
  /// - Throws: Any error, if it cannot be written.
  func fileBytes() throws -> Data
}

extension Data: FileContent {
  /// Takes the bytes as they are.
  public init(fileBytes bytes: Data) { self = bytes }

  /// The bytes as they are.
  public func fileBytes() -> Data { self }
}

extension String: FileContent {
  /// Reads a text in UTF-8.
  ///
  /// - Throws: ``DraftError`` with `otherContent` if it is none.
  public init(fileBytes bytes: Data) throws {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DraftError(.otherContent, "It is no text in UTF-8.")
    }
    self = text
  }

  /// The text in UTF-8.
  public func fileBytes() -> Data { Data(utf8) }
}

extension Draft where Content: FileContent {
  /// Reads a file, as a draft in which nothing is changed.
  ///
  /// The call blocks its thread while the file is read.
  ///
  /// - Parameters:
  ///   - url: The URL of a file.
  ///   - limit: The largest encoded base that is stored, in bytes.
  /// - Throws: ``DraftError`` as ``FileStamp/init(of:)``, with `gone` if there is no file, and with `otherContent`
  ///   if the bytes are of another kind.
  /// - Complexity: O(*n*) in the bytes of the file.
  public init(reading url: URL, upTo limit: Int = largestBase) throws(DraftError) {
    var bytes: Data? = Data()
    let stamp = try FileReading(of: url).stamp(now: FileFacts.now, collecting: &bytes)
    let content: Content
    do {
      content = try Content(fileBytes: bytes ?? Data())
    } catch let error as DraftError {
      throw DraftError(error.code, "\(url.path(percentEncoded: false)) cannot be shown. \(error)")
    } catch {
      throw DraftError(
        .otherContent,
        "\(url.path(percentEncoded: false)) cannot be read as a \(Content.self). (\(error))")
    }
    self.init(content, of: stamp, base: content, upTo: limit)
  }

  /// Compares the draft with its file, and takes over what is no question: a file that is new where nothing is
  /// changed in the draft, or that says what the draft says.
  ///
  /// Call it when the draft comes back, and when its window gets the focus. It blocks its thread while the file
  /// is read.
  ///
  /// - Parameter url: The URL of the file.
  /// - Returns: The file, if the user has to choose; show both, and call ``choose(_:over:)``. Nil if the draft may
  ///   be saved, also if there is no file.
  /// - Throws: As ``init(reading:upTo:)``; the draft is unchanged.
  /// - Complexity: As ``FileStamp/compare(with:)``.
  public mutating func refresh(from url: URL) throws(DraftError) -> Draft? {
    switch state(of: url) {
    case .clean, .orphaned: return nil
    case .unreadable(let error): throw error
    case .conflict: break
    }
    let theirs = try Draft(reading: url)
    guard hasChanges, theirs.content != content else {
      self = theirs
      return nil
    }
    return theirs
  }

  /// Says that the app has written bytes to the file of the draft, which then has no changes.
  ///
  /// Call ``refresh(from:)`` first, and write nothing if it returns the file. What is typed while the bytes are
  /// written stays, as changes. If the file has other bytes by now, somebody else has written it: the draft is in
  /// conflict with it. The call blocks its thread while the file is read.
  ///
  /// - Parameters:
  ///   - bytes: All bytes that were written.
  ///   - url: The URL of the file.
  /// - Throws: ``DraftError`` as ``ContentStamp/init(hashing:)``; the draft is unchanged.
  /// - Complexity: O(*n*) in the bytes.
  public mutating func markSaved(_ bytes: Data, at url: URL) throws(DraftError) {
    let saved = try ContentStamp(hashing: bytes)
    let written = written(as: bytes)
    do throws(DraftError) {
      let stamp = try FileStamp(of: url)
      if stamp.content == saved {
        self = Draft(content, of: stamp, base: written)
        return
      }
    } catch {
      // The content that was written is known all the same.
    }
    self = Draft(content, of: saved, base: written)
  }

  /// The content that was written as some bytes; nil if they are of another kind.
  private func written(as bytes: Data) -> Content? {
    do {
      // Reading may lose something that writing has not, such as what only the editor knows.
      return try content.fileBytes() == bytes ? content : Content(fileBytes: bytes)
    } catch {
      return nil
    }
  }
}

extension Draft where Content: Equatable {
  /// Whether the draft says something else than its base; true if it has none.
  public var hasChanges: Bool { base != content }

  /// Goes on with what the user has chosen, from what the user has seen.
  ///
  /// - Parameters:
  ///   - content: The text of the draft, of the file, both, or a merge of them. What is not in it is given up.
  ///   - theirs: What was there when the user chose. If it is changed once more, that is another conflict.
  public mutating func choose(_ content: Content, over theirs: Draft) {
    self = theirs
    self.content = content
  }
}
