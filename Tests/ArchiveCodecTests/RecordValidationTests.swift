import ArchiveCodec
import ArchiveForge
import Foundation
import TestSupport
import XCTest

/// The validator has short paths for what most values are; a plain one has none.
final class RecordValidationTests: XCTestCase {
  private struct Sample {
    let map: [UInt8]
    let names: [String]

    var symbols: [UInt8] {
      ModelValue.varint(UInt64(names.count))
        + names.flatMap { ModelValue.varint(UInt64($0.utf8.count)) + Array($0.utf8) }
    }
  }

  private func check(
    _ map: [UInt8], of sample: Sample, _ symbols: [UInt8], limits: ArchiveLimits = .standard,
    _ what: @autoclosure () -> String
  ) {
    var refusal: PlainValidator.Refusal?
    do throws(ArchiveError) {
      _ = try KeyedDecoder(unsealed: map, symbols: symbols, limits: limits)
    } catch {
      refusal = PlainValidator.Refusal(code: error.code, offset: error.offset)
    }
    let expected = PlainValidator.refusal(of: map, names: sample.names, limits: limits)
    if refusal != expected {
      XCTFail(
        "\(what()): \(String(describing: refusal)), not \(String(describing: expected)): \(map)")
    }
  }

  /// The records of all archives in `Vectors/` that can be read.
  private func vectorSamples() throws -> [Sample] {
    var samples: [Sample] = []
    for (_, vector) in try VectorFile.all() {
      guard case .archive(let archive) = try vector.open(.recover),
        let records = try? archive.readAll()
      else { continue }
      for record in records {
        guard let (frame, names) = try? record.content.get().unsealed else { continue }
        // The kind, the length and the identifier come before the map.
        let start = 1 + frame[1].trailingZeroBitCount + 1 + MemoryLayout<UInt64>.size
        samples.append(Sample(map: Array(frame[start...]), names: names))
      }
    }
    return samples
  }

  private func generatedSamples(
    _ count: Int, _ generator: inout SeededGenerator
  ) throws -> [Sample] {
    try (0..<count).map { _ in
      let builder = RecordBuilder()
      try builder.append(record: 1) { encoder in
        for name in ["a", "bc", "def", "g h i"] where Bool.random(using: &generator) {
          self.encode(name, into: encoder, &generator)
        }
      }
      let (maps, symbols) = try builder.finish().unsealed
      let record = try KeyedDecoder(unsealed: maps[0], symbols: symbols)
      return Sample(map: maps[0], names: record.unsealed.names)
    }
  }

  private func encode(
    _ key: String, into encoder: KeyedEncoder, _ generator: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<16, using: &generator) {
    case 0: encoder.encode(Bool.random(using: &generator), forKey: key)
    case 1: encoder.encode(Int.random(in: -20...70, using: &generator), forKey: key)
    case 2: encoder.encode(Int.random(in: 0...9000, using: &generator), forKey: key)
    case 3: encoder.encode(Int.random(in: .min ... .max, using: &generator), forKey: key)
    case 4: encoder.encode(Double.random(in: 0...1, using: &generator), forKey: key)
    case 5: encoder.encode(Float.random(in: 0...1, using: &generator), forKey: key)
    case 6:
      let count = Int.random(in: 0..<20, using: &generator)
      encoder.encode(String(repeating: "x", count: count), forKey: key)
    case 7: encoder.encode("größer als 8", forKey: key)
    case 8: encoder.encode(Data([1, 2, 3]), forKey: key)
    case 9: encoder.encode([1, 300, -7], forKey: key)
    case 10: encoder.encode(["x", "yz"], forKey: key)
    case 11: encoder.encode(["k": 1, "a": 2], forKey: key)
    case 12: encoder.encodeReference(to: .random(in: 1...300, using: &generator), forKey: key)
    case 13: encoder.encode(name: "Screen", forKey: key)
    case 14: encoder.encode(Date(timeIntervalSinceReferenceDate: 7), forKey: key)
    default:
      encoder.encodeContainer(forKey: key) { inner in
        inner.encode(1, forKey: "a")
        inner.encode("text", forKey: "bc")
      }
    }
  }

  func testTheValidatorJudgesAsThePlainOneDoes() throws {
    var generator = SeededGenerator()
    let samples = try vectorSamples() + generatedSamples(300, &generator)
    XCTAssertGreaterThan(samples.count, 320)
    for sample in LongTests.some(of: samples) {
      let symbols = sample.symbols
      check(sample.map, of: sample, symbols, "whole")
      for count in 0..<min(sample.map.count, 400) {
        check(Array(sample.map[..<count]), of: sample, symbols, "\(count) bytes")
      }
      for place in sample.map.indices.prefix(400) {
        var changed = sample.map
        for bit in 0..<8 {
          changed[place] = sample.map[place] ^ 1 << bit
          check(changed, of: sample, symbols, "bit \(bit) of \(place), \(generator.seed)")
        }
      }
    }
  }

  func testEveryByteInEveryPlaceIsJudgedAsThePlainValidatorDoes() throws {
    var generator = SeededGenerator()
    for sample in try generatedSamples(40, &generator) where sample.map.count < 60 {
      let symbols = sample.symbols
      for place in sample.map.indices {
        var changed = sample.map
        for byte in UInt8.min ... .max {
          changed[place] = byte
          check(changed, of: sample, symbols, "\(byte) at \(place), \(generator.seed)")
        }
      }
    }
  }

  /// Keys of one, two and three bytes, with those before and after the limits.
  func testKeysOfEveryLengthAreJudgedAsThePlainValidatorDoes() {
    let names = (0..<8200).map { "key\($0)" }
    let sample = Sample(map: [], names: names)
    let symbols = sample.symbols
    for number in [0, 62, 63, 64, 65, 126, 127, 128, 8190, 8191, 8192, 8199, 8200, 1 << 20] {
      for previous in [nil, number - 1, number, number + 1] where (previous ?? 0) >= 0 {
        let entries =
          (previous.map { ModelValue.varint(UInt64($0) << 1) + [7] } ?? [])
          + ModelValue.varint(UInt64(number) << 1) + [0xB3]
          + ModelValue.varint(UInt64(number) << 1)
        let map =
          [0x91 + (previous == nil ? 0 : 1)] + ModelValue.varint(UInt64(entries.count)) + entries
        check(map, of: sample, symbols, "\(number) after \(previous ?? -1)")
      }
    }
  }

  func testLimitsAreJudgedAsThePlainValidatorDoes() throws {
    var generator = SeededGenerator()
    for sample in try generatedSamples(100, &generator) {
      for limit in 0...20 {
        check(
          sample.map, of: sample, sample.symbols,
          limits: ArchiveLimits(stringByteCount: limit, depth: 1 + limit % 3), "limit \(limit)")
      }
    }
  }
}
