import { objects, stringOf } from '../common/json.ts'
import type { Quirks } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { type ReasoningField, reasoningFieldOf } from './message-fields.ts'

// Encodes earlier reasoning as fields of an assistant message.

/** Which earlier reasoning an offer accepts. */
export interface ReasoningRules {
  /** The field that the offer is known to read. */
  readonly field?: string | undefined
  /** The field of the model's vendor, for reasoning from another provider, whose field says nothing about this one. */
  readonly familyField?: string | undefined
  readonly earlier?: Quirks['earlierReasoning']
}

export function reasoningRulesOf(model: string, { reasoningField, earlierReasoning }: Quirks): ReasoningRules {
  const family = reasoningFamilyOf(model)
  // `own` is the host's rule for models of unknown family only.
  const earlier = earlierReasoning === 'own' ? (family.earlierReasoning ?? 'own') : (earlierReasoning ?? family.earlierReasoning)
  return { field: reasoningField, familyField: family.field, earlier }
}

/** How a model family accepts earlier reasoning, on any host. */
interface ReasoningFamily {
  /** The field of the vendor's API. A host may use another, which its responses show. */
  readonly field?: ReasoningField
  /** Same as the quirk. */
  readonly earlierReasoning?: Quirks['earlierReasoning']
}

/**
 * The first match wins. Ids are in lower case, with a dot between version numbers. Families without a row get back what the provider itself
 * wrote, in the same field.
 */
const families: readonly (readonly [id: RegExp, family: ReasoningFamily])[] = [
  // R1 and its distillations reject or ignore the field.
  [/deepseek.*[-.]r1|^r1-1776/, { earlierReasoning: 'never' }],
  // From V3.2 on, a tool turn without the field is rejected. `deepseek-chat` and `deepseek-reasoner` are names of the current version.
  [/deepseek-(chat|reasoner|flash|pro)|deepseek[-.]v(3\.[2-9]|[4-9])/, { field: 'reasoning_content', earlierReasoning: 'always' }],
  [/kimi-(k2-thinking|k2\.[5-9]|k[3-9]|for-coding)/, { field: 'reasoning_content', earlierReasoning: 'always' }],
  [/glm-(4\.[5-9]|[5-9])/, { field: 'reasoning_content' }],
  [/minimax-m[2-9]/, { field: 'reasoning_content' }],
  [/gpt-oss/, { field: 'reasoning' }],
  [/qwen-?[3-9]|qwq/, { field: 'reasoning_content' }],
  [/mimo-v/, { field: 'reasoning_content' }],
]

const unknownFamily: ReasoningFamily = {}

/** The family of a model, by provider model id: `accounts/fireworks/models/deepseek-v3p2` is DeepSeek V3.2. */
function reasoningFamilyOf(model: string): ReasoningFamily {
  const id = model.toLowerCase().replace(/(\d)[p_](?=\d)/g, '$1.')
  return families.find(([pattern]) => pattern.test(id))?.[1] ?? unknownFamily
}

interface ReasoningText {
  readonly text: string
  /** `provider`: written by this provider, with its state. `caller`: sent by the client in this dialect. */
  readonly from: 'provider' | 'caller' | 'elsewhere'
  /** Whether its state, which is sent too, contains the text. */
  readonly isInState: boolean
}

/** The reasoning of one assistant turn. */
export interface TurnReasoning {
  readonly texts: ReasoningText[]
  /** The field that this provider wrote it in. */
  field: ReasoningField | undefined
  /** `reasoning_details` of this provider. */
  readonly details: JsonObject[]
  /** State that the client received directly from a vendor. */
  readonly unsealed: Set<string>
  /** The path of the first reasoning or state, for warnings. */
  param: string | undefined
}

export const startReasoning = (): TurnReasoning => ({ texts: [], field: undefined, details: [], unsealed: new Set(), param: undefined })

export interface EncodedReasoning {
  readonly fields: JsonObject
  /** A part to put before the content. */
  readonly parts: readonly JsonObject[]
  /** Whether reasoning was left out. */
  readonly isDropped: boolean
}

/** Encodes the reasoning of a turn. `origin`: the client's message. */
export function encodeTurnReasoning(reasoning: TurnReasoning, origin: JsonObject | undefined, rules: ReasoningRules): EncodedReasoning {
  const { texts, details } = reasoning
  const own = callersDetails(reasoning, origin)
  const sent = [...(rules.earlier === 'never' ? [] : details), ...(takesAny(rules) ? own : [])]
  const field = fieldOf(reasoning, origin, rules)
  const isTaken = (from: ReasoningText['from']): boolean => takesAny(rules) || (rules.earlier === 'own' && from === 'provider')
  const kept = field === undefined ? [] : texts.filter(({ from }) => isTaken(from))
  const lost = texts.some(each => (each.from !== 'elsewhere' || !each.isInState) && !kept.includes(each))
  const text = kept.map(each => each.text).join('\n\n')
  // Models that require the field need it on every turn, even without reasoning.
  const isText = field !== undefined && field !== 'content' && field !== 'reasoning_details' && (text !== '' || rules.earlier === 'always')
  const written = isText ? { [field]: text } : {}
  const reasoning_details =
    sent.length > 0 ? sent : field === 'reasoning_details' && text !== '' ? [{ type: 'reasoning.text', text }] : undefined
  return {
    fields: reasoning_details ? { ...written, reasoning_details } : written,
    parts: field === 'content' && text !== '' ? [{ type: 'thinking', thinking: [{ type: 'text', text }] }] : [],
    isDropped: lost || sent.length < details.length + own.length,
  }
}

const takesAny = ({ earlier }: ReasoningRules): boolean => earlier !== 'never' && earlier !== 'own'

function fieldOf({ texts, field }: TurnReasoning, origin: JsonObject | undefined, rules: ReasoningRules): string | undefined {
  const known = rules.field ?? field ?? rules.familyField
  if (known !== undefined || rules.earlier === 'always') return known ?? 'reasoning_content'
  return origin && texts.some(({ from }) => from === 'caller') ? reasoningFieldOf(origin) : undefined
}

/** The details of the client's message that the gateway did not seal. */
function callersDetails({ unsealed }: TurnReasoning, origin: JsonObject | undefined): readonly JsonObject[] {
  return objects(origin?.reasoning_details).filter(({ data }) => stringOf(data) === '' || unsealed.has(stringOf(data)))
}
