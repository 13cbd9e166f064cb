import Foundation
import ProductCatalogKit

@main struct CatalogMain {
  static func main() async {
    let process = ProcessInfo.processInfo
    exit(
      await CatalogCommand.run(
        arguments: process.arguments.dropFirst(), environment: process.environment))
  }
}
