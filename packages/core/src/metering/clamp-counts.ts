import { createLru } from '../runtime/lru.ts'

/** How many responses of each offer reported more usage than their requests can have used. */
export interface ClampCounts {
  /** Counts a response. `offer`: provider and model, as in `groq/compound-beta`. */
  add(offer: string): void
  /** A notice for the operator about each of the offers with the most such responses. */
  notices(): readonly string[]
}

const maxOffers = 1_000
const maxNotices = 5

export function createClampCounts(): ClampCounts {
  const counts = createLru<number>(maxOffers)
  return {
    add: offer => void counts.set(offer, (counts.get(offer) ?? 0) + 1),
    notices: () =>
      [...counts.entries()]
        .sort(([, one], [, other]) => other - one)
        .slice(0, maxNotices)
        .map(
          ([offer, count]) =>
            `${offer} reported more usage than possible in ${count} ${count === 1 ? 'response' : 'responses'}, and the excess was not billed. If it adds to prompts by itself, set its quirk \`extends_prompt\`.`,
        ),
  }
}
