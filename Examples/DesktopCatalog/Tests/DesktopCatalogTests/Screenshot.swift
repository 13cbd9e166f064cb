import Foundation
import XCTest

/// The pixels of a screen.
struct Screenshot: Equatable {
  let width: Int
  let height: Int
  /// Four bytes a pixel: blue, green, red, and one that says nothing.
  private let pixels: Data

  /// Reads an XWD file, which is what Xvfb keeps its screen in.
  init(contentsOf file: URL) throws {
    let data = try Data(contentsOf: file)
    func number(_ index: Int) throws -> Int {
      guard data.count >= index * 4 + 4 else { throw NoScreen() }
      return data[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    (width, height) = (try number(4), try number(5))
    // The header, then the colours, which are of no use at this depth.
    let start = try number(0) + number(19) * 12
    guard try number(11) == 32, try number(12) == width * 4,
      data.count >= start + width * height * 4
    else { throw NoScreen() }
    pixels = data[start..<start + width * height * 4]
  }

  private struct NoScreen: Error {}

  /// Whether nothing is on the screen: every pixel is as the one before it.
  var isBare: Bool { pixels.dropFirst(4) == pixels.dropLast(4) }

  /// Whether nothing differs but the line that shows where a text goes on: GTK 4.8 leaves it out
  /// for a while where the cursor has just been moved.
  func isEqual(butForCursorOf other: Screenshot) -> Bool {
    guard self != other else { return true }
    guard (width, height) == (other.width, other.height) else { return false }
    var columns: Set<Int> = []
    var rows = 0
    for row in 0..<height {
      let (mine, theirs) = (self.row(row), other.row(row))
      guard mine != theirs else { continue }
      rows += 1
      columns.formUnion((0..<width * 4).lazy.filter { mine[$0] != theirs[$0] }.map { $0 / 4 })
      guard rows <= 24, columns.count == 1 else { return false }
    }
    return true
  }

  private func row(_ row: Int) -> [UInt8] {
    let start = pixels.startIndex + row * width * 4
    return [UInt8](pixels[start..<start + width * 4])
  }

  /// How many pixels are other ones.
  func differences(from other: Screenshot) -> Int {
    guard (width, height) == (other.width, other.height) else { return max(width, other.width) }
    let (mine, theirs) = ([UInt8](pixels), [UInt8](other.pixels))
    return (0..<width * height).count { mine[$0 * 4..<$0 * 4 + 4] != theirs[$0 * 4..<$0 * 4 + 4] }
  }

  /// Writes a picture that most programs can show.
  func write(to file: URL) throws {
    var picture = Data("P6 \(width) \(height) 255\n".utf8)
    let bytes = [UInt8](pixels)
    for pixel in 0..<width * height {
      picture += [bytes[pixel * 4 + 2], bytes[pixel * 4 + 1], bytes[pixel * 4]]
    }
    try picture.write(to: file)
  }
}

/// Fails if two screens differ, and says where their pictures are.
func assertEqualScreens(
  _ before: Screenshot, _ after: Screenshot, _ message: String = "", line: UInt = #line
) throws {
  guard before != after else { return }
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "desktop-catalog-failure-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  try before.write(to: folder.appending(path: "before.ppm"))
  try after.write(to: folder.appending(path: "after.ppm"))
  XCTFail(
    "\(before.differences(from: after)) pixels differ. \(message) The pictures are in "
      + folder.path, line: line)
}
