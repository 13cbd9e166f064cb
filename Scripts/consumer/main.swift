import ArchiveCodec
import RestorationKit

print("ArchiveCodec and RestorationKit are here.")
