#if RESTORATION_NEXT
internal import ArchiveCodec
internal import Foundation
package import RestorationKit

extension DiskProcess: PlacingDirectory {
  package func ownMoments(of name: String) -> any MomentStore {
    DiskMoments(
      process: self, main: name + Self.suffix, directory: "\(name).history/")
  }

  /// A file that nothing waits for.
  package func ownLaunchPlace(of name: String) -> any LaunchPlace {
    StoredLaunch(launchStorage(ofStateNamed: name))
  }
}

/// Moments as second names of a file of a ``FaultyDisk``, with the calls that those of real files make.
private struct DiskMoments: MomentStore {
  let process: DiskProcess
  let main: String
  let directory: String

  private var disk: FaultyDisk { process.disk }

  private func storage(_ name: String) -> DiskStorage {
    DiskStorage(process: process, name: name, isDurable: true)
  }

  func all() throws(ArchiveError) -> [Moment] {
    try process.ask(.list)
    return disk.names.compactMap { name in
      guard name.hasPrefix(directory),
        var moment = Moment(id: String(name.dropFirst(directory.count)))
      else { return nil }
      moment.isOfMain = disk.file(named: name) == disk.file(named: main)
      return moment
    }.sorted { $0.id < $1.id }
  }

  func keep(_ reason: Moment.Reason, at date: Date) throws(ArchiveError) -> Moment? {
    try process.ask(.status)
    guard let byteCount = disk.file(named: main).map({ disk.byteCount(of: $0) }), byteCount > 0
    else { return nil }
    let known = try all()
    if let same = known.last(where: {
      $0.isOfMain && $0.reason == reason && $0.byteCount == byteCount
    }) {
      return same
    }
    var moment = Moment(reason, at: date, after: known.last, byteCount: byteCount)
    moment.isOfMain = true
    let name = directory + moment.id
    do throws(ArchiveError) {
      try process.ask(.openDirectory)
      do throws(ArchiveError) {
        try process.make(.link) { (course) throws(ArchiveError) in
          try disk.link(main, to: name, course)
        }
      } catch {
        moment.isOfMain = false
        try copy(to: name, byteCount)
      }
      try process.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
        try disk.synchronizeDirectory(course)
      }
    } catch {
      process.removeTemporary(name)
      throw ArchiveError(.inputOutput, systemError: error.systemError)
    }
    return moment
  }

  private func copy(to name: String, _ byteCount: Int) throws(ArchiveError) {
    guard let file = try storage(main).open() else { throw ArchiveError(.inputOutput) }
    let bytes = try file.read(at: 0, count: byteCount)
    try storage(name).replace { sink throws(ArchiveError) in try sink.write(bytes) }
  }

  func file(of moment: Moment) throws(ArchiveError) -> (any ArchiveFile)? {
    try storage(directory + moment.id).open().map {
      BeginningOfFile($0, byteCount: moment.byteCount)
    }
  }

  func remove(_ moments: [Moment]) throws(ArchiveError) {
    guard !moments.isEmpty else { return }
    let names = moments.map { directory + $0.id }
    try process.sweepTemporaries { names.contains($0) }
    try process.ask(.openDirectory)
    var failure: ArchiveError?
    for name in names where disk.file(named: name) != nil {
      do throws(ArchiveError) {
        try process.make(.unlink) { (course) throws(ArchiveError) in try disk.unlink(name, course) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    try process.make(.synchronizeDirectory) { (course) throws(ArchiveError) in
      try disk.synchronizeDirectory(course)
    }
  }
}
#endif
