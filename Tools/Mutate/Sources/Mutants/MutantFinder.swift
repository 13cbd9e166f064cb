internal import SwiftOperators
internal import SwiftParser
internal import SwiftSyntax

extension Mutant {
  /// Finds every mutant of a file.
  ///
  /// - Parameters:
  ///   - source: What is in the file.
  ///   - file: The path that the mutants name.
  /// - Returns: The mutants, in no particular order.
  package static func all(of source: String, file: String) -> [Mutant] {
    // Only a folded tree says what the operands of an operator are. Folding moves no text, so the
    // offsets are those in the file. An operator that it does not know yields no mutant.
    let folded = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
    let finders = [
      ExpressionFinder(viewMode: .sourceAccurate), StatementFinder(viewMode: .sourceAccurate),
    ]
    for finder in finders { finder.walk(folded) }
    let bytes = Array(source.utf8)
    return finders.flatMap(\.found).map { Mutant($0, of: bytes, file: file) }
  }
}

/// Walks through the code that can be changed; its subclasses say how.
class MutantFinder: SyntaxVisitor {
  final var found: [[Edit]] = []

  final func range(of node: some SyntaxProtocol) -> Range<Int> {
    let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
    return start..<max(start, node.endPositionBeforeTrailingTrivia.utf8Offset)
  }

  // MARK: What is no code that runs, or not on its own terms

  /// The modules of other systems than this one.
  private static var modulesElsewhere: [String] {
    #if canImport(Darwin)
    ["Android", "Glibc", "Musl"]
    #elseif canImport(Glibc)
    ["Android", "Darwin", "Musl", "Security"]
    #else
    ["Android", "Darwin", "Security"]
    #endif
  }

  /// Attributes speak to the compiler.
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  /// A pattern must be a constant that the compiler can check.
  override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }

  /// A raw value must be a literal.
  override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  /// A number among generic arguments is part of a type.
  override func visit(_ node: GenericArgumentSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  /// The condition is decided before anything runs, and no test here sees what only another system
  /// compiles.
  override func visit(_ node: IfConfigClauseSyntax) -> SyntaxVisitorContinueKind {
    let condition = node.condition?.trimmedDescription
    if Self.modulesElsewhere.contains(where: { condition == "canImport(\($0))" }) {
      return .skipChildren
    }
    if let elements = node.elements { walk(elements) }
    return .skipChildren
  }

  /// The message is for whoever made the mistake.
  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    guard node.isPrecondition else { return .visitChildren }
    if let condition = node.arguments.first { walk(condition) }
    return .skipChildren
  }

  // Inlinable code is compiled into other modules.

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    node.isInlinable ? .skipChildren : .visitChildren
  }

  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    node.isInlinable ? .skipChildren : .visitChildren
  }

  override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
    node.isInlinable ? .skipChildren : .visitChildren
  }

  override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
    node.isInlinable ? .skipChildren : .visitChildren
  }
}

extension FunctionCallExprSyntax {
  var isPrecondition: Bool {
    ["precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError"]
      .contains(calledExpression.trimmedDescription)
  }
}

extension WithAttributesSyntax {
  fileprivate var isInlinable: Bool {
    attributes.contains { $0.trimmedDescription == "@inlinable" }
  }
}
