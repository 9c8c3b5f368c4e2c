import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { contentLost, unsupported } from '../apply-quirks.ts'
import { safeName } from './tool-names.ts'

/** State shared by the encoders of one request. */
export interface EncodeContext {
  readonly quirks: Quirks
  readonly schemas: SchemaFitter
  readonly warnings: Warning[]
  /** Tool names as sent → client's names, for those that differ. */
  readonly toolNames: Map<string, string>
  /** Paths of reasoning that was left out. */
  readonly droppedReasoning: string[]
}

export const createEncodeContext = (quirks: Quirks, schemas: SchemaFitter): EncodeContext => ({
  quirks,
  schemas,
  warnings: [],
  toolNames: new Map(),
  droppedReasoning: [],
})

export const warn = ({ warnings }: EncodeContext, param: string, message: string): void => {
  warnings.push(unsupported(param, message))
}

export const loseContent = ({ warnings }: EncodeContext, param: string): void => {
  warnings.push(contentLost(param, `\`${param}\` is not supported by the API of this provider.`))
}

export const warnOmitted = (context: EncodeContext, param: string): void =>
  warn(context, param, `\`${param}\` is not supported by the API of this provider and was left out.`)

/** The `cache_control` field of a block with a cache point. */
export const cacheControl = (cache: CachePoint | undefined): JsonObject =>
  cache ? { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } } : {}

/** Encodes a tool name so that the provider accepts it. The context remembers changed names. */
export function encodeToolName(name: string, { toolNames }: EncodeContext): string {
  const sent = safeName(name)
  if (sent !== name) toolNames.set(sent, name)
  return sent
}
