import { GatewayError } from '../errors/gateway-error.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

const invalid = (message: string, param: string): GatewayError =>
  new GatewayError('invalid_request', { message, ...(param !== '' && { param }) })

const deepest = 64
/** Schemas and maps of the client's own may nest deeper. */
const deepestInside = 128
const deepRooms: ReadonlySet<string | number> = new Set(['metadata', 'tools', 'text', 'response_format', 'output_config'])

interface Place {
  readonly value: JsonObject | readonly Json[]
  readonly key: string | number
  readonly parent: Place | undefined
  readonly depth: number
  readonly limit: number
}

export interface Suspect {
  /** Some key may reach for a prototype, or be broken. */
  readonly keys: boolean
  /** Some text may be broken. */
  readonly texts: boolean
}

/**
 * What no reader of a request looks at: depth, keys that reach for prototypes, broken text, values that JSON cannot say. Throws
 * an `invalid_request` that names the place. One pass with a stack of its own: the call stack would give out at a few thousand
 * levels.
 */
export function checkBody(root: JsonObject, { keys: lookAtKeys, texts: lookAtText }: Suspect): void {
  const open: Place[] = [{ value: root, key: '', parent: undefined, depth: 1, limit: deepest }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > place.limit) throw invalid(`The request body is nested deeper than ${place.limit} levels.`, pathTo(place.parent))
    const { value } = place
    if (isObject(value)) {
      for (const key of Object.keys(value)) {
        if (lookAtKeys) checkKey(key, place)
        visit(value[key], key, { place, open, lookAtText })
      }
    } else {
      for (let index = 0; index < value.length; index++) visit(value[index], index, { place, open, lookAtText })
    }
  }
}

function visit(
  value: Json | undefined,
  key: string | number,
  at: { readonly place: Place; readonly open: Place[]; readonly lookAtText: boolean },
): void {
  const { place, open, lookAtText } = at
  if (typeof value === 'string') {
    if (lookAtText && !value.isWellFormed()) throw invalid('The text holds half of a surrogate pair.', pathTo(place, key))
  } else if (typeof value === 'bigint') {
    throw invalid('JSON has no BigInt.', pathTo(place, key))
  } else if (typeof value === 'object' && value !== null) {
    const limit = place.parent === undefined && deepRooms.has(key) ? deepestInside : place.limit
    open.push({ value, key, parent: place, depth: place.depth + 1, limit })
  }
}

function checkKey(key: string, place: Place): void {
  if (key === '__proto__') throw invalid('The key "__proto__" is not allowed.', pathTo(place, key))
  if (!key.isWellFormed()) throw invalid('A key holds half of a surrogate pair.', pathTo(place))
}

/** `input[0].content`; of a long path the middle is left out, since a path is for reading. */
function pathTo(place: Place | undefined, last?: string | number): string {
  const steps: (string | number)[] = last === undefined ? [] : [last]
  for (let at = place; at?.parent !== undefined; at = at.parent) steps.push(at.key)
  const path = steps.reverse().map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
  const shown = path.length > 12 ? [...path.slice(0, 8), '…', ...path.slice(-4)] : path
  return shown.join('').slice(0, 200)
}
