import { bodyCaps } from '@signalbox/dialects/protocol'
import { seeded } from '../../src/chunkings.ts'

// Bodies that are dear for their size, each within the caps: what a search begins with, and what it measures.

/** A number from 0 to 1, the same for the same seed. */
export type Dice = () => number

export const pick = <T>(dice: Dice, from: readonly T[]): T => from[Math.floor(dice() * from.length)] as T
export const many = <T>(count: number, each: (at: number) => T): T[] =>
  Array.from({ length: Math.max(0, Math.floor(count)) }, (_, at) => each(at))
const word = (dice: Dice): string => dice().toString(36).slice(2, 9)

/** The parts of a shape that a search may turn, each from 0 to 1. */
export interface Genes {
  readonly seed: number
  readonly size: number
  readonly width: number
  readonly depth: number
  readonly kind: number
}

/** Fields whose value is anything, in objects of so many each. */
const objects = ({ size, width }: Genes, dice: Dice): unknown => {
  const each = 1 + Math.floor(width * 40)
  const count = (size * (bodyCaps.fields - 200)) / each
  const lists = Math.ceil(count / 15_000)
  return many(lists, () => many(count / lists, () => Object.fromEntries(many(each, () => [word(dice), 1]))))
}

const arrays = ({ size, kind }: Genes): unknown =>
  many(5, () => many(size * 18_000, at => (kind < 0.3 ? [] : kind < 0.6 ? at : kind < 0.8 ? 'x' : null)))

const nested = ({ size, depth, kind }: Genes): unknown => {
  const levels = 1 + Math.floor(depth * 58)
  const nest = (left: number): unknown => (left === 0 ? 1 : kind < 0.5 ? { a: nest(left - 1) } : [nest(left - 1)])
  return many((size * 40_000) / levels, () => nest(levels))
}

const strings = ({ size, width, kind }: Genes): unknown => {
  const unit = pick(() => kind, ['x', 'x, ', '\\', '"', '\n', '中', '😀', '\u0001', '<', '{[,'])
  const isEscaped = ['\\', '"', '\n', '\u0001'].includes(unit)
  return unit.repeat((size * (isEscaped ? bodyCaps.escapes * 0.9 : 3_000_000 * (0.1 + width))) / unit.length)
}

