import { buysDear } from '../dialects/tier.ts'
import type { Ability } from '../protocol/model.ts'
import { quirksFor } from '../protocol/provider.ts'
import type { RoutingOptions } from '../protocol/request.ts'
import type { DialectName } from '../protocol/wire.ts'
import type { Needs } from './needs.ts'
import type { Candidate, ExclusionCode } from './plan.ts'

export interface Question {
  readonly needs: Needs
  readonly routing: RoutingOptions
  /** The gateway can read what stands at an address. */
  readonly readsMedia: boolean
}

interface Rule {
  readonly code: ExclusionCode
  /** The field of the request that it looks at. */
  readonly param?: string
  /** Why this candidate cannot serve the request, in words; nothing if it can. */
  readonly why: (candidate: Candidate, question: Question) => string | undefined
}

const lacks = ({ offer }: Candidate, ability: Ability): boolean => offer.abilities !== undefined && !offer.abilities.includes(ability)
const when = (condition: boolean, reason: string): string | undefined => (condition ? reason : undefined)
const usd = (microdollars: number): number => microdollars / 1_000_000

/** `dialect`: the language of items that nobody else can say. */
const untakable = (dialect: DialectName | undefined, { offer }: Candidate): string | undefined =>
  when(
    dialect !== undefined && dialect !== offer.dialect,
    `the input holds items that only a provider speaking "${dialect}" can take, and this offer speaks "${offer.dialect}"`,
  )

/** Top to bottom: the first rule that speaks is the reason. When nobody is left, the caller hears the topmost code among the reasons. */
export const rules: readonly Rule[] = [
  {
    code: 'input_requires_responses_endpoint',
    param: 'input',
    why: (candidate, { needs }) => untakable(needs.itemDialects.includes('responses') ? 'responses' : undefined, candidate),
  },
  {
    code: 'non_streaming_not_supported',
    param: 'stream',
    why: ({ offer }, { needs }) => when(!needs.stream && offer.delivery === 'stream_only', 'it only streams: set `stream: true`'),
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    why: (candidate, { needs }) =>
      untakable(
        needs.itemDialects.find(dialect => dialect !== candidate.offer.dialect),
        candidate,
      ),
  },
  {
    code: 'capability_mismatch',
    param: 'stream',
    why: ({ offer }, { needs }) => when(needs.stream && offer.delivery === 'whole_only', 'it does not stream'),
  },
  {
    code: 'tool_choice_required_not_supported',
    param: 'tool_choice',
    why: ({ offer, provider }, { needs }) =>
      when(
        needs.toolChoiceRequired && (quirksFor(provider, offer).refuses ?? []).includes('tool_choice_required'),
        'it does not honor `tool_choice: "required"`',
      ),
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    why: (candidate, { needs }) => when(needs.tools && lacks(candidate, 'tools'), 'it has no tools'),
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    why: (candidate, { needs }) => when(needs.vision && lacks(candidate, 'vision'), 'it takes no images'),
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    why: ({ offer, provider }, { needs, readsMedia }) =>
      when(
        needs.addresses && !readsMedia && quirksFor(provider, offer).bytes_only === true,
        'it takes images and files as bytes only: send them as a data: URL',
      ),
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    why: (candidate, { needs }) => when(needs.structuredOutput && lacks(candidate, 'structured_output'), 'it has no structured output'),
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    // Who keeps to a schema also keeps to JSON.
    why: (candidate, { needs }) =>
      when(needs.jsonMode && lacks(candidate, 'json_mode') && lacks(candidate, 'structured_output'), 'it has no JSON mode'),
  },
  {
    code: 'context_length_exceeded',
    param: 'input',
    why: ({ offer }, { needs }) =>
      // The estimate is on the high side, so only what is beyond doubt is left out; the provider has the last word.
      when(
        !needs.documents && offer.context_window !== undefined && needs.inputTokens > 2 * offer.context_window,
        `the prompt is about ${needs.inputTokens} tokens long and its context window holds ${offer.context_window}`,
      ),
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    why: ({ provider }, { routing }) =>
      when(routing.only !== undefined && !routing.only.includes(provider.id), 'it is not in `gateway.routing.only`'),
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.ignore',
    why: ({ provider }, { routing }) => when(routing.ignore?.includes(provider.id) ?? false, 'it is in `gateway.routing.ignore`'),
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.max_price',
    why: ({ offer, provider }, { needs, routing }) => {
      if (!routing.max_price) return undefined
      const { input = Number.POSITIVE_INFINITY, output = Number.POSITIVE_INFINITY } = routing.max_price
      const tiers = { price: offer.price, quirks: quirksFor(provider, offer) }
      const price = buysDear(needs.serviceTier, routing, tiers) ? offer.price?.priority : offer.price
      const dear = price !== undefined && (usd(price.input) > input || usd(price.output) > output)
      return when(dear, 'it costs more than `gateway.routing.max_price`')
    },
  },
  {
    code: 'routing_failed',
    why: ({ offer }) => when(offer.price === undefined, 'no price is known for it: give the offer a `price`, of 0 if it is free'),
  },
]
