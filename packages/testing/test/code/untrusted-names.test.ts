import { join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { sourcesOf } from './sources.ts'

// What a client or a provider sends may be called `constructor` or `__proto__`. So a name that is not written in our code is looked up
// in a Map, by `own`, or behind `Object.hasOwn`; the places below are those where the name is ours after all. And it may be any JSON:
// `{ "toString": 1 }` cannot be made a text or a number, so a value is known to be one before it is written into a text.

const packages = resolve(import.meta.dirname, '../../..')
const guarded = [
  ...['dialects', 'providers', 'core', 'workspaces', 'gateway', 'ai-sdk', 'router', 'api', 'fetch-handler', 'node-http'],
  ...['storage', 'storage-memory', 'storage-sql'],
]

/** Why a name that the compiler knows only as a string can do no harm: reason → `file expression`. */
const justified: Readonly<Record<string, readonly string[]>> = {
  'the name is written in our code or in the catalog': [
    'router/src/decision-log/check-shape.ts (value as Readonly<Record<string, unknown>>)[name]',
    'dialects/src/common/field-readers.ts body[key]',
    "dialects/src/common/usage.ts wire[names.total ?? 'total_tokens']",
    'dialects/src/common/usage.ts holder[path]',
    'dialects/src/common/usage.ts holder[path.slice(0, dot)]',
    'dialects/src/clients/encode-for-offer.ts { [field]: last, ...rest }',
    'dialects/src/clients/encode-for-offer.ts rest[field]',
    'core/src/upstream/send.ts reply.headers?.[name]',
    'workspaces/src/bounds.ts (before as Values | undefined)?.[field]',
    'workspaces/src/bounds.ts (after as Values | undefined)?.[field]',
    'workspaces/src/bounds.ts (before as unknown as Values)[field]',
    'workspaces/src/bounds.ts (after as unknown as Values)[field]',
    'providers/src/amazon-bedrock.ts headers[name]',
    'providers/src/define-provider.ts headers[header]',
    'providers/src/define-provider.ts extra[name]',
    'providers/src/google-vertex.ts { [field]: _, ...rest }',
    'dialects/src/chat/reasoning-state.ts last.fields[field]',
    'dialects/src/chat/reasoning-state.ts detail[field]',
    'dialects/src/chat/wire.ts extras[field]',
    'dialects/src/chat/response-fields.ts citation[end]',
    'dialects/src/chat/response-fields.ts moved[end]',
    'dialects/src/messages/headers.ts body[field]',
    'dialects/src/messages/wire.ts wire[field]',
    'dialects/src/common/request-price.ts stated.options?.[field]',
    'dialects/src/common/request-price.ts named[field]',
    'dialects/src/messages/decode-stream.ts delta[field]',
    'dialects/src/messages/encode-request.ts block[field]',
    'dialects/src/responses/response-object.ts original[field]',
    'dialects/src/responses/response-object.ts response[field]',
    'api/src/headers.ts clean[name]',
    'api/src/match.ts params[segment.slice(1, rest ? -1 : undefined)]',
    'api/src/openapi/document.ts paths[path]',
    'api/src/inference/infer.ts dialects[name]',
    'api/src/handle.ts dialects[row.dialect]',
    'api/src/index.ts dialects[name]',
    'node-http/src/request.ts message.headers[name]',
    'node-http/src/transport/exchange.ts headers[name]',
    'storage-sql/src/columns.ts found[name]',
  ],
  'the name is one that the object itself lists, or that a Map of ours knows': [
    'dialects/src/common/field-readers.ts map[key]',
    'dialects/src/common/field-readers.ts read[key]',
    'gateway/src/in-process/body.ts value[key]',
    'dialects/src/responses/decode-request.ts body[key]',
    'dialects/src/responses/decode-request.ts prompt[key]',
    'api/src/query.ts found[name]',
  ],
  'the object has no prototype': ['dialects/src/gemini/partial-args.ts at[step]', 'dialects/src/gemini/wire.ts known[name]'],
  'the name begins with a prefix of ours, as in `credit:`': [
    'core/src/request/settlement/settlement.ts amounts[account]',
    'core/src/request/settlement/bill.ts amounts[creditAccount(facts.workspaceId)]',
    'core/src/request/settlement/bill.ts amounts[byokAccount(facts.workspaceId, at)]',
    'core/src/request/settlement/bill.ts amounts[budgetAccountAt(budget, at)]',
  ],
  '`Object.hasOwn` stands in the line before': ['node-http/src/transport/decompress.ts decompressors[encoding]'],
}

const isText = (type: ts.Type): boolean =>
  type.isUnion() ? type.types.some(isText) : (type.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.Any)) !== 0

/** `object[name]`, `name in object` and `const { [name]: value } = object`, as far as the name is any text. */
function accessOf(node: ts.Node, checker: ts.TypeChecker): { readonly name: ts.Expression; readonly shown: ts.Node } | undefined {
  const found = ts.isElementAccessExpression(node)
    ? { name: node.argumentExpression, shown: node }
    : ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword
      ? { name: node.left, shown: node }
      : ts.isComputedPropertyName(node) && ts.isBindingElement(node.parent)
        ? { name: node.expression, shown: node.parent.parent }
        : undefined
  if (!found || ts.isStringLiteralLike(found.name) || ts.isNumericLiteral(found.name)) return undefined
  return isText(checker.getTypeAtLocation(found.name)) ? found : undefined
}

