/**
 * Upper bounds on one request body, over HTTP and in process. Agents with 300 tools and 2,000 messages stay well below. Any body within
 * these caps, up to 32 MiB, is read, parsed and checked within 0.2 s on a slow core.
 */
export const bodyCaps = {
  /** Fields of all objects together. Fields are the most expensive to parse: every new name and every new order of names costs. */
  fields: 50_000,
  /** Fields of all objects and elements of all arrays together. */
  values: 100_000,
  /** Escaped characters (`\n`, `\"`) in the body text. */
  escapes: 1_000_000,
  /** Fields of one object. */
  fieldsOfObject: 10_000,
  /** Characters of a field name. V8 does not hash names longer than 16,383 characters, so it compares each with all others. */
  fieldName: 4_096,
  /** Characters of a value of a field in `identifiers`. Such values become map keys, so the same reason applies. */
  identifier: 4_096,
  /** Elements of one array. */
  entries: 20_000,
  /** Elements of `messages` or `input`. */
  messages: 10_000,
  /** Parts of the content of one message or tool result. */
  parts: 5_000,
  /** Images and files at URLs that are downloaded for one request, counted where they are named. */
  remoteParts: 100,
  /** Elements of `tools`. */
  tools: 1_000,
  /** Fields of `metadata`. */
  metadata: 64,
  /** Objects in the JSON schemas of tools and of the response format. */
  schemaObjects: 30_000,
  /** Definitions (`$defs`, `definitions`) in those schemas. */
  definitions: 2_000,
  /** Nesting depth of arrays and objects, including the body itself. */
  depth: 64,
  /** Nesting depth inside client-defined schemas and maps, which may be deeper. */
  depthInside: 128,
} as const

/**
 * The largest `gateway.metadata`. The request log keeps it with each request, and lists of requests hold a hundred of them in memory, so
 * what a caller may add to a row has a bound of its own, far below that of its body.
 */
export const loggedMetadataCaps = { entries: 16, name: 128, value: 1_024 } as const

/**
 * Size from which a body is large, in characters or bytes. Parsing it delays other requests, so it gets turns of the event loop of its own,
 * and its copies are released as early as possible.
 */
export const largeBody = 500_000

/** Fields whose value, or each element of whose value, is an identifier. */
export const identifiers: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'tool_call_id', 'toolCallId', 'toolName', 'tool_use_id', 'item_id', 'file_id', 'filename', 'previous_response_id'],
  ...['name', 'namespace', 'server_label', 'type', 'role', 'format', 'model', 'models', 'order', 'only', 'ignore'],
  ...['$ref', '$id', '$anchor', 'required', 'enum', 'include', 'stop', 'stop_sequences'],
])

/** Caps of a top-level field that differ from the general ones. */
export interface FieldCaps {
  readonly depth: number
  /** Elements, if the field is an array. */
  readonly entries: number
  /** Fields, if the field is an object. */
  readonly fields: number
  /** Whether its objects count as schema objects. */
  readonly hasSchemas: boolean
  /** Whether `content` inside it is an array of parts. */
  readonly hasMessages: boolean
}

/** The caps of every other field. */
export const defaultFieldCaps: FieldCaps = {
  depth: bodyCaps.depth,
  entries: bodyCaps.entries,
  fields: bodyCaps.fieldsOfObject,
  hasSchemas: false,
  hasMessages: false,
}
const messages: FieldCaps = { ...defaultFieldCaps, entries: bodyCaps.messages, hasMessages: true }
const schema: FieldCaps = { ...defaultFieldCaps, depth: bodyCaps.depthInside, hasSchemas: true }
const tools: FieldCaps = { ...schema, entries: bodyCaps.tools }

/** The caps of the fields of a body that have their own. */
export const capsByField: ReadonlyMap<string | number, FieldCaps> = new Map([
  ['input', messages],
  ['messages', messages],
  ['prompt', messages],
  ['tools', tools],
  ['functions', { ...tools, depth: bodyCaps.depth }],
  ['text', schema],
  ['response_format', schema],
  ['responseFormat', schema],
  ['output_config', schema],
  ['metadata', { ...defaultFieldCaps, depth: bodyCaps.depthInside, fields: bodyCaps.metadata }],
])
