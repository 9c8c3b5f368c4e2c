import type { Contender } from '../brain/belief.ts'
import type { Brain } from '../brain/brain.ts'
import type { Rates } from '../protocol/model.ts'
import { quirksOf } from './judge.ts'
import type { Candidate } from './plan.ts'

/** What of a request makes a candidate another one to the brain: what it pays, and how long it may be silent. */
interface Manner {
  /** What this request pays here. */
  readonly rates: Rates
  /** It thinks before it speaks. */
  readonly thinking: boolean
}

/** Candidates as the brain knows them. */
export type Contenders = (candidate: Candidate, manner: Manner) => Contender

interface Kept extends Manner {
  readonly contender: Contender
}

/** Made once for each candidate and manner: hardly a request is the first of its kind. */
export function keepContenders(brain: Pick<Brain, 'contender'>): Contenders {
  const kept = new WeakMap<Candidate, Kept[]>()
  return (candidate, { rates, thinking }) => {
    const before = kept.get(candidate)
    const known = before?.find(each => each.rates === rates && each.thinking === thinking)
    if (known) return known.contender
    const contender = brain.contender({
      id: nameOf(candidate, { rates, thinking }),
      provider: candidate.provider.id,
      model: candidate.model.id,
      price: rates,
      ...cacheOf(candidate),
    })
    const made: Kept = { rates, thinking, contender }
    if (before) before.push(made)
    else kept.set(candidate, [made])
    return contender
  }
}

/** How long a prompt that was read stays in the cache there, where that is known. */
function cacheOf(candidate: Candidate): { readonly cacheMs?: number } {
  const { prompt_cache_ms: cacheMs } = quirksOf(candidate)
  return cacheMs === undefined ? {} : { cacheMs }
}

/**
 * What is learned is kept under this name. A credential of a workspace's own has other limits and maybe another region, a dear
 * tier another queue, and who thinks is silent for longer; the price of a long prompt changes nothing of how it is served.
 */
function nameOf({ provider, offer, credential }: Candidate, { rates, thinking }: Manner): string {
  const account = credential.owner === 'platform' ? 'platform' : `own:${credential.id}`
  const tier = rates === offer.price?.priority ? '+priority' : ''
  return `${provider.id}/${offer.provider_model_id}@${account}${tier}${thinking ? '+thinking' : ''}`
}
