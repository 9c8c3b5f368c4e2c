import type { Quirks } from '../../protocol/model.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { objects, stringOf } from '../json.ts'
import { type ReasoningField, reasoningFieldOf } from './message-fields.ts'
import { reasoningFamilyOf } from './reasoning-families.ts'

// Earlier reasoning → fields of a message of the assistant.

/** What an offer takes back of earlier reasoning. */
export interface ReasoningRules {
  /** The field that the offer is known to read. */
  readonly field?: string
  /** The field of the model's maker: for reasoning of another provider, whose field says nothing of this one. */
  readonly familyField?: string
  readonly earlier?: Quirks['earlier_reasoning']
}

export function reasoningRulesOf(model: string, { reasoning_field, earlier_reasoning }: Quirks): ReasoningRules {
  const family = reasoningFamilyOf(model)
  // `own` says what a host makes of models of which nothing is known.
  const earlier = earlier_reasoning === 'own' ? (family.earlier_reasoning ?? 'own') : (earlier_reasoning ?? family.earlier_reasoning)
  return {
    ...(reasoning_field !== undefined && { field: reasoning_field }),
    ...(family.field && { familyField: family.field }),
    ...(earlier && { earlier }),
  }
}

interface Thought {
  readonly text: string
  /** `provider`: this provider made it, and its state came back. `caller`: as the caller wrote it in this language. */
  readonly from: 'provider' | 'caller' | 'elsewhere'
  /** Its state, which goes back beside it, stands for it. */
  readonly isInState: boolean
}

/** The reasoning of one turn of the assistant. */
export interface TurnReasoning {
  readonly thoughts: Thought[]
  /** The field that this provider wrote it into. */
  field: ReasoningField | undefined
  /** `reasoning_details` of this provider. */
  readonly details: JsonObject[]
  /** State that the caller got from a vendor, not from the gateway. */
  readonly unsealed: Set<string>
  /** The path of the first thought or state, for warnings. */
  param: string | undefined
}

export const startReasoning = (): TurnReasoning => ({ thoughts: [], field: undefined, details: [], unsealed: new Set(), param: undefined })

export interface EncodedReasoning {
  readonly fields: JsonObject
  /** A part that goes before the content. */
  readonly parts: readonly JsonObject[]
  /** Reasoning was left out. */
  readonly isDropped: boolean
}

/** `origin`: the caller's own message. */
export function encodeThoughts(reasoning: TurnReasoning, origin: JsonObject | undefined, rules: ReasoningRules): EncodedReasoning {
  const { thoughts, details } = reasoning
  const own = callersDetails(reasoning, origin)
  const sent = [...(rules.earlier === 'never' ? [] : details), ...(takesAny(rules) ? own : [])]
  const field = fieldOf(reasoning, origin, rules)
  const kept = field === undefined ? [] : thoughts.filter(({ from }) => isTaken(from, rules))
  const lost = thoughts.some(thought => (thought.from !== 'elsewhere' || !thought.isInState) && !kept.includes(thought))
  const text = kept.map(thought => thought.text).join('\n\n')
  return {
    fields: {
      ...(field !== undefined && field !== 'content' && field !== 'reasoning_details' && isWritten(text, rules) && { [field]: text }),
      ...(sent.length > 0
        ? { reasoning_details: sent }
        : field === 'reasoning_details' && text !== '' && { reasoning_details: [{ type: 'reasoning.text', text }] }),
    },
    parts: field === 'content' && text !== '' ? [{ type: 'thinking', thinking: [{ type: 'text', text }] }] : [],
    isDropped: lost || sent.length < details.length + own.length,
  }
}

const takesAny = ({ earlier }: ReasoningRules): boolean => earlier !== 'never' && earlier !== 'own'

const isTaken = (from: Thought['from'], rules: ReasoningRules): boolean =>
  takesAny(rules) || (rules.earlier === 'own' && from === 'provider')

/** Models that demand the field want it on every turn, also where there was no thought. */
const isWritten = (text: string, { earlier }: ReasoningRules): boolean => text !== '' || earlier === 'always'

function fieldOf({ thoughts, field }: TurnReasoning, origin: JsonObject | undefined, rules: ReasoningRules): string | undefined {
  const known = rules.field ?? field ?? rules.familyField
  if (known !== undefined || rules.earlier === 'always') return known ?? 'reasoning_content'
  return origin && thoughts.some(({ from }) => from === 'caller') ? reasoningFieldOf(origin) : undefined
}

/** The details of the caller's own message that the gateway did not seal. */
function callersDetails({ unsealed }: TurnReasoning, origin: JsonObject | undefined): readonly JsonObject[] {
  return objects(origin?.reasoning_details).filter(({ data }) => stringOf(data) === '' || unsealed.has(stringOf(data)))
}
