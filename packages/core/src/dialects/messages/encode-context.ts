import type { CachePoint } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { safeName } from './tool-names.ts'
import { dialect } from './wire.ts'

// What is kept in mind while one request is written.

export interface Writing {
  readonly quirks: Quirks
  readonly schemas: SchemaFitter
  readonly warnings: Warning[]
  /** Tool names as sent → as the caller knows them, for those that differ. */
  readonly toolNames: Map<string, string>
  /** Cache points that may still be set. */
  points: number
}

const mostPoints = 4

/** A mark on the body itself is one of the few, too. */
export const startWriting = ({ native }: Prompt, quirks: Quirks, schemas: SchemaFitter): Writing => ({
  quirks,
  schemas,
  warnings: [],
  toolNames: new Map(),
  points: native?.dialect === dialect && native.body.cache_control ? mostPoints - 1 : mostPoints,
})

export const warn = ({ warnings }: Writing, param: string, message: string): void => {
  warnings.push(unsupported(param, message))
}

export const lose = (writing: Writing, param: string): void =>
  warn(writing, param, `\`${param}\` can only be read by a provider of another kind and was left out.`)

/** The field that marks a block as the end of what is cached. */
export function mark(cache: CachePoint | undefined, param: string, writing: Writing): JsonObject {
  if (!cache || !takePoint(param, writing)) return {}
  return { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } }
}

/** A block of the caller's own, with its mark if there is one left. */
export function marked(block: JsonObject, param: string, writing: Writing): JsonObject {
  const { cache_control, ...rest } = block
  if (cache_control === undefined || cache_control === null || takePoint(param, writing)) return block
  return rest
}

function takePoint(param: string, writing: Writing): boolean {
  if (writing.points > 0) {
    writing.points -= 1
    return true
  }
  warn(writing, param, `The cache point at \`${param}\` was left out: ${mostPoints} are taken here, and they were used up before it.`)
  return false
}

export function nameOf(name: string, { toolNames }: Writing): string {
  const sent = safeName(name)
  if (sent !== name) toolNames.set(sent, name)
  return sent
}
