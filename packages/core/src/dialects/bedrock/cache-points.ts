import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { combinedWarning, lostCachePoints } from '../part-warnings.ts'

export interface CacheEncoder {
  /** The `cachePoint` blocks to insert after a block with this cache point. */
  readonly after: (cache: CachePoint | undefined) => readonly JsonObject[]
  readonly warnings: readonly Warning[]
}

/** Creates the encoder of cache points. They do not affect the response, but a model without a prompt cache rejects them. */
export function createCacheEncoder(prompt: Prompt, { refuses }: Quirks): CacheEncoder {
  if (refuses?.includes('cachePoint'))
    return {
      after: () => [],
      warnings: combinedWarning(
        lostCachePoints(prompt, () => false),
        'is a cache marker, but this model has no prompt cache; it was left out.',
      ),
    }
  return {
    after: cache => (cache ? [{ cachePoint: { type: 'default', ...(cache.ttl && { ttl: cache.ttl }) } }] : []),
    warnings: [],
  }
}
