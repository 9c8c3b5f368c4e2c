import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { contentLost, unsupported } from '../apply-quirks.ts'
import { safeName } from './tool-names.ts'
import { dialect } from './wire.ts'

/** State shared by the encoders of one request. */
export interface EncodeContext {
  readonly quirks: Quirks
  readonly schemas: SchemaFitter
  readonly warnings: Warning[]
  /** Tool names as sent → client's names, for those that differ. */
  readonly toolNames: Map<string, string>
  /** Paths of reasoning that was left out. */
  readonly droppedReasoning: string[]
  /** Cache points that may still be set. */
  cachePointsLeft: number
}

const maxCachePoints = 4

/** A cache point on the body itself counts too. */
export const createEncodeContext = ({ native }: Prompt, quirks: Quirks, schemas: SchemaFitter): EncodeContext => ({
  quirks,
  schemas,
  warnings: [],
  toolNames: new Map(),
  droppedReasoning: [],
  cachePointsLeft: native?.dialect === dialect && native.body.cache_control ? maxCachePoints - 1 : maxCachePoints,
})

export const warn = ({ warnings }: EncodeContext, param: string, message: string): void => {
  warnings.push(unsupported(param, message))
}

export const loseContent = ({ warnings }: EncodeContext, param: string): void => {
  warnings.push(contentLost(param, `\`${param}\` is not supported by the API of this provider.`))
}

export const warnOmitted = (context: EncodeContext, param: string): void =>
  warn(context, param, `\`${param}\` is not supported by the API of this provider and was left out.`)

/** The `cache_control` field of a block, if it has a cache point and the limit is not reached. */
export function cacheControl(cache: CachePoint | undefined, param: string, context: EncodeContext): JsonObject {
  if (!cache || !takeCachePoint(param, context)) return {}
  return { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } }
}

/** Drops the `cache_control` of a client's block if the limit of cache points is reached. */
export function limitCacheControl(block: JsonObject, param: string, context: EncodeContext): JsonObject {
  const { cache_control, ...rest } = block
  if (cache_control === undefined || cache_control === null || takeCachePoint(param, context)) return block
  return rest
}

function takeCachePoint(param: string, context: EncodeContext): boolean {
  if (context.cachePointsLeft > 0) {
    context.cachePointsLeft -= 1
    return true
  }
  warn(context, param, `The cache point at \`${param}\` was left out: this provider accepts ${maxCachePoints}, and earlier ones were kept.`)
  return false
}

/** Encodes a tool name so that the provider accepts it. The context remembers changed names. */
export function encodeToolName(name: string, { toolNames }: EncodeContext): string {
  const sent = safeName(name)
  if (sent !== name) toolNames.set(sent, name)
  return sent
}
