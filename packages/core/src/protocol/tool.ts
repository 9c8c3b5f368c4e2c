import type { DialectName, JsonObject } from './wire.ts'

/** A tool that the model may call: a function of the client, or a tool that only one dialect knows. */
export type Tool = FunctionTool | Native

/** A function that the client runs when the model calls it. `parameters` is a JSON Schema. */
export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  /** The group that it belongs to; its name is unique there. */
  readonly namespace?: string
  readonly description?: string
  readonly parameters?: JsonObject
  readonly strict?: boolean | null
  readonly cache?: CachePoint
  /** Set on a custom tool, whose input is free text and not JSON; it has no `parameters`. */
  readonly custom?: CustomInput
}

/** What the free text of a custom tool may be. */
export interface CustomInput {
  /** Absent: any text. */
  readonly grammar?: { readonly syntax: string; readonly definition: string }
}

/** Anything we do not model. It can be replayed in its own dialect and nowhere else. */
export interface Native {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly body: JsonObject
  /** The tools that it brings: those of a group, or those that join in mid-conversation. Dialects without such a thing send them alone. */
  readonly tools?: readonly Tool[]
}

/** Everything up to and including this may be kept in the provider's prompt cache. */
export interface CachePoint {
  readonly ttl?: '5m' | '1h'
}
