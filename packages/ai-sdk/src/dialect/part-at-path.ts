import type { JsonObject } from '@signalbox/dialects/protocol'
import type { LostOptions } from './provider-options.ts'

/** A message or a part of one, with its path in the call. */
export interface PartAtPath {
  readonly body: JsonObject
  readonly path: string
  readonly lost: LostOptions
}
