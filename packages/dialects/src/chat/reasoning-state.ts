import { addFields, type GatheredFields, gatherFields, objectIn, objects, stringOf } from '../common/json.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import type { ReasoningField } from './message-fields.ts'

// Data that a provider wants back with the next turn, besides text: `reasoning_details`, call signatures
// (`extra_content.google.thought_signature`), and the field that its text was in. Internally, all of it is the state of a reasoning item:
// one text.

export interface ChatReasoningState {
  /** The field that the provider wrote its reasoning in. */
  readonly field?: ReasoningField
  /** `reasoning_details`, unchanged. */
  readonly details: readonly JsonObject[]
  /** Call id → signature. A list, because a call id may be any text. */
  readonly signatures: readonly (readonly [call_id: string, signature: string])[]
}

export interface StateCollector {
  /** Records the field that contained reasoning. The first since the last `take` counts. */
  noteField(field: ReasoningField): void
  addDetails(details: readonly JsonObject[]): void
  addSignature(call_id: string, signature: string): void
  /** Takes the state collected since the last call; undefined if there is none. */
  take(): string | undefined
}

export function collectState(): StateCollector {
  let field: ReasoningField | undefined
  let details: GatheredFields[] = []
  let signatures: [string, string][] = []
  return {
    noteField(seen) {
      field ??= seen
    },
    addDetails(more) {
      for (const detail of more) addDetail(details, detail)
    },
    addSignature(call_id, signature) {
      signatures.push([call_id, signature])
    },
    take() {
      const state: ChatReasoningState = { field, details: details.map(({ fields }) => fields), signatures }
      field = undefined
      details = []
      signatures = []
      return writeState(state)
    },
  }
}

/** Adds a piece of a detail. Pieces of one detail arrive in succession, with the same index. */
function addDetail(details: GatheredFields[], detail: JsonObject): void {
  const last = details.at(-1)
  const field = textFields.get(stringOf(detail.type))
  if (last === undefined || field === undefined || !isPieceOf(detail, last.fields)) details.push(gatherFields(detail))
  else addFields(last, { ...present(detail), [field]: stringOf(last.fields[field]) + stringOf(detail[field]) })
}

const textFields: ReadonlyMap<string, string> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
])

const isPieceOf = (detail: JsonObject, last: JsonObject): boolean =>
  typeof detail.index === 'number' && detail.index === last.index && detail.type === last.type

const present = (detail: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null && value !== undefined))

const writeState = ({ field, details, signatures }: ChatReasoningState): string | undefined =>
  field === undefined && details.length === 0 && signatures.length === 0
    ? undefined
    : JSON.stringify({
        reasoning_field: field,
        reasoning_details: details.length > 0 ? details : undefined,
        thought_signatures: signatures.length > 0 ? signatures : undefined,
      })

const reasoningFields: readonly ReasoningField[] = ['reasoning_content', 'reasoning', 'reasoning_details', 'content']

export const noState: ChatReasoningState = { details: [], signatures: [] }

/** Parses state; empty if the text is not state of this dialect. */
export function readState(text: string | undefined): ChatReasoningState {
  const body = text === undefined ? undefined : objectIn(text)
  if (!body) return noState
  const pairs: readonly Json[] = Array.isArray(body.thought_signatures) ? body.thought_signatures : []
  const field = reasoningFields.find(each => each === body.reasoning_field)
  return {
    field,
    details: objects(body.reasoning_details),
    signatures: pairs.flatMap((pair): ChatReasoningState['signatures'] => {
      const [call_id, signature] = Array.isArray(pair) ? (pair as readonly Json[]) : []
      return typeof call_id === 'string' && typeof signature === 'string' ? [[call_id, signature]] : []
    }),
  }
}
