import { contentLost, unsupported } from '../common/apply-quirks.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { callIdsIn } from '../common/ids.ts'
import { fittedToolNames } from '../common/tool-names.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter } from '../protocol/schemas.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { maxToolName, safeId } from './tool-names.ts'

/** State shared by the encoders of one request. */
export interface EncodeContext {
  readonly quirks: Quirks
  readonly schemas: SchemaFitter
  readonly warnings: Warning[]
  readonly toolNames: FittedNames
  readonly callIds: FittedNames
  /** Paths of reasoning that was left out. */
  readonly droppedReasoning: string[]
}

export const createEncodeContext = (prompt: Prompt, quirks: Quirks, schemas: SchemaFitter): EncodeContext => ({
  quirks,
  schemas,
  warnings: [],
  toolNames: fittedToolNames(prompt, maxToolName),
  callIds: fittedNames(callIdsIn(prompt.input), safeId),
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
