import { endings, strategyNames, whys } from './codes.ts'
import type { DecisionRecord, Trace } from './record.ts'
import type { Sight } from './sight.ts'

// Whether something is a trace: it may come from a file, from elsewhere, from another version.

type Check = (value: unknown, path: string) => void

const refuse = (path: string, takes: string): never => {
  throw new TypeError(`This is no trace: \`${path}\` takes ${takes}.`)
}

const a =
  (type: 'number' | 'string' | 'boolean'): Check =>
  (value, path) =>
    typeof value === type ? undefined : refuse(path, `a ${type}`)

const number = a('number')
const flag = a('boolean')
const text = a('string')
const numberOrNull: Check = (value, path) => (value === null ? undefined : number(value, path))

const whole =
  (most: number): Check =>
  (value, path) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
      ? undefined
      : refuse(path, `a whole number from 0 to ${most}`)

const oneOf =
  (values: readonly unknown[]): Check =>
  (value, path) =>
    values.includes(value) ? undefined : refuse(path, `one of ${values.join(', ')}`)

const listOf =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'a list')
    for (const [at, each] of value.entries()) check(each, `${path}[${at}]`)
  }

/** A field named with a question mark may be left out. */
const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null) return refuse(path, 'an object')
    for (const [field, check] of Object.entries(checks)) {
      const name = field.replace('?', '')
      const its = (value as Readonly<Record<string, unknown>>)[name]
      if (its !== undefined || name === field) check(its, path === '' ? name : `${path}.${name}`)
    }
  }

const sight = fields({
  cost: number,
  firstContentMs: number,
  growingMs: number,
  failure: number,
  lostMs: number,
  breaking: number,
  lateness: number,
  heldMs: number,
  restingMs: number,
  headroom: number,
  warmTokens: number,
  unheardMs: number,
  scarcity: number,
} satisfies Readonly<Record<keyof Sight, Check>>)

const rates = fields({ input: number, output: number, 'cached?': number, 'cache_write?': number, 'cache_write_1h?': number })
const offer = fields({ id: text, 'provider?': text, 'model?': text, price: rates, 'cacheMs?': number })

const most32 = 0xffff_ffff
const most16 = 0xffff

const decision = fields({
  at: number,
  request: number,
  turn: whole(255),
  strategy: oneOf([...strategyNames.values()]),
  'worth?': fields({ waiting: number, growing: number, failing: number }),
  scale: number,
  asked: fields({ inputTokens: number, outputTokens: number, stream: flag, turns: number, 'leftMs?': number }),
  candidates: listOf(fields({ offer, sight, loss: numberOrNull, 'rank?': numberOrNull, 'shunned?': oneOf([true]) })),
  omitted: whole(most32),
  'hope?': fields({ at: whole(most16), sight, loss: numberOrNull }),
  chosen: whole(most16),
  why: oneOf([...whys.values()]),
  loss: numberOrNull,
  waitMs: number,
  'timeoutMs?': number,
  'hedgeAfterMs?': number,
  'outcome?': fields({
    ended: oneOf([...endings.values()]),
    sentAfterMs: number,
    'firstContentMs?': number,
    totalMs: number,
    'outputTokens?': number,
    'cachedTokens?': number,
  }),
})

/** Throws a TypeError that names what is wrong. */
export function checkTrace(trace: Trace): void {
  if (typeof trace !== 'object' || trace === null) refuse('trace', 'an object')
  if (trace.version !== 1) throw new TypeError(`This is no trace: \`version\` is ${trace.version}; version 1 can be read here.`)
  fields({ seed: number, dropped: whole(Number.MAX_SAFE_INTEGER), decisions: listOf(decision) })(trace, '')
  for (const [at, each] of trace.decisions.entries()) checkPlaces(each, `decisions[${at}]`)
}

/** Who decided and who was hoped for stand among the candidates. */
function checkPlaces({ candidates, chosen, hope, why, strategy, worth }: DecisionRecord, path: string): void {
  whole(candidates.length - 1)(chosen, `${path}.chosen`)
  if (hope) whole(candidates.length - 1)(hope.at, `${path}.hope.at`)
  if (why === 'probe' && hope?.at !== chosen) refuse(`${path}.hope`, 'whoever was chosen as a probe')
  if (strategy !== 'own' && !worth) refuse(`${path}.worth`, 'the weights of its strategy')
}
