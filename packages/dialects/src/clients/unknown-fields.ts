import { combinedWarning, itemParts } from '../common/part-warnings.ts'
import type { ClientDialect } from '../protocol/dialect.ts'
import { originalOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { type DialectName, isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { clientFacts } from './client-facts.ts'

// Unknown fields inside messages, parts and tools. A provider of the client's dialect receives them with the original; for any other they
// are lost, with a warning.

type KnownFields = NonNullable<ClientDialect['knownFields']>

/** One warning for all such fields of a request to a provider of the dialect `target`. */
export function unknownFieldWarnings(prompt: Prompt, target: DialectName): readonly Warning[] {
  const lost: string[] = []
  const isForeign = (decoded: object): boolean => (originalOf(decoded)?.dialect ?? target) !== target
  const note = ({ path, name, value }: UnknownField): void => {
    if (isSet(value)) lost.push(`${path}.${name.slice(0, 100)}`)
  }
  eachUnknownField(prompt, note, isForeign)
  return lost.length === 0 ? [] : combinedWarning(lost, 'is not supported by the API of this provider and was left out.')
}

export interface UnknownField {
  readonly name: string
  readonly value: Json | undefined
  /** The path of the object that has the field, in the client's body. */
  readonly path: string
}

/**
 * Visits the unknown fields in the messages, parts, tools and settings of a prompt as the client wrote them. `isSearched`: whether those of
 * an item, part or tool are visited.
 */
export function eachUnknownField(
  { input, tools, reasoning, text }: Prompt,
  see: (field: UnknownField) => void,
  isSearched: (decoded: object) => boolean = () => true,
): void {
  let seen: Set<JsonObject> | undefined
  /** `type`: the type of an object that does not state it. `place`: its path in the prompt, if its path in the body is unknown. */
  const search = (decoded: object, type: string, place: string): void => {
    const original = originalOf(decoded)
    if (!original || !isSearched(decoded) || seen?.has(original.body)) return
    const { body, dialect, path = place } = original
    // One assistant message may have become several items.
    seen = (seen ?? new Set()).add(body)
    const known = own(clientFacts, dialect)?.knownFields
    if (known) searchObject(known, { body, type: typeof body.type === 'string' ? body.type : type, path }, see)
  }
  if (reasoning) search(reasoning, 'settings of reasoning', 'reasoning')
  if (text) search(text, 'settings of text', 'text')
  tools?.forEach((tool, index) => {
    search(tool, 'custom', `tools[${index}]`)
  })
  input.forEach((item, at) => {
    search(item, 'message', `input[${at}]`)
    itemParts(item).forEach((part, index) => {
      if (part.type !== 'native') search(part, 'text', `input[${at}].content[${index}]`)
    })
  })
}

interface TypedObject {
  readonly body: JsonObject
  readonly type: string
  readonly path: string
}

/** Objects of unknown type are skipped. */
function searchObject(fields: KnownFields, { body, type, path }: TypedObject, see: (field: UnknownField) => void): void {
  const known = fields.get(type)
  if (!known) return
  for (const name in body) {
    const value = body[name]
    if (!known.includes(name)) see({ name, value, path })
    else if (isObject(value)) searchObject(fields, { body: value, type: `${type}.${name}`, path: `${path}.${name}` }, see)
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
