import type { Frame, JsonObject } from '../src/protocol/wire.ts'

// Reads a Messages stream and forgives nothing: every rule of that dialect's streams, as an error that it breaks with.

interface Wire {
  readonly type: string
  readonly index?: number
  readonly message?: JsonObject & { readonly content: readonly unknown[]; readonly usage: JsonObject }
  readonly content_block?: JsonObject
  readonly delta?: JsonObject
  readonly usage?: JsonObject
  readonly error?: JsonObject
}

export interface ReadMessage {
  /** As it stands when the stream has been read. */
  readonly message: JsonObject & { readonly content: readonly JsonObject[] }
  readonly error?: JsonObject
  /** What came with the end beside the message. */
  readonly beside: JsonObject
}

interface Block {
  readonly [field: string]: unknown
  readonly type: string
}

export function readStrictly(frames: readonly Frame[]): ReadMessage {
  const events = frames.map(({ event, data }) => {
    const wire = JSON.parse(data) as Wire
    if (wire.type !== event) fail(`the frame "${event}" says "${wire.type}"`)
    return wire
  })
  const content: JsonObject[] = []
  let message: JsonObject | undefined
  let beside: JsonObject = {}
  let open: Writable | undefined
  let state: 'start' | 'blocks' | 'ending' | 'over' = 'start'
  let error: JsonObject | undefined

  const need = (wanted: typeof state, type: string): void => {
    if (state !== wanted) fail(`${type} in "${state}"`)
  }
  for (const wire of events) {
    if (state === 'over') fail(`${wire.type} after the end`)
    if (wire.type === 'ping') continue
    if (wire.type === 'error') {
      error = wire.error ?? fail('an error without a word')
      state = 'over'
    } else if (wire.type === 'message_start') {
      need('start', wire.type)
      const { content: none, usage, ...rest } = wire.message ?? fail('message_start without a message')
      if (none.length > 0 || typeof usage.input_tokens !== 'number' || typeof usage.output_tokens !== 'number') fail('a bad start')
      message = { ...rest, usage }
      state = 'blocks'
    } else if (wire.type === 'content_block_start') {
      need('blocks', wire.type)
      if (open || wire.index !== content.length) fail(`block ${wire.index} begins where ${content.length} was due, or within another`)
      open = startBlock(wire.content_block as unknown as Block)
    } else if (wire.type === 'content_block_delta') {
      if (!open || wire.index !== content.length) fail(`a delta of block ${wire.index}, which is not open`)
      open.grow(wire.delta as unknown as Block)
    } else if (wire.type === 'content_block_stop') {
      if (!open || wire.index !== content.length) fail(`block ${wire.index} ends, which is not open`)
      content.push(open.end())
      open = undefined
    } else if (wire.type === 'message_delta') {
      need('blocks', wire.type)
      if (open) fail('message_delta within a block')
      const { type, delta, usage, ...more } = wire as unknown as JsonObject
      message = { ...message, ...(delta as JsonObject), usage: { ...(message?.usage as JsonObject), ...(usage as JsonObject) } }
      beside = more
      state = 'ending'
    } else if (wire.type === 'message_stop') {
      need('ending', wire.type)
      state = 'over'
    } else fail(`an unknown event "${wire.type}"`)
  }
  if (state !== 'over') fail('the stream broke off')
  return { message: { ...message, content }, beside, ...(error && { error }) }
}

interface Writable {
  grow(delta: Block): void
  end(): JsonObject
}

function startBlock(block: Block): Writable {
  const growing: Record<string, unknown> = { ...block }
  let input = ''
  let signed = false
  const deltas: Readonly<Record<string, Readonly<Record<string, (delta: Block) => void>>>> = {
    text: {
      text_delta: ({ text }) => {
        growing.text = `${growing.text}${text}`
      },
      citations_delta: ({ citation }) => {
        growing.citations = [...((growing.citations ?? []) as readonly unknown[]), citation]
      },
    },
    thinking: {
      thinking_delta: ({ thinking }) => {
        if (signed) fail('a thought after its signature')
        growing.thinking = `${growing.thinking}${thinking}`
      },
      signature_delta: ({ signature }) => {
        if (signed) fail('signed twice')
        signed = true
        growing.signature = signature
      },
    },
    tool_use: { input_json_delta: ({ partial_json }) => (input += `${partial_json}`) },
    server_tool_use: { input_json_delta: ({ partial_json }) => (input += `${partial_json}`) },
  }
  const empty: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    text: { text: '' },
    thinking: { thinking: '', signature: '' },
    tool_use: { input: {} },
    server_tool_use: { input: {} },
  }
  for (const [field, value] of Object.entries(empty[block.type] ?? {}))
    if (JSON.stringify(block[field]) !== JSON.stringify(value)) fail(`a ${block.type} block that begins with its ${field}`)
  return {
    grow(delta) {
      const read = deltas[block.type]?.[delta.type] ?? fail(`a ${delta.type} in a ${block.type} block`)
      read(delta)
    },
    end() {
      if (block.type === 'text') growing.citations ??= null
      if (input !== '') growing.input = parsed(input)
      return growing as unknown as JsonObject
    },
  }
}

function parsed(input: string): unknown {
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Kept as it is.
  }
  return { _raw: input }
}

function fail(why: string): never {
  throw new Error(why)
}
