import { isObject, type Json, sealedPrefix } from '@signalbox/dialects/protocol'
import { type ItemOwner, itemOwnerOf } from '../../access/caller.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { KeyRing, SealContext } from '../../runtime/seal.ts'

// Reasoning state as clients store it: `gw1.`, then a small JSON object sealed with the key ring.

/** The offer that issued a reasoning state. It is sent back only to offers that match (`isMaker`). */
export interface Maker {
  readonly provider: string
  readonly credential: string
  readonly dialect: string
  readonly model: string
  readonly family?: string
}

export interface ReasoningState {
  readonly maker: Maker
  /** The state in the provider dialect's format. */
  readonly text?: string
  /** Plain reasoning text, if the provider expects it back. */
  readonly words?: readonly string[]
}

const envelopeVersion = 1

export const isEnvelope = (text: string): boolean => text.startsWith(sealedPrefix)

// End users of one app are strangers, so what is sealed for a user opens for that user alone; what is sealed for a key opens for the keys of
// its workspace. The owner is authenticated data and not part of the key, which would have to be derived for each user.

/** The owner and the purpose of the envelope, so that no other secret sealed with the same key opens as reasoning state. */
const sealPurpose = (owner: ItemOwner): SealContext => ({
  purpose: 'reasoning state',
  workspaceId: owner.workspaceId,
  bound: `reasoning\n${itemOwnerOf(owner)}`,
})

/** Seals a state. JSON preserves every text, including lone surrogates. */
export const sealState = async (ring: KeyRing, owner: ItemOwner, { maker, text, words }: ReasoningState): Promise<string> => {
  const { provider: p, credential: c, model: m, dialect: d, family: f } = maker
  return sealedPrefix + (await ring.seal(JSON.stringify({ v: envelopeVersion, p, c, m, d, f, t: text, w: words }), sealPurpose(owner)))
}

/** Returns undefined if it cannot be opened: it was altered, has another owner, or was sealed with a key that is no longer configured. */
export async function openState(ring: KeyRing, owner: ItemOwner, envelope: string): Promise<ReasoningState | undefined> {
  const text = isEnvelope(envelope) ? await ring.open(envelope.slice(sealedPrefix.length), sealPurpose(owner)) : undefined
  return text === undefined ? undefined : readState(JSON.parse(text))
}

/** Validates an opened state, which may have been written by a later release. */
function readState(body: Json): ReasoningState | undefined {
  if (!isObject(body) || body.v !== envelopeVersion) return undefined
  const { p: provider, c: credential, m: model, d: dialect, f: family, t: text, w: words } = body
  if (typeof provider !== 'string' || typeof credential !== 'string' || typeof model !== 'string' || typeof dialect !== 'string')
    return undefined
  const maker: Maker = { provider, credential, model, dialect, family: typeof family === 'string' ? family : undefined }
  return { maker, text: typeof text === 'string' ? text : undefined, words: isTexts(words) ? words : undefined }
}

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

export const makerOf = ({ provider, credential, offer, model }: Candidate): Maker => ({
  provider: provider.id,
  credential: credential.id,
  dialect: offer.api,
  model: offer.model,
  family: model.family,
})

/**
 * Whether a candidate can use the state of a maker. The account must be the same, since vendors bind state to it. The model may differ:
 * most vendors accept state across releases of a model family, and a call that fails with `stale_state` is retried without state.
 */
export const isMaker = ({ provider, credential, offer, model }: Candidate, maker: Maker): boolean =>
  provider.id === maker.provider &&
  credential.id === maker.credential &&
  offer.api === maker.dialect &&
  (offer.model === maker.model || (model.family !== undefined && model.family === maker.family))
