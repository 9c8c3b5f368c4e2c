import { GatewayError } from '@signalbox/core/errors'
import { isObject, type Json, type JsonObject } from '@signalbox/core/protocol'
import type { ApiRequest } from './exchange.ts'
import type { Settings } from './settings.ts'

/**
 * The body as a JSON object, checked for what no schema sees: size, depth, keys that reach for prototypes, broken text.
 * Throws where it is not; where bytes were left unread, `visit.close` says so.
 */
export async function readBody(visit: {
  readonly request: ApiRequest
  readonly site: { readonly settings: Settings }
  close: boolean
}): Promise<JsonObject> {
  const limit = visit.site.settings.bodyBytes
  checkType(visit.request)
  const read = await visit.request.text(limit)
  if (read.ok) return parseBody(read.text)
  visit.close = true
  throw read.why === 'too_large' ? tooLarge(limit) : invalid('The request body did not arrive whole.')
}

const tooLarge = (limit: number): GatewayError =>
  new GatewayError('request_too_large', { message: `The request body is larger than ${limit} bytes, the limit of this gateway.` })

const invalid = (message: string, param?: string): GatewayError =>
  new GatewayError('invalid_request', { message, ...(param !== undefined && { param }) })

const jsonType = /^\s*application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i

function checkType(request: ApiRequest): void {
  const encoding = request.header('content-encoding')
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', {
      message: 'Compressed request bodies are not read. Send the body without Content-Encoding.',
    })
  }
  const type = request.header('content-type')
  if (type !== undefined && type !== '' && !jsonType.test(type)) {
    throw new GatewayError('unsupported_media_type', { message: 'The body must be JSON. Send Content-Type: application/json.' })
  }
}

/** Text → a JSON object without traps. */
export function parseBody(text: string): JsonObject {
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  if (clean.trim() === '') throw invalid('The request has no body. Send a JSON object.')
  const value = parse(clean)
  if (!isObject(value)) throw invalid('The request body must be a JSON object.')
  // Text from UTF-8 holds a broken surrogate or a hidden key only by way of an escape, so most bodies need no look at their strings.
  const escaped = clean.includes('\\u')
  walk(value, escaped || clean.includes('__proto__'), escaped)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the body, which may hold secrets; where it broke is all that helps.
    throw invalid('The request body is not valid JSON.')
  }
}

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

/** One pass with a stack of its own: the call stack would give out at a few thousand levels. */
function walk(root: JsonObject, lookAtKeys: boolean, lookAtText: boolean): void {
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
