import type { Json, JsonObject } from '../../protocol/wire.ts'
import { addFields, type GatheredFields, gatherFields, objectIn, objects, stringOf } from '../json.ts'

// What a provider of this language wants back with the next turn, beyond words: sealed thoughts (`reasoning_details`), and
// signatures on calls (`extra_content.google.thought_signature`). Inside, both are the state of a reasoning item: one text.

export interface State {
  /** As they were sent. */
  readonly details: readonly JsonObject[]
  /** Call id → signature. A list, since ids are an outsider's words. */
  readonly signatures: readonly (readonly [call_id: string, signature: string])[]
}

export interface Gathering {
  hear(details: readonly JsonObject[]): void
  sign(call_id: string, signature: string): void
  /** All that was gathered since the last time; nothing where no provider would miss it. */
  take(): string | undefined
}

export function gatherState(): Gathering {
  let details: GatheredFields[] = []
  let signatures: [string, string][] = []
  return {
    hear(more) {
      for (const detail of more) add(details, detail)
    },
    sign(call_id, signature) {
      signatures.push([call_id, signature])
    },
    take() {
      const told = details.map(({ fields }) => fields)
      const state: State = { details: told.some(isSealed) ? told : [], signatures }
      details = []
      signatures = []
      return writeState(state)
    },
  }
}

/** Thoughts in plain words are told as such; only what is opaque makes a detail worth keeping, and then all around it. */
const isSealed = ({ data, signature }: JsonObject): boolean => stringOf(data) !== '' || stringOf(signature) !== ''

/** Pieces of one detail come one after the other, under its index. */
function add(details: GatheredFields[], detail: JsonObject): void {
  const last = details.at(-1)
  const field = growing.get(stringOf(detail.type))
  if (last === undefined || field === undefined || !isPieceOf(detail, last.fields)) details.push(gatherFields(detail))
  else addFields(last, { ...present(detail), [field]: stringOf(last.fields[field]) + stringOf(detail[field]) })
}

const growing: ReadonlyMap<string, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
])

const isPieceOf = (detail: JsonObject, last: JsonObject): boolean =>
  typeof detail.index === 'number' && detail.index === last.index && detail.type === last.type

const present = (detail: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null && value !== undefined))

const writeState = ({ details, signatures }: State): string | undefined =>
  details.length === 0 && signatures.length === 0
    ? undefined
    : JSON.stringify({
        ...(details.length > 0 && { reasoning_details: details }),
        ...(signatures.length > 0 && { thought_signatures: signatures }),
      })

const nothing: State = { details: [], signatures: [] }

/** Nothing where the text is not one of ours. */
export function readState(text: string | undefined): State {
  const body = text === undefined ? undefined : objectIn(text)
  if (!body) return nothing
  const pairs: readonly Json[] = Array.isArray(body.thought_signatures) ? body.thought_signatures : []
  return {
    details: objects(body.reasoning_details),
    signatures: pairs.flatMap((pair): State['signatures'] => {
      const [call_id, signature] = Array.isArray(pair) ? (pair as readonly Json[]) : []
      return typeof call_id === 'string' && typeof signature === 'string' ? [[call_id, signature]] : []
    }),
  }
}
