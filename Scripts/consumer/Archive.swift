// A program with ArchiveCodec alone.

import ArchiveCodec

let (key, storage) = (try ArchiveKey(), MemoryStorage())
let context = ArchiveContext(["org.example.archive"])
_ = try Archive.write(to: storage, key: key, context: context) { records in
  try records.append(record: 1) { $0.encode("Dear Ada,", forKey: "text") }
}
let archive = try Archive.open(storage, with: .key(key), context: context)
let text: String? = try archive?.record(1)?.decodeIfPresent(forKey: "text")
guard text == "Dear Ada," else { throw ArchiveError(.damaged) }
print("ArchiveCodec gives back what it wrote.")
