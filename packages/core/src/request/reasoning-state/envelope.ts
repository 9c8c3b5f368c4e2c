import { type ItemOwner, itemOwnerOf } from '../../access/caller.ts'
import { sealedPrefix } from '../../protocol/item.ts'
import { isObject, type Json } from '../../protocol/wire.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { KeyRing, SealContext } from '../../runtime/seal.ts'

// Reasoning state as callers carry it: `gw1.`, then what the key ring makes of a small JSON object.

/** The offer that issued a reasoning state. No other offer gets it back. */
export interface Maker {
  readonly provider: string
  readonly credential: string
  readonly dialect: string
  readonly model: string
  readonly family?: string
}

export interface ReasoningState {
  readonly maker: Maker
  /** The provider half's own text. */
  readonly text?: string
  /** Thoughts in the clear, where the provider wants those back. */
  readonly words?: readonly string[]
}

const envelopeVersion = 1

export const isEnvelope = (text: string): boolean => text.startsWith(sealedPrefix)

/** The owner, and what the envelope is for: no other secret under the same key can be passed off as a state. */
const sealPurpose = (owner: ItemOwner): SealContext => ({
  purpose: 'reasoning state',
  workspaceId: owner.workspaceId,
  bound: `reasoning\n${itemOwnerOf(owner)}`,
})

/** JSON keeps every text, lone surrogates included. */
export const sealState = async (ring: KeyRing, owner: ItemOwner, { maker, text, words }: ReasoningState): Promise<string> => {
  const { provider: p, credential: c, model: m, dialect: d, family: f } = maker
  return sealedPrefix + (await ring.seal(JSON.stringify({ v: envelopeVersion, p, c, m, d, f, t: text, w: words }), sealPurpose(owner)))
}

/** Undefined if it cannot be opened: altered, of another owner, or sealed with a key that is gone. */
export async function openState(ring: KeyRing, owner: ItemOwner, envelope: string): Promise<ReasoningState | undefined> {
  const text = isEnvelope(envelope) ? await ring.open(envelope.slice(sealedPrefix.length), sealPurpose(owner)) : undefined
  return text === undefined ? undefined : readState(JSON.parse(text))
}

/** What opens was written by us, but perhaps by a later release. */
function readState(body: Json): ReasoningState | undefined {
  if (!isObject(body) || body.v !== envelopeVersion) return undefined
  const { p: provider, c: credential, m: model, d: dialect, f: family, t: text, w: words } = body
  if (typeof provider !== 'string' || typeof credential !== 'string' || typeof model !== 'string' || typeof dialect !== 'string')
    return undefined
  const maker: Maker = { provider, credential, model, dialect, ...(typeof family === 'string' && { family }) }
  return { maker, ...(typeof text === 'string' && { text }), ...(isTexts(words) && { words }) }
}

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

export const makerOf = ({ provider, credential, offer, model }: Candidate): Maker => ({
  provider: provider.id,
  credential: credential.id,
  dialect: offer.dialect,
  model: offer.provider_model_id,
  ...(model.family !== undefined && { family: model.family }),
})

/**
 * The account must be the same, since vendors bind state to it. The model may differ: vendors accept state across releases of a model
 * family, and a vendor that does not fails with `stale_state` and is retried without state.
 */
export const isMaker = ({ provider, credential, offer, model }: Candidate, maker: Maker): boolean =>
  provider.id === maker.provider &&
  credential.id === maker.credential &&
  offer.dialect === maker.dialect &&
  (offer.provider_model_id === maker.model || (model.family !== undefined && model.family === maker.family))