const schemaOf = ({ size, width, depth, kind }: Genes, dice: Dice, share: number): object => {
  const count = Math.max(1, Math.floor(size * share * (kind < 0.5 ? 1_900 : 60)))
  const links = kind < 0.25 ? 1 : Math.max(1, Math.floor(width * 12))
  const to = (at: number): string => `#/$defs/d${kind < 0.25 ? at + 1 : Math.floor(dice() * count)}`
  const definition = (at: number): object => ({
    type: 'object',
    description: 'x'.repeat(depth * 200),
    ...(kind > 0.8 && { allOf: many(links, () => ({ $ref: to(at) })) }),
    properties: Object.fromEntries(many(links, link => [`p${link}`, { $ref: to(at) }])),
  })
  return {
    type: 'object',
    properties: { first: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(many(count, at => [`d${at}`, definition(at)])),
  }
}

const tools = (genes: Genes, dice: Dice): readonly object[] => {
  const count = 1 + Math.floor(genes.depth * (genes.kind < 0.7 ? 20 : 900))
  if (genes.kind < 0.7) return many(count, at => ({ name: `t${at}`, strict: true, parameters: schemaOf(genes, dice, 1 / count) }))
  const each = Math.floor((genes.size * 24_000) / count / 3)
  const property = (): [string, unknown] => [word(dice), { type: 'string', minLength: 3 }]
  return many(count, at => ({
    name: `t${at}`,
    strict: true,
    parameters: { type: 'object', properties: Object.fromEntries(many(each, property)) },
  }))
}

/** A field of a request in each dialect, and what stands in it. */
type Fill = (genes: Genes, dice: Dice) => object

interface DialectBodies {
  readonly path: string
  readonly talk: (content: unknown) => object
  readonly part: (text: string) => object
  readonly tool: (tool: object) => object
  readonly format: (schema: object) => object
}

const bodiesByDialect: readonly DialectBodies[] = [
  {
    path: '/v1/responses',
    talk: content => ({ input: [{ role: 'user', content }] }),
    part: text => ({ type: 'input_text', text }),
    tool: tool => ({ type: 'function', ...tool }),
    format: schema => ({ text: { format: { type: 'json_schema', name: 's', schema } } }),
  },
  {
    path: '/v1/chat/completions',
    talk: content => ({ messages: [{ role: 'user', content }] }),
    part: text => ({ type: 'text', text }),
    tool: ({ strict, ...tool }: { strict?: boolean }) => ({ type: 'function', function: { ...tool, strict } }),
    format: schema => ({ response_format: { type: 'json_schema', json_schema: { name: 's', schema } } }),
  },
  ...['/v1/messages', '/v1/messages/count_tokens'].map(path => ({
    path,
    talk: (content: unknown) => ({ max_tokens: 10, messages: [{ role: 'user', content }] }),
    part: (text: string) => ({ type: 'text', text }),
    tool: ({ parameters, ...tool }: { parameters?: object }) => ({ ...tool, input_schema: parameters }),
    format: (schema: object) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  })),
]

const fills = (bodies: DialectBodies): Readonly<Record<string, Fill>> => ({
  'objects in extensions': (genes, dice) => ({ ...bodies.talk('hi'), extensions: { a: objects(genes, dice) } }),
  'objects in an unknown field': (genes, dice) => ({ ...bodies.talk('hi'), unknown_field: objects(genes, dice) }),
  'arrays in extensions': genes => ({ ...bodies.talk('hi'), extensions: { a: arrays(genes) } }),
  'nested in extensions': genes => ({ ...bodies.talk('hi'), extensions: { a: nested(genes) } }),
  'a long text': genes => bodies.talk(strings(genes)),
  'unknown parts': (genes, dice) => bodies.talk(many(genes.size * 4_900, () => ({ type: word(dice), [word(dice)]: 1 }))),
  parts: genes => bodies.talk(many(genes.size * 4_900, at => bodies.part(`x${at}`))),
  messages: (genes, dice) => {
    const [[field, [message]]] = Object.entries(bodies.talk('x')).filter(([, value]) => Array.isArray(value)) as unknown as [
      [string, [object]],
    ]
    const odd = genes.kind < 0.5 ? (): object => ({ [word(dice)]: 1 }) : (): object => ({})
    return { max_tokens: 10, [field]: many(genes.size * 9_900, () => ({ ...message, ...odd() })) }
  },
  'unknown fields': (genes, dice) => ({ ...bodies.talk('x'), ...Object.fromEntries(many(genes.size * 9_900, () => [word(dice), 1])) }),
  tools: (genes, dice) => ({ ...bodies.talk('x'), tools: tools(genes, dice).map(bodies.tool) }),
  format: (genes, dice) => ({ ...bodies.talk('x'), ...bodies.format(schemaOf(genes, dice, 1)) }),
})

export interface ShapedBody {
  readonly path: string
  readonly name: string
  readonly make: (genes: Genes) => object
}

/** Every way to fill a request in every dialect. */
export const shapes: readonly ShapedBody[] = bodiesByDialect.flatMap(bodies =>
  Object.entries(fills(bodies)).map(([name, fill]) => ({
    path: bodies.path,
    name,
    make: (genes: Genes) => ({ model: 'm', ...fill(genes, seeded(genes.seed)) }),
  })),
)

export const genesOf = (dice: Dice): Genes => ({ seed: Math.floor(dice() * 1e9), size: dice(), width: dice(), depth: dice(), kind: dice() })

/** One gene drawn anew, or moved a little; size mostly upwards. */
/** The largest value of a gene: one itself is no index of a list. */
const belowOne = 0.999_999

export function turned(genes: Genes, dice: Dice): Genes {
  const gene = pick(dice, ['seed', 'size', 'width', 'depth', 'kind'] as const)
  if (gene === 'seed') return { ...genes, seed: Math.floor(dice() * 1e9) }
  const value = dice() < 0.3 ? dice() : genes[gene] + (dice() - (gene === 'size' ? 0.3 : 0.5)) * 0.4
  return { ...genes, [gene]: Math.min(belowOne, Math.max(0, value)) }
}
