import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../quirks.ts'

/** Marks up to which the prompt may be cached: blocks of their own, behind the block that they mark. */
export interface CacheMarks {
  after(cache: CachePoint | undefined): readonly JsonObject[]
  warnings(): readonly Warning[]
}

/** They save money and change no answer, but a model without a prompt cache refuses them. */
export function cacheMarks({ refuses }: Quirks): CacheMarks {
  const isRefused = refuses?.includes('cachePoint') === true
  let left = false
  return {
    after(cache) {
      if (!cache) return []
      if (!isRefused) return [{ cachePoint: { type: 'default', ...(cache.ttl && { ttl: cache.ttl }) } }]
      left = true
      return []
    },
    warnings: () => (left ? [unsupported('input', 'This model has no prompt cache; the marks for it were left out.')] : []),
  }
}
