import type { DialectName, JsonObject } from './wire.ts'

/** A tool that the model may call: a function of the client, or a tool that only one dialect has. */
export type Tool = FunctionTool | Native

/** A function that the client runs when the model calls it. `parameters` is a JSON Schema. */
export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  /** The group it belongs to. The name is unique within the group. */
  readonly namespace?: string
  readonly description?: string
  readonly parameters?: JsonObject
  /**
   * Whether the arguments must match the schema. Undefined or null: as the Responses API decides, which makes a schema strict if it can.
   * The decoder of any other client dialect writes down the default of that dialect, `false`.
   */
  readonly strict?: boolean | null
  readonly cache?: CachePoint
  /** Whether it is the client's tool search, whose calls Responses clients get as `tool_search_call`. */
  readonly isToolSearch?: true
  /** Set on a custom tool, whose input is free text instead of JSON; it has no `parameters`. */
  readonly custom?: CustomInput
}

/** The input format of a custom tool. */
interface CustomInput {
  /** Default: any text. */
  readonly grammar?: { readonly syntax: string; readonly definition: string }
}

/** A value that is not modelled. It can only be sent in its own dialect. */
export interface Native {
  readonly type: 'native'
  readonly dialect: DialectName
  readonly body: JsonObject
  /** The tools of a group, or tools added in mid-conversation. Dialects that lack the construct send these tools alone. */
  readonly tools?: readonly Tool[]
  /** The id of the call that it answers, besides adding tools. Other dialects get a result that names the tools. */
  readonly answers?: string
  /** Records what a provider did in an earlier response, such as a search. Other dialects leave it out, with a warning. */
  readonly isRecord?: true
  /**
   * Set on a record that opens something stored at the provider and is not known to come from an answer to this caller. `allowed`: sent with a
   * credential that may open what is stored. `refused`: never sent.
   */
  readonly unknownOrigin?: 'allowed' | 'refused'
  /** Text that other dialects send in its place: of a part, or of an item as a message of the assistant. */
  readonly text?: string
}

/** Everything up to and including this element may be kept in the provider's prompt cache. */
export interface CachePoint {
  readonly ttl?: '5m' | '1h'
}
