import { createLru } from '../runtime/lru.ts'

/** What the usage of providers tells the operator about facts that are missing. */
export interface UsageNotices {
  /** Counts a response that reported more usage than its request can have used. `offer`: provider and model, as in `groq/compound-beta`. */
  addClamped(offer: string): void
  /** Those of the fields with counts that no reader knows that this provider has not sent before. */
  newFields(provider: string, fields: readonly string[]): readonly string[]
  /** A notice about each of the offers with the most clamped responses. */
  notices(): readonly string[]
}

const maxOffers = 1_000
const maxFields = 1_000
const maxNotices = 5

/** Creates the store of notices about usage that providers reported. */
export function createUsageNotices(): UsageNotices {
  const counts = createLru<number>(maxOffers)
  const seen = createLru<true>(maxFields)
  return {
    addClamped: offer => void counts.set(offer, (counts.get(offer) ?? 0) + 1),
    newFields: (provider, fields) =>
      fields.filter(field => {
        const name = `${provider} ${field}`
        const isNew = !seen.has(name)
        seen.set(name, true)
        return isNew
      }),
    notices: () =>
      [...counts.entries()]
        .sort(([, one], [, other]) => other - one)
        .slice(0, maxNotices)
        .map(
          ([offer, count]) =>
            `${offer} reported more usage than possible ${count === 1 ? 'once' : `${count} times`}, and the excess was not billed. If it adds to prompts by itself, set its quirk \`extendsPrompt\`.`,
        ),
  }
}
