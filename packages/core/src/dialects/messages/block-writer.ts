import type { Frame, JsonObject } from '../../protocol/wire.ts'

// Start, deltas and stop of content blocks. Blocks are numbered in order and never overlap.

/** The type of the deltas that extend a block, and the field that holds their text. */
interface BlockDelta {
  readonly type: string
  readonly field: string
}

export const blockDeltas = {
  text: { type: 'text_delta', field: 'text' },
  thinking: { type: 'thinking_delta', field: 'thinking' },
  input: { type: 'input_json_delta', field: 'partial_json' },
} as const satisfies Record<string, BlockDelta>

/** Frames that were encoded and not yet handed on. */
export interface FrameBuffer {
  frames: Frame[]
}

export const writeFrame = ({ frames }: FrameBuffer, event: string, data: string): void => {
  frames.push({ event, data })
}

export interface BlockWriter {
  /** Starts a block, after closing the open one. */
  open(block: JsonObject, delta: BlockDelta): void
  /** Appends text to the open block. */
  append(text: string): void
  /** Writes a delta of another type than the one that extends the block. */
  add(delta: JsonObject): void
  close(): void
  /** Writes a complete block. */
  writeBlock(block: JsonObject): void
}

export function createBlockWriter(output: FrameBuffer): BlockWriter {
  let index = 0
  let isOpen = false
  /** Everything that precedes the text of a delta: the same for every delta of a block. */
  let deltaPrefix = ''

  const start = (content_block: JsonObject): void => {
    close()
    isOpen = true
    writeFrame(output, 'content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block }))
  }
  const add = (delta: JsonObject): void => {
    writeFrame(output, 'content_block_delta', JSON.stringify({ type: 'content_block_delta', index, delta }))
  }
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    writeFrame(output, 'content_block_stop', `{"type":"content_block_stop","index":${index++}}`)
  }

  return {
    open(block, { type, field }) {
      start(block)
      deltaPrefix = `{"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`
    },
    append(text) {
      writeFrame(output, 'content_block_delta', `${deltaPrefix}${JSON.stringify(text)}}}`)
    },
    add,
    close,
    writeBlock(block) {
      const { input } = block
      // Clients assemble the input of a server-side tool from deltas, as they do for their own tools.
      const isInputStreamed = serverTools.has(`${block.type}`) && typeof input === 'object'
      start(isInputStreamed ? { ...block, input: {} } : block)
      if (isInputStreamed) add({ type: blockDeltas.input.type, [blockDeltas.input.field]: JSON.stringify(input) })
      close()
    },
  }
}

const serverTools: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use'])
