internal import SwiftSyntax

/// Finds the mutants that leave out a statement, swap two, or leave a function at its start.
final class StatementFinder: MutantFinder {
  override func visit(_ list: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    guard !list.isValue else { return .visitChildren }
    for item in list where item.canBeSkipped && !(item.isAssignment && list.isInitializer) {
      found.append([Edit(range: range(of: item), form: .skip)])
    }
    for (first, second) in zip(list, list.dropFirst()) where first.isCall && second.isCall {
      let start = range(of: first).lowerBound
      found.append([
        Edit(range: start..<start, form: .insert(second.trimmedDescription)),
        Edit(range: range(of: second), form: .skip),
      ])
    }
    return .visitChildren
  }

  // MARK: Leaving at the start

  override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
    leave(node.body?.statements, Result(node.signature.returnClause?.type))
    return .visitChildren
  }

  override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    if node.optionalMark != nil { leave(node.body?.statements, .optional) }
    return .visitChildren
  }

  override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
    leave(node.body?.statements, .nothing)
    return .visitChildren
  }

  override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
    leaveGetter(node.accessorBlock, node.returnClause.type)
    return .visitChildren
  }

  override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
    leaveGetter(node.accessorBlock, node.typeAnnotation?.type)
    return .visitChildren
  }

  override func visit(_ node: AccessorDeclSyntax) -> SyntaxVisitorContinueKind {
    if !node.isGetter { leave(node.body?.statements, .nothing) }
    return .visitChildren
  }

  private func leaveGetter(_ block: AccessorBlockSyntax?, _ type: TypeSyntax?) {
    guard let block, let type else { return }
    switch block.accessors {
    case .getter(let statements): leave(statements, Result(type))
    case .accessors(let accessors):
      for accessor in accessors where accessor.isGetter {
        leave(accessor.body?.statements, Result(type))
      }
    }
  }

  private enum Result {
    case nothing, optional, other

    init(_ type: TypeSyntax?) {
      self =
        switch type?.trimmedDescription {
        case nil, "Void", "()": .nothing
        default: type?.is(OptionalTypeSyntax.self) == true ? .optional : .other
        }
    }
  }

  private func leave(_ statements: CodeBlockItemListSyntax?, _ result: Result) {
    guard let first = statements?.first, let statements, result != .other else { return }
    let isAlone = statements.count == 1
    // To leave out the only statement is the same, and so is nil instead of nil.
    if isAlone, first.canBeSkipped && result == .nothing { return }
    if ["nil", "return nil"].contains(first.trimmedDescription) { return }
    let needsReturn = result == .optional && isAlone && first.isExpression
    let start = range(of: first).lowerBound
    found.append([
      Edit(
        range: start..<start,
        form: .insert(
          result == .optional ? "return nil" : "return", then: needsReturn ? "return " : ""))
    ])
  }
}

extension AccessorDeclSyntax {
  fileprivate var isGetter: Bool { accessorSpecifier.text == "get" }
}

extension CodeBlockItemSyntax {
  private var expression: ExprSyntax? {
    guard case .expr(var expression) = item else { return nil }
    while true {
      guard
        let inner = expression.as(TryExprSyntax.self)?.expression
          ?? expression.as(AwaitExprSyntax.self)?.expression
          ?? expression.as(UnsafeExprSyntax.self)?.expression
      else {
        return expression
      }
      expression = inner
    }
  }

  fileprivate var isCall: Bool {
    guard let call = expression?.as(FunctionCallExprSyntax.self) else { return false }
    // No test outlives a precondition, and another initializer must be called.
    return !call.isPrecondition && !call.calledExpression.trimmedDescription.hasSuffix(".init")
  }

  fileprivate var isAssignment: Bool {
    guard let infix = expression?.as(InfixOperatorExprSyntax.self) else { return false }
    return ["=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="]
      .contains(infix.operator.trimmedDescription)
  }

  fileprivate var canBeSkipped: Bool { isCall || isAssignment }

  /// Whether it is one that yields a value, as far as its text tells.
  fileprivate var isExpression: Bool {
    switch item {
    case .expr: true
    case .stmt(let statement):
      // An `if` or `switch` with a return in it yields nothing itself.
      statement.is(ExpressionStmtSyntax.self)
        && !statement.tokens(viewMode: .sourceAccurate).contains {
          $0.tokenKind == .keyword(.return)
        }
    default: false
    }
  }
}

extension CodeBlockItemListSyntax {
  /// Whether it is what an initializer does, where nearly every assignment is needed to compile.
  fileprivate var isInitializer: Bool {
    parent?.parent?.is(InitializerDeclSyntax.self) == true
  }

  /// Whether it is one expression whose value may be used, so that it must stay.
  fileprivate var isValue: Bool {
    guard count == 1, let parent else { return false }
    if let closure = parent.as(ClosureExprSyntax.self) { return !closure.isInStatement }
    if parent.is(AccessorBlockSyntax.self) { return true }
    if let branch = parent.as(SwitchCaseSyntax.self) {
      return branch.parent?.parent?.as(SwitchExprSyntax.self)?.isUsed ?? true
    }
    guard let owner = parent.as(CodeBlockSyntax.self)?.parent else { return false }
    if let function = owner.as(FunctionDeclSyntax.self) {
      return ![nil, "Void", "()"]
        .contains(function.signature.returnClause?.type.trimmedDescription)
    }
    if let accessor = owner.as(AccessorDeclSyntax.self) { return accessor.isGetter }
    return owner.as(IfExprSyntax.self)?.isUsed ?? false
  }
}

extension ClosureExprSyntax {
  /// Whether it is passed to a call whose result nothing uses.
  fileprivate var isInStatement: Bool {
    var node = parent
    if node?.is(LabeledExprSyntax.self) == true { node = node?.parent?.parent }
    guard let call = node?.as(FunctionCallExprSyntax.self) else { return false }
    var outer = call.parent
    while let node = outer, node.is(TryExprSyntax.self) || node.is(AwaitExprSyntax.self) {
      outer = node.parent
    }
    return outer?.is(CodeBlockItemSyntax.self) == true
  }
}

extension ExprSyntaxProtocol {
  /// Whether the value of this `if` or `switch` may be used.
  fileprivate var isUsed: Bool {
    if let outer = parent?.as(IfExprSyntax.self) { return outer.isUsed }
    guard parent?.is(ExpressionStmtSyntax.self) == true else { return true }
    return parent?.parent?.parent?.as(CodeBlockItemListSyntax.self)?.isValue ?? true
  }
}
