import ArgumentParser
import WebCatalogKit

@main
struct WebCatalogMain {
  static func main() async {
    await WebCatalogCommand.main()
  }
}
