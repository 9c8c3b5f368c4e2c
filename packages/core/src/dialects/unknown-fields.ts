import type { ClientDialect } from '../protocol/dialect.ts'
import { originalOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { type DialectName, isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { clientFacts } from './client-loaders.ts'
import { combinedWarning, itemParts } from './part-warnings.ts'

// Unknown fields inside messages, parts and tools. A provider of the client's dialect receives them with the original; for any other they
// are lost, with a warning.

type KnownFields = NonNullable<ClientDialect['knownFields']>

/** One warning for all such fields of a request to a provider of the dialect `target`. */
export function unknownFieldWarnings({ input, tools, reasoning, text }: Prompt, target: DialectName): readonly Warning[] {
  const lost: string[] = []
  let seen: Set<JsonObject> | undefined
  const isForeign = (decoded: object): boolean => (originalOf(decoded)?.dialect ?? target) !== target
  /** `type`: the type of an object that does not state it. `place`: its path in the prompt, if its path in the body is unknown. */
  const search = (decoded: object, type: string, place: string): void => {
    const original = originalOf(decoded)
    if (!original || seen?.has(original.body)) return
    const { body, dialect, path = place } = original
    // One assistant message may have become several items.
    seen = (seen ?? new Set()).add(body)
    const known = own(clientFacts, dialect)?.knownFields
    if (known) collectUnknown(lost, known, { body, type: typeof body.type === 'string' ? body.type : type, path })
  }
  if (reasoning && isForeign(reasoning)) search(reasoning, 'settings of reasoning', 'reasoning')
  if (text && isForeign(text)) search(text, 'settings of text', 'text')
  tools?.forEach((tool, at) => {
    if (isForeign(tool)) search(tool, 'custom', `tools[${at}]`)
  })
  input.forEach((item, at) => {
    if (isForeign(item)) search(item, 'message', `input[${at}]`)
    itemParts(item).forEach((part, index) => {
      if (part.type !== 'native' && isForeign(part)) search(part, 'text', `input[${at}].content[${index}]`)
    })
  })
  return lost.length === 0 ? [] : combinedWarning(lost, 'is not supported by the API of this provider and was left out.')
}

interface TypedObject {
  readonly body: JsonObject
  readonly type: string
  readonly path: string
}

/** Adds the paths of unknown fields that are set. Objects of unknown type are skipped. */
function collectUnknown(lost: string[], fields: KnownFields, { body, type, path }: TypedObject): void {
  const known = fields.get(type)
  if (!known) return
  for (const field in body) {
    const value = body[field]
    if (!known.includes(field)) {
      if (isSet(value)) lost.push(`${path}.${field.slice(0, 100)}`)
    } else if (isObject(value)) collectUnknown(lost, fields, { body: value, type: `${type}.${field}`, path: `${path}.${field}` })
  }
}

const isSet = (value: Json | undefined): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0) &&
  !isBare(value)

/** Whether a value has no effect, such as `citations: { enabled: false }`. */
const isBare = (value: Json): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(inner => inner === false || inner === null)
