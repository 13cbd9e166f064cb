import DesktopCatalogKit
import Foundation

exit(DesktopCatalog.run(Array(CommandLine.arguments.dropFirst())))
