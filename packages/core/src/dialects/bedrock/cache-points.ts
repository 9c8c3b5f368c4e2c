import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { cachePoints, oneWarning } from '../lossy-marks.ts'

export interface CacheEncoder {
  /** The `cachePoint` block that follows a block with a cache point. */
  readonly after: (cache: CachePoint | undefined) => readonly JsonObject[]
  readonly warnings: readonly Warning[]
}

/** Cache points change no answer, but a model without a prompt cache refuses them. */
export function createCacheEncoder(prompt: Prompt, { refuses }: Quirks): CacheEncoder {
  if (refuses?.includes('cachePoint'))
    return {
      after: () => [],
      warnings: oneWarning(
        cachePoints(prompt, () => false),
        'is a cache marker, but this model has no prompt cache; it was left out.',
      ),
    }
  return {
    after: cache => (cache ? [{ cachePoint: { type: 'default', ...(cache.ttl && { ttl: cache.ttl }) } }] : []),
    warnings: [],
  }
}