/** Read behind `Object.hasOwn` of the same object and name, or in a loop over that object's own names. */
function isGuarded(node: ts.Node): boolean {
  if (!ts.isElementAccessExpression(node)) return false
  const target = node.expression.getText()
  const name = node.argumentExpression.getText()
  const isWritten =
    ts.isBinaryExpression(node.parent) && node.parent.left === node && node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
  const sources = [
    `Object.hasOwn(${target}, ${name})`,
    ...(isWritten ? [] : [`const ${name} of Object.keys(${target}))`, `const ${name} in ${target})`]),
  ]
  for (let around: ts.Node = node; around.parent && !ts.isSourceFile(around); around = around.parent) {
    if (ts.isForOfStatement(around) || ts.isForInStatement(around)) {
      const of = ts.isForOfStatement(around) ? 'of' : 'in'
      if (sources.includes(`${around.initializer.getText()} ${of} ${around.expression.getText()})`)) return true
    } else if (
      ts.isConditionalExpression(around) ||
      ts.isIfStatement(around) ||
      ts.isBinaryExpression(around) ||
      ts.isArrowFunction(around)
    ) {
      if (around.getText().includes(sources[0] ?? '')) return true
    }
  }
  return false
}

let known: { readonly files: readonly string[]; readonly made: ts.Program } | undefined

/** The sources and their types, which both tests read. */
function program(): NonNullable<typeof known> {
  if (known) return known
  const { config } = ts.readConfigFile(resolve(packages, '../tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve(packages, '..'))
  const files = guarded.flatMap(name => sourcesOf(name).map(({ path }) => join(packages, name, 'src', path)))
  known = { files, made: ts.createProgram(files, { ...options, noEmit: true, skipLibCheck: true, incremental: false }) }
  return known
}

interface FindOptions {
  /** The files that are searched. Default: all of our sources. */
  readonly only?: RegExp
}

/** `file expression` of what `find` returns for any node of our sources. */
function foundIn(
  find: (node: ts.Node, checker: ts.TypeChecker) => ts.Node | undefined,
  { only = /./ }: FindOptions = {},
): readonly string[] {
  const { files, made } = program()
  const checker = made.getTypeChecker()
  const found: string[] = []
  for (const file of files.filter(name => only.test(name))) {
    const source = made.getSourceFile(file)
    if (!source) throw new Error(`${file} is not there.`)
    const visit = (node: ts.Node): void => {
      const shown = find(node, checker)
      if (shown) found.push(`${file.slice(packages.length + 1)} ${shown.getText().replaceAll('${', '{')}`)
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return [...new Set(found)]
}

test('no name that a client or a provider sends is looked up on a plain object', () => {
  const found = foundIn((node, checker) => {
    const access = accessOf(node, checker)
    return access && !isGuarded(access.shown) ? access.shown : undefined
  })
  const known = Object.values(justified).flat()
  expect({ new: found.filter(each => !known.includes(each)), gone: known.filter(each => !found.includes(each)) }).toEqual({
    new: [],
    gone: [],
  })
})

/** Any JSON, or an object: what cannot be written into a text without a look at it. */
const isOpen = (type: ts.Type): boolean =>
  type.isUnion()
    ? type.types.some(isOpen)
    : type.isIntersection()
      ? type.types.every(isOpen)
      : (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive)) !== 0

/** The values that an expression makes texts or numbers of: in `${a}`, `String(a)`, `Number(a)`, `a + ''`, `+a` and `a.join()`. */
function convertedIn(node: ts.Node, checker: ts.TypeChecker): readonly ts.Type[] {
  const typeOf = (each: ts.Node): ts.Type => {
    const type = checker.getTypeAtLocation(each)
    return checker.getBaseConstraintOfType(type) ?? type
  }
  if (ts.isTemplateExpression(node) && !ts.isTaggedTemplateExpression(node.parent))
    return node.templateSpans.map(each => typeOf(each.expression))
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) return [typeOf(node.left), typeOf(node.right)]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.PlusToken) return [typeOf(node.operand)]
  if (!ts.isCallExpression(node)) return []
  const { expression: called } = node
  if (ts.isIdentifier(called)) return ['String', 'Number', 'BigInt'].includes(called.text) ? node.arguments.map(typeOf) : []
  if (!ts.isPropertyAccessExpression(called) || called.name.text !== 'join') return []
  const entries = checker.getIndexTypeOfType(typeOf(called.expression), ts.IndexKind.Number)
  return entries ? [entries] : []
}

test('no value of unknown type is written into a text', () => {
  const only = /\/[\w-]+\/src\/dialects?\//
  expect(foundIn((node, checker) => (convertedIn(node, checker).some(isOpen) ? node : undefined), { only })).toEqual([])
})
