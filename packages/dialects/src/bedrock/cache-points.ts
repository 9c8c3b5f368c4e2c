import { endCachePoint, type FittedCachePoints, fitCachePoints } from '../common/cache-points.ts'
import { objects } from '../common/json.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

/** The cache points that the model accepts. They do not affect the response, but a model without a prompt cache rejects them. */
export const acceptedCachePoints = (prompt: Prompt, { cacheMarks: places }: Quirks): FittedCachePoints =>
  fitCachePoints(prompt, {
    dialect,
    sendsEnd: sendsEnd(places),
    places,
    refusal: places?.length === 0 ? 'is a cache marker, but this model has no prompt cache; it was left out.' : undefined,
  })

const sendsEnd = (places: Quirks['cacheMarks']): boolean => places?.includes('user') ?? true

/** The `cachePoint` block to insert after a block with this cache point. */
export const cachePointAfter = (cache: CachePoint | undefined): readonly JsonObject[] =>
  cache ? [{ cachePoint: { type: 'default', ttl: cache.ttl } }] : []

/** Whether the cache point at the end of the conversation is sent. */
export const hasEndCachePoint = (prompt: Prompt, { cacheMarks }: Quirks): boolean =>
  sendsEnd(cacheMarks) && endCachePoint(prompt) !== undefined

/** The messages with a cache point at the end, if the client set one for the whole request. */
export function withEndCachePoint(messages: readonly JsonObject[], prompt: Prompt, quirks: Quirks): readonly JsonObject[] {
  const last = messages.at(-1)
  if (!last || !hasEndCachePoint(prompt, quirks) || objects(last.content).at(-1)?.cachePoint !== undefined) return messages
  return [...messages.slice(0, -1), { ...last, content: [...objects(last.content), ...cachePointAfter(endCachePoint(prompt))] }]
}
